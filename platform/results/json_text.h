// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/scenario.h"

namespace wafervp {

/// A finite double as the shortest decimal text that reads back as the same number, always with a mark
/// of a real number ("1.0", "1e+22"); "null" when it is not finite, which JSON cannot say.
std::string double_text(double value);

/// JSON text with a fixed layout: two blanks an indent, a container of scalars only on one line, a line end
/// at the end. Bytes that are not UTF-8 are replaced.
std::string json_text(const Json& value);

}  // namespace wafervp

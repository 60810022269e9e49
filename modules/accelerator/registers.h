// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/register_block.h"

namespace wafervp {

/// The registers of an accelerator's message engine, as firmware/include/wafervp/registers.h lists them.
const RegisterMap& accelerator_registers();

}  // namespace wafervp

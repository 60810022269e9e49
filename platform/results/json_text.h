// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/scenario.h"

namespace wafervp {

/// A finite double as the shortest decimal text that reads back as the same number, always with a mark
/// of a real number ("1.0", "1e+22"); "null" when it is not finite, which JSON cannot say.
std::string double_text(double value);

/// JSON text with a fixed layout: two blanks an indent, a container of scalars only on one line, a line end
/// at the end. Bytes that are not UTF-8 are replaced.
std::string json_text(const Json& value);

/// Text of a list of records (objects of scalars) that is a member of the outermost object, put together
/// piece by piece: the same layout as json_text's, without the list as a value.
class JsonRecords {
 public:
  /// Begins the list behind what `out` holds.
  JsonRecords(std::string& out, std::string_view name);
  void begin();  ///< a record
  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, const std::string& text) { add(name, std::string_view(text)); }
  void add(std::string_view name, std::uint64_t number);
  void add(std::string_view name, std::uint32_t number) { add(name, std::uint64_t{number}); }
  void add(std::string_view name, double number);
  void add(std::string_view name, bool value);
  void end();     ///< the record
  void finish();  ///< the list

 private:
  void name_member(std::string_view name);
  void append_record(std::string_view separator);

  std::string& out_;
  std::string members_;                                    ///< of the record, one behind the other
  std::vector<std::pair<std::size_t, std::size_t>> ends_;  ///< begin and end of each
  bool empty_ = true;
};

}  // namespace wafervp

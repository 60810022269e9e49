// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// Reads the tokens of a JSON text and keeps line and column (in characters, from 1).
class JsonScanner {
 public:
  struct Place {
    std::size_t line, column;
  };
  /// Thrown after a fault that leaves the structure unclear.
  struct Stop {};

  /// `pointer` is the member that is being read, for the messages.
  JsonScanner(std::string_view text, const std::string& file, const std::string& pointer,
              std::vector<Issue>& issues)
      : text_(text), file_(file), pointer_(pointer), issues_(issues) {}

  bool at_end() const { return position_ == text_.size(); }
  /// The next byte; 0 at the end.
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  Place place() const { return {line_, column_}; }
  void advance();
  bool take(char c);
  /// Passes a UTF-8 byte order mark.
  void skip_mark();
  /// Passes blanks and line ends; reports comments and passes them too.
  void skip_blanks();

  /// A string in double quotes.
  std::string string();
  /// A string in front of a colon; a word without quotes is reported and taken.
  std::string member_name();
  /// A number, true, false or null. `typed` receives a number that is not a plain integer, as it stands.
  Json scalar(std::string& typed);

  /// What stands at the present place, for a message.
  std::string found() const;
  void report(std::string message) { report_at(place(), std::move(message)); }
  void report_at(Place place, std::string message);
  [[noreturn]] void stop(std::string message);

 private:
  std::string_view word() const;
  void pass(std::size_t bytes);
  Json number(std::string_view token, Place place, std::string& typed);
  void escape_sequence(std::string& out);
  /// Four hexadecimal digits after \u, or -1.
  int code_unit();

  std::string_view text_;
  const std::string& file_;
  const std::string& pointer_;
  std::vector<Issue>& issues_;
  std::size_t position_ = 0, line_ = 1, column_ = 1;
};

}  // namespace wafervp

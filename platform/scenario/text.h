// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wafervp {

/// The word nearest to `word` (edits, letter case counts as half an edit), or empty when none is near
/// enough to be what was meant.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);
/// "a, b, c"; after `limit` words " and N more".
std::string join_words(const std::vector<std::string>& words, std::size_t limit = 40);
/// In double quotes, control characters and bytes that are not UTF-8 as escapes, cut after 60 characters.
std::string quote(std::string_view text);
/// The same without quotes and cut.
std::string escape(std::string_view text);
/// Length of the UTF-8 sequence at the head of `text`, 0 if there is no valid one.
std::size_t utf8_length(std::string_view text);
/// Unicode characters in valid UTF-8.
std::size_t count_characters(std::string_view text);
/// Shortest decimal text that reads back as the same number.
std::string format_number(double value);
/// One member name as a token of a JSON pointer (RFC 6901).
std::string pointer_token(std::string_view name);
/// Names on the way of a JSON pointer, unescaped; `pointer` must be "" or begin with '/'.
std::vector<std::string> pointer_names(std::string_view pointer);

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "mutator.h"

#include <nlohmann/json.hpp>

namespace wafervp {
namespace {

using Json = nlohmann::ordered_json;

const char* const kTokens[] = {"{",
                               "}",
                               "[",
                               "]",
                               ",",
                               ":",
                               "null",
                               "true",
                               "false",
                               "NaN",
                               "-Infinity",
                               "//",
                               "/* */",
                               "\"\"",
                               "\"\\ud800\"",
                               "\"\\u0000\"",
                               "\"\xff\"",
                               "\xef\xbb\xbf",
                               "0",
                               "-0",
                               "1e999",
                               "-1",
                               "1e30",
                               "01",
                               "{}",
                               "[]",
                               "[[[[[[[[",
                               "{\"a\":",
                               "\"base\":\"ring.json\"",
                               "\"base\":\"wafer_20.json\"",
                               "\"version\":1",
                               "\"variants\":{\"a\":{}}",
                               "\"grid\":{\"/seed\":[1,2]}",
                               "\"ring\"",
                               "\"fred\"",
                               "\"mesh2d\"",
                               "\"switch\"",
                               "\"in_switch\"",
                               "\"hierarchical\"",
                               "\"transformer\"",
                               "\"custom\"",
                               "\"explicit\"",
                               "\"values\"",
                               "\"all_to_all\"",
                               "\"send\""};
const char* const kNumbers[] = {"0",
                                "1",
                                "2",
                                "3",
                                "4",
                                "5",
                                "7",
                                "8",
                                "20",
                                "64",
                                "255",
                                "256",
                                "1024",
                                "65535",
                                "65536",
                                "65537",
                                "2147483647",
                                "2147483648",
                                "4294967295",
                                "4294967296",
                                "-1",
                                "-2147483648",
                                "9007199254740993",
                                "9223372036854775807",
                                "9223372036854775808",
                                "18446744073709551615",
                                "18446744073709551616",
                                "1e15",
                                "1e18",
                                "1e30",
                                "1e308",
                                "1e-300",
                                "5e-324",
                                "0.5",
                                "1.5",
                                "-0.5",
                                "8.0",
                                "8e0",
                                "0.1"};

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '+' || c == '_';
}

/// Begin and length of each token; strings are one.
std::vector<std::pair<std::size_t, std::size_t>> tokens_of(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i++;
    if (text[begin] == ' ' || text[begin] == '\n') continue;
    if (text[begin] == '"') {
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      i = std::min(i + 1, text.size());
    } else if (is_word(text[begin])) {
      while (i < text.size() && is_word(text[i])) ++i;
    }
    tokens.emplace_back(begin, i - begin);
  }
  return tokens;
}

void collect(Json& value, std::vector<Json*>& out) {
  out.push_back(&value);
  if (value.is_structured()) {
    for (Json& item : value) collect(item, out);
  }
}

}  // namespace

/// A small generator whose sequence does not depend on the standard library.
class Mutator::Draw {
 public:
  explicit Draw(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    // splitmix64
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  template <class T, std::size_t N>
  const T& of(const T (&items)[N]) {
    return items[below(N)];
  }

 private:
  std::uint64_t state_;
};

Mutator::Mutant Mutator::make(std::uint64_t seed, std::uint64_t index) const {
  Draw draw(seed * 0x2545f4914f6cdd1du + index);
  draw.next();
  Mutant mutant{draw.below(texts_.size()), {}};
  // A study costs as much as all its variants, so it is drawn less often.
  if (texts_[mutant.origin].find("\"variants\"") != std::string::npos)
    mutant.origin = draw.below(texts_.size());
  mutant.text = texts_[mutant.origin];
  const std::size_t changes = 1 + (draw.below(3) == 0 ? draw.below(6) : 0);
  for (std::size_t i = 0; i < changes; ++i) {
    switch (draw.below(8)) {
      case 0:
        change_bytes(mutant.text, draw);
        break;
      case 1:
        change_tokens(mutant.text, draw);
        break;
      case 2:
      case 3:
        change_structure(mutant.text, draw);
        break;
      default:
        change_numbers(mutant.text, draw);
    }
  }
  return mutant;
}

void Mutator::change_bytes(std::string& text, Draw& draw) const {
  if (text.empty()) return;
  const std::size_t at = draw.below(text.size());
  const std::size_t length = 1 + draw.below(8);
  switch (draw.below(6)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ 1 << draw.below(8));
      break;
    case 1:
      text[at] = static_cast<char>(draw.below(256));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(draw.below(256)));
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(draw.below(text.size()), 4 * length));
      break;
    default:
      text.resize(at);
  }
}

void Mutator::change_tokens(std::string& text, Draw& draw) const {
  const auto tokens = tokens_of(text);
  if (tokens.empty()) return;
  const auto [begin, length] = tokens[draw.below(tokens.size())];
  const auto [other, other_length] = tokens[draw.below(tokens.size())];
  const std::string copy = text.substr(other, other_length);
  switch (draw.below(4)) {
    case 0:
      text.erase(begin, length);
      break;
    case 1:
      text.replace(begin, length, copy);
      break;
    case 2:
      text.replace(begin, length, draw.of(kTokens));
      break;
    default:
      text.insert(begin, draw.of(kTokens));
  }
}

void Mutator::change_numbers(std::string& text, Draw& draw) const {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
  for (const auto& token : tokens_of(text)) {
    const char head = text[token.first];
    if ((head >= '0' && head <= '9') || head == '-') numbers.push_back(token);
  }
  if (numbers.empty()) return;
  const auto [begin, length] = numbers[draw.below(numbers.size())];
  const std::string old = text.substr(begin, length);
  switch (draw.below(6)) {
    case 0:
      text.replace(begin, length, '-' + old);
      break;
    case 1:
      text.replace(begin, length, old + '0');
      break;
    case 2:
      text.replace(begin, length, std::to_string(draw.below(64)));
      break;
    case 3:
      text.replace(begin, length, std::to_string(draw.next() >> draw.below(64)));
      break;
    default:
      text.replace(begin, length, draw.of(kNumbers));
  }
}

void Mutator::change_structure(std::string& text, Draw& draw) const {
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) return change_tokens(text, draw);
  std::vector<Json*> places;
  collect(root, places);
  Json& place = *places[draw.below(places.size())];
  switch (draw.below(7)) {
    case 0:  // a part of another text
    {
      Json other = Json::parse(texts_[draw.below(texts_.size())], nullptr, false);
      std::vector<Json*> parts;
      collect(other, parts);
      place = Json(*parts[draw.below(parts.size())]);
      break;
    }
    case 1:
      place = Json::array({place, place});
      break;
    case 2:
      place = nullptr;
      break;
    case 3:
      if (place.is_object() && !place.empty()) {
        auto member = place.begin();
        for (std::size_t i = draw.below(place.size()); i > 0; --i) ++member;
        place.erase(member.key());
      } else {
        place = Json::object();
      }
      break;
    case 4:
      if (place.is_object()) {
        place[std::string(1 + draw.below(12), 'a')] = 1;
      } else if (place.is_string()) {
        place = place.get<std::string>() + "x";
      } else {
        place = "8";
      }
      break;
    case 5:
      if (place.is_array() && !place.empty()) {
        place.push_back(place[draw.below(place.size())]);
      } else {
        place = true;
      }
      break;
    default:  // the order of members does not matter, save for messages
      if (place.is_object()) {
        const Json copy = place;
        place.clear();
        for (auto it = copy.rbegin(); it != copy.rend(); ++it) place[it.key()] = it.value();
      } else {
        place = 0.5;
      }
  }
  text = root.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "scenario/json_parser.h"

#include <unordered_set>
#include <utility>

#include "scenario/json_scanner.h"
#include "scenario/text.h"

namespace wafervp {
namespace {

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& file, Document& document, std::vector<Issue>& issues)
      : scan_(text, file, pointer_, issues), document_(document) {}

  void run() {
    try {
      scan_.skip_mark();
      scan_.skip_blanks();
      document_.value = value(0);
      scan_.skip_blanks();
      if (!scan_.at_end()) {
        scan_.report("expected end of file, found " + scan_.found() + "; one scenario per file");
      }
    } catch (const JsonScanner::Stop&) {
      // The fault is in the list; what follows it cannot be told apart.
    }
  }

 private:
  Json value(std::size_t depth) {
    if (depth > kMaxJsonDepth) {
      scan_.stop("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    if (++values_ > kMaxJsonValues) {
      scan_.stop("more than " + std::to_string(kMaxJsonValues) + " values in one file");
    }
    switch (scan_.peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        note_origin(scan_.place());
        return scan_.string();
      default: {
        Origin& origin = note_origin(scan_.place());
        return scan_.scalar(origin.typed);
      }
    }
  }

  Json object(std::size_t depth) {
    note_origin(scan_.place());
    Json result = Json::object();
    // Members are appended without the linear search of ordered_map; names are unique by `names`.
    auto& members = result.get_ref<Json::object_t&>();
    std::unordered_set<std::string> names;
    scan_.advance();
    scan_.skip_blanks();
    if (scan_.take('}')) return result;
    for (;;) {
      const JsonScanner::Place place = scan_.place();
      std::string name = scan_.member_name();
      scan_.skip_blanks();
      if (!scan_.take(':')) {
        scan_.stop("expected : after member name " + quote(name) + ", found " + scan_.found());
      }
      scan_.skip_blanks();
      const std::size_t parent = pointer_.size();
      pointer_ += '/' + pointer_token(name);
      const bool is_new = names.insert(name).second;
      if (!is_new) {
        const Origin& first = document_.origins[pointer_];
        scan_.report_at(place, "duplicate member; it is already in line " + std::to_string(first.line));
      }
      Json member = value(depth + 1);
      if (is_new) {
        note_origin(place);
        members.emplace_back(std::move(name), std::move(member));
      }
      pointer_.resize(parent);
      scan_.skip_blanks();
      if (scan_.take('}')) return result;
      const JsonScanner::Place comma = scan_.place();
      if (!scan_.take(',')) scan_.stop("expected , or } in an object, found " + scan_.found());
      scan_.skip_blanks();
      if (scan_.peek() == '}') {
        scan_.report_at(comma, "expected a member name, found }; remove the comma");
        scan_.advance();
        return result;
      }
    }
  }

  Json array(std::size_t depth) {
    note_origin(scan_.place());
    Json result = Json::array();
    scan_.advance();
    scan_.skip_blanks();
    if (scan_.take(']')) return result;
    for (std::size_t index = 0;; ++index) {
      const std::size_t parent = pointer_.size();
      pointer_ += '/' + std::to_string(index);
      result.push_back(value(depth + 1));
      pointer_.resize(parent);
      scan_.skip_blanks();
      if (scan_.take(']')) return result;
      const JsonScanner::Place comma = scan_.place();
      if (!scan_.take(',')) scan_.stop("expected , or ] in an array, found " + scan_.found());
      scan_.skip_blanks();
      if (scan_.peek() == ']') {
        scan_.report_at(comma, "expected a value, found ]; remove the comma");
        scan_.advance();
        return result;
      }
    }
  }

  /// An object's member stands where its name stands, all else where its value begins.
  Origin& note_origin(JsonScanner::Place place) {
    Origin& origin = document_.origins[pointer_];
    origin.line = static_cast<std::uint32_t>(place.line);
    origin.column = static_cast<std::uint32_t>(place.column);
    return origin;
  }

  std::string pointer_;
  JsonScanner scan_;
  Document& document_;
  std::size_t values_ = 0;
};

}  // namespace

Document parse_json(std::string_view text, const std::string& file, std::vector<Issue>& issues) {
  Document document;
  document.sources.push_back({file, {}, {}, {}, 0});
  JsonParser(text, file, document, issues).run();
  return document;
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "scenario/study_grid.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scenario/merge.h"
#include "scenario/study_members.h"
#include "scenario/text.h"
#include "scenario/version.h"

namespace wafervp {
namespace {

/// A value as part of a folder's name.
std::string label_of(const Json& value) {
  std::string text = value.is_string()         ? value.get<std::string>()
                     : value.is_number_float() ? format_number(value.get<double>())
                                               : value.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (char& c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '.' || c == '_' || c == '+' || c == '-';
    if (!is_plain) c = '_';
  }
  return text.substr(0, 40);
}

/// The shortest ends of the pointers that tell them apart, with '.' between names.
std::string axis_name(const std::string& pointer, const Json& grid) {
  const std::vector<std::string> names = pointer_names(pointer);
  std::string name;
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    name = name.empty() ? *it : *it + '.' + name;
    const std::string tail = pointer.substr(pointer.size() - std::min(pointer.size(), name.size() + 1));
    const auto same = std::count_if(grid.items().begin(), grid.items().end(), [&](const auto& item) {
      const std::string& other = item.key();
      return other.size() >= tail.size() && other.compare(other.size() - tail.size(), tail.size(), tail) == 0;
    });
    if (same <= 1) break;
  }
  return label_of(name);
}

}  // namespace

std::vector<GridAxis> read_grid(const Document& study, Validator& validator, std::size_t variants) {
  std::vector<GridAxis> axes;
  const Json* grid = find_value(study.value, "/grid");
  if (grid == nullptr || !grid->is_object()) return axes;
  std::size_t points = std::max<std::size_t>(1, variants);
  for (const auto& [pointer, values] : grid->items()) {
    GridAxis axis{pointer, "/grid/" + pointer_token(pointer), {}};
    const bool is_pointer = !pointer.empty() && pointer[0] == '/';
    const std::string fault = !is_pointer
                                  ? "expected a JSON pointer such as /wafer/npus, found " + quote(pointer)
                              : belongs_to_file(pointer.substr(1)) ? "belongs to a file, not to a grid"
                                                                   : unknown_pointer(pointer);
    if (!fault.empty()) {
      validator.fault(axis.place, fault);
    } else if (!values.is_array() || values.empty()) {
      validator.fault(axis.place, "expected an array of at least one value, found " +
                                      (values.is_array() ? "none" : describe(values)));
    } else if (values.size() > kMaxVariants / points) {
      validator.fault(axis.place,
                      "the grid and the variants give more than " + std::to_string(kMaxVariants) + " runs");
    } else {
      points *= values.size();
      const std::string name = axis_name(pointer, *grid);
      std::set<std::string> used;
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::string label = '-' + name + '=' + label_of(values[i]);
        if (!used.insert(label).second) label += '.' + std::to_string(i);
        axis.labels.push_back(std::move(label));
      }
      axes.push_back(std::move(axis));
    }
  }
  return axes;
}

std::vector<GridPoint> points_of(const Document& study, const std::vector<GridAxis>& axes,
                                 const Document& variant) {
  std::vector<GridPoint> points{{"", variant}};
  for (const GridAxis& axis : axes) {
    std::vector<GridPoint> next;
    for (const GridPoint& point : points) {
      for (std::size_t i = 0; i < axis.labels.size(); ++i) {
        GridPoint placed{point.suffix + axis.labels[i], point.document};
        // A place that does not exist shows in the validation of the variant, which then has the fault.
        put_at(placed.document, axis.pointer, part_of(study, axis.place + '/' + std::to_string(i)));
        next.push_back(std::move(placed));
      }
    }
    points = std::move(next);
  }
  return points;
}

void IssueSet::add(const Issue& issue) {
  ++hits_;
  const auto [entry, is_new] =
      index_.emplace(Key{issue.file, issue.line, issue.column, issue.pointer, issue.text}, issues_.size());
  if (is_new) issues_.push_back({issue, {}});
  open_.push_back(entry->second);
}

void IssueSet::end(const std::string& variant) {
  for (const std::size_t index : open_) {
    auto& names = issues_[index].variants;
    if (names.empty() || names.back() != variant) names.push_back(variant);
  }
  open_.clear();
}

void IssueSet::move_to(std::vector<Issue>& issues, std::size_t variants) {
  for (Entry& entry : issues_) {
    if (entry.variants.size() < variants)
      entry.issue.text += " (variant " + join_words(entry.variants, 5) + ')';
    issues.push_back(std::move(entry.issue));
  }
  issues_.clear();
}

}  // namespace wafervp

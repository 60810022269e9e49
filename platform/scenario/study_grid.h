// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "scenario/validate.h"

namespace wafervp {

/// One member of a study's grid.
struct GridAxis {
  std::string pointer;              // into the scenario
  std::string place;                // of its list in the study
  std::vector<std::string> labels;  // one a value, for the names of variants
};
/// A variant at one point of the grid.
struct GridPoint {
  std::string suffix;  // "-dp_sync=rs_ag-npus=20"; empty without a grid
  Document document;
};

/// Reads and checks `/grid`; faulty axes are left out. `variants` times the points is bounded.
std::vector<GridAxis> read_grid(const Document& study, Validator& validator, std::size_t variants);
/// The variant at every point, the last axis running fastest.
std::vector<GridPoint> points_of(const Document& study, const std::vector<GridAxis>& axes,
                                 const Document& variant);

/// Faults of many variants: each once, with the names of the variants unless all have it.
class IssueSet {
 public:
  void begin() { count_before_ = hits_; }
  void add(const Issue& issue);
  /// True when nothing was added since begin().
  bool clean() const { return hits_ == count_before_; }
  void end(const std::string& variant);
  std::size_t size() const { return issues_.size(); }
  void move_to(std::vector<Issue>& issues, std::size_t variants);

 private:
  using Key = std::tuple<std::string, std::size_t, std::size_t, std::string, std::string>;
  struct Entry {
    Issue issue;
    std::vector<std::string> variants;
  };
  std::vector<Entry> issues_;
  std::map<Key, std::size_t> index_;
  std::vector<std::size_t> open_;
  std::size_t hits_ = 0, count_before_ = 0;
};

}  // namespace wafervp

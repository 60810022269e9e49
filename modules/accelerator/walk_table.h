// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "wafervp/registers.h"

namespace wafervp {

/// The walks of one accelerator, in memory that its control processor shares, and which of them are under
/// way. Between two calls a walk that is under way waits for a message.
class WalkTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  WalkTable(std::uint32_t size, Arena& arena)
      : walks_(arena.make_array<wvp_walk>(size)),
        size_(size),
        marks_(arena.make_array<std::uint64_t>((size + 63) / 64)) {}

  wvp_walk* data() { return walks_; }
  std::uint32_t size() const { return size_; }
  wvp_walk& operator[](std::uint32_t number) { return walks_[number]; }
  const wvp_walk& operator[](std::uint32_t number) const { return walks_[number]; }
  std::uint32_t under_way() const { return under_way_; }

  void begin(std::uint32_t number) {
    walks_[number].under_way = 1;
    marks_[number / 64] |= std::uint64_t{1} << number % 64;
    ++under_way_;
  }
  void end(std::uint32_t number) {
    walks_[number].under_way = 0;
    marks_[number / 64] &= ~(std::uint64_t{1} << number % 64);
    --under_way_;
  }
  /// Whether walk `number`, which may be any number, waits for this message.
  bool waits(std::uint32_t number, std::uint32_t from, std::uint64_t tag) const {
    return number < size_ && walks_[number].under_way != 0 && walks_[number].tag == tag &&
           walks_[number].from == from;
  }
  /// Number of the walk that waits for this message; kNone if there is none.
  std::uint32_t find(std::uint32_t from, std::uint64_t tag) const {
    std::uint32_t left = under_way_;
    for (std::uint32_t number = 0; left != 0; ++number) {
      if ((marks_[number / 64] >> number % 64 & 1) == 0) continue;
      if (waits(number, from, tag)) return number;
      --left;
    }
    return kNone;
  }

 private:
  wvp_walk* walks_;
  std::uint32_t size_;
  std::uint32_t under_way_ = 0;
  std::uint64_t* marks_;  ///< bit i of them: walk i is under way
};

}  // namespace wafervp

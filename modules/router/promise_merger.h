// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "link/lane.h"

namespace wafervp {

/// Joins the promises of several streams into one: a packet is there when the last of its copies is. Used
/// for the arrivals of a reduction (over its inputs) and the credits of a multicast (over its outputs).
class PromiseMerger {
 public:
  /// Receives merged runs in the sense of the fabric protocol: a run with the same first packet again and a
  /// smaller count shortens.
  using Emit = std::function<void(const Run&)>;

  PromiseMerger(std::size_t streams, Emit emit);

  /// A new run of stream `stream`, or a shortening of its last one. A call that comes from within
  /// the emission of another one is carried out after it.
  void promise(std::size_t stream, const Run& run, Time now);
  /// First packet that is not merged.
  std::uint64_t end() const { return end_; }

 private:
  void apply(std::size_t stream, const Run& run);
  void retract(std::uint64_t end);
  void extend(std::uint64_t end);
  void forget_past(Time now);
  const Run& run_with(std::size_t stream, std::uint64_t packet) const;

  std::vector<RunQueue> streams_;
  std::vector<std::uint64_t> ends_;  ///< first packet that is not promised, by stream
  std::vector<Run> emitted_;         ///< merged runs that may still be shortened
  std::uint64_t end_ = 0;            ///< first packet that is not merged
  std::vector<std::pair<std::size_t, Run>> waiting_;
  bool busy_ = false;
  Emit emit_;
};

}  // namespace wafervp

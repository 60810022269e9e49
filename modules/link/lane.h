// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/fabric_protocol.h"

namespace wafervp {

/// Runs of one flow in the order of their packets; only the last one may still be shortened.
class RunQueue {
 public:
  bool empty() const { return head_ == runs_.size(); }
  std::size_t size() const { return runs_.size() - head_; }
  Run& front() { return runs_[head_]; }
  Run& back() { return runs_.back(); }
  const Run& back() const { return runs_.back(); }
  const Run& operator[](std::size_t i) const { return runs_[head_ + i]; }

  /// Appends `run`, or shortens the last run if it begins with the same packet. True when it appended.
  bool promise(const Run& run) {
    if (!empty() && run.first <= back().first) {
      if (run.count == 0) {
        runs_.pop_back();
      } else {
        back() = run;
      }
      return false;
    }
    if (run.count != 0) runs_.push_back(run);
    return true;
  }
  /// Forgets the runs that end at or before packet `packet`.
  void forget_before(std::uint64_t packet) {
    while (!empty() && front().end() <= packet) ++head_;
    if (head_ == runs_.size()) {
      runs_.clear();
      head_ = 0;
    } else if (head_ >= 16 && 2 * head_ >= runs_.size()) {
      runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

 private:
  std::vector<Run> runs_;
  std::size_t head_ = 0;
};

/// The queue of one flow at one link: what has come or is promised, what may leave, what is leaving.
struct Lane {
  // What arbitration looks at in each lane that waits: one cache line.
  Time ready = kNever;               ///< when the next packets may leave, if nobody else wants the link
  Time age = kNever;                 ///< arrival of the next packet: the older goes first within a port
  Time answer_at = kNever;           ///< when the hopeful run that `owes_answer` speaks of is here
  FlowId id;                         ///< of the flow
  std::uint32_t longest_turn = ~0u;  ///< packets that others may take while this flow's buffer bridges
  std::uint16_t input = 0;           ///< port of the feeding node by which the flow comes
  std::uint16_t hop = 0;
  bool paced = false;        ///< `run` is paced and shares the link
  bool owes_answer = false;  ///< the last arrival is a hopeful run, to be answered at `answer_at`
  bool active = false;       ///< something is promised that has not been sent
  bool running = false;      ///< `run` is the link's present run, or a booked one
  bool bookable = false;     ///< from an NPU to its neighbour: no credits, nobody in between
  Flow* flow = nullptr;

  FabricFw* next_place = nullptr;      ///< where forward calls go, past modules that only pass them on
  FabricBw* previous_place = nullptr;  ///< where backward calls go
  std::uint64_t next = 0;              ///< first packet that no run of this lane covers
  std::uint64_t covered = 0;           ///< packets below it have a credit at the pace of `run`
  Run run;                             ///< last run that was started
  RunQueue arrivals;                   ///< at this place
  RunQueue credits;                    ///< runs of the next hop, which free its buffer
  std::uint64_t credit_base = 0;       ///< packets below it have left the next buffer
  std::uint32_t feed_buffer = 0;       ///< packets that the flow may have in this place; 0: from a source
  Time feed_latency = 0;
};

}  // namespace wafervp

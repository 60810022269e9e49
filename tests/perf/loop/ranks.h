// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "loop/fabric.h"

namespace perf_loop {

/// One phase of a chunk on one rank: `steps` messages are sent to the next member of a ring, the first when
/// the phase begins, each other when the message of the step before has come from the previous member.
struct Phase {
  std::uint32_t steps = 0;
  std::uint64_t bytes = 0;  ///< of each message
  std::uint8_t ring = 0;    ///< index of the rank's flow to its next member
};

/// The steps of one chunk, the same on all ranks.
struct ChunkPlan {
  std::vector<Phase> phases;
};

/// Ranks that run chunks of ring phases: the dependencies of ring and hierarchical collectives, message by
/// message. A message that comes before its phase has begun waits.
class Ranks {
 public:
  /// flows[ring][rank]; `step_ps` is charged before each send and at the end of a chunk.
  Ranks(Fabric& fabric, std::vector<std::vector<std::uint32_t>> flows, std::vector<ChunkPlan> plans,
        std::uint32_t active_chunks, Time step_ps);
  /// Runs all ranks; returns when the last one is done.
  Time run();
  std::uint32_t finished() const { return finished_; }

 private:
  static constexpr std::size_t kMaxPhases = 4;
  struct Chunk {
    std::uint8_t phase = 0;
    bool started = false;
    std::uint16_t done = 0;  ///< steps of this phase whose message was used
    std::array<std::uint16_t, kMaxPhases> received{};
  };

  void start_chunk(std::uint32_t rank, std::uint32_t chunk, Time now);
  void advance(std::uint32_t rank, std::uint32_t chunk, Time now);
  void send(std::uint32_t rank, std::uint32_t chunk, const Phase& phase, std::uint32_t index, Time when);

  Fabric& fabric_;
  std::vector<std::vector<std::uint32_t>> flows_;
  std::vector<ChunkPlan> plans_;
  std::uint32_t ranks_, active_;
  Time step_ps_;
  std::vector<Chunk> chunks_;              ///< [rank * plans + chunk]
  std::vector<std::uint32_t> next_chunk_;  ///< of each rank
  std::vector<std::uint32_t> left_;        ///< chunks of each rank that are not done
  std::uint32_t finished_ = 0;
  Time end_ = 0;
};

}  // namespace perf_loop

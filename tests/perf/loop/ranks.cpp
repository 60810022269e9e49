// SPDX-License-Identifier: Apache-2.0
#include "loop/ranks.h"

#include <algorithm>
#include <stdexcept>

namespace perf_loop {

Ranks::Ranks(Fabric& fabric, std::vector<std::vector<std::uint32_t>> flows, std::vector<ChunkPlan> plans,
             std::uint32_t active_chunks, Time step_ps)
    : fabric_(fabric),
      flows_(std::move(flows)),
      plans_(std::move(plans)),
      ranks_(static_cast<std::uint32_t>(flows_.front().size())),
      active_(active_chunks == 0 ? static_cast<std::uint32_t>(plans_.size()) : active_chunks),
      step_ps_(step_ps),
      chunks_(std::size_t{ranks_} * plans_.size()),
      next_chunk_(ranks_, 0),
      left_(ranks_, static_cast<std::uint32_t>(plans_.size())) {
  for (const ChunkPlan& plan : plans_) {
    if (plan.phases.size() > kMaxPhases) throw std::invalid_argument("a chunk has at most four phases");
  }
}

Time Ranks::run() {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    while (next_chunk_[rank] < plans_.size() && next_chunk_[rank] < active_)
      start_chunk(rank, next_chunk_[rank]++, 0);
  }
  fabric_.run([this](const Message& message) {
    const std::uint32_t chunk = message.tag / kMaxPhases, phase = message.tag % kMaxPhases;
    const std::uint32_t rank = message.flow->destination;
    Chunk& state = chunks_[rank * plans_.size() + chunk];
    ++state.received[phase];
    if (state.started && state.phase == phase) advance(rank, chunk, fabric_.now());
  });
  return end_;
}

void Ranks::send(std::uint32_t rank, std::uint32_t chunk, const Phase& phase, std::uint32_t index,
                 Time when) {
  fabric_.inject(flows_[phase.ring][rank], phase.bytes, chunk * kMaxPhases + index, when);
}

void Ranks::start_chunk(std::uint32_t rank, std::uint32_t chunk, Time now) {
  Chunk& state = chunks_[rank * plans_.size() + chunk];
  state.started = true;
  send(rank, chunk, plans_[chunk].phases[0], 0, now + step_ps_);
  if (state.received[0] > 0) advance(rank, chunk, now);
}

void Ranks::advance(std::uint32_t rank, std::uint32_t chunk, Time now) {
  const std::vector<Phase>& phases = plans_[chunk].phases;
  Chunk& state = chunks_[rank * plans_.size() + chunk];
  while (state.received[state.phase] > state.done) {
    ++state.done;
    const Phase& phase = phases[state.phase];
    if (state.done < phase.steps) {
      send(rank, chunk, phase, state.phase, now + step_ps_);
      continue;
    }
    state.done = 0;
    if (++state.phase < phases.size()) {
      send(rank, chunk, phases[state.phase], state.phase, now + step_ps_);
      continue;
    }
    --state.phase;  // stays valid; all its messages are used
    state.done = static_cast<std::uint16_t>(phase.steps);
    if (--left_[rank] == 0) {
      ++finished_;
      end_ = std::max(end_, now + step_ps_);
    } else if (next_chunk_[rank] < plans_.size()) {
      start_chunk(rank, next_chunk_[rank]++, now + step_ps_);
    }
  }
}

}  // namespace perf_loop

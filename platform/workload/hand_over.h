// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workload/program_builder.h"

namespace wafervp {

/// Hand-overs of one rank in one direction of the pipeline: from the stage before it, and to the one behind.
class HandOver {
 public:
  static constexpr unsigned kSendsInFlight = 4;
  struct Slots {
    unsigned receive;
    unsigned send;  ///< and the next kSendsInFlight - 1
  };
  /// A broadcast of a chain in a slot, from or to a place in memory.
  using MakeOperation = std::function<wvp_command(std::uint16_t comm, unsigned slot, std::uint64_t address)>;

  /// `microbatches` of a step. Buffers are taken in turns: two or more to receive, kSendsInFlight or more to
  /// send from.
  HandOver(Slots slots, std::uint32_t microbatches, MakeOperation make, ProgramBuilder& program)
      : slots_(slots), microbatches_(microbatches), make_(std::move(make)), program_(program) {}

  void receive_by(std::uint16_t chain, std::vector<std::uint64_t> buffers);
  void send_by(std::uint16_t chain, std::vector<std::uint64_t> buffers);

  /// The first receive is posted.
  void start_step();
  /// Waits for the next microbatch. A receive is posted as soon as the one before it is done, so that a relay
  /// goes on while this rank computes.
  void await_receive();
  void send();
  /// Waits for the sends that are under way.
  void end_step();

 private:
  void post_receive();

  Slots slots_;
  std::uint32_t microbatches_;
  MakeOperation make_;
  ProgramBuilder& program_;
  std::uint16_t receive_chain_ = 0, send_chain_ = 0;
  std::vector<std::uint64_t> received_, sent_;  ///< empty: it does not
  unsigned received_count_ = 0, sent_count_ = 0;
};

}  // namespace wafervp

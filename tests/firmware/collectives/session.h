// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mock_wafer.h"
#include "reference.h"

namespace wafervp::test {

/// A set of collectives on one mock wafer, each with buffers of its own. Results are checked at the very
/// moment when a rank says that its operation has ended, and its buffers are spoilt then: an operation
/// that ends too early is found.
class Session {
 public:
  /// kEachInItsOwn: all together, each rank starting them in another order; for at most WVP_SLOTS of them,
  /// on groups of their own.
  enum class Order { kOneByOne, kAllTogether, kEachInItsOwn };

  Session(std::uint32_t npus, std::uint64_t seed) : npus_(npus), random_(seed) { options.seed = seed; }

  MockOptions options;
  /// Random NPUs in random order.
  std::vector<std::uint32_t> pick_members(std::uint32_t count);
  /// `same_group`: on the communicator and the flows of the collective added before.
  void add(const Collective& collective, bool same_group = false);
  /// Runs all; returns the first difference, "" if all is right.
  std::string run(Order order = Order::kOneByOne);
  MockWafer& wafer() { return *wafer_; }

 private:
  struct Placed {
    Collective collective;
    std::uint16_t id;
    std::uint32_t sequence;
    std::uint32_t flows;
    std::uint64_t src, dst, out_bytes;
    std::vector<Buffer> before, expected;
    std::vector<std::uint32_t> command;  // of each member
    std::vector<bool> ended;
  };

  void load(Order order);
  void load(std::uint32_t npu, const std::vector<std::size_t>& operations, Order order);
  void add_flows(const Placed& placed);
  void check_end(std::uint32_t npu, std::uint32_t command);

  std::uint32_t npus_;
  std::mt19937_64 random_;
  std::uint64_t memory_ = 64;
  std::uint32_t next_flow_ = 1;
  std::vector<Placed> placed_;
  std::unique_ptr<MockWafer> wafer_;
  std::string difference_;
};

wvp_command start_command(const Collective& collective, std::uint16_t comm, std::uint8_t slot);
wvp_command wait_command(std::uint8_t slot);
wvp_comm make_comm(const Collective& collective, std::uint16_t id, std::uint32_t rank, std::uint32_t flows);
std::string name_of(const Collective& collective);

}  // namespace wafervp::test

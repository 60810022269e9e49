// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/element.h"
#include "fred_switch/fred_switch.h"
#include "traffic.h"

namespace wafervp::test {

/// Stages by node, as a test configures them.
class Directory final : public StageDirectory {
 public:
  void add(NodeId node, const StageConfig& stage) { stages_.emplace_back(node, stage); }
  StageConfig find(NodeId node, std::uint32_t group, unsigned input) const override;

 private:
  std::vector<std::pair<NodeId, StageConfig>> stages_;
};

struct FredRates {
  std::uint64_t up = 3000 * kGB, down = 3000 * kGB;
  Time latency = 20 * kNs, switch_latency = 0;
  bool packet_grain = false;
};

/// One switch with `ports` sources and sinks: NPU k is at port k.
struct SwitchBench {
  SwitchBench(const std::string& name, unsigned ports, const FredRates& rates = {}, unsigned lanes = 0);
  /// Configures a flow, and gives its handle. `arithmetic`: none, the switch's own.
  std::uint32_t flow(std::vector<unsigned> inputs, std::vector<unsigned> outputs,
                     std::shared_ptr<const StageArithmetic> arithmetic = nullptr);
  /// A flow that passes a lane between its sum and its copies.
  std::uint32_t flow_through(unsigned lane, std::vector<unsigned> inputs, std::vector<unsigned> outputs);
  void send_at(Time when, std::uint32_t from, std::uint32_t group, std::uint64_t bytes, Bytes data = {},
               Element element = Element::kFp32);
  void run();
  /// Runs to the exception that ends the run.
  std::string run_to_error();

  Shared shared;
  Directory directory;
  FredSwitch fred;
  std::deque<Source> sources;
  std::deque<Link> ups, downs;
  std::deque<Sink> sinks;

 private:
  unsigned ports_;
  std::uint32_t groups_ = 0;
};

/// Two levels: `l1s` switches with `npus` NPUs each under one L2 switch, with one all-reduce over all of
/// them, handle 1. The last port of an L1 switch is the uplink.
struct TreeBench {
  TreeBench(const std::string& name, unsigned l1s, unsigned npus, const FredRates& rates,
            std::uint64_t uplink_rate);
  void send_at(Time when, std::uint32_t from, std::uint64_t bytes);
  /// When the last NPU has all of it.
  Time end() const;

  Shared shared;
  Directory directory;
  FredSwitch l2;
  std::deque<FredSwitch> l1;
  std::deque<Source> sources;
  std::deque<Link> links;
  std::deque<Sink> sinks;
};

}  // namespace wafervp::test

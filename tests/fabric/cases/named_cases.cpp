// SPDX-License-Identifier: Apache-2.0
#include "cases/cases.h"

namespace fabric_cases {

namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGB = 1'000'000'000;

FabricCase mesh(const char* name, const char* why, std::vector<MessageCase> messages,
                std::map<std::string, std::uint64_t> link_rates = {}, std::uint64_t rate = 750 * kGB) {
  FabricCase made;
  made.name = name;
  made.why = why;
  made.bytes_per_s = rate;
  made.messages = std::move(messages);
  made.link_rates = std::move(link_rates);
  return made;
}

FabricCase fred(const char* name, const char* why, std::uint64_t npu_rate, std::uint64_t uplink_rate) {
  FabricCase made;
  made.name = name;
  made.why = why;
  made.fabric = Fabric::kFred;
  made.columns = 4;
  made.rows = 5;
  made.bytes_per_s = npu_rate;
  made.uplink_bytes_per_s = uplink_rate;
  return made;
}

std::vector<FabricCase> make() {
  std::vector<FabricCase> cases;

  // Two or more flows on one link. On the 5x4 mesh NPU n is at x = n % 5, y = n / 5, and x goes first.
  cases.push_back(mesh("two_flows", "a passing flow and a local one on x1y0->x2y0",
                       {{0, 2, 4 * kMiB, 0}, {1, 2, 4 * kMiB, 0}}));
  cases.push_back(mesh("two_flows_long", "the same, longer", {{0, 2, 64 * kMiB, 0}, {1, 2, 64 * kMiB, 0}}));
  cases.push_back(
      mesh("two_flows_unequal", "the shorter flow ends first", {{0, 2, 16 * kMiB, 0}, {1, 2, 4 * kMiB, 0}}));
  cases.push_back(mesh("two_flows_late", "a running flow is met 3 us later",
                       {{0, 2, 16 * kMiB, 0}, {1, 2, 16 * kMiB, 3000}}));
  cases.push_back(
      mesh("four_flows", "left, right, upper and local port into x2y1->x2y2",
           {{5, 17, 4 * kMiB, 0}, {9, 17, 4 * kMiB, 0}, {2, 17, 4 * kMiB, 0}, {7, 17, 4 * kMiB, 0}}));
  cases.push_back(mesh("late_claimant_on_a_chain", "the last link of four is claimed while the flow runs",
                       {{0, 4, 16 * kMiB, 0}, {3, 4, 4 * kMiB, 7000}}));
  cases.push_back(mesh("one_source_two_sinks", "two flows of one port share a link, then part",
                       {{0, 4, 8 * kMiB, 0}, {0, 17, 8 * kMiB, 0}}));
  cases.push_back(mesh("incast", "five sources into one sink over two links",
                       {{15, 19, 4 * kMiB, 0},
                        {4, 19, 4 * kMiB, 100},
                        {10, 19, 4 * kMiB, 200},
                        {8, 19, 4 * kMiB, 300},
                        {18, 19, 4 * kMiB, 400}}));

  // Steps of the rate.
  cases.push_back(mesh("step_down", "3 TB/s into 375 GB/s", {{0, 2, 16 * kMiB, 0}},
                       {{"x1y0->x2y0", 375 * kGB}}, 3000 * kGB));
  cases.push_back(mesh("step_up", "375 GB/s into 3 TB/s", {{0, 2, 16 * kMiB, 0}}, {{"x0y0->x1y0", 375 * kGB}},
                       3000 * kGB));

  // A slow flow and a fast one.
  cases.push_back(mesh("slow_beside_fast", "one 3 TB/s port carries a flow that a 375 GB/s link holds back",
                       {{0, 3, 4 * kMiB, 0}, {0, 12, 16 * kMiB, 500}}, {{"x2y0->x3y0", 375 * kGB}},
                       3000 * kGB));
  cases.push_back(mesh("slow_and_fast_merge", "375 GB/s and 3 TB/s arrivals meet on one 3 TB/s link",
                       {{0, 2, 4 * kMiB, 0}, {6, 2, 16 * kMiB, 0}, {1, 7, 16 * kMiB, 0}},
                       {{"x0y0->x1y0", 375 * kGB}}, 3000 * kGB));
  cases.push_back(mesh("sandwich_with_competitor", "3 TB/s, 375 GB/s, 3 TB/s, shared at the end",
                       {{0, 3, 4 * kMiB, 0}, {2, 3, 16 * kMiB, 1000}}, {{"x1y0->x2y0", 375 * kGB}},
                       3000 * kGB));

  // Stragglers.
  {
    FabricCase made = fred("straggler_in_switch", "one NPU enters an in-switch all-reduce 1 us late",
                           3000 * kGB, 12000 * kGB);
    made.all_reduce = AllReduceCase{"in_switch", 16 * kMiB, {{7, 1000}}};
    cases.push_back(made);
  }
  {
    FabricCase made;
    made.name = "straggler_on_a_ring";
    made.why = "one of 8 NPUs enters a ring all-reduce 5 us late";
    made.fabric = Fabric::kRing;
    made.columns = 8;
    made.rows = 1;
    made.bytes_per_s = 750 * kGB;
    made.all_reduce = AllReduceCase{"ring", 16 * kMiB, {{3, 5000}}};
    cases.push_back(made);
  }

  // Other fabrics.
  {
    FabricCase made = fred("in_switch_beside_a_message",
                           "a message shares the links of an in-switch all-reduce", 3000 * kGB, 12000 * kGB);
    made.all_reduce = AllReduceCase{"in_switch", 16 * kMiB, {}};
    made.messages = {{0, 9, 4 * kMiB, 0}};
    cases.push_back(made);
  }
  {
    FabricCase made =
        fred("shared_uplink", "four NPUs send at 3 TB/s into one 1.5 TB/s uplink", 3000 * kGB, 1500 * kGB);
    made.messages = {{0, 4, 4 * kMiB, 0}, {1, 8, 4 * kMiB, 0}, {2, 12, 8 * kMiB, 0}, {3, 16, 4 * kMiB, 0}};
    cases.push_back(made);
  }
  {
    FabricCase made;
    made.name = "switch_incast";
    made.why = "three ports of a switch into one";
    made.fabric = Fabric::kSwitch;
    made.columns = 8;
    made.rows = 1;
    made.bytes_per_s = 750 * kGB;
    made.messages = {{0, 7, 4 * kMiB, 0}, {1, 7, 16 * kMiB, 0}, {2, 7, 8 * kMiB, 2000}};
    cases.push_back(made);
  }
  {
    FabricCase made;
    made.name = "ring_neighbours_and_far";
    made.why = "a flow over three links of a ring meets a local one on each";
    made.fabric = Fabric::kRing;
    made.columns = 8;
    made.rows = 1;
    made.bytes_per_s = 750 * kGB;
    made.messages = {
        {0, 3, 16 * kMiB, 0}, {0, 1, 4 * kMiB, 500}, {1, 2, 8 * kMiB, 1000}, {2, 3, 4 * kMiB, 9000}};
    cases.push_back(made);
  }
  {
    FabricCase made = mesh("short_buffers", "24 KiB taken literally: 6 packets starve 750 GB/s links",
                           {{0, 2, 4 * kMiB, 0}, {1, 2, 4 * kMiB, 0}, {10, 14, 8 * kMiB, 0}});
    made.buffer_packets = 6;
    cases.push_back(made);
  }

  // A switch takes time: it is part of each credit's round trip.
  {
    FabricCase made;
    made.name = "slow_switch";
    made.why = "three flows through a switch of 100 ns, two of them into one port";
    made.fabric = Fabric::kSwitch;
    made.columns = 8;
    made.rows = 1;
    made.bytes_per_s = 750 * kGB;
    made.switch_latency_ns = 100;
    made.messages = {{0, 7, 16 * kMiB, 0}, {1, 6, 16 * kMiB, 0}, {2, 6, 4 * kMiB, 3000}};
    cases.push_back(made);
    made.name = "slow_switch_short_buffers";
    made.why = "12 packets do not cover the round trip of 140 ns";
    made.buffer_packets = 12;
    cases.push_back(made);
  }
  {
    FabricCase made = fred("slow_fred_switches", "four links and three switches of 40 ns, shared on the way",
                           3000 * kGB, 12000 * kGB);
    made.switch_latency_ns = 40;
    made.messages = {{0, 4, 16 * kMiB, 0}, {1, 8, 16 * kMiB, 500}, {2, 4, 8 * kMiB, 1000}};
    cases.push_back(made);
  }
  {
    FabricCase made = fred("slow_switches_sum", "an in-switch all-reduce through switches of 40 ns",
                           3000 * kGB, 12000 * kGB);
    made.switch_latency_ns = 40;
    made.all_reduce = AllReduceCase{"in_switch", 16 * kMiB, {{7, 1000}}};
    cases.push_back(made);
  }

  // A class that goes before another.
  {
    FabricCase made = fred("preempted_sum", "messages go before an in-switch all-reduce, at no cost",
                           3000 * kGB, 12000 * kGB);
    made.preemption = true;
    made.all_reduce = AllReduceCase{"in_switch", 16 * kMiB, {}};
    made.messages = {{0, 9, 4 * kMiB, 1000}, {1, 9, 4 * kMiB, 1500}, {13, 2, 8 * kMiB, 0}};
    cases.push_back(made);
    made.name = "preempted_sum_slow_change";
    made.why = "the same, and switches take 5 ns to change over";
    made.reconfiguration_ps = 5000;
    cases.push_back(made);
    made.name = "preempted_sum_thin_uplinks";
    made.why = "packets of the messages leave gaps in the NPUs' links, which change over each time";
    made.uplink_bytes_per_s = 1500 * kGB;
    cases.push_back(made);
  }
  {
    FabricCase made;
    made.name = "preempted_ring";
    made.why = "messages over one and more links go before a ring all-reduce";
    made.fabric = Fabric::kRing;
    made.columns = 8;
    made.rows = 1;
    made.bytes_per_s = 750 * kGB;
    made.preemption = true;
    made.all_reduce = AllReduceCase{"ring", 16 * kMiB, {}};
    made.messages = {{0, 3, 4 * kMiB, 1000}, {2, 3, 4 * kMiB, 2000}, {6, 5, 8 * kMiB, 0}};
    cases.push_back(made);
  }
  return cases;
}

}  // namespace

std::uint32_t FabricCase::npus() const { return columns * rows; }

const std::vector<FabricCase>& named_cases() {
  static const std::vector<FabricCase> cases = make();
  return cases;
}

}  // namespace fabric_cases

// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.wafer.sites.member; }

namespace wafervp {

void describe_sites(std::vector<Descriptor>& all) {
  constexpr std::uint64_t kMostSites = 256, kMostRate = 1'000'000'000'000'000;
  constexpr double kMostLatency = 1e12;
  Table<Scenario> table(all);
  table.object(
      "/wafer/sites",
      "Sites that are joined by slow links, one each way between any two: wafers of the fabric below, "
      "or single NPUs (a ring of one). The NPUs of a site have consecutive numbers.");
  table.integer("/wafer/sites/count", "sites", 1, 1, kMostSites,
                "Sites that the NPUs are shared out to evenly; 1: a single wafer, without site links.",
                FIELD(count));
  table.integer(
      "/wafer/sites/gateway", "", 0, 0, kMostRate,
      "NPU of each site, counted from its first one, whose router has the links to the other sites.",
      FIELD(gateway));
  table.integer("/wafer/sites/bytes_per_s", "bytes/s", 25000000, 1, kMostRate,
                "Rate of a site link, one direction (200 Mb/s is 25000000). link_rates sets that of a single "
                "one, such as site0->site1.",
                FIELD(bytes_per_s));
  table.number("/wafer/sites/latency_ns", "ns", 50000000, 0, kMostLatency, "Latency of a site link.",
               FIELD(latency_ns));
  table.word("/wafer/sites/wires", "separate",
             "separate: each site link has a wire of its own. shared_inbound: all that comes to a site takes "
             "turns on one wire, in the order in which it is sent.",
             FIELD(wires));
  table.word(
      "/wafer/sites/latency", "pipelined",
      "pipelined: the next message follows at once. occupies: it waits until the one before has arrived, "
      "so that a latency lies between any two.",
      FIELD(latency));
  table.word(
      "/wafer/sites/jitter", "none",
      "How much later a message arrives. uniform: 0 to jitter_ns. normal: standard deviation jitter_ns "
      "about the latency, not before the message is sent. Drawn by the scenario's seed; messages of a "
      "link keep their order.",
      FIELD(jitter));
  table.number("/wafer/sites/jitter_ns", "ns", 0, 0, kMostLatency, "Size of the jitter.", FIELD(jitter_ns));
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.member; }

namespace wafervp {
namespace {

constexpr std::uint64_t kMaxNpus = 65536;
constexpr std::uint64_t kMaxRate = 1000000000000000;  // 1 PB/s
constexpr double kMaxLatency = 1e9;                   // 1 s

void describe_npu(Table<Scenario>& table) {
  table.object("/wafer/npu", "One accelerator.");
  table
      .number("/wafer/npu/peak_flops_per_s", "FLOP/s", 989e12, 0, 1e21,
              "Peak rate of the compute engine. Default: dense FP16 of an H100 SXM (assumption).",
              FIELD(wafer.npu.peak_flops_per_s))
      .above_low = true;
  table
      .number("/wafer/npu/compute_efficiency", "", 0.5, 0, 1,
              "Share of the peak rate that is reached in physical compute mode (assumption).",
              FIELD(wafer.npu.compute_efficiency))
      .above_low = true;
  table.integer("/wafer/npu/hbm_bytes_per_s", "bytes/s", 0, 0, kMaxRate,
                "Memory rate, reads and writes together, of the roofline. 0: compute has no memory term.",
                FIELD(wafer.npu.hbm_bytes_per_s));
  table.integer("/wafer/npu/hbm_bytes", "bytes", 80000000000, 1, std::uint64_t{1} << 50,
                "Memory capacity, which memory.check holds the workload against.",
                FIELD(wafer.npu.hbm_bytes));
  table.integer("/wafer/npu/reduce_bytes_per_s", "bytes/s", 0, 0, kMaxRate,
                "Memory traffic of reductions at the NPU: a reduced byte is two read and one written. "
                "0: they are free, as in the FRED paper.",
                FIELD(wafer.npu.reduce_bytes_per_s));
}

/// How the switches of a FRED fabric are built, and what is done where they cannot carry all flows at once.
void describe_fred_switches(Table<Scenario>& table) {
  table.integer(
      "/wafer/fabric/fred/middles", "networks", 3, 2, 16,
      "m of each switch Fred_m(P): its middle networks. Flows are routed through them when the wafer is "
      "built; with 2 more of them conflict.",
      FIELD(wafer.fabric.fred.middles));
  table.integer(
      "/wafer/fabric/fred/up_ports", "ports", 0, 0, 4096,
      "Ports of an L1 switch towards the next level, for routing; they share the uplink's rate. 0: as many "
      "as it has NPUs.",
      FIELD(wafer.fabric.fred.up_ports));
  table.integer("/wafer/fabric/fred/l2_chips", "chips", 1, 1, 2,
                "Chips of a slice that the uppermost switch is cut into. The paper has two of 10 ports, with "
                "which a few more phases conflict; 1 is the logical switch of 20 (assumption).",
                FIELD(wafer.fabric.fred.l2_chips));
  table.integer(
      "/wafer/fabric/fred/slices", "chips", 5, 1, 64,
      "Chips side by side that each switch is cut into, all configured alike. They are counted in the "
      "wafer's area; a lane is simulated as one.",
      FIELD(wafer.fabric.fred.slices));
  table.integer(
      "/wafer/fabric/fred/store_bytes", "bytes", 1536, 1, std::uint64_t{1} << 30,
      "Memory of a switch for its configurations. Too small a one is an error with structural switches.",
      FIELD(wafer.fabric.fred.store_bytes));
  table.word(
      "/wafer/fabric/fred/remedy", "serialise",
      "What is done about flows of a phase that cannot all be routed at once. serialise: a few of them pass "
      "one at a time; more_middles: all switches have as many middle networks as it takes; endpoint_ring: "
      "NPUs of a few groups do it among themselves; move_workers: ranks are placed on other NPUs. Where one "
      "does not help, flows are serialised.",
      FIELD(wafer.fabric.fred.remedy));
}

void describe_fabric(Table<Scenario>& table) {
  table.object("/wafer/fabric", "The network between the NPUs.").required = true;
  table
      .word("/wafer/fabric/kind", Json(),
            "Shape of the network. The block of the same name holds its sizes and rates; the blocks of the "
            "other "
            "kinds have no effect.",
            FIELD(wafer.fabric.kind))
      .required = true;
  table.object("/wafer/fabric/ring", "Each NPU has a link to both neighbours, in each direction.");
  table.integer("/wafer/fabric/ring/link_bytes_per_s", "bytes/s", 750000000000, 1, kMaxRate,
                "Rate of a link, one direction.", FIELD(wafer.fabric.ring.link_bytes_per_s));
  table.number("/wafer/fabric/ring/link_latency_ns", "ns", 20, 0, kMaxLatency, "Latency of a link.",
               FIELD(wafer.fabric.ring.link_latency_ns));
  table.object("/wafer/fabric/switch", "Each NPU has one link to and one from a central switch.");
  table.integer("/wafer/fabric/switch/link_bytes_per_s", "bytes/s", 3000000000000, 1, kMaxRate,
                "Rate of a link, one direction.", FIELD(wafer.fabric.switch_.link_bytes_per_s));
  table.number("/wafer/fabric/switch/link_latency_ns", "ns", 20, 0, kMaxLatency,
               "Latency of a link; the way from NPU to NPU has two.",
               FIELD(wafer.fabric.switch_.link_latency_ns));
  table.number("/wafer/fabric/switch/switch_latency_ns", "ns", 0, 0, kMaxLatency,
               "Latency of the switch itself.", FIELD(wafer.fabric.switch_.switch_latency_ns));
  table.object(
      "/wafer/fabric/mesh2d",
      "Mesh without wraparound, X-Y routing. NPU n is at x = n % columns, y = n / columns. Defaults: the "
      "baseline wafer of the FRED paper.");
  table.integer("/wafer/fabric/mesh2d/columns", "NPUs", 5, 1, kMaxNpus, "NPUs in a row.",
                FIELD(wafer.fabric.mesh2d.columns));
  table.integer("/wafer/fabric/mesh2d/rows", "NPUs", 4, 1, kMaxNpus, "NPUs in a column.",
                FIELD(wafer.fabric.mesh2d.rows));
  table.integer("/wafer/fabric/mesh2d/link_bytes_per_s", "bytes/s", 750000000000, 1, kMaxRate,
                "Rate of a link, one direction.", FIELD(wafer.fabric.mesh2d.link_bytes_per_s));
  table.number("/wafer/fabric/mesh2d/link_latency_ns", "ns", 20, 0, kMaxLatency, "Latency of a link.",
               FIELD(wafer.fabric.mesh2d.link_latency_ns));
  table.object(
      "/wafer/fabric/fred",
      "Two-level tree of FRED switches. NPU n hangs on L1 switch n / npus_per_l1. Defaults: Fred-D of the "
      "FRED paper.");
  table.integer("/wafer/fabric/fred/l1_switches", "switches", 5, 1, kMaxNpus,
                "L1 switches below the L2 switch.", FIELD(wafer.fabric.fred.l1_switches));
  table.integer("/wafer/fabric/fred/npus_per_l1", "NPUs", 4, 1, kMaxNpus, "NPUs on one L1 switch.",
                FIELD(wafer.fabric.fred.npus_per_l1));
  table.integer("/wafer/fabric/fred/npu_bytes_per_s", "bytes/s", 3000000000000, 1, kMaxRate,
                "Rate between an NPU and its L1 switch, one direction.",
                FIELD(wafer.fabric.fred.npu_bytes_per_s));
  table.integer("/wafer/fabric/fred/uplink_bytes_per_s", "bytes/s", 12000000000000, 1, kMaxRate,
                "Rate between an L1 switch and the L2 switch, one direction.",
                FIELD(wafer.fabric.fred.uplink_bytes_per_s));
  table.number("/wafer/fabric/fred/link_latency_ns", "ns", 20, 0, kMaxLatency, "Latency of a link.",
               FIELD(wafer.fabric.fred.link_latency_ns));
  table.number("/wafer/fabric/fred/switch_latency_ns", "ns", 0, 0, kMaxLatency, "Latency of a switch.",
               FIELD(wafer.fabric.fred.switch_latency_ns));
  table.list("/wafer/fabric/fred/upper_children", "switches", kMaxNpus,
             "Switches of the level below on a switch of level 2, 3, and so on, for trees of more than two "
             "levels; their product is l1_switches. Empty: one L2 switch over all L1 switches.",
             FIELD(wafer.fabric.fred.upper_children));
  table.list("/wafer/fabric/fred/upper_uplink_bytes_per_s", "bytes/s", kMaxRate,
             "Rate from a switch of level 2, 3, and so on up, one direction; where left out, as much as its "
             "children have upwards together.",
             FIELD(wafer.fabric.fred.upper_uplink_bytes_per_s));
  table.boolean("/wafer/fabric/fred/in_network", true,
                "Switches reduce and multicast (Fred-B, Fred-D); false: endpoints do all (Fred-A, Fred-C).",
                FIELD(wafer.fabric.fred.in_network));
  describe_fred_switches(table);
  table.integer(
      "/wafer/fabric/buffer_packets", "packets", 0, 0, 1000000,
      "Buffer of one flow at the end of a link, in packets of 4096 bytes. 0: ceil(rate * round trip / "
      "4096) + 2, where the round trip is that of a credit: 2 * link latency, and the switch's.",
      FIELD(wafer.fabric.buffer_packets));
  table.integer_map("/wafer/fabric/link_rates", KeyKind::kLink, "bytes/s", 1, kMaxRate,
                    "Rates of single links, by name, in place of the fabric's rate: x0y0->x1y0 on a mesh, "
                    "npu0->npu1 on a ring, npu0->switch, npu0->l1_0 and l1_0->l2 on FRED, and back.",
                    FIELD(wafer.fabric.link_rates));
}

void describe_io(Table<Scenario>& table) {
  table.object("/wafer/io",
               "Off-wafer memory. Defaults but the number: the I/O controllers of the FRED paper.");
  table.integer(
      "/wafer/io/controllers", "controllers", 0, 0, kMaxNpus,
      "I/O controllers; 0: none. On a mesh 2 * (columns + rows), one for each side of a boundary NPU; "
      "on FRED spread over the L1 switches.",
      FIELD(wafer.io.controllers));
  table.integer("/wafer/io/channel_bytes_per_s", "bytes/s", 128000000000, 1, kMaxRate,
                "Rate of one controller, each direction.", FIELD(wafer.io.channel_bytes_per_s));
  table.number("/wafer/io/link_latency_ns", "ns", 20, 0, kMaxLatency,
               "Latency between a controller and its router or L1 switch.", FIELD(wafer.io.link_latency_ns));
  table.word("/wafer/io/pacing", "fair",
             "fair: each controller sends no faster than the most loaded link of the wafer lets all of them, "
             "and NPUs send gradients likewise; none: as fast as the channel, so that links are fought for "
             "(exact and slow).",
             FIELD(wafer.io.pacing));
  table.word("/wafer/io/channels", "per_class",
             "Virtual channels of the trees on a mesh. per_class: one for each class of trees (row first, "
             "column first) and direction; one: a single one, which is refused where it can deadlock.",
             FIELD(wafer.io.channels));
}

void describe_firmware(Table<Scenario>& table) {
  table.object("/wafer/firmware", "Collective firmware of the control processors.");
  table.number("/wafer/firmware/step_ns", "ns", 0, 0, kMaxLatency,
               "Time that the firmware takes for one step of a schedule (assumption).",
               FIELD(wafer.firmware.step_ns));
  table.word("/wafer/firmware/all_reduce", "auto",
             "Algorithm of all-reduce. auto: the fastest of ring, hierarchical and in_switch, which the FRED "
             "paper has; best: of ring_both and tree too.",
             FIELD(wafer.firmware.all_reduce),
             {"auto", "ring", "ring_both", "hierarchical", "tree", "in_switch", "best"});
  table.word("/wafer/firmware/reduce_scatter", "auto", "Algorithm of reduce-scatter.",
             FIELD(wafer.firmware.reduce_scatter),
             {"auto", "ring", "ring_both", "hierarchical", "in_switch", "best"});
  table.word("/wafer/firmware/all_gather", "auto", "Algorithm of all-gather.",
             FIELD(wafer.firmware.all_gather),
             {"auto", "ring", "ring_both", "hierarchical", "in_switch", "best"});
  table.word("/wafer/firmware/broadcast", "auto", "Algorithm of broadcast.", FIELD(wafer.firmware.broadcast),
             {"auto", "in_switch", "direct", "relay"});
  table.word("/wafer/firmware/all_to_all", "auto", "Algorithm of all-to-all.",
             FIELD(wafer.firmware.all_to_all), {"auto", "direct"});
  table.integer("/wafer/firmware/chunks", "", 0, 0, 65536,
                "Chunks that a collective is cut into. 0: chosen by the firmware.",
                FIELD(wafer.firmware.chunks));
  table.integer("/wafer/firmware/active_chunks", "", 0, 0, 65536,
                "Chunks of one collective in flight together. 0: all.", FIELD(wafer.firmware.active_chunks));
  table.integer(
      "/wafer/firmware/relay_chunks", "", 0, 0, 65536,
      "Chunks of a relayed broadcast, as which pipeline stages hand over; each is a message of its own "
      "to links and codecs. 0: 64, or 1 between two NPUs of different sites.",
      FIELD(wafer.firmware.relay_chunks));
  table.number(
      "/wafer/firmware/x_first_share", "", -1, -1, 1,
      "Share of the chunks that go along x first in a hierarchical collective on a mesh. Negative: balanced "
      "by link load.",
      FIELD(wafer.firmware.x_first_share));
}

}  // namespace

void describe_wafer(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object("/wafer", "The wafer that is built.").required = true;
  table.integer("/wafer/npus", "NPUs", Json(), 1, kMaxNpus, "Accelerators on the wafer.", FIELD(wafer.npus))
      .required = true;
  describe_npu(table);
  describe_fabric(table);
  describe_flow_control(all);
  describe_io(table);
  describe_sites(all);
  describe_firmware(table);
  describe_compression(all);
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.wafer.fabric.member; }
#define SCRIPTED(member) \
  [](ScriptedError & error) -> auto& { return error.member; }

namespace wafervp {

void describe_flow_control(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object(
      "/wafer/fabric/flow_control",
      "Channels of a link (MP, DP, PP and control), their buffers, who goes first, and what happens "
      "to packets in error. Sizes of the FRED paper: packets of 4096 bytes, control packets of 512.");
  table.word(
      "/wafer/fabric/flow_control/buffers", "round_trip",
      "Buffer of one flow at the end of a link, where buffer_packets is 0. round_trip: what keeps the "
      "link busy. paper: 24 KiB for each 600 GB/s of the link on fred, 24 KiB a link elsewhere; without "
      "room for a packet's own time, which starves links.",
      FIELD(flow_control.buffers));
  table.integer(
      "/wafer/fabric/flow_control/header_bytes", "bytes", 0, 0, 512,
      "Header of a packet on the wire, beside its 4096 bytes of payload (the paper's has 6). A short "
      "packet is charged its share of it.",
      FIELD(flow_control.header_bytes));
  table.word("/wafer/fabric/flow_control/preemption", "off",
             "off: the channels take turns. mp_pp_dp: a packet of a class that stands before another's goes "
             "first, from the next packet boundary on; the others wait in their channel. Streams of "
             "weights go last. See hold_ns too.",
             FIELD(flow_control.preemption));
  table.number(
      "/wafer/fabric/flow_control/reconfiguration_ns", "ns", 0.8547, 0, 1e6,
      "With preemption: time that an output of a FRED switch takes to change from a packet of one class "
      "to one of another. Default: one cycle at 1.17 GHz (assumption).",
      FIELD(flow_control.reconfiguration_ns));
  table.number(
      "/wafer/fabric/flow_control/hold_ns", "ns", 1000, 0, 1e6,
      "With preemption: while an operation between end points is under way, its NPUs send nothing of a class "
      "behind it, and the links of its messages carry nothing of it: not between the steps of a ring either. "
      "An NPU lets go when it has sent its last message, or when nothing of the class was sent or received "
      "for "
      "this long. 0: only packets that are ready go first.",
      FIELD(flow_control.hold_ns));
  table.word("/wafer/fabric/flow_control/hold_scope", "path",
             "With hold_ns: where classes behind an operation wait. path: at its NPUs and on the links of "
             "its messages; "
             "what is stopped in a part of the wafer only may end later than by the operation's time, as its "
             "parts no "
             "longer overlap. wafer: on all links, so that it ends no more than that time later.",
             FIELD(flow_control.hold_scope));
  table.word("/wafer/fabric/flow_control/retransmission", "off",
             "off: no errors, no acknowledgements. go_back_n: a packet in error, and what follows it in its "
             "channel until the sender knows, is sent again; 16 data packets have one acknowledgement.",
             FIELD(flow_control.retransmission));
  table.word("/wafer/fabric/flow_control/acknowledgements", "counted",
             "With go_back_n: what acknowledgements cost. counted: nothing, their bytes are in the results. "
             "charged: the link back carries them too.",
             FIELD(flow_control.acknowledgements));
  table.object("/wafer/fabric/errors", "Transmission errors, with retransmission go_back_n.");
  table.number("/wafer/fabric/errors/bit_error_rate", "", 0, 0, 1,
               "Probability that a bit is in error, on each link. The seed of the scenario draws them.",
               FIELD(errors.bit_error_rate));
  table.records<ScriptedError>(
      "/wafer/fabric/errors/script", 65536, "Single errors at given places.", FIELD(errors.script),
      [](Table<ScriptedError> members) {
        members.text("/link", Json(), 100, "Name of the link, as in link_rates.", SCRIPTED(link)).required =
            true;
        members
            .integer(
                "/packet", "packets", Json(), 1, std::uint64_t{1} << 53,
                "Which packet that the link sends is in error, from 1. A packet that is sent again counts "
                "again; those that followed an error in vain do not.",
                SCRIPTED(packet))
            .required = true;
      });
}

}  // namespace wafervp

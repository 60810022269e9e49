// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"
#include "scenario/version.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.member; }

namespace wafervp {

void describe_head(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table
      .add("/$schema", ValueType::kText, "", Json(),
           "Address of the JSON Schema, for editors; it has no effect.")
      .default_note = "none";
  all.back().most = 4096;
  table
      .integer("/version", "", Json(), kScenarioVersion, kScenarioVersion, "Version of the format.",
               FIELD(version))
      .required = true;
  table
      .add("/base", ValueType::kText, "", Json(),
           "File that this one is merged onto (RFC 7386), relative to this file.")
      .default_note = "none";
  all.back().most = 4096;
  table.text("/name", "", 200, "Name, for reports.", FIELD(name));
  table.text("/comment", "", 100000, "Anything; it has no effect.", FIELD(comment));
}

void describe_run(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object("/detail", "Levels of detail.");
  table.name("/detail/control_processor", "host", {"host"}, "host: the firmware compiled for this machine.",
             FIELD(detail.control_processor));
  table.word("/detail/data", "none", "none: sizes only; values: real payloads, reduced in the fabric.",
             FIELD(detail.data));
  table
      .name("/detail/fred_switch", "behavioural", {"behavioural", "structural"},
            "Model of a FRED switch. behavioural: sums and copies of whole flows; structural: each sum and "
            "copy "
            "by the uswitches from the bits of a configuration, with the same values and times. rtl is not "
            "there "
            "yet.",
            FIELD(detail.fred_switch))
      .words_to_come = {"rtl"};
  table.word("/detail/grain", "auto", "auto: runs of packets; packet: every packet on its own.",
             FIELD(detail.grain));
  table.integer("/detail/train_packets", "packets", 4, 1, 65536,
                "grain auto: longest run of packets where flows contend.", FIELD(detail.train_packets));
  table.object("/memory", "Memory of the NPUs.");
  table.word("/memory/check", "error",
             "What happens when weights, gradients, optimiser state and activations do not fit.",
             FIELD(memory_check));
  table.object("/limits", "When a run ends by itself.");
  table.number("/limits/time_ns", "ns", 0, 0, 1e15, "Simulated time. 0: no limit.", FIELD(limits.time_ns));
  table.integer("/limits/value_bytes", "bytes", 1073741824, 0, std::uint64_t{1} << 40,
                "data values: payload bytes that may be held.", FIELD(limits.value_bytes));
  table.number("/limits/wall_s", "s", 0, 0, 1e9, "Time of the run itself. 0: no limit.",
               FIELD(limits.wall_s));
  table.object("/outputs", "What is written.");
  table.boolean("/outputs/statistics", true, "Counters per link and NPU.", FIELD(outputs.statistics));
  table.boolean("/outputs/trace", false, "A timeline in Chrome's trace-event format.", FIELD(outputs.trace));
  table.integer("/seed", "", 1, 0, ~std::uint64_t{0},
                "Of the links' errors (/wafer/fabric/errors/bit_error_rate), of jitter, and of weights, data "
                "and subspace of a "
                "functional training; a searched placement has one of its own.",
                FIELD(seed));
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.wafer.compression.member; }

namespace wafervp {
namespace {

constexpr std::uint64_t kMaxRate = 1000000000000000;     // 1 PB/s
constexpr std::uint64_t kMaxMacs = 1000000000000000000;  // 1e18/s
constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 32;

void describe_codec(Table<Scenario>& table) {
  table.object("/wafer/compression/codec",
               "Parameters of the codecs that the policy names; each codec takes those that it has.");
  table.word(
      "/wafer/compression/codec/values", "workload",
      "Type of the values in messages. workload: that of the collective or of the functional training, else "
      "fp16.",
      FIELD(codec.values));
  table.integer("/wafer/compression/codec/width", "elements", 0, 0, kMaxWidth,
                "Length of a row, d of the subspace codec. 0: the model's hidden size; without a model a "
                "message is one row, which subspace, low_rank and zfp refuse.",
                FIELD(codec.width));
  table.integer("/wafer/compression/codec/k", "elements", 0, 0, kMaxWidth,
                "subspace: dimension of the subspace, 1 up to the width. top_k: elements of a row that are "
                "kept; 0: by the fraction.",
                FIELD(codec.k));
  table.integer(
      "/wafer/compression/codec/id_bytes", "bytes", 4, 0, 8,
      "subspace: bytes of a token id in forward messages, one id a row: 0, 2, 4 or 8. 0: no ids, and "
      "nothing that they stand for is taken off before the projection.",
      FIELD(codec.id_bytes));
  table.word("/wafer/compression/codec/coefficients", "values",
             "subspace: type of the coefficients on the wire. values: that of the values.",
             FIELD(codec.coefficients));
  table.word("/wafer/compression/codec/cast_to", "bf16", "cast: type on the wire.", FIELD(codec.cast_to));
  table.integer("/wafer/compression/codec/block", "elements", 128, 1, 65536,
                "int8, int4: consecutive elements with one scale.", FIELD(codec.block));
  table.word("/wafer/compression/codec/scale", "fp32", "int8, int4: type of the scales.", FIELD(codec.scale));
  table
      .number("/wafer/compression/codec/fraction", "", 0.1, 0, 1,
              "top_k: share of a row's elements that is kept, rounded up, where k is 0.",
              FIELD(codec.fraction))
      .above_low = true;
  table
      .number("/wafer/compression/codec/density", "", 0.01, 0, 1,
              "threshold: share of the elements that a new threshold lets through.", FIELD(codec.density))
      .above_low = true;
  table.integer("/wafer/compression/codec/rank", "columns", 4, 1, 1048576, "low_rank: columns of a factor.",
                FIELD(codec.rank));
  table.number("/wafer/compression/codec/bits_per_value", "bits", 8, 1, 64, "zfp: size of the image.",
               FIELD(codec.bits_per_value));
  table.number("/wafer/compression/codec/assumed_ratio", "", 0, 0, 1e6,
               "lossless, threshold: dense over wire bytes where no values travel. 0: 1.3 for lossless, by "
               "the density for threshold (assumptions).",
               FIELD(codec.assumed_ratio));
}

void describe_unit(Table<Scenario>& table) {
  table.object("/wafer/compression/unit",
               "How fast a unit is: setup, then the slowest of values, arithmetic and payload, then the "
               "filling of its pipeline; the next message may follow after the second.");
  table.word(
      "/wafer/compression/unit/preset", "unit",
      "unit: hardware of its own; 1 GHz, 64 bytes of values and 32 times k multiply-accumulates a cycle (k "
      "of the subspace codec, rank of low_rank, else 1), 20 ns. kernel: on the accelerator; values at the "
      "rate of its memory, half its FLOP/s, 5 us, "
      "without taking time from its compute engine. Both are assumptions.",
      FIELD(unit.preset));
  table.integer("/wafer/compression/unit/clock_hz", "Hz", 0, 0, kMaxRate, "Clock. 0: of the preset.",
                FIELD(unit.clock_hz));
  table.integer("/wafer/compression/unit/dense_bytes_per_s", "bytes/s", 0, 0, kMaxRate,
                "Rate of the values, each pass over them. 0: of the preset.", FIELD(unit.dense_bytes_per_s));
  table.integer("/wafer/compression/unit/macs_per_s", "1/s", 0, 0, kMaxMacs,
                "Multiply-accumulate operations. 0: of the preset.", FIELD(unit.macs_per_s));
  table.integer("/wafer/compression/unit/wire_bytes_per_s", "bytes/s", 0, 0, kMaxRate,
                "Rate of the payload. 0: no limit but the links.", FIELD(unit.wire_bytes_per_s));
  table.number("/wafer/compression/unit/setup_ns", "ns", -1, -1, 1e9,
               "Setup of a message. Negative: of the preset.", FIELD(unit.setup_ns));
  table.integer("/wafer/compression/unit/fill_cycles", "cycles", 0, 0, 1000000,
                "Cycles to fill the pipeline besides those of the codec.", FIELD(unit.fill_cycles));
  table.word(
      "/wafer/compression/unit/forwarding", "preset",
      "When a compressed message goes on. packets: each packet as soon as the unit has made it, and the "
      "far end begins with the first that comes; codecs that need the whole message first (top_k, "
      "low_rank, lossless) wait for it. messages: when all of it is there. preset: packets for a unit, "
      "messages for a kernel.",
      FIELD(unit.forwarding));
}

}  // namespace

void describe_compression(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object("/wafer/compression", "Units that make messages smaller on their way through the fabric.");
  table.word("/wafer/compression/placement", "off",
             "Where units stand. npu: between each NPU and its links; npu_and_io: at the I/O controllers "
             "too, which streams of weights need. fred_ports: at both ends of links of a FRED fabric, for "
             "each packet by itself, so that switches see the values and sum them.",
             FIELD(placement));
  table.word("/wafer/compression/links", "between_switches",
             "fred_ports: which links have units. between_switches: from L1 switches up, on all levels; all: "
             "those to NPUs and I/O controllers too.",
             FIELD(links));
  table.object("/wafer/compression/policy",
               "Codec of each traffic class (wafervp list codecs). What one message holds goes through it "
               "as a whole: a chunk of a collective, a hand-over of a pipeline.");
  table.word("/wafer/compression/policy/mp", "none", "Codec of model-parallel collectives.",
             FIELD(policy.mp));
  table.word("/wafer/compression/policy/pp", "none",
             "Codec of activations and their gradients between stages of a pipeline, and of messages.",
             FIELD(policy.pp));
  table.word("/wafer/compression/policy/dp", "none", "Codec of data-parallel collectives.", FIELD(policy.dp));
  table.word("/wafer/compression/policy/streaming", "none",
             "Codec of what is loaded from off-wafer memory. What is stored there is summed on its way, and "
             "goes as it is.",
             FIELD(policy.streaming));
  describe_codec(table);
  describe_unit(table);
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
// The unit alone against its law, facts of arXiv 2506.01260's units: setup + max(values, arithmetic, payload)
// + pipeline, and the next message after the max. Expected figures are written out here, not taken from the
// unit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bench.h"
#include "router/stage_arithmetic.h"

namespace wafervp::test {
namespace {

using namespace compression;

constexpr double kPs = 1e12;

/// What one message of `rows` x `width` asks of a unit, by the definition of its codec.
struct Expected {
  double passes = 1, macs = 0, wire = 0;
  bool fixed_size = true;
  bool streams = true;
};
struct Case {
  const char* name;
  CodecConfig codec;
  Expected (*expected)(double rows, double width, double element);
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

constexpr double kK = 40, kRank = 4, kBlock = 128, kTop = 32;

std::vector<Case> cases() {
  SubspaceConfig subspace;
  subspace.dimension = 1024;
  subspace.k = static_cast<std::uint64_t>(kK);
  subspace.id_bytes = 4;
  TopKConfig top;
  top.k = static_cast<std::uint64_t>(kTop);
  top.index = IndexWidth::k16;
  IntBlockConfig int4;
  int4.bits = 4;
  LowRankConfig low_rank;
  low_rank.rank = static_cast<std::uint64_t>(kRank);
  ThresholdConfig threshold;
  threshold.assumed_ratio = 20;
  LosslessConfig lossless;
  lossless.assumed_ratio = 1.3;
  return {
      {"bypass", BypassConfig{},
       [](double r, double w, double e) {
         return Expected{1, 0, r * w * e};
       }},
      {"cast", CastConfig{},
       [](double r, double w, double) {
         return Expected{1, 0, r * w * 2};
       }},
      {"int8", IntBlockConfig{},
       [](double r, double w, double) {
         return Expected{1, 0, r * w + r * w / kBlock * 4};
       }},
      {"int4", int4,
       [](double r, double w, double) {
         return Expected{1, 0, r * w / 2 + r * w / kBlock * 4};
       }},
      {"top_k", top,
       [](double r, double, double e) {
         return Expected{4, 0, r * kTop * (e + 2), true, false};
       }},
      {"threshold", threshold,
       [](double r, double w, double e) {
         return Expected{1, 0, r * w * e / 20, false};
       }},
      {"low_rank", low_rank,
       [](double r, double w, double e) {
         return Expected{2, -1, kRank * (r + w) * e, true, false};
       }},
      {"subspace", subspace,
       [](double r, double w, double e) {
         return Expected{1, r * w * kK, r * kK * e};
       }},
      {"lossless", lossless,
       [](double r, double w, double e) {
         return Expected{2, 0, r * w * e / 1.3, false, false};
       }},
      {"zfp", ZfpConfig{},
       [](double r, double w, double) {
         return Expected{1, 0, r * w};
       }},
  };
}

CompressionRates some_rates(double wire) {
  CompressionRates rates;
  rates.clock_hz = 1'000'000'000;
  rates.dense_bytes_per_s = 64'000'000'000;
  rates.macs_per_s = 700'000'000'000;  // slower than the values for the subspace
  rates.wire_bytes_per_s = static_cast<std::uint64_t>(wire);
  rates.setup_ps = 20'000;
  return rates;
}

class EveryCodec : public testing::TestWithParam<Case> {};

void expect_law(const Case& given, double wire_rate) {
  constexpr std::uint64_t kRows = 64, kWidth = 1024, kMessages = 50;
  const Element element = Element::kFp32;
  const double size = 4, values = kRows * kWidth * size;
  const Expected expected = given.expected(kRows, kWidth, size);
  const auto config = config_of(given.codec, kWidth, element, some_rates(wire_rate));
  Bench bench(config);
  const Codec& codec = *config.uses[0][0].codec;
  const Shape shape{kRows, kWidth, element};
  const Cost cost = codec.compress_cost(shape, Direction::kBackward);
  const double macs = expected.macs < 0 ? static_cast<double>(cost.macs) : expected.macs;
  // 16 elements a cycle of 1 GHz.
  const auto fill = [](const Cost& of) {
    return std::ceil(static_cast<double>(of.fill_elements) / 16) + static_cast<double>(of.fill_cycles);
  };
  const double busy = std::max({values * expected.passes / 64e9, macs / 700e9, expected.wire / wire_rate});
  const double last = 20e-9 + kMessages * busy + fill(cost) * 1e-9;

  std::vector<CompressedMessage> sent;
  for (std::uint64_t i = 0; i < kMessages; ++i) sent.push_back(bench.dut.compress(dense(values, 2), 0));
  EXPECT_NEAR(static_cast<double>(sent.back().made) / kPs / last, 1, 1e-3);
  EXPECT_NEAR(static_cast<double>(sent.back().bytes) / expected.wire, 1, expected.fixed_size ? 1e-12 : 1e-3);
  EXPECT_EQ(sent.front().bytes * kMessages, bench.dut.statistics().egress.wire_bytes);
  EXPECT_EQ(bench.dut.statistics().egress.dense_bytes, kMessages * static_cast<std::uint64_t>(values));

  const Cost back = codec.decompress_cost(shape, Direction::kBackward);
  const double back_busy = std::max({values * static_cast<double>(back.passes) / 64e9,
                                     static_cast<double>(back.macs) / 700e9, expected.wire / wire_rate});
  for (const CompressedMessage& message : sent) bench.arrive(message, sent.back().made);
  bench.run();
  ASSERT_EQ(bench.delivered.size(), kMessages);
  EXPECT_EQ(bench.delivered.back().bytes, static_cast<std::uint64_t>(values));
  const double end = 20e-9 + kMessages * back_busy + fill(back) * 1e-9;
  EXPECT_NEAR(static_cast<double>(bench.delivered.back().when - sent.back().made) / kPs / end, 1, 1e-3);
  EXPECT_EQ(bench.messages.outstanding(), 0u);
  EXPECT_TRUE(bench.dut.idle());
}

/// Messages one after the other without a gap on a wire of `wire` bytes a second, which is slower than the
/// unit or faster: the first packet leaves when it is made, and decompression begins when it is here.
void expect_packets(const Case& given, double wire_rate) {
  constexpr std::uint64_t kRows = 64, kWidth = 1024, kMessages = 20;
  const double size = 4, values = kRows * kWidth * size, packet = 4096;
  const Expected expected = given.expected(kRows, kWidth, size);
  const auto config = config_of(given.codec, kWidth, Element::kFp32, some_rates(1e12));
  Bench bench(config);
  const Codec& codec = *config.uses[0][0].codec;
  const Shape shape{kRows, kWidth, Element::kFp32};
  const auto busy_of = [&](const Cost& of) {
    return std::max({values * static_cast<double>(of.passes) / 64e9, static_cast<double>(of.macs) / 700e9,
                     expected.wire / 1e12});
  };
  const auto fill_of = [](const Cost& of) {
    return 1e-9 *
           (std::ceil(static_cast<double>(of.fill_elements) / 16) + static_cast<double>(of.fill_cycles));
  };
  const Cost there = codec.compress_cost(shape, Direction::kBackward);
  const Cost back = codec.decompress_cost(shape, Direction::kBackward);

  const CompressedMessage sent = bench.dut.compress(dense(values, 2), 0);
  const double made = 20e-9 + busy_of(there) + fill_of(there);
  EXPECT_NEAR(static_cast<double>(sent.made) / kPs / made, 1, 1e-3);
  const double begins = expected.streams ? 20e-9 + fill_of(there) : made;
  EXPECT_NEAR(static_cast<double>(sent.ready) / kPs / begins, 1, 1e-3);

  const Rate wire(static_cast<std::uint64_t>(wire_rate));
  const Time first = 1'000'000'000;
  std::vector<double> expected_ends;
  double free_at = 0, last_done = 0;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const Time end = first + wire.ps(sent.bytes * (i + 1));
    bench.arrive(sent, end, i, &wire);
    const double last = static_cast<double>(end) / kPs, bytes = static_cast<double>(sent.bytes);
    const double last_packet = std::fmod(bytes - 1, packet) + 1;
    const double head = expected.streams ? last - (bytes - std::min(bytes, packet)) / wire_rate : last;
    const double share = busy_of(back) * last_packet / bytes;
    free_at = std::max(std::max(head + 20e-9, free_at) + busy_of(back), last + share);
    last_done = std::max(last_done, free_at + fill_of(back));
    expected_ends.push_back(last_done);
  }
  bench.run();
  ASSERT_EQ(bench.delivered.size(), kMessages);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const double found = static_cast<double>(bench.delivered[i].when - first) / kPs;
    EXPECT_NEAR(found / (expected_ends[i] - 1e-3), 1, 1e-3) << "message " << i;
    EXPECT_GE(bench.delivered[i].when, first + wire.ps(sent.bytes * (i + 1)));
  }
}

TEST_P(EveryCodec, GoesOnPacketByPacketOnASlowWire) { expect_packets(GetParam(), 5e9); }
TEST_P(EveryCodec, GoesOnPacketByPacketOnAFastWire) { expect_packets(GetParam(), 3e12); }
TEST_P(EveryCodec, KeepsTheLawWhereValuesOrArithmeticLimit) { expect_law(GetParam(), 1e12); }
TEST_P(EveryCodec, KeepsTheLawWhereThePayloadLimits) { expect_law(GetParam(), 1e8); }

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, testing::ValuesIn(cases()),
                         [](const auto& given) { return std::string(given.param.name); });

CodecConfig subspace_of(std::uint64_t d, std::uint64_t k) {
  SubspaceConfig config;
  config.dimension = d;
  config.k = k;
  config.id_bytes = 4;
  return config;
}

TEST(Unit, HasThePresetsOfItsFacts) {
  // d 4096, k 40, bf16, 1024 rows: 32 elements a cycle, so 4096 * 1024 / 32 cycles; the first coefficient
  // after a whole row and 16 cycles: 144 ns.
  const auto config = config_of(subspace_of(4096, 40), 4096, Element::kBf16, CompressionRates::unit(40));
  Bench bench(config);
  const auto sent = bench.dut.compress(dense(1024 * 4096 * 2, 1), 0);
  EXPECT_EQ(sent.bytes, 1024u * (40 * 2 + 4));
  EXPECT_EQ(sent.made, 20'000u + 131'072'000u + 144'000u);
  const auto back = bench.dut.compress(dense(1024 * 4096 * 2, 2), sent.made);
  EXPECT_EQ(back.bytes, 1024u * 40 * 2);

  const CompressionRates kernel = CompressionRates::kernel(3'000'000'000'000, 1e15);
  EXPECT_EQ(kernel.setup_ps, 5'000'000u);
  EXPECT_EQ(kernel.macs_per_s, 500'000'000'000'000u);
  EXPECT_EQ(kernel.dense_bytes_per_s, 3'000'000'000'000u);
}

TEST(Unit, OverlapsSetupAndPipelineWithNeighboursOnly) {
  CompressionRates rates;
  rates.clock_hz = 1'000'000'000;
  rates.dense_bytes_per_s = 4'000'000'000;  // one fp32 element a ns
  rates.setup_ps = 100'000;
  rates.fill_cycles = 10;
  Bench bench(config_of(BypassConfig{}, 0, Element::kFp32, rates));
  const auto ready = [&](std::uint64_t elements, Time at) {
    return bench.dut.compress(dense(4 * elements), at).made;
  };
  EXPECT_EQ(ready(50, 0), 160'000u);            // 100 + 50 + 10 ns
  EXPECT_EQ(ready(30, 10'000), 190'000u);       // begins at 150, where the one before ends
  EXPECT_EQ(ready(20, 1'000'000), 1'130'000u);  // alone: 100 + 20 + 10
  EXPECT_EQ(bench.dut.statistics().egress.busy_ps, 100'000u);
}

TEST(Unit, EnginesDoNotWaitForEachOther) {
  CompressionRates rates;
  rates.dense_bytes_per_s = 1'000'000'000;
  Bench bench(config_of(BypassConfig{}, 0, Element::kFp32, rates));
  const auto sent = bench.dut.compress(dense(1000), 0);
  EXPECT_EQ(sent.ready, 1'000'000u);
  bench.arrive(sent, 10);
  bench.run();
  EXPECT_EQ(bench.delivered.at(0).when, 1'000'010u);
}

TEST(Unit, KernelsWorkOnWholeMessages) {
  CompressionRates rates = CompressionRates::kernel(1'000'000'000'000, 1e15);
  Bench bench(config_of(CastConfig{}, 0, Element::kFp32, rates));
  const auto sent = bench.dut.compress(dense(1'000'000), 0);
  EXPECT_EQ(sent.ready, sent.made);
  EXPECT_EQ(sent.made, 6'000'000u);  // 5 us and 1 us
  const Rate wire(500'000'000'000);  // 500,000 bytes in 1 us
  bench.arrive(sent, 8'000'000, 0, &wire);
  bench.run();
  EXPECT_EQ(bench.delivered.at(0).when, 14'000'000u);
}

TEST(Unit, TakesWhatIsLeftOfAShortenedRun) {
  // The promise of the first packets is taken back, and they come later, in two runs.
  CompressionRates rates;
  rates.dense_bytes_per_s = 16'000'000'000;
  Bench bench(config_of(BypassConfig{}, 0, Element::kFp32, rates));
  const auto sent = bench.dut.compress(dense(4 * 4096), 0);
  const Rate wire(4'096'000'000);  // a packet each us
  Message& message = *bench.messages.acquire();
  message.flow = &bench.flow;
  message.bytes = sent.bytes;
  message.first_packet = 0;
  message.packets = 4;
  message.source = NpuId(7);
  message.dtype = sent.dtype;
  message.data = sent.data;
  const auto promise = [&](std::uint32_t first, std::uint32_t count, Time origin) {
    wafervp::Run run = wafervp::Run::from_source(message, origin);
    run.rate = &wire;
    run.first = first;
    run.last = first + count == 4;
    run.count = count;
    FabricPhase phase = FabricPhase::kHead;
    sc_core::sc_time delay;
    bench.dut.nb_transport_fw(run, phase, delay);
  };
  bench.at(0, [&] { promise(0, 4, 1'000'000); });    // first packet at 2 us
  bench.at(10, [&] { promise(0, 0, 1'000'000); });   // taken back
  bench.at(20, [&] { promise(0, 2, 9'000'000); });   // at 10 and 11 us
  bench.at(30, [&] { promise(2, 2, 20'000'000); });  // at 21 and 22 us
  bench.run();
  // 0.256 us of work for the last packet.
  EXPECT_EQ(bench.delivered.at(0).when, 22'256'000u);
}

TEST(Unit, HasFewPaces) {
  Bench bench(config_of(BypassConfig{}, 0, Element::kFp32, {}));
  // Never slower, and by no more than 2^-13 faster.
  for (const Time span : {Time{999}, Time{1'234'567}, Time{987'654'321'012}}) {
    const Rate& pace = bench.dut.pace(1'000'000'007, span);
    EXPECT_LE(pace.ps(1'000'000'007), span);
    EXPECT_GE(static_cast<double>(pace.ps(1'000'000'007)) + 1, static_cast<double>(span) * (1 - 1.0 / 8192));
  }
  EXPECT_EQ(&bench.dut.pace(1'000'000, 1'000'000), &bench.dut.pace(999'990, 1'000'000));
}

TEST(Unit, LetsOtherMessagesPass) {
  CompressionRates rates;
  rates.setup_ps = 500;
  auto config = config_of(BypassConfig{}, 0, Element::kFp32, rates);
  config.uses[3][0].codec = nullptr;
  config.uses[2][3].compresses = false;
  Bench bench(config);
  EXPECT_TRUE(bench.dut.compresses(1, 0));
  EXPECT_FALSE(bench.dut.compresses(3, 0));
  EXPECT_FALSE(bench.dut.compresses(2, 3));
  bench.arrive({64, 0, 0, nullptr, 0}, 700);
  bench.run();
  ASSERT_EQ(bench.delivered.size(), 1u);
  EXPECT_EQ(bench.delivered[0].when, 700u);
  EXPECT_EQ(bench.delivered[0].bytes, 64u);
}

TEST(Unit, PutsValuesThroughTheCodec) {
  CompressionRates rates;
  Bench bench(config_of(CastConfig{}, 0, Element::kFp32, rates, true));
  const std::vector<float> values = {1.0f, 1.001f, -3.14159f, 0.0f, 65504.5f};
  auto data = std::make_shared<std::vector<std::byte>>(values.size() * 4);
  std::memcpy(data->data(), values.data(), data->size());
  const auto sent = bench.dut.compress(dense(data->size(), 0, data), 0);
  EXPECT_EQ(sent.bytes, values.size() * 2);
  EXPECT_EQ(sent.data->size(), values.size() * 2);
  bench.arrive(sent, 1);
  bench.run();
  ASSERT_EQ(bench.delivered.at(0).data.size(), data->size());
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float back;
    std::memcpy(&back, bench.delivered[0].data.data() + 4 * i, 4);
    EXPECT_EQ(back, float_from_bf16(bf16_from_float(values[i])));
    errors += std::pow(double{back} - double{values[i]}, 2);
    squares += std::pow(double{values[i]}, 2);
  }
  EXPECT_DOUBLE_EQ(bench.dut.statistics().errors_squared, errors);
  EXPECT_DOUBLE_EQ(bench.dut.statistics().values_squared, squares);
}

TEST(Unit, FillsUpTheLastRow) {
  // 10 elements in rows of 4: a block of zfp has 4 x 4 of them.
  Bench bench(config_of(ZfpConfig{}, 4, Element::kFp32, {}, true));
  auto data = std::make_shared<std::vector<std::byte>>(40, std::byte{0});
  const auto sent = bench.dut.compress(dense(40, 0, data), 0);
  bench.arrive(sent, 1);
  bench.run();
  EXPECT_EQ(bench.delivered.at(0).bytes, 40u);
  EXPECT_EQ(bench.delivered.at(0).data, *data);
}

/// U with orthonormal columns: the first `k` unit vectors, turned in pairs of rows so that nothing is
/// trivial.
std::shared_ptr<const Subspace> some_subspace(std::uint64_t d, std::uint64_t k) {
  Matrix<double> u(d, k);
  for (std::uint64_t j = 0; j < k; ++j) {
    u.row(2 * j)[j] = 0.6;
    u.row(2 * j + 1)[j] = 0.8;
  }
  return std::make_shared<Subspace>(std::move(u), 1);
}

TEST(Unit, GradientsOfOneSubspaceAddUpOnTheWay) {
  constexpr std::uint64_t kRows = 3, kWidth = 16, kSmall = 4;
  SubspaceConfig config;
  config.dimension = kWidth;
  config.k = kSmall;
  config.id_bytes = 4;
  config.subspace = some_subspace(kWidth, kSmall);
  Bench bench(config_of(config, kWidth, Element::kFp64, {}, true));
  std::vector<Bytes> inputs;
  std::vector<double> sum(kRows * kWidth);
  CompressedMessage sent{};
  for (int sender = 0; sender < 3; ++sender) {
    std::vector<double> gradient(kRows * kWidth);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = std::sin(static_cast<double>(i) + 10.0 * sender);
      sum[i] += gradient[i];
    }
    auto data = std::make_shared<std::vector<std::byte>>(gradient.size() * 8);
    std::memcpy(data->data(), gradient.data(), data->size());
    sent = bench.dut.compress(dense(data->size(), 2, data), 0);
    inputs.push_back(sent.data);
  }
  EXPECT_EQ(
      CompressedData::of(inputs[0]).difference(CompressedData::of(inputs[0]), CompressedData::of(inputs[2])),
      "");
  sent.data = port_tree_sum({0, 1, 2}, inputs, element_of(sent.dtype & 0x7f));
  bench.arrive(sent, 1);
  bench.run();
  std::vector<double> back(kRows * kWidth);
  ASSERT_EQ(bench.delivered.at(0).data.size(), back.size() * 8);
  std::memcpy(back.data(), bench.delivered[0].data.data(), back.size() * 8);
  for (std::uint64_t row = 0; row < kRows; ++row) {
    for (std::uint64_t column = 0; column < kWidth; ++column) {
      // The pair of rows 2 j, 2 j + 1 of U has 0.6 and 0.8.
      const std::uint64_t j = column / 2;
      const double* x = sum.data() + row * kWidth;
      const double expected =
          j < kSmall ? (0.6 * x[2 * j] + 0.8 * x[2 * j + 1]) * (column % 2 == 0 ? 0.6 : 0.8) : 0;
      EXPECT_NEAR(back[row * kWidth + column], expected, 1e-14);
    }
  }
}

/// The text of the fault when `there` takes a message of `here`.
std::string fault(Bench& here, Bench& there, std::uint64_t bytes) {
  there.arrive(here.dut.compress(dense(bytes, 1), 0), 10);
  try {
    there.run();
  } catch (const CompressionFault& found) {
    EXPECT_TRUE(there.delivered.empty());
    return found.what();
  }
  return "";
}

TEST(Unit, RefusesAnotherK) {
  Bench here(config_of(subspace_of(64, 8), 64, Element::kFp32, {}), "here");
  Bench there(config_of(subspace_of(64, 4), 64, Element::kFp32, {}), "there");
  EXPECT_EQ(fault(here, there, 256), "NPU 3: message from 7: subspace: expected k 4, found k 8");
}
TEST(Unit, RefusesAnotherVersionOfU) {
  Bench here(config_of(subspace_of(64, 8), 64, Element::kFp32, {}), "here");
  Bench there(config_of(subspace_of(64, 8), 64, Element::kFp32, {}), "there");
  there.dut.write32(0x010, 4 * 1 + 1);
  there.dut.write32(0x01c, 2);
  EXPECT_EQ(fault(here, there, 256),
            "NPU 3: message from 7: subspace: expected version 2 of U, found version 0");
}
SubspaceConfig with_values() {
  SubspaceConfig config = std::get<SubspaceConfig>(subspace_of(64, 8));
  config.subspace = Subspace::random(64, 8, 1);
  config.id_bytes = 0;
  return config;
}
std::shared_ptr<const Subspace> next_subspace(std::size_t k) {
  return std::make_shared<const Subspace>(Subspace::random(64, k, 2)->u(), 2);
}
TEST(Unit, TakesTheNextU) {
  // A codec each, as the units of a run have.
  Bench here(config_of(with_values(), 64, Element::kFp64, {}, true), "here");
  Bench there(config_of(with_values(), 64, Element::kFp64, {}, true), "there");
  EXPECT_THROW(here.dut.set_subspace(next_subspace(4)), CompressionFault);
  const auto next = next_subspace(8);
  here.dut.set_subspace(next);
  there.dut.set_subspace(next);
  here.dut.write32(0x010, 4 * 1 + 1);
  EXPECT_EQ(here.dut.read32(0x01c), 2u);
  // The first column of the next U lies in it, and comes back.
  auto data = std::make_shared<std::vector<std::byte>>(512);
  for (std::size_t i = 0; i < 64; ++i) std::memcpy(data->data() + 8 * i, next->u().row(i), 8);
  there.arrive(here.dut.compress(dense(512, 1, data), 0), 10);
  there.run();
  ASSERT_EQ(there.delivered.at(0).data.size(), 512u);
  for (std::size_t i = 0; i < 64; ++i) {
    double back;
    std::memcpy(&back, there.delivered[0].data.data() + 8 * i, 8);
    EXPECT_NEAR(back, next->u().row(i)[0], 1e-14);
  }
}
TEST(Unit, RefusesTheNextUWhileItHasTheLastOne) {
  Bench here(config_of(with_values(), 64, Element::kFp64, {}, true), "here");
  Bench there(config_of(with_values(), 64, Element::kFp64, {}, true), "there");
  here.dut.set_subspace(next_subspace(8));
  EXPECT_EQ(fault(here, there, 512),
            "NPU 3: message from 7: subspace: expected version 0 of U, found version 2");
}
TEST(Unit, CountsEachTrafficClass) {
  auto config = config_of(CastConfig{}, 0, Element::kFp32, {}, true);
  Bench bench(config);
  const auto data = std::make_shared<std::vector<std::byte>>(64);
  const float value = 1.001f;
  for (std::size_t i = 0; i < 16; ++i) std::memcpy(data->data() + 4 * i, &value, 4);
  DenseMessage message = dense(64, 0, data);
  message.traffic_class = 2;  // DP
  bench.dut.compress(message, 0);
  bench.dut.compress(message, 0);
  message.traffic_class = 0;  // MP
  bench.dut.compress(message, 0);
  const double error = std::pow(float_from_bf16(bf16_from_float(value)) - value, 2);
  const auto& data_parallel = bench.dut.statistics(TrafficClass::kDataParallel);
  EXPECT_EQ(data_parallel.messages, 2u);
  EXPECT_EQ(data_parallel.dense_bytes, 128u);
  EXPECT_EQ(data_parallel.wire_bytes, 64u);
  EXPECT_NEAR(data_parallel.errors_squared, 32 * error, 1e-12 * error);
  EXPECT_NEAR(data_parallel.values_squared, 32 * double{value} * double{value}, 1e-9);
  EXPECT_EQ(bench.dut.statistics(TrafficClass::kModelParallel).messages, 1u);
  EXPECT_EQ(bench.dut.statistics(TrafficClass::kPipeline).messages, 0u);
}
TEST(Unit, RefusesAnotherCodec) {
  Bench here(config_of(CastConfig{}, 64, Element::kFp32, {}), "here");
  Bench there(config_of(IntBlockConfig{}, 64, Element::kFp32, {}), "there");
  EXPECT_EQ(fault(here, there, 256), "NPU 3: message from 7: expected codec int8, found cast");
}
TEST(Unit, RefusesAMessageThatIsNotRows) {
  Bench here(config_of(subspace_of(64, 8), 64, Element::kFp32, {}), "here");
  try {
    here.dut.compress(dense(300, 1), 0);
    FAIL();
  } catch (const CompressionFault& found) {
    EXPECT_STREQ(found.what(),
                 "NPU 3: subspace: expected whole rows of 64 fp32 (256 bytes), found a message of 300 bytes");
  }
}
TEST(Unit, RefusesValuesWithoutTokenIds) {
  SubspaceConfig config = std::get<SubspaceConfig>(subspace_of(64, 8));
  config.subspace = Subspace::random(64, 8, 1);
  auto whole = config_of(config, 64, Element::kFp32, {}, true);
  Bench here(whole, "here");
  auto data = std::make_shared<std::vector<std::byte>>(256, std::byte{0});
  EXPECT_THROW(here.dut.compress(dense(256, 1, data), 0), CompressionFault);
}

}  // namespace
}  // namespace wafervp::test

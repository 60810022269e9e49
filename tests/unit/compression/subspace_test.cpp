// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "compression/gaussian.h"
#include "compression/subspace_codec.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kWidth = 24, kRank = 5, kVocabulary = 11, kPositions = 9;

std::shared_ptr<FixedTables> tables() {
  auto made = std::make_shared<FixedTables>();
  made->tokens = gaussian_matrix(kVocabulary, kWidth, 61);
  made->positions = gaussian_matrix(kPositions, kWidth, 62);
  return made;
}

SubspaceConfig config() {
  SubspaceConfig made;
  made.subspace = Subspace::random(kWidth, kRank, 63);
  made.tables = tables();
  return made;
}

std::vector<std::uint32_t> ids(std::uint64_t rows) { return ids_of(rows, kVocabulary); }

/// X = PE + F[t] + Z with the rows of Z in the subspace.
Message closed_message(Element element, std::uint64_t rows, const std::vector<std::uint32_t>& tokens,
                       const Context& context) {
  const SubspaceConfig made = config();
  Matrix<double> z = gaussian_matrix(rows, kWidth, 64);
  project(*made.subspace, z);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t position =
        context.first_position + (context.sequence_length > 0 ? row % context.sequence_length : row);
    for (std::uint64_t j = 0; j < kWidth; ++j) {
      z.row(row)[j] += made.tables->tokens.row(tokens[row])[j] + made.tables->positions.row(position)[j];
    }
  }
  return message_of({rows, kWidth, element}, z.values);
}

TEST(SubspaceCodec, BringsTheResidualStreamBack) {
  for (const Element element : kElements) {
    for (const std::uint64_t rows : {1, 6, 300}) {
      const std::vector<std::uint32_t> tokens = ids(rows);
      Context context = forward_context(tokens);
      context.sequence_length = 6;
      context.first_position = 3;
      const Message message = closed_message(element, rows, tokens, context);
      const std::unique_ptr<Codec> codec = make_codec(config());
      const std::vector<double> sent = values_of(message);
      const std::vector<double> back = round_trip(*codec, message, context);
      // Sums of 24 terms up to 8, rounded in the type on the wire and at the end.
      const double bound = 100 * roundoff(element);
      for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_NEAR(back[i], sent[i], bound);
    }
  }
}

TEST(SubspaceCodec, SendsTheCoefficientsOfItsEquation) {
  const SubspaceConfig made = config();
  const std::vector<std::uint32_t> tokens = ids(4);
  const Context context = forward_context(tokens);
  const Message message = random_message({4, kWidth, Element::kFp64}, 65);
  const std::vector<double> x = values_of(message);
  const Encoded encoded = make_codec(made)->encode(message.view(), context);
  for (std::uint64_t row = 0; row < 4; ++row) {
    for (std::uint64_t c = 0; c < kRank; ++c) {
      double expected = 0;
      for (std::uint64_t j = 0; j < kWidth; ++j) {
        expected += (x[row * kWidth + j] - made.tables->positions.row(row)[j] -
                     made.tables->tokens.row(tokens[row])[j]) *
                    made.subspace->u().row(j)[c];
      }
      double found = 0;
      std::memcpy(&found, encoded.payload.data() + (row * kRank + c) * 8, 8);
      EXPECT_NEAR(found, expected, 1e-13);
    }
    std::uint32_t id = 0;
    std::memcpy(&id, encoded.payload.data() + 4 * kRank * 8 + row * 4, 4);
    EXPECT_EQ(id, tokens[row]);
  }
  EXPECT_EQ(encoded.header.version, 1u);
}

TEST(SubspaceCodec, ProjectsGradientsOnTheWayBack) {
  const SubspaceConfig made = config();
  const Message message = random_message({7, kWidth, Element::kFp64}, 66);
  Matrix<double> expected(7, kWidth);
  expected.values = values_of(message);
  project(*made.subspace, expected);
  const std::unique_ptr<Codec> codec = make_codec(made);
  const std::vector<double> back = round_trip(*codec, message, backward_context());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], expected.values[i], 1e-13);
}

TEST(SubspaceCodec, HasExactlyTheBytesOfItsDefinition) {
  const auto bytes = [](unsigned id_bytes, std::optional<Element> coefficients, Element element,
                        Direction direction) {
    SubspaceConfig made;
    made.dimension = 4096;
    made.k = 40;
    made.id_bytes = id_bytes;
    made.coefficients = coefficients;
    return make_codec(made)->wire_bytes({1024, 4096, element}, direction);
  };
  EXPECT_EQ(bytes(4, {}, Element::kBf16, Direction::kForward), 1024 * (40 * 2 + 4));
  EXPECT_EQ(bytes(4, {}, Element::kBf16, Direction::kBackward), 1024 * 40 * 2);
  EXPECT_EQ(bytes(2, {}, Element::kFp32, Direction::kForward), 1024 * (40 * 4 + 2));
  EXPECT_EQ(bytes(8, Element::kBf16, Element::kFp32, Direction::kForward), 1024 * (40 * 2 + 8));
  EXPECT_EQ(bytes(0, {}, Element::kFp64, Direction::kForward), 1024 * 40 * 8);
}

TEST(SubspaceCodec, CoefficientsInBf16AreOffByTheirRounding) {
  SubspaceConfig made = config();
  made.coefficients = Element::kBf16;
  const std::vector<std::uint32_t> tokens = ids(9);
  const Context context = forward_context(tokens);
  const Message message = closed_message(Element::kFp32, 9, tokens, context);
  const std::unique_ptr<Codec> codec = make_codec(made);
  const std::vector<double> sent = values_of(message), back = round_trip(*codec, message, context);
  double worst = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) worst = std::max(worst, std::abs(back[i] - sent[i]));
  EXPECT_LT(worst, 5 * 0x1p-8 * 4);  // five coefficients up to 4
  EXPECT_GT(worst, 1e-5);
}

TEST(SubspaceCodec, UsesAnotherVersionAndRefusesTheOld) {
  SubspaceCodec codec(config());
  const std::vector<std::uint32_t> tokens = ids(5);
  const Context context = forward_context(tokens);
  const Message message = closed_message(Element::kFp64, 5, tokens, context);
  const Encoded old = codec.encode(message.view(), context);
  GradientEnergy energy(kWidth);
  energy.add(gaussian_matrix(30, kWidth, 67));
  codec.use(grassmann_step(*codec.subspace(), energy, 0.3));
  expect_refusal(Refusal::kWrongVersion, "expected version 2, found version 1",
                 [&] { codec.decode(old, message.shape, context); });
  // The table products are those of the new version: a message in it comes back.
  Matrix<double> z = gaussian_matrix(5, kWidth, 68);
  project(*codec.subspace(), z);
  const std::shared_ptr<FixedTables> fixed = tables();
  for (std::uint64_t row = 0; row < 5; ++row) {
    for (std::uint64_t j = 0; j < kWidth; ++j) {
      z.row(row)[j] += fixed->tokens.row(tokens[row])[j] + fixed->positions.row(row)[j];
    }
  }
  const Message fresh = message_of({5, kWidth, Element::kFp64}, z.values);
  const std::vector<double> back = round_trip(codec, fresh, context);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], z.values[i], 1e-13);
  expect_refusal(Refusal::kBadParameter, "24 x 5", [&] { codec.use(Subspace::random(kWidth, 4, 1)); });
  expect_refusal(Refusal::kBadParameter, "none", [&] { codec.use(nullptr); });
}

TEST(SubspaceCodec, RefusesMissingAndUnknownTokens) {
  const std::unique_ptr<Codec> codec = make_codec(config());
  const Message message = random_message({3, kWidth, Element::kFp32}, 69);
  const auto encode = [&](const std::vector<std::uint32_t>* tokens) {
    Context context;
    context.token_ids = tokens;
    return codec->encode(message.view(), context);
  };
  const std::vector<std::uint32_t> good{0, 10, 5}, few{0, 1}, beyond{0, 11, 5};
  expect_refusal(Refusal::kMissingTokenIds, "3 token ids", [&] { encode(nullptr); });
  expect_refusal(Refusal::kMissingTokenIds, "found 2", [&] { encode(&few); });
  expect_refusal(Refusal::kTokenOutOfRange, "found 11 at row 1", [&] { encode(&beyond); });
  Encoded encoded = encode(&good);
  encoded.payload[3 * kRank * 4 + 2 * 4] = std::byte{11};
  expect_refusal(Refusal::kTokenOutOfRange, "found 11 at row 2",
                 [&] { codec->decode(encoded, message.shape, forward_context(good)); });
  // Backward messages need none.
  codec->encode(message.view(), backward_context());
}

TEST(SubspaceCodec, RefusesIdsThatDoNotFitTheWire) {
  SubspaceConfig made = config();
  made.tables = nullptr;
  made.id_bytes = 2;
  const std::vector<std::uint32_t> tokens{65535, 65536};
  const Message message = random_message({2, kWidth, Element::kFp32}, 70);
  expect_refusal(Refusal::kTokenOutOfRange, "65536 at row 1",
                 [&] { make_codec(made)->encode(message.view(), forward_context(tokens)); });
}

TEST(SubspaceCodec, RefusesPositionsBeyondTheTable) {
  const std::unique_ptr<Codec> codec = make_codec(config());
  const std::vector<std::uint32_t> tokens = ids(10);
  const Message message = random_message({10, kWidth, Element::kFp32}, 71);
  Context context = forward_context(tokens);
  expect_refusal(Refusal::kPositionOutOfRange, "below 9", [&] { codec->encode(message.view(), context); });
  context.sequence_length = 5;
  const Encoded encoded = codec->encode(message.view(), context);
  context.first_position = 5;
  expect_refusal(Refusal::kPositionOutOfRange, "from position 5",
                 [&] { codec->encode(message.view(), context); });
  expect_refusal(Refusal::kPositionOutOfRange, "below 9",
                 [&] { codec->decode(encoded, message.shape, context); });
  context.first_position = ~std::uint64_t{0} - 2;
  expect_refusal(Refusal::kPositionOutOfRange, "below 9", [&] { codec->encode(message.view(), context); });
}

TEST(SubspaceCodec, RefusesAnotherWidthKOrNoBasis) {
  const std::vector<std::uint32_t> tokens = ids(2);
  const Context context = forward_context(tokens);
  const Message narrow = random_message({2, kWidth - 1, Element::kFp32}, 72);
  expect_refusal(Refusal::kWrongShape, "d = 24",
                 [&] { make_codec(config())->encode(narrow.view(), context); });
  const Message message = random_message({2, kWidth, Element::kFp32}, 72);
  SubspaceConfig other = config();
  other.subspace = Subspace::random(kWidth, 6, 63);
  const Encoded encoded = make_codec(other)->encode(message.view(), context);
  expect_refusal(Refusal::kWrongParameter, "expected k 5",
                 [&] { make_codec(config())->decode(encoded, message.shape, context); });
  SubspaceConfig sizes;
  sizes.dimension = kWidth;
  sizes.k = 5;
  expect_refusal(Refusal::kNoBasis, "sizes only",
                 [&] { make_codec(sizes)->encode(message.view(), context); });
  sizes.k = 25;
  expect_refusal(Refusal::kBadParameter, "found 25", [&] { make_codec(sizes); });
  sizes.k = 5;
  sizes.id_bytes = 3;
  expect_refusal(Refusal::kBadParameter, "id_bytes", [&] { make_codec(sizes); });
  SubspaceConfig without_ids = config();
  without_ids.id_bytes = 0;
  expect_refusal(Refusal::kBadParameter, "table of tokens", [&] { make_codec(without_ids); });
  SubspaceConfig wrong_tables = config();
  auto wide = std::make_shared<FixedTables>();
  wide->tokens = Matrix<double>(3, kWidth + 1);
  wrong_tables.tables = wide;
  expect_refusal(Refusal::kBadParameter, "24 columns", [&] { make_codec(wrong_tables); });
}

}  // namespace
}  // namespace wafervp::compression

// SPDX-License-Identifier: Apache-2.0
// What holds for each codec, type and shape: sizes, zeros, the same bytes again and from any place in memory.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "messages.h"

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kExtents[] = {0, 1, 2, 3, 4, 7, 13, 127, 128, 129, 257};

bool takes(const Codec& codec, const Shape& shape) {
  try {
    codec.wire_bytes(shape, Direction::kForward);
    return true;
  } catch (const CodecError& error) {
    return error.refusal() != Refusal::kElementNotSupported;
  }
}

/// `check(codec, shape, context)` for all codecs, types, shapes and both directions.
template <class Check>
void for_all(Check check) {
  for (const std::uint64_t width : kExtents) {
    for (const NamedConfig& named : codecs_for(width)) {
      for (const std::uint64_t rows : kExtents) {
        if (rows * width > 8000) continue;
        const std::vector<std::uint32_t> ids = ids_of(rows);
        for (const Element element : kElements) {
          const Shape shape{rows, width, element};
          for (const Context& context : {forward_context(ids), backward_context()}) {
            const std::unique_ptr<Codec> codec = make_codec(named.config);
            if (!takes(*codec, shape)) continue;
            SCOPED_TRACE(named.name + ' ' + std::to_string(rows) + " x " + std::to_string(width) + ' ' +
                         element_name(element));
            check(*codec, shape, context);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(EveryCodec, WritesAsManyBytesAsItSays) {
  int checked = 0;
  for_all([&](Codec& codec, const Shape& shape, const Context& context) {
    const Message message = random_message(shape, 11);
    for (int again = 0; again < 2; ++again) {
      const Encoded encoded = codec.encode(message.view(), context);
      EXPECT_EQ(encoded.header.payload_bytes, encoded.payload.size());
      EXPECT_LE(encoded.payload.size(), codec.worst_case_bytes(shape, context.direction));
      if (!codec.ratio_depends_on_data()) {
        EXPECT_EQ(encoded.payload.size(), codec.wire_bytes(shape, context.direction));
      }
      EXPECT_EQ(codec.decode(encoded, shape, context).size(), dense_bytes(shape));
    }
    ++checked;
  });
  EXPECT_GT(checked, 5000);
}

TEST(EveryCodec, BringsZerosBackAsZeros) {
  for_all([](Codec& codec, const Shape& shape, const Context& context) {
    // Zero is what lies at the origin of a subspace codec: F and PE are taken off and put back.
    if (codec.id() == CodecId::kSubspace && context.direction == Direction::kForward) return;
    const Message message = message_of(shape, std::vector<double>(element_count(shape), 0.0));
    for (const double value : round_trip(codec, message, context)) ASSERT_EQ(value, 0);
  });
}

TEST(EveryCodec, KeepsAllBitsWhereItSaysSo) {
  for_all([](Codec& codec, const Shape& shape, const Context& context) {
    if (!codec.is_lossless()) return;
    const Message message = random_message(shape, 12);
    EXPECT_EQ(codec.decode(codec.encode(message.view(), context), shape, context), message.bytes);
  });
}

TEST(EveryCodec, DoesNotDependOnThePlaceInMemory) {
  for_all([](Codec& codec, const Shape& shape, const Context& context) {
    const Message message = random_message(shape, 13);
    Context elsewhere = context;
    elsewhere.stream = 1;  // without the memory of the first
    const Encoded aligned = codec.encode(message.view(), context);
    const std::vector<std::byte> values = codec.decode(aligned, shape, context);
    for (const std::size_t offset : {1, 4, 8}) {
      std::vector<std::byte> moved(offset + message.bytes.size());
      std::copy(message.bytes.begin(), message.bytes.end(),
                moved.begin() + static_cast<std::ptrdiff_t>(offset));
      elsewhere.stream += 1;
      const Encoded again = codec.encode({shape, {moved.data() + offset, message.bytes.size()}}, elsewhere);
      ASSERT_EQ(again.payload, aligned.payload);
      std::vector<std::byte> wire(offset + again.payload.size());
      std::copy(again.payload.begin(), again.payload.end(),
                wire.begin() + static_cast<std::ptrdiff_t>(offset));
      std::vector<std::byte> decoded;
      codec.decode(again.header, {wire.data() + offset, again.payload.size()}, shape, context, decoded);
      ASSERT_EQ(decoded, values);
    }
  });
}

TEST(EveryCodec, NeverTurnsNanOrInfinityIntoNumbersAlone) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {inf, -inf, nan}) {
    for_all([bad](Codec& codec, const Shape& shape, const Context& context) {
      const std::uint64_t elements = element_count(shape);
      if (elements == 0) return;
      Message message = random_message(shape, 14);
      std::vector<double> values = values_of(message);
      const std::size_t at = elements / 2;
      values[at] = bad;
      message = message_of(shape, values);
      if (codec.id() == CodecId::kZfp) {
        expect_refusal(Refusal::kNonFinite, "row " + std::to_string(at / shape.width),
                       [&] { codec.encode(message.view(), context); });
        return;
      }
      EXPECT_FALSE(std::isfinite(round_trip(codec, message, context)[at]));
    });
  }
}

TEST(EveryCodec, KeepsDenormalsWithinItsBound) {
  // What each codec promises of them is in its own test; here: no crash, and nothing larger than was there.
  for_all([](Codec& codec, const Shape& shape, const Context& context) {
    if (codec.id() == CodecId::kSubspace) return;  // F and PE are of another size
    const double least = shape.element == Element::kFp64   ? 0x1p-1074
                         : shape.element == Element::kFp16 ? 0x1p-24
                         : shape.element == Element::kFp32 ? 0x1p-149
                                                           : 0x1p-133;
    std::vector<double> values(element_count(shape));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i % 50) * (i % 2 == 0 ? least : -least);
    }
    // A projection does not exceed the norm of its column; the few bits of a block of ZFP may overshoot.
    const double most = codec.id() == CodecId::kLowRank ? 50 * std::sqrt(shape.rows) + 50 : 150;
    for (const double value : round_trip(codec, message_of(shape, values), context)) {
      ASSERT_LE(std::abs(value), most * least);
    }
  });
}

}  // namespace
}  // namespace wafervp::compression

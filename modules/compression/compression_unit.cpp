// SPDX-License-Identifier: Apache-2.0
#include "compression/compression_unit.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "compression/subspace_codec.h"
#include "compression/values.h"

namespace wafervp {

using compression::Codec;
using compression::Context;
using compression::Cost;
using compression::Direction;
using compression::Shape;
using compression::TrafficClass;

/// What a compressed message carries. Message::data is a pointer to the payload, which shares the envelope,
/// so that nothing between two units needs to know of it. A sum that is made in the payload keeps it.
struct CompressionEnvelope {
  CompressedData data;             ///< first, see open()
  compression::WireHeader header;  ///< its shape is that of the filled-up values
  std::uint64_t dense_bytes = 0;
  CompressionUnit* maker = nullptr;
  Time made = 0;
  std::uint64_t k = 0;
  std::uint32_t version = 0;
  std::uint32_t traffic_class = 0, tensor = 0;
};

namespace {

using Envelope = CompressionEnvelope;

// A tensor of the register map that is a gradient goes the way without token ids, as does what is neither.
constexpr std::uint32_t kForwardTensor = 1, kStreamTensor = 3;

Bytes seal(std::shared_ptr<Envelope> envelope) {
  auto& payload = envelope->data.payload;
  return {std::move(envelope), &payload};
}

const Envelope& open(const CompressedData& data) {
  static_assert(std::is_standard_layout_v<Envelope>);
  return *reinterpret_cast<const Envelope*>(&data);
}
const Envelope& open(const Bytes& data) { return open(CompressedData::of(data)); }

std::string version_difference(std::uint64_t expected, std::uint64_t found) {
  return "expected version " + std::to_string(expected) + " of U, found version " + std::to_string(found);
}

/// Of two messages that meet in one sum.
std::string difference_of(const CompressedData& one, const CompressedData& other) {
  const Envelope &a = open(one), &b = open(other);
  const auto name = [](const Envelope& envelope) {
    return codec_name(static_cast<compression::CodecId>(envelope.header.codec));
  };
  const auto text = [&](const std::string& expected, const std::string& found) {
    return std::string(name(a)) + ": expected " + expected + ", found " + found;
  };
  if (a.header.codec != b.header.codec)
    return text(std::string("codec ") + name(a), std::string("codec ") + name(b));
  if (a.k != b.k) return text("k " + std::to_string(a.k), "k " + std::to_string(b.k));
  if (a.version != b.version) return name(a) + (": " + version_difference(a.version, b.version));
  if (a.header.version != b.header.version) {
    return name(a) + (": " + version_difference(a.header.version, b.header.version));
  }
  if (a.header.direction != b.header.direction)
    return text("messages of one direction", "a forward and a backward one");
  if (a.header.parameter != b.header.parameter || a.header.shape != b.header.shape ||
      a.data.payload.size() != b.data.payload.size()) {
    return text("payloads of one form", "two forms");
  }
  return "";
}

Direction direction_of(std::uint32_t tensor) {
  return tensor == kForwardTensor ? Direction::kForward : Direction::kBackward;
}

TrafficClass traffic_of(std::uint32_t traffic_class, std::uint32_t tensor) {
  constexpr TrafficClass kByNumber[] = {TrafficClass::kModelParallel, TrafficClass::kPipeline,
                                        TrafficClass::kDataParallel, TrafficClass::kStreaming};
  return tensor == kStreamTensor ? TrafficClass::kStreaming : kByNumber[traffic_class & 3u];
}

/// One tensor of one sender, step after step: all of a tag but the number of the operation, and who it goes
/// to. Messages between two ranks (mark 0xffff) are one stream.
std::uint64_t stream_of(const DenseMessage& message) {
  constexpr std::uint64_t kNumber = std::uint64_t{0xffff} << 32, kMark = 0xffff;
  const std::uint64_t tag = message.tag >> 48 == kMark ? message.tag >> 32 << 32 : message.tag & ~kNumber;
  return tag ^ (std::uint64_t{message.to} * 0x9e3779b97f4a7c15ull);
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

CompressionUnit::CompressionUnit(sc_core::sc_module_name name, const CompressionUnitConfig& config,
                                 Calendar& calendar)
    : sc_module(name),
      owner_(config.owner),
      npu_(config.npu),
      values_(config.values),
      calendar_(calendar),
      timing_(config.rates) {
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    for (std::uint32_t t = 0; t < kTensors; ++t) {
      Bank& bank = banks_[c][t];
      bank.use = config.uses[c][t];
      bank.on = bank.use.codec != nullptr;
    }
  }
}

CompressionUnit::~CompressionUnit() = default;

void CompressionUnit::refuse(const std::string& text) const { throw CompressionFault(owner_ + ": " + text); }

CompressionUnit::Span CompressionUnit::pass(Engine& engine, const Cost& cost, Element element,
                                            const Span& arrival, Time last_share,
                                            CompressionStatistics::Engine& statistics) {
  const Time busy = timing_.busy(cost), fill = timing_.fill(cost, element);
  const Time begin = std::max(arrival.first + timing_.setup(), engine.free_at);
  engine.free_at = std::min(std::max(begin + busy, arrival.last + last_share), kTimeEnd);
  // What takes a shorter way through the pipeline does not overtake.
  const Time before = engine.done;
  engine.done = std::max(before, std::min(engine.free_at + fill, kTimeEnd));
  ++statistics.messages;
  statistics.busy_ps += busy;
  return {std::min(std::max(before, begin + fill), engine.done), engine.done};
}

/// Of the last packet of a message that comes.
Time CompressionUnit::last_share(const Cost& cost) const {
  if (cost.wire_bytes == 0) return 0;
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t last = (cost.wire_bytes - 1) % kPacketBytes + 1;
  return static_cast<Time>((static_cast<Wide>(timing_.busy(cost)) * last + cost.wire_bytes - 1) /
                           cost.wire_bytes);
}

Time CompressionUnit::made(const Message& message) { return open(message.data).made; }

CompressionUnit& CompressionUnit::maker(const Message& message) { return *open(message.data).maker; }

const Rate& CompressionUnit::pace(std::uint64_t bytes, Time span) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kFastest = std::uint64_t{1} << 62, kLeastDropped = std::uint64_t{1} << 14;
  const Wide exact = (static_cast<Wide>(bytes) * kPsPerSecond + span - 1) / span;
  std::uint64_t rate =
      std::max<std::uint64_t>(exact < kFastest ? static_cast<std::uint64_t>(exact) : kFastest, 1);
  std::uint64_t step = 1;
  while (rate / step >= kLeastDropped) step *= 2;
  rate = (rate + step - 1) / step * step;
  return paces_.try_emplace(rate, rate).first->second;
}

Shape shape_of(const CompressionUse& use, std::uint64_t bytes) {
  const std::uint64_t size = element_bytes(use.element), elements = (bytes + size - 1) / size;
  if (use.width == 0 || (elements < use.width && !use.whole_rows)) return {1, elements, use.element};
  return {(elements + use.width - 1) / use.width, use.width, use.element};
}

void CompressionUnit::check_rows(const CompressionUse& use, std::uint64_t bytes) const {
  const std::uint64_t row = use.width * element_bytes(use.element);
  if (!use.whole_rows || (row != 0 && bytes % row == 0)) return;
  refuse(std::string(use.codec->name()) + ": expected whole rows of " + std::to_string(use.width) + ' ' +
         element_name(use.element) + " (" + bytes_text(row) + "), found a message of " + bytes_text(bytes));
}

Context CompressionUnit::context_of(const compression::WireHeader& header) const {
  Context context;
  context.direction = header.direction;
  if (tokens_ != nullptr) context.sequence_length = tokens_->sequence_length();
  return context;
}

CompressionClassStatistics& CompressionUnit::class_of(std::uint32_t traffic_class, std::uint32_t tensor) {
  return by_class_[static_cast<std::size_t>(traffic_of(traffic_class, tensor))];
}

void CompressionUnit::note_error(const Bank& bank, const std::vector<std::byte>& values,
                                 const Envelope& envelope) {
  const Context context = context_of(envelope.header);
  std::vector<std::byte> back;
  bank.use.codec->decode(envelope.header, envelope.data.payload, envelope.header.shape, context, back);
  const std::size_t count = values.size() / element_bytes(bank.use.element);
  std::vector<double> before(count), after(count);
  compression::widen(bank.use.element, values.data(), before.data(), count);
  compression::widen(bank.use.element, back.data(), after.data(), count);
  double squares = 0, errors = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(before[i]) || !std::isfinite(after[i])) continue;
    squares += before[i] * before[i];
    errors += (after[i] - before[i]) * (after[i] - before[i]);
  }
  CompressionClassStatistics& of_class = class_of(envelope.traffic_class, envelope.tensor);
  statistics_.values_squared += squares;
  statistics_.errors_squared += errors;
  of_class.values_squared += squares;
  of_class.errors_squared += errors;
}

void CompressionUnit::encode(const Bank& bank, const DenseMessage& message, Envelope& envelope) {
  Context context = context_of(envelope.header);
  context.traffic = traffic_of(message.traffic_class, message.tensor);
  if (tokens_ != nullptr && context.direction == Direction::kForward) {
    context.token_ids = tokens_->ids(npu_, forward_messages_++);
  }
  context.stream = stream_of(message);
  const Shape shape = envelope.header.shape;
  std::vector<std::byte> values = *message.data;
  values.resize(compression::dense_bytes(shape));
  compression::Encoded encoded = bank.use.codec->encode({shape, values}, context);
  envelope.header = encoded.header;
  envelope.data.payload = std::move(encoded.payload);
  note_error(bank, values, envelope);
}

CompressedMessage CompressionUnit::compress(const DenseMessage& message, Time ready) {
  const Bank& bank = banks_[message.traffic_class][message.tensor];
  const auto envelope = std::make_shared<Envelope>();
  envelope->data.difference = difference_of;
  envelope->dense_bytes = message.bytes;
  envelope->traffic_class = message.traffic_class;
  envelope->tensor = message.tensor;
  envelope->k = bank.use.k;
  envelope->version = bank.version;
  compression::WireHeader& header = envelope->header;
  header.codec = static_cast<std::uint8_t>(bank.use.codec->id());
  header.direction = direction_of(message.tensor);
  check_rows(bank.use, message.bytes);
  header.shape = shape_of(bank.use, message.bytes);
  Cost cost;
  std::uint8_t dtype = kCompressed;
  try {
    cost = bank.use.codec->compress_cost(header.shape, header.direction);
    if (values_ && message.data != nullptr) {
      encode(bank, message, *envelope);
      cost.wire_bytes = envelope->data.payload.size();
    } else {
      header.payload_bytes = cost.wire_bytes;
    }
    const compression::Summable summable = bank.use.codec->summable(header.shape, header.direction);
    if (summable.yes) dtype |= static_cast<std::uint8_t>(summable.element);
  } catch (const compression::CodecError& error) {
    refuse("message of " + bytes_text(message.bytes) + " to " + std::to_string(message.to) + ": " +
           error.what());
  }
  statistics_.egress.dense_bytes += message.bytes;
  statistics_.egress.wire_bytes += cost.wire_bytes;
  CompressionClassStatistics& of_class = class_of(message.traffic_class, message.tensor);
  ++of_class.messages;
  of_class.dense_bytes += message.bytes;
  of_class.wire_bytes += cost.wire_bytes;
  const Span left = pass(egress_, cost, bank.use.element, {ready, ready}, 0, statistics_.egress);
  envelope->maker = this;
  envelope->made = left.last;
  const bool in_packets = streams(cost) && packets_of(cost.wire_bytes) > 1;
  return {cost.wire_bytes, in_packets ? left.first : left.last, left.last, seal(envelope), dtype};
}

void CompressionUnit::set_subspace(const std::shared_ptr<const compression::Subspace>& subspace) {
  if (!idle()) refuse("subspace: expected no message in the unit when U changes, found one");
  for (auto& banks : banks_) {
    for (Bank& bank : banks) {
      auto* codec = dynamic_cast<compression::SubspaceCodec*>(bank.use.codec.get());
      if (codec == nullptr) continue;
      try {
        codec->use(subspace);
      } catch (const compression::CodecError& error) {
        refuse(error.what());
      }
      bank.version = static_cast<std::uint32_t>(subspace->version());
    }
  }
}

tlm::tlm_sync_enum CompressionUnit::nb_transport_fw(Run& run, FabricPhase&, sc_core::sc_time&) {
  Message& message = *run.message;
  if ((message.dtype & kCompressed) != 0 && run.count != 0 && run.first == message.first_packet) {
    first_packets_[&message] = run.tail(0);
  }
  if (run.count != 0 && run.complete()) {
    message.sink = (message.dtype & kCompressed) != 0 ? this : receiver_;
    message.group = run.flow->group;
    message.set_order(npu_.value);
    calendar_.schedule(message, run.tail(run.count - 1));
  } else if (message.scheduled()) {
    calendar_.cancel(message);  // shortened: the last packet comes with another run
  }
  return tlm::TLM_ACCEPTED;
}

void CompressionUnit::check(const Bank& bank, const Envelope& envelope, const Message& message) const {
  const std::string from = "message from " + std::to_string(message.source.value) + ": ";
  const auto codec = static_cast<compression::CodecId>(envelope.header.codec);
  if (!bank.on) refuse(from + "it is compressed by " + codec_name(codec) + ", and this unit is off");
  if (bank.use.codec->id() != codec) {
    refuse(from + "expected codec " + bank.use.codec->name() + ", found " + codec_name(codec));
  }
  if (bank.use.k != envelope.k) {
    refuse(from + bank.use.codec->name() + ": expected k " + std::to_string(bank.use.k) + ", found k " +
           std::to_string(envelope.k));
  }
  if (bank.version != envelope.version) {
    refuse(from + bank.use.codec->name() + ": " + version_difference(bank.version, envelope.version));
  }
}

void CompressionUnit::on_message(Message& message, Time now) {
  const Bytes held = std::move(message.data);
  const Envelope& envelope = open(held);
  const Bank& bank = banks_[envelope.traffic_class][envelope.tensor];
  check(bank, envelope, message);
  const compression::WireHeader& header = envelope.header;
  Cost cost;
  try {
    cost = bank.use.codec->decompress_cost(header.shape, header.direction);
    cost.wire_bytes = message.bytes;
    if (values_ && header.payload_bytes == envelope.data.payload.size()) {
      Context context = context_of(header);
      context.traffic = traffic_of(envelope.traffic_class, envelope.tensor);
      auto values = std::make_shared<std::vector<std::byte>>();
      bank.use.codec->decode(header, envelope.data.payload, header.shape, context, *values);
      values->resize(envelope.dense_bytes);
      message.data = std::move(values);
    }
  } catch (const compression::CodecError& error) {
    refuse("message from " + std::to_string(message.source.value) + ": " + error.what());
  }
  statistics_.ingress.dense_bytes += envelope.dense_bytes;
  statistics_.ingress.wire_bytes += message.bytes;
  message.bytes = envelope.dense_bytes;
  message.dtype = 0;
  message.sink = receiver_;
  const Span arrival{streams(cost) ? first_packets_.at(&message) : now, now};
  first_packets_.erase(&message);
  calendar_.schedule(
      message, pass(ingress_, cost, bank.use.element, arrival, last_share(cost), statistics_.ingress).last);
}

}  // namespace wafervp

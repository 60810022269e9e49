// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <unordered_map>

#include "compression/codec.h"
#include "compression/subspace.h"
#include "compression/unit_timing.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/register_block.h"

namespace wafervp {

/// What the unit does with the messages of one traffic class (enum wvp_class) and tensor (enum wvp_tensor).
struct CompressionUse {
  std::shared_ptr<compression::Codec> codec;  ///< null: they pass as they are
  bool compresses = true;            ///< false: decompresses what comes, and sends its own as they are
  std::uint64_t width = 0;           ///< elements of a row; 0: a message is one row
  bool whole_rows = false;           ///< a message of another size is refused, else its last row is filled up
  std::uint64_t k = 0;               ///< of a subspace codec, for the register
  Element element = Element::kFp32;  ///< of the values
};

/// How a message of `bytes` is laid out; what it lacks to a full last row, and element, is filled up with
/// zeros.
compression::Shape shape_of(const CompressionUse& use, std::uint64_t bytes);

struct CompressionUnitConfig {
  static constexpr std::uint32_t kClasses = 4, kTensors = 4;

  std::string owner;  ///< "NPU 3", for errors
  NpuId npu;          ///< orders what happens at one time
  CompressionRates rates;
  std::array<std::array<CompressionUse, kTensors>, kClasses> uses;  ///< by class, then tensor
  bool values = false;  ///< messages carry values, which go through the codec
};

/// Counters of one unit.
struct CompressionStatistics {
  struct Engine {
    std::uint64_t messages = 0;
    std::uint64_t dense_bytes = 0;  ///< of the values, as firmware sees them
    std::uint64_t wire_bytes = 0;   ///< of the payload
    Time busy_ps = 0;
  };
  Engine egress, ingress;
  /// Sums over the values that were compressed, and the error that they come back with; of finite ones.
  double values_squared = 0, errors_squared = 0;
};

/// What one traffic class put through the egress engine of a unit.
struct CompressionClassStatistics {
  std::uint64_t messages = 0;
  std::uint64_t dense_bytes = 0;  ///< of the values
  std::uint64_t wire_bytes = 0;   ///< of the payload
  /// As in CompressionStatistics.
  double values_squared = 0, errors_squared = 0;
};

/// Knows the token ids of what an NPU sends, for codecs that need them.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// Of the n-th forward message of the NPU, from 0; null where it has none. Valid until the next call.
  virtual const std::vector<std::uint32_t>* ids(NpuId npu, std::uint64_t n) = 0;
  /// Rows of a sequence.
  virtual std::uint64_t sequence_length() const = 0;
};

/// A message as firmware knows it.
struct DenseMessage {
  std::uint64_t bytes;
  std::uint64_t tag;
  std::uint32_t to;
  std::uint32_t traffic_class, tensor;
  Bytes data;  ///< null: sizes only
};

/// The same as it goes over the wire.
struct CompressedMessage {
  std::uint64_t bytes;
  Time ready;          ///< its packets leave the engine from then on, evenly
  Time made;           ///< all of it has left the engine; `ready` where it is kept until then
  Bytes data;          ///< what the other unit needs; never null
  std::uint8_t dtype;  ///< with kCompressed
};

/// A message that a unit refuses: "NPU 3: ...". No value of it gets anywhere.
class CompressionFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Between the message engine of an NPU or I/O controller and the fabric: makes messages smaller on their way
/// out (egress engine) and as large as they were on their way in (ingress engine). Registers: README.md.
class CompressionUnit : public sc_core::sc_module, public FabricFwInterface, public MessageSink {
 public:
  /// Message::dtype has this bit while a message is compressed; then its data are a unit's, and what the
  /// other bits say is the element type that the payload consists of, where it may be added up.
  static constexpr std::uint8_t kCompressed = kCompressedMessage;

  CompressionUnit(sc_core::sc_module_name name, const CompressionUnitConfig& config, Calendar& calendar);
  ~CompressionUnit() override;

  /// Who gets messages when they are as they were.
  void set_receiver(MessageSink& receiver) { receiver_ = &receiver; }
  void set_tokens(TokenSource& tokens) { tokens_ = &tokens; }

  bool compresses(std::uint32_t traffic_class, std::uint32_t tensor) const {
    const Bank& bank = banks_[traffic_class][tensor];
    return bank.on && bank.use.compresses;
  }
  /// Takes a message whose values are there at `ready`. Messages are compressed in the order of calls.
  /// Throws CompressionFault where the codec cannot do it.
  CompressedMessage compress(const DenseMessage& message, Time ready);
  /// CompressedMessage::made of a message that a unit has made.
  static Time made(const Message& message);
  /// The unit that has made a message.
  static CompressionUnit& maker(const Message& message);
  /// At which `bytes` take `span` ps; rounded up to 14 binary digits, so that there are few. Valid as long as
  /// the unit is.
  const Rate& pace(std::uint64_t bytes, Time span);

  /// From the fabric; messages that are not compressed pass without delay.
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  /// A compressed message has arrived. Throws CompressionFault for one of another codec, parameter or version
  /// of U than the unit has for its class.
  void on_message(Message& message, Time now) override;

  /// From now on this U in all subspace codecs, and its version in their registers. To be called at all ends
  /// while no message is on its way: those of another version are refused. Throws CompressionFault while one
  /// is in the unit, or where U is not of a codec's d and k.
  void set_subspace(const std::shared_ptr<const compression::Subspace>& subspace);

  /// Registers; throws BusError for an access that the map forbids.
  std::uint32_t read32(std::uint32_t offset);
  void write32(std::uint32_t offset, std::uint32_t value);

  const CompressionStatistics& statistics() const { return statistics_; }
  const CompressionClassStatistics& statistics(compression::TrafficClass of) const {
    return by_class_[static_cast<std::size_t>(of)];
  }
  const CompressionTiming& timing() const { return timing_; }
  /// False while a message is in the ingress engine.
  bool idle() const { return egress_.done <= calendar_.now() && ingress_.done <= calendar_.now(); }

 private:
  /// What registers say of one class and tensor.
  struct Bank {
    CompressionUse use;
    bool on = false;
    std::uint32_t version = 0;  ///< of U
    std::uint64_t tables = 0;   ///< device address
  };
  struct Engine {
    Time free_at = 0;  ///< the next message may go through from then on
    Time done = 0;     ///< of the last message
  };

  /// When a message comes to an engine, or leaves it.
  struct Span {
    Time first;  ///< first packet, or beginning of its making
    Time last;
  };
  bool streams(const compression::Cost& cost) const {
    return cost.streams && timing_.rates().forwards_packets;
  }
  /// The law: when a message leaves that comes in `arrival`, the last packet with `last_share` of the work.
  Span pass(Engine& engine, const compression::Cost& cost, Element element, const Span& arrival,
            Time last_share, CompressionStatistics::Engine& statistics);
  Time last_share(const compression::Cost& cost) const;
  void check_rows(const CompressionUse& use, std::uint64_t bytes) const;
  void encode(const Bank& bank, const DenseMessage& message, struct CompressionEnvelope& envelope);
  void note_error(const Bank& bank, const std::vector<std::byte>& values,
                  const CompressionEnvelope& envelope);
  /// Of the class that a message belongs to.
  CompressionClassStatistics& class_of(std::uint32_t traffic_class, std::uint32_t tensor);
  void check(const Bank& bank, const CompressionEnvelope& envelope, const Message& message) const;
  [[noreturn]] void refuse(const std::string& text) const;
  compression::Context context_of(const compression::WireHeader& header) const;
  Bank& selected() { return banks_[select_ / kTensors][select_ % kTensors]; }

  static constexpr std::uint32_t kClasses = CompressionUnitConfig::kClasses;
  static constexpr std::uint32_t kTensors = CompressionUnitConfig::kTensors;

  std::string owner_;
  NpuId npu_;
  bool values_;
  Calendar& calendar_;
  CompressionTiming timing_;
  std::array<std::array<Bank, kTensors>, kClasses> banks_;
  Engine egress_, ingress_;
  MessageSink* receiver_ = nullptr;
  TokenSource* tokens_ = nullptr;
  std::uint64_t forward_messages_ = 0;                      ///< compressed so far
  std::unordered_map<const Message*, Time> first_packets_;  ///< when they are here, of messages that come
  std::map<std::uint64_t, Rate> paces_;                     ///< by bytes per second
  std::uint32_t select_ = 0;
  CompressionStatistics statistics_;
  std::array<CompressionClassStatistics, 4> by_class_{};  ///< by TrafficClass
};

/// The registers of a unit.
const RegisterMap& compression_unit_registers();

}  // namespace wafervp

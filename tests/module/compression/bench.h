// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/codec_config.h"
#include "compression/compression_unit.h"

namespace wafervp::test {

/// All messages of a unit have the same codec.
inline CompressionUnitConfig config_of(const compression::CodecConfig& codec, std::uint64_t width,
                                       Element element, const CompressionRates& rates, bool values = false) {
  CompressionUnitConfig config;
  config.owner = "NPU 3";
  config.npu = NpuId(3);
  config.rates = rates;
  config.values = values;
  for (auto& of_class : config.uses) {
    for (CompressionUse& use : of_class) {
      use.codec = compression::make_codec(codec);
      use.width = width;
      use.element = element;
      use.whole_rows = std::holds_alternative<compression::SubspaceConfig>(codec);
      if (use.whole_rows) use.k = std::get<compression::SubspaceConfig>(codec).k;
    }
  }
  return config;
}

/// What a unit has given to its accelerator.
struct Delivered {
  std::uint64_t bytes, tag;
  Time when;
  std::vector<std::byte> data;
};

/// A unit without an accelerator and without a fabric.
class Bench : public MessageSink {
 public:
  explicit Bench(const CompressionUnitConfig& config, const char* name = "unit")
      : calendar((std::string(name) + "_calendar").c_str()), dut(name, config, calendar) {
    dut.set_receiver(*this);
    flow.group = 0;
  }

  void at(Time when, std::function<void()> action) {
    actions_.emplace_back(std::move(action));
    calendar.schedule(actions_.back(), when);
  }
  /// The message comes from the fabric, its last byte at `when`; its first one as much earlier as all of it
  /// takes at `rate`, if that is not null.
  void arrive(const CompressedMessage& compressed, Time when, std::uint64_t tag = 0,
              const Rate* rate = nullptr) {
    const Time first = rate == nullptr ? when : when - rate->ps(compressed.bytes);
    at(first, [=] {
      Message& message = *messages.acquire();
      message.flow = &flow;
      message.bytes = compressed.bytes;
      message.packets = packets_of(compressed.bytes);
      message.source = NpuId(7);
      message.tag = tag;
      message.dtype = compressed.dtype;
      message.data = compressed.data;
      Run run = Run::from_source(message, first);
      run.rate = rate;
      FabricPhase phase = FabricPhase::kHead;
      sc_core::sc_time delay;
      dut.nb_transport_fw(run, phase, delay);
    });
  }
  void run() {
    sc_core::sc_start();
    calendar.rethrow_failure();
  }
  void on_message(Message& message, Time now) override {
    delivered.push_back({message.bytes, message.tag, now, {}});
    if (message.data) delivered.back().data = *message.data;
    messages.release(&message);
  }

  Calendar calendar;
  MessagePool messages;
  Flow flow;
  CompressionUnit dut;
  std::vector<Delivered> delivered;

 private:
  class Action final : public CalendarEntry {
   public:
    explicit Action(std::function<void()> what) : CalendarEntry(Stage::kArrival, 0), what_(std::move(what)) {}

   private:
    void fire(Time) override { what_(); }
    std::function<void()> what_;
  };
  std::deque<Action> actions_;
};

inline DenseMessage dense(std::uint64_t bytes, std::uint32_t tensor = 0, Bytes data = nullptr) {
  return {bytes, 5, 7, 1, tensor, std::move(data)};
}

}  // namespace wafervp::test

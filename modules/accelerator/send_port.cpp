// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_port.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "accelerator/send_window.h"
#include "compression/compression_unit.h"

namespace wafervp {

SendPort::SendPort(const AcceleratorConfig& config, Calendar& calendar, MessagePool& messages,
                   FlowTable& flows, CompletionQueue& completions, Arena& arena)
    : calendar_(calendar),
      messages_(messages),
      hold_(config.hold_quiet == 0 ? nullptr : std::make_unique<ClassHold>(config, calendar)),
      npu_(config.npu),
      npus_(config.npus),
      places_(kFirstPlaces),
      flows_(flows),
      completions_(completions),
      arena_(arena) {}

SendPort::~SendPort() = default;

SendPort::Place SendPort::open(const Outgoing& outgoing, std::uint64_t key) {
  const bool into_flow = (outgoing.flags & WVP_D_SEND_FLOW) != 0;
  const std::uint32_t to = outgoing.to;
  if (!into_flow && (to >= npus_ || to == npu_.value)) {
    const std::string where = to == npu_.value ? "its own NPU"
                                               : "NPU " + std::to_string(to) + ", but the wafer has " +
                                                     std::to_string(npus_) + " NPUs";
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(outgoing.cookie) + " sends to " + where);
  }
  Flow& flow = into_flow ? flows_.into_group(npu_, to, outgoing.traffic_class)
                         : flows_.unicast(npu_, NpuId(to), outgoing.traffic_class);
  if (hold_ != nullptr) hold_->add(flow);
  FabricFw* entry = fabric_;
  while (auto* relay = dynamic_cast<FabricRelay*>(entry)) {
    FabricFw* behind = relay->next_of(flow, 0);
    if (behind == nullptr) break;
    entry = behind;
  }
  if (2 * ++places_used_ > places_.size()) {
    const auto old = places_;
    places_.assign(2 * old.size(), Place());
    for (const Place& place : old) {
      if (place.key != kNoKey) places_[place_of(place.key)] = place;
    }
  }
  return places_[place_of(key)] = {key, &flow, entry};
}

/// Its unit makes the packets evenly up to CompressionUnit::made(). They go as if they were there from the
/// first one on where nothing behind the unit is faster, which then cannot outrun it, else each when it is
/// whole.
void SendPort::hand_over_compressed(Flow& flow, FabricFw& entry, Message& message, Time ready) {
  const Time made = CompressionUnit::made(message);
  const Time start = std::max({flow.last_origin, ready, calendar_.now()});
  // A flow without links ends in this NPU's own router.
  if (start >= made || flow.hops.empty()) return hand_over(flow, entry, message, std::max(start, made));
  const Rate& rate = CompressionUnit::maker(message).pace(message.bytes, made - start);
  const Time origin = std::max(start, made - std::min(rate.ps(message.bytes), made));
  const Time packet = rate.ps(kPacketBytes);
  if (!(rate < flow.hops.front().link->rate()) || (flow.pace != nullptr && !(rate < flow.pace->rate))) {
    return hand_over(flow, entry, message, origin + packet);
  }
  number(flow, message);
  flow.last_origin = made;
  if (hold_ != nullptr) note_sent(flow, message);
  Run run = Run::from_source(message, origin);
  run.rate = &rate;
  run.late = packet;
  FabricPhase phase = FabricPhase::kHead;
  sc_core::sc_time delay;
  entry.nb_transport_fw(run, phase, delay);
}

void SendPort::note_sent(Flow& flow, const Message& message) {
  if (flow.group != 0 || flow.hops.empty()) return;  // no steps in an operation of the fabric
  hold_->note_sent(flow, message, flow.last_origin + flow.hops[0].link->rate().ps(message.bytes));
}

void SendPort::refuse_size(const Outgoing& outgoing) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                           std::to_string(outgoing.cookie) + " sends " + std::to_string(outgoing.bytes) +
                           " bytes; the longest message has " + std::to_string(kLargestMessage));
}

void SendPort::post(const Outgoing& outgoing, Time ready, Bytes* data) {
  Flow& flow = *recent_.flow;
  if (hold_ != nullptr && (outgoing.flags & WVP_D_LAST) != 0) {
    hold_->note_last(outgoing.traffic_class, outgoing.cookie, outgoing.tag);
  }
  if (flow.window == nullptr) {
    flow.window = windows_.emplace_back(arena_.make<SendWindow>(*this, flow, *recent_.entry)).get();
  }
  flow.window->post(outgoing, ready, data);
}

void SendPort::prepare(const Place& place) const {
  if (place.flow == nullptr) return;
  prefetch(place.flow, kWarmBytesOfFlow);
  prefetch(place.entry, kWarmBytesOfEntry);
}

void SendPort::on_tracked_credit(const Run& run) { run.flow->window->on_credit(run); }

std::size_t SendPort::pending() const {
  std::size_t count = 0;
  for (const auto& window : windows_) count += window->pending();
  return count;
}

}  // namespace wafervp

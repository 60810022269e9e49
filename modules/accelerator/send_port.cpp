// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_port.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "accelerator/send_window.h"

namespace wafervp {

namespace {

constexpr std::uint64_t kLargestMessage =
    std::uint64_t{std::numeric_limits<std::uint32_t>::max()} * kPacketBytes;

}  // namespace

SendPort::SendPort(NpuId npu, std::uint32_t npus, Calendar& calendar, MessagePool& messages, FlowTable& flows,
                   CompletionQueue& completions)
    : calendar_(calendar),
      messages_(messages),
      npu_(npu),
      npus_(npus),
      sources_(kFirstSources),
      flows_(flows),
      completions_(completions) {}

SendPort::~SendPort() = default;

SendPort::Source& SendPort::open(const wvp_descriptor& descriptor, std::uint64_t key) {
  const bool into_flow = (descriptor.flags & WVP_D_SEND_FLOW) != 0;
  const std::uint32_t to = descriptor.send_to;
  if (!into_flow && (to >= npus_ || to == npu_.value)) {
    const std::string where = to == npu_.value ? "its own NPU"
                                               : "NPU " + std::to_string(to) + ", but the wafer has " +
                                                     std::to_string(npus_) + " NPUs";
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(descriptor.cookie) + " sends to " + where);
  }
  if (2 * (sources_used_ + 1) > sources_.size()) {
    const auto old = sources_;
    sources_.assign(2 * old.size(), Source());
    for (const Source& source : old) {
      if (source.key != kNoKey) source_of(source.key) = source;
    }
  }
  Flow& flow = into_flow ? flows_.into_group(npu_, to, descriptor.traffic_class)
                         : flows_.unicast(npu_, NpuId(to), descriptor.traffic_class);
  Source& source = source_of(key);
  source.key = key;
  source.flow = &flow;
  ++sources_used_;
  return source;
}

void SendPort::send(const wvp_descriptor& descriptor, Time ready, Bytes&& data) {
  const bool into_flow = (descriptor.flags & WVP_D_SEND_FLOW) != 0;
  const std::uint64_t key = key_of(descriptor.send_to, into_flow, descriptor.traffic_class);
  Source* source = &source_of(key);
  if (source->key != key) source = &open(descriptor, key);
  if (descriptor.send_bytes > kLargestMessage) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(descriptor.cookie) + " sends " +
                             std::to_string(descriptor.send_bytes) + " bytes; the longest message has " +
                             std::to_string(kLargestMessage));
  }
  const What what{descriptor.send_tag, descriptor.send_bytes, descriptor.dtype};
  const bool windowed = (descriptor.flags & WVP_D_WINDOW) != 0;
  const bool notify = (descriptor.flags & WVP_D_NOTIFY_SENT) != 0;
  if (!windowed && !notify) {
    inject(*source, what, ready, std::move(data), Tracking::kForgotten);
    return;
  }
  if (source->window == nullptr) {
    windows_.push_back(std::make_unique<Window>(*this, key));
    source->window = windows_.back().get();
  }
  source->window->post(
      {ready, 0, what, descriptor.priority, descriptor.cookie, windowed, notify, std::move(data)});
}

void SendPort::inject(Source& source, const What& what, Time ready, Bytes&& data, Tracking tracking) {
  Message* message = messages_.acquire();
  Flow& flow = *source.flow;
  message->flow = &flow;
  message->bytes = what.bytes;
  message->packets = packets_of(what.bytes);
  message->first_packet = flow.next_packet;
  message->source = npu_;
  message->tag = what.tag;
  message->dtype = what.dtype;
  message->windowed = tracking == Tracking::kTracked;
  message->data = std::move(data);
  flow.next_packet += message->packets;
  sent_bytes_ += what.bytes;
  ++sent_messages_;
  // A message whose combine is done early does not overtake one before it in its flow.
  source.last_origin = std::max({source.last_origin, ready, calendar_.now()});

  Run run = Run::from_source(*message, source.last_origin);
  FabricPhase phase = FabricPhase::kHead;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  fabric_->nb_transport_fw(run, phase, delay);
}

void SendPort::on_tracked_credit(const Run& run) {
  const Flow& flow = *run.flow;
  const bool into_flow = flow.group != 0;
  Source& source =
      source_of(key_of(into_flow ? flow.group : flow.destination.value, into_flow, flow.traffic_class));
  source.window->on_credit(run);
}

}  // namespace wafervp

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

constexpr std::size_t kFirstSources = 4;
constexpr std::uint64_t kLargestMessage =
    std::uint64_t{std::numeric_limits<std::uint32_t>::max()} * kPacketBytes;

}  // namespace

SendPort::SendPort(NpuId npu, std::uint32_t npus, Calendar& calendar, MessagePool& messages, FlowTable& flows,
                   CompletionQueue& completions)
    : sources_(kFirstSources),
      calendar_(calendar),
      messages_(messages),
      flows_(flows),
      completions_(completions),
      npu_(npu),
      npus_(npus) {}

SendPort::~SendPort() = default;

SendPort::Source& SendPort::open(const SendRequest& request, std::uint64_t key) {
  if (!request.into_flow && (request.to >= npus_ || request.to == npu_.value)) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(request.cookie) + " sends to " +
                             (request.to == npu_.value
                                  ? "its own NPU"
                                  : "NPU " + std::to_string(request.to) + ", but the wafer has " +
                                        std::to_string(npus_) + " NPUs"));
  }
  if (2 * (sources_used_ + 1) > sources_.size()) {
    std::vector<Source> old(sources_.size() * 2);
    old.swap(sources_);
    for (const Source& source : old) {
      if (source.key != kNoKey) source_of(source.key) = source;
    }
  }
  Flow& flow = request.into_flow ? flows_.into_group(npu_, request.to, request.traffic_class)
                                 : flows_.unicast(npu_, NpuId(request.to), request.traffic_class);
  Source& source = source_of(key);
  source.key = key;
  source.flow = &flow;
  ++sources_used_;
  return source;
}

void SendPort::send(SendRequest&& request) {
  const std::uint64_t key = key_of(request.to, request.into_flow, request.traffic_class);
  Source* source = &source_of(key);
  if (source->key != key) source = &open(request, key);
  if (request.bytes > kLargestMessage) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(request.cookie) + " sends " + std::to_string(request.bytes) +
                             " bytes; the longest message has " + std::to_string(kLargestMessage));
  }
  if (!request.windowed && !request.notify) {
    inject(*source, request, Tracking::kForgotten);
    return;
  }
  if (source->window == nullptr) {
    windows_.push_back(std::make_unique<Window>(*this, key));
    source->window = windows_.back().get();
  }
  source->window->post(std::move(request));
}

void SendPort::inject(Source& source, SendRequest& request, Tracking tracking) {
  Message* message = messages_.acquire();
  Flow& flow = *source.flow;
  message->flow = &flow;
  message->bytes = request.bytes;
  message->packets = packets_of(request.bytes);
  message->first_packet = flow.next_packet;
  message->source = npu_;
  message->tag = request.tag;
  message->dtype = request.dtype;
  message->windowed = tracking == Tracking::kTracked;
  message->data = std::move(request.data);
  flow.next_packet += message->packets;
  sent_bytes_ += request.bytes;
  ++sent_messages_;
  // A message whose combine is done early does not overtake one before it in its flow.
  source.last_origin = std::max({source.last_origin, request.ready, calendar_.now()});

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

// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_port.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "accelerator/send_window.h"

namespace wafervp {

SendPort::SendPort(NpuId npu, std::uint32_t npus, Calendar& calendar, MessagePool& messages, FlowTable& flows,
                   CompletionQueue& completions)
    : calendar_(calendar),
      messages_(messages),
      npu_(npu),
      npus_(npus),
      sources_(kFirstSources),
      flows_(flows),
      completions_(completions) {
  recent_ = sources_.data();
}

SendPort::~SendPort() = default;

SendPort::Source& SendPort::source_for(const Outgoing& outgoing, std::uint64_t key) {
  Source& source = source_of(key);
  return source.key == key ? source : open(outgoing, key);
}

SendPort::Source& SendPort::open(const Outgoing& outgoing, std::uint64_t key) {
  const bool into_flow = (outgoing.flags & WVP_D_SEND_FLOW) != 0;
  const std::uint32_t to = outgoing.to;
  if (!into_flow && (to >= npus_ || to == npu_.value)) {
    const std::string where = to == npu_.value ? "its own NPU"
                                               : "NPU " + std::to_string(to) + ", but the wafer has " +
                                                     std::to_string(npus_) + " NPUs";
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                             std::to_string(outgoing.cookie) + " sends to " + where);
  }
  if (2 * (sources_used_ + 1) > sources_.size()) {
    const auto old = sources_;
    sources_.assign(2 * old.size(), Source());
    for (const Source& source : old) {
      if (source.key != kNoKey) source_of(source.key) = source;
    }
  }
  Flow& flow = into_flow ? flows_.into_group(npu_, to, outgoing.traffic_class)
                         : flows_.unicast(npu_, NpuId(to), outgoing.traffic_class);
  Source& source = source_of(key);
  source.key = key;
  source.flow = &flow;
  source.entry = fabric_;
  while (auto* relay = dynamic_cast<FabricRelay*>(source.entry)) {
    FabricFw* behind = relay->next_of(flow, 0);
    if (behind == nullptr) break;
    source.entry = behind;
  }
  ++sources_used_;
  return source;
}

void SendPort::refuse_size(const Outgoing& outgoing) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                           std::to_string(outgoing.cookie) + " sends " + std::to_string(outgoing.bytes) +
                           " bytes; the longest message has " + std::to_string(kLargestMessage));
}

void SendPort::post(const Outgoing& outgoing, Time ready, Bytes* data) {
  if (recent_->window == nullptr) {
    windows_.push_back(std::make_unique<Window>(*this, recent_->key));
    recent_->window = windows_.back().get();
  }
  const What what{outgoing.tag, outgoing.bytes, outgoing.cookie, outgoing.dtype};
  recent_->window->post({ready, 0, what, outgoing.priority, (outgoing.flags & WVP_D_WINDOW) != 0,
                         (outgoing.flags & WVP_D_NOTIFY_SENT) != 0,
                         data != nullptr ? std::move(*data) : Bytes()});
}

/// Which of its few flows an NPU sends into next is not known.
void SendPort::prepare_windows(unsigned step) const {
  if (windows_.size() > kFewWindows) return;
  for (const auto& window : windows_) {
    if (step == 0) {
      prefetch(window.get(), Window::kWarmBytes);
    } else {
      window->prepare_post();
    }
  }
}

void SendPort::on_tracked_credit(const Run& run) {
  const Flow& flow = *run.flow;
  const bool into_flow = flow.group != 0;
  Source& source =
      source_of(key_of(into_flow ? flow.group : flow.destination.value, into_flow, flow.traffic_class));
  source.window->on_credit(run);
}

}  // namespace wafervp

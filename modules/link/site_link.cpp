// SPDX-License-Identifier: Apache-2.0
#include "link/site_link.h"

#include <algorithm>
#include <utility>

namespace wafervp {

/// A message that comes, until it is sent: the calendar tells when all of it is here.
class SiteLink::Waiting final : public CalendarEntry {
 public:
  explicit Waiting(SiteLink& link) : CalendarEntry(Stage::kArbitration, link.config_.id.value), link_(link) {}
  Run run;  ///< the last one of the message

 private:
  void fire(Time now) override { link_.send(*this, now); }
  SiteLink& link_;
};

SiteLink::SiteLink(sc_core::sc_module_name name, const SiteLinkConfig& config, Calendar& calendar,
                   std::shared_ptr<SiteWire> wire)
    : LinkModule(name), config_(config), calendar_(calendar), wire_(std::move(wire)), random_(config.seed) {
  in.bind(*this);
  out.bind(*this);
}

SiteLink::~SiteLink() = default;

Lane* SiteLink::open(Flow&, std::uint16_t, unsigned) { return nullptr; }

std::uint64_t SiteLink::queued_packets(Time) const {
  std::uint64_t packets = 0;
  for (const auto& entry : waiting_) packets += entry.second->run.message->packets;
  return packets;
}

tlm::tlm_sync_enum SiteLink::nb_transport_fw(Run& run, FabricPhase&, sc_core::sc_time& delay) {
  auto& entry = waiting_[run.message];
  if (entry == nullptr) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Waiting>(*this));
    entry = std::move(spare_.back());
    spare_.pop_back();
  }
  Waiting& waiting = *entry;
  waiting.run = run;
  if (run.count != 0 && run.complete()) {
    calendar_.schedule(waiting, run.tail(run.count - 1));
  } else {
    calendar_.cancel(waiting);
  }
  // The gateway takes packets as they come. What waits at a source leaves it with the wire.
  if (run.hop != 0) {
    Run credit = run;
    credit.hopeful = false;
    FabricPhase phase = FabricPhase::kCredit;
    in->nb_transport_bw(credit, phase, delay);
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum SiteLink::nb_transport_bw(Run&, FabricPhase&, sc_core::sc_time&) {
  return tlm::TLM_ACCEPTED;
}

/// Mean and deviation of a sum of twelve uniform numbers are 6 and 1.
Time SiteLink::delay_of_next() {
  if (config_.distribution == Jitter::kNone || config_.jitter == 0) return config_.latency;
  __extension__ using Wide = __int128;
  const auto draw = [&] { return static_cast<Wide>(random_.next() >> 32); };
  Wide part = 0;  // in 1/2^32 of the jitter
  if (config_.distribution == Jitter::kUniform) {
    part = draw();
  } else {
    for (int i = 0; i < 12; ++i) part += draw();
    part -= Wide{6} << 32;
  }
  const Wide delay = static_cast<Wide>(config_.latency) + ((part * static_cast<Wide>(config_.jitter)) >> 32);
  return delay < 0 ? 0 : static_cast<Time>(delay);
}

void SiteLink::send(Waiting& waiting, Time now) {
  const Message& message = *waiting.run.message;
  const Time start = std::max(wire_->free_at, now), sending = config_.rate.ps(message.bytes);
  // A message of no bytes still takes its turn.
  Time arrival = std::max(start + delay_of_next(), last_arrival_);
  last_arrival_ = arrival + sending;
  wire_->free_at = config_.latency_occupies ? last_arrival_ : start + sending;

  const auto kind = waiting.run.flow->traffic_class & 3u;
  statistics_.bytes += message.bytes;
  statistics_.packets += message.packets;
  statistics_.class_bytes[kind] += message.bytes;
  statistics_.class_packets[kind] += message.packets;
  ++statistics_.runs;
  statistics_.busy_ps += sending;

  Run run = waiting.run;
  auto entry = waiting_.find(&message);
  spare_.push_back(std::move(entry->second));
  waiting_.erase(entry);

  const bool from_source = run.hop == 0;
  run.rate = &config_.rate;
  run.first = message.first_packet;
  run.count = message.packets;
  run.offset = 0;
  run.late = 0;
  run.last = true;
  run.hopeful = false;
  run.lane = nullptr;
  run.tail_bytes = static_cast<std::uint16_t>(message.bytes_of(message.end_packet() - 1, 1));
  sc_core::sc_time delay;
  if (from_source) {
    run.origin = start;
    FabricPhase phase = FabricPhase::kCredit;
    in->nb_transport_bw(run, phase, delay);
  }
  run.origin = arrival;
  ++run.hop;
  FabricPhase phase = FabricPhase::kHead;
  out->nb_transport_fw(run, phase, delay);
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>

#include "core/arena.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "link/link_engine.h"
#include "link/link_module.h"

namespace wafervp {

/// A wafer link, one direction: the module with its sockets, which are bound to what does the work.
class Link : public LinkModule {
 public:
  /// The state of many links lies together in `arena`, which outlives the link; without one the link has an
  /// arena of its own. Throws std::invalid_argument for a buffer of no packets.
  Link(sc_core::sc_module_name name, const LinkConfig& config, Calendar& calendar, Arena* arena = nullptr);

  /// The link the other way, which carries this one's acknowledgements; to be told to both.
  void set_reverse(Link& back) { engine_->set_reverse(*back.engine_); }

  Lane* open(Flow& flow, std::uint16_t hop, unsigned input) override {
    return engine_->open(flow, hop, input);
  }
  const Rate& rate() const override { return engine_->timing().rate; }
  Time latency() const override { return engine_->timing().latency; }
  std::uint32_t buffer_packets() const override { return engine_->timing().buffer_packets; }
  void hold_flow(Lane& lane, bool back) override { engine_->hold_flow(lane, back); }
  void begin_path(std::uint8_t traffic_class, Time from) override {
    engine_->begin_path(traffic_class, from);
  }
  void end_path(const Lane& lane, std::uint64_t end_packet) override { engine_->end_path(lane, end_packet); }

  LinkConfig config() const { return engine_->config(); }
  LinkStatistics statistics() const override { return engine_->statistics(); }
  std::uint64_t queued_packets(Time now) const override { return engine_->queued_packets(now); }
  std::uint32_t header_bytes() const override { return engine_->header_bytes(); }

 private:
  void end_of_elaboration() override;

  std::unique_ptr<Arena> own_arena_;
  ArenaPointer<LinkEngine> engine_;
};

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/fabric_protocol.h>
#include <core/flow_table.h>

#include <cstdint>
#include <systemc>

/// A user's own initiator on a fabric port: messages of one size from NPU 0 to NPU 1, one every `period`.
struct TrafficConfig {
  std::uint64_t bytes = 0;     ///< of each message
  std::uint32_t messages = 1;  ///< how many
  wafervp::Time period = 0;    ///< ps from one message to the next; 0: all are ready at the start
};

class TrafficSource : public sc_core::sc_module,
                      public wafervp::FabricBwInterface,
                      public wafervp::FabricNode {
 public:
  wafervp::FabricInitiatorSocket egress;

  TrafficSource(sc_core::sc_module_name name, const TrafficConfig& config, wafervp::Calendar& calendar,
                wafervp::MessagePool& pool, wafervp::FlowTable& flows)
      : sc_core::sc_module(name),
        egress("egress"),
        config_(config),
        calendar_(calendar),
        pool_(pool),
        flows_(flows),
        inject_(*this, wafervp::Stage::kFirmware, 0) {
    egress.bind(*this);
  }

  /// The link that `egress` is bound to: the way of every flow that starts here.
  void set_link(wafervp::FabricLink& link) { link_ = &link; }

  unsigned route(const wafervp::Flow&, unsigned) override { return 0; }
  wafervp::FabricLink& output_link(unsigned) override { return *link_; }

  /// Credits of the link: a source keeps no buffer that they could free.
  tlm::tlm_sync_enum nb_transport_bw(wafervp::Run&, wafervp::FabricPhase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }

 private:
  void start_of_simulation() override { calendar_.schedule(inject_, 0); }

  void inject(wafervp::Time now) {
    do {
      send(now);
    } while (config_.period == 0 && sent_ < config_.messages);
    if (sent_ < config_.messages) calendar_.schedule(inject_, now + config_.period);
  }

  void send(wafervp::Time now) {
    wafervp::Flow& flow = flows_.unicast(wafervp::NpuId(0), wafervp::NpuId(1), 0);
    wafervp::Message& message = *pool_.acquire();
    message.flow = &flow;
    message.bytes = config_.bytes;
    message.packets = wafervp::packets_of(config_.bytes);
    message.first_packet = flow.next_packet;
    message.source = wafervp::NpuId(0);
    message.tag = sent_++;
    flow.next_packet += message.packets;

    wafervp::Run run = wafervp::Run::from_source(message, now);
    wafervp::FabricPhase phase = wafervp::FabricPhase::kHead;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    egress->nb_transport_fw(run, phase, delay);
  }

  TrafficConfig config_;
  wafervp::Calendar& calendar_;
  wafervp::MessagePool& pool_;
  wafervp::FlowTable& flows_;
  wafervp::FabricLink* link_ = nullptr;
  wafervp::CalendarCall<TrafficSource, &TrafficSource::inject> inject_;
  std::uint32_t sent_ = 0;
};

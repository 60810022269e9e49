// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/fabric_protocol.h>

#include <stdexcept>
#include <systemc>
#include <vector>

/// A user's own target on a fabric port: takes every packet at once and notes when each message's last byte
/// came.
class TrafficSink : public sc_core::sc_module,
                    public wafervp::FabricFwInterface,
                    public wafervp::FabricNode,
                    public wafervp::MessageSink {
 public:
  wafervp::FabricTargetSocket ingress;

  TrafficSink(sc_core::sc_module_name name, wafervp::Calendar& calendar, wafervp::MessagePool& pool)
      : sc_core::sc_module(name), ingress("ingress"), calendar_(calendar), pool_(pool) {
    ingress.bind(*this);
  }

  const std::vector<wafervp::Time>& arrivals() const { return arrivals_; }

  unsigned route(const wafervp::Flow&, unsigned) override { return kEndsHere; }
  wafervp::FabricLink& output_link(unsigned) override { throw std::logic_error("a sink has no output"); }

  /// A run is a promise: what is said again with fewer packets no longer brings the message's last byte.
  tlm::tlm_sync_enum nb_transport_fw(wafervp::Run& run, wafervp::FabricPhase&, sc_core::sc_time&) override {
    wafervp::Message& message = *run.message;
    if (run.complete()) {
      message.sink = this;
      calendar_.schedule(message, run.tail(run.count - 1));
    } else if (message.scheduled()) {
      calendar_.cancel(message);
    }
    return tlm::TLM_ACCEPTED;
  }

  void on_message(wafervp::Message& message, wafervp::Time now) override {
    arrivals_.push_back(now);
    pool_.release(&message);
  }

 private:
  wafervp::Calendar& calendar_;
  wafervp::MessagePool& pool_;
  std::vector<wafervp::Time> arrivals_;
};

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/flow_table.h"
#include "wafervp/registers.h"

namespace wafervp::test {

/// A completion and when the control processor saw it.
struct Seen {
  wvp_completion completion;
  Time when;
};

/// A run that the accelerator handed to the fabric, and what its message was.
struct Handed {
  Run run;
  std::uint64_t tag;
  std::uint64_t bytes;
  Time when;
  Bytes data;
};

/// Stands for the fabric: takes the accelerator's runs and hands it messages at given times.
class FabricStub : public sc_core::sc_module,
                   public FabricFwInterface,
                   public FabricBwInterface,
                   public FabricNode {
 public:
  FabricTargetSocket from_dut;
  FabricInitiatorSocket to_dut;

  FabricStub(sc_core::sc_module_name name, Calendar& calendar);
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  unsigned route(const Flow&, unsigned) override { return kEndsHere; }
  FabricLink& output_link(unsigned output) override;

  void head(Run run);
  void credit(Run run, FabricPhase phase = FabricPhase::kCredit);

  std::vector<Handed> handed;
  std::function<void(const Handed&)> on_handed;

 private:
  Calendar& calendar_;
};

/// One accelerator (NPU 0 of `npus`) between a fabric stub and a scripted control processor that takes
/// completions as they come.
class Bench : public ControlProcessor, public AcceleratorObserver {
 public:
  explicit Bench(AcceleratorConfig config = basic());
  static AcceleratorConfig basic();

  /// Runs `action` at `when` in `stage`.
  void at(Time when, std::function<void()> action, Stage stage = Stage::kFirmware);
  /// Writes one descriptor and rings the doorbell, at the processor's time `local`.
  void post(const wvp_descriptor& descriptor, Time local);
  void post_at(Time when, const wvp_descriptor& descriptor) {
    at(when, [=] { post(descriptor, when); });
  }
  Message& make_message(std::uint32_t from, std::uint64_t tag, std::uint64_t bytes, Bytes data = {});
  /// A message from `from` that is complete at `arrival`; announced at the calendar's time.
  Message& announce(std::uint32_t from, std::uint64_t tag, std::uint64_t bytes, Time arrival,
                    Bytes data = {});
  void message_at(Time when, std::uint32_t from, std::uint64_t tag, std::uint64_t bytes, Bytes data = {}) {
    at(
        when, [=] { announce(from, tag, bytes, when, data); }, Stage::kArrival);
  }
  /// Runs until nothing is left to do.
  void run();
  /// Runs and returns the text of the exception that ended the run.
  std::string run_to_error();

  void on_completions(Time now) override;
  bool charges_steps() const override { return true; }
  Time charge_step(Time now) override { return charged_until = std::max(charged_until, now) + step_ps; }
  void on_phase(NpuId npu, std::uint32_t kind, std::uint32_t command, Time when) override;
  void on_exit(NpuId npu, std::uint32_t status, Time when) override;
  void on_compute(NpuId npu, Time begin, Time end) override;

  Arena arena;
  Calendar calendar;
  MessagePool messages;
  FlowTable flows;
  Accelerator dut;
  FabricStub fabric;
  Time step_ps = 0, charged_until = 0;  ///< of a step of a walk
  bool take_completions = true;
  std::vector<Seen> seen;
  std::vector<std::string> observed;
  std::function<void(const wvp_completion&, Time)> on_completion;

 private:
  class Action final : public CalendarEntry {
   public:
    Action(Stage stage, std::function<void()> what) : CalendarEntry(stage, 0), what_(std::move(what)) {}

   private:
    void fire(Time) override { what_(); }
    std::function<void()> what_;
  };

  std::deque<Action> actions_;
  std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
};

wvp_descriptor expect(std::uint32_t cookie, std::uint32_t from, std::uint64_t tag, std::uint64_t bytes);
wvp_descriptor send(std::uint32_t cookie, std::uint32_t to, std::uint64_t tag, std::uint64_t bytes);
wvp_descriptor combine(std::uint32_t cookie, std::uint32_t flag, std::uint32_t staged,
                       std::uint64_t address = 0);

/// Values as a message carries them, and back.
Bytes bytes_of(const std::vector<std::int32_t>& values);
std::vector<std::int32_t> words(const std::byte* from, std::size_t count);

}  // namespace wafervp::test

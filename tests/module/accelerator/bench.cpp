// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <cstring>

#include <stdexcept>

namespace wafervp::test {

FabricStub::FabricStub(sc_core::sc_module_name name, Calendar& calendar)
    : sc_module(name), from_dut("from_dut"), to_dut("to_dut"), calendar_(calendar) {
  from_dut.bind(static_cast<FabricFwInterface&>(*this));
  to_dut.bind(static_cast<FabricBwInterface&>(*this));
}

tlm::tlm_sync_enum FabricStub::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  EXPECT_EQ(phase, FabricPhase::kHead);
  EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
  handed.push_back({run, run.message->tag, run.message->bytes, calendar_.now(), run.message->data});
  if (on_handed) on_handed(handed.back());
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum FabricStub::nb_transport_bw(Run&, FabricPhase&, sc_core::sc_time&) {
  ADD_FAILURE() << "a sink of messages needs no credits";
  return tlm::TLM_ACCEPTED;
}

FabricLink& FabricStub::output_link(unsigned) { throw std::logic_error("the stub has no links"); }

void FabricStub::head(Run run) {
  FabricPhase phase = FabricPhase::kHead;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  to_dut->nb_transport_fw(run, phase, delay);
}

void FabricStub::credit(Run run, FabricPhase phase) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  from_dut->nb_transport_bw(run, phase, delay);
}

AcceleratorConfig Bench::basic() {
  AcceleratorConfig config;
  config.npu = NpuId(0);
  config.npus = 8;
  config.peak_flops_per_s = 1e12;
  return config;
}

Bench::Bench(AcceleratorConfig config)
    : calendar("calendar"), dut("dut", config, calendar, messages, flows, arena), fabric("fabric", calendar) {
  dut.egress.bind(fabric.from_dut);
  fabric.to_dut.bind(dut.ingress);
  for (std::uint32_t npu = 0; npu < config.npus; ++npu) flows.set_entry(NpuId(npu), fabric, 0);
  dut.attach(*this);
  dut.set_observer(this);
}

void Bench::at(Time when, std::function<void()> action, Stage stage) {
  actions_.emplace_back(stage, std::move(action));
  calendar.schedule(actions_.back(), when);
}

void Bench::post(const wvp_descriptor& descriptor, Time local) {
  const std::uint32_t size = dut.read32(WVP_REG_DQ_SIZE, local);
  dut.descriptor_ring()[producer_ & (size - 1)] = descriptor;
  dut.write32(WVP_REG_DQ_DOORBELL, ++producer_, local);
}

Message& Bench::make_message(std::uint32_t from, std::uint64_t tag, std::uint64_t bytes, Bytes data) {
  Flow& flow = flows.unicast(NpuId(from), NpuId(0), WVP_CLASS_DP);
  Message& message = *messages.acquire();
  message.flow = &flow;
  message.bytes = bytes;
  message.packets = packets_of(bytes);
  message.first_packet = flow.next_packet;
  flow.next_packet += message.packets;
  message.source = NpuId(from);
  message.tag = tag;
  message.data = std::move(data);
  return message;
}

Message& Bench::announce(std::uint32_t from, std::uint64_t tag, std::uint64_t bytes, Time arrival,
                         Bytes data) {
  Message& message = make_message(from, tag, bytes, std::move(data));
  fabric.head(Run::from_source(message, arrival));
  return message;
}

void Bench::run() {
  sc_core::sc_start();
  calendar.rethrow_failure();
}

std::string Bench::run_to_error() {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

void Bench::on_completions(Time now) {
  if (!take_completions) return;
  const std::uint32_t size = dut.read32(WVP_REG_CQ_SIZE, now);
  for (;;) {
    const wvp_completion completion = dut.completion_ring()[taken_ & (size - 1)];
    if (completion.phase != (((taken_ / size) & 1) == 0 ? 1 : 0)) break;
    ++taken_;
    dut.write32(WVP_REG_CQ_HEAD, taken_, now);
    seen.push_back({completion, now});
    if (on_completion) on_completion(completion, now);
  }
}

void Bench::on_phase(NpuId npu, std::uint32_t kind, std::uint32_t command, Time when) {
  observed.push_back("phase " + std::to_string(npu.value) + " " + std::to_string(kind) + " " +
                     std::to_string(command) + " @" + std::to_string(when));
}

void Bench::on_exit(NpuId npu, std::uint32_t status, Time when) {
  observed.push_back("exit " + std::to_string(npu.value) + " " + std::to_string(status) + " @" +
                     std::to_string(when));
}

void Bench::on_compute(NpuId npu, Time begin, Time end) {
  observed.push_back("compute " + std::to_string(npu.value) + " " + std::to_string(begin) + "-" +
                     std::to_string(end));
}

wvp_descriptor expect(std::uint32_t cookie, std::uint32_t from, std::uint64_t tag, std::uint64_t bytes) {
  wvp_descriptor descriptor{};
  descriptor.flags = WVP_D_EXPECT;
  descriptor.cookie = cookie;
  descriptor.expect_from = from;
  descriptor.expect_tag = tag;
  descriptor.expect_bytes = bytes;
  return descriptor;
}

wvp_descriptor send(std::uint32_t cookie, std::uint32_t to, std::uint64_t tag, std::uint64_t bytes) {
  wvp_descriptor descriptor{};
  descriptor.flags = WVP_D_SEND;
  descriptor.cookie = cookie;
  descriptor.send_to = to;
  descriptor.send_tag = tag;
  descriptor.send_bytes = bytes;
  descriptor.traffic_class = WVP_CLASS_DP;
  return descriptor;
}

wvp_descriptor combine(std::uint32_t cookie, std::uint32_t flag, std::uint32_t staged,
                       std::uint64_t address) {
  wvp_descriptor descriptor{};
  descriptor.flags = flag;
  descriptor.cookie = cookie;
  descriptor.staged = staged;
  descriptor.combine_addr = address;
  return descriptor;
}

Bytes bytes_of(const std::vector<std::int32_t>& values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(4 * values.size());
  std::memcpy(bytes->data(), values.data(), bytes->size());
  return bytes;
}

std::vector<std::int32_t> words(const std::byte* from, std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::memcpy(values.data(), from, 4 * count);
  return values;
}

}  // namespace wafervp::test

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

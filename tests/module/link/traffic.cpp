// SPDX-License-Identifier: Apache-2.0
#include "traffic.h"

#include <algorithm>

namespace wafervp::test {

Time serialisation(std::uint64_t bytes, std::uint64_t bytes_per_s) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<Time>((static_cast<Wide>(bytes) * kPsPerSecond + bytes_per_s - 1) / bytes_per_s);
}

void Shared::at(Time when, std::function<void()> action, Stage stage) {
  calendar.schedule(actions.emplace_back(stage, std::move(action)), when);
}

Source::Source(sc_core::sc_module_name name, Shared& shared) : sc_module(name), out("out"), shared_(shared) {
  out.bind(*this);
}

void Source::serve(NpuId npu, FabricLink& link) {
  link_ = &link;
  shared_.flows.set_entry(npu, *this, npu.value);
}

void Source::send(const Sending& sending) {
  Flow& flow = sending.group == 0
                   ? shared_.flows.unicast(sending.from, sending.to, sending.traffic_class)
                   : shared_.flows.into_group(sending.from, sending.group, sending.traffic_class);
  Message& message = *shared_.pool.acquire();
  message.flow = &flow;
  message.bytes = sending.bytes;
  message.packets = packets_of(sending.bytes);
  message.first_packet = flow.next_packet;
  message.source = sending.from;
  message.tag = sending.tag;
  message.dtype = sending.dtype;
  message.windowed = true;
  message.data = sending.data;
  flow.next_packet += message.packets;
  Run run = Run::from_source(message, shared_.calendar.now());
  FabricPhase phase = FabricPhase::kHead;
  sc_core::sc_time delay;
  EXPECT_EQ(out->nb_transport_fw(run, phase, delay), tlm::TLM_ACCEPTED);
}

void Source::send_at(Time when, const Sending& sending) {
  shared_.at(when, [this, sending] { send(sending); });
}

tlm::tlm_sync_enum Source::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  EXPECT_EQ(phase, FabricPhase::kCredit);
  EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
  credits.push_back(run);
  return tlm::TLM_ACCEPTED;
}

void RunLog::note(const Run& run, Time now, Time lead) {
  std::vector<Run>& runs = runs_[run.flow->id];
  if (runs.empty() || run.first > runs.back().first) {
    EXPECT_GT(run.count, 0u);
    EXPECT_EQ(run.first, runs.empty() ? 0 : runs.back().end()) << "a gap between runs";
    EXPECT_EQ(run.first + run.count == run.message->end_packet(), run.last);
    runs.push_back(run);
    return;
  }
  Run& held = runs.back();
  EXPECT_EQ(run.first, held.first) << "only the last run may be shortened";
  EXPECT_LT(run.count, held.count);
  EXPECT_EQ(run.origin, held.origin);
  EXPECT_EQ(run.offset, held.offset);
  if (run.count < held.count) {
    EXPECT_GE(held.head(run.count), now + lead) << "a packet was taken back that has begun";
  }
  held = run;
  if (run.count == 0) runs.pop_back();
}

std::vector<Packet> RunLog::packets_of(FlowId flow) const {
  std::vector<Packet> result;
  const auto found = runs_.find(flow);
  if (found == runs_.end()) return result;
  for (const Run& run : found->second) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      result.push_back({flow, run.first + i, run.head(i), run.tail(i), run.bytes(i + 1) - run.bytes(i)});
    }
  }
  return result;
}

std::vector<Packet> RunLog::packets() const {
  std::vector<Packet> all;
  for (const auto& [flow, runs] : runs_) {
    const std::vector<Packet> own = packets_of(flow);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const Packet& a, const Packet& b) {
    return a.head != b.head ? a.head < b.head : a.tail < b.tail;
  });
  return all;
}

std::size_t RunLog::runs() const {
  std::size_t sum = 0;
  for (const auto& [flow, runs] : runs_) sum += runs.size();
  return sum;
}

Monitor::Monitor(sc_core::sc_module_name name, Shared& shared, Time lead)
    : sc_module(name), in("in"), out("out"), shared_(shared), lead_(lead) {
  in.bind(*this);
  out.bind(*this);
}

tlm::tlm_sync_enum Monitor::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  log.note(run, shared_.calendar.now(), lead_);
  return out->nb_transport_fw(run, phase, delay);
}

tlm::tlm_sync_enum Monitor::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  if (phase == FabricPhase::kStall) ++stalls;
  return in->nb_transport_bw(run, phase, delay);
}

Sink::Sink(sc_core::sc_module_name name, Shared& shared, Time lead)
    : sc_module(name), in("in"), shared_(shared), lead_(lead), promise_(*this, Stage::kArbitration, ~0u) {
  in.bind(*this);
}

void Sink::hold_packets(Time hold) {
  limited_ = true;
  hold_ = hold;
}

tlm::tlm_sync_enum Sink::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  EXPECT_EQ(phase, FabricPhase::kHead);
  EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
  log.note(run, shared_.calendar.now(), lead_);
  Message& message = *run.message;
  if (run.complete() && run.count > 0) {
    message.sink = this;
    shared_.calendar.schedule(message, run.tail(run.count - 1));
  } else if (message.scheduled()) {
    shared_.calendar.cancel(message);
  }
  if (!limited_) return tlm::TLM_ACCEPTED;
  for (Promise& promise : owed_) {
    if (promise.run.flow != run.flow || promise.run.first != run.first) continue;
    promise.run = run;  // not promised yet
    return tlm::TLM_ACCEPTED;
  }
  if (run.count == 0 || run.head(0) <= shared_.calendar.now()) {
    tell(run);
    return tlm::TLM_ACCEPTED;
  }
  owed_.push_back({run.head(0), run});
  if (run.head(0) < promise_.time()) shared_.calendar.schedule(promise_, run.head(0));
  return tlm::TLM_ACCEPTED;
}

void Sink::promise(Time now) {
  Time next = kNever;
  std::vector<Promise> waiting;
  waiting.swap(owed_);
  for (const Promise& promise : waiting) {
    if (promise.when > now) {
      owed_.push_back(promise);
      next = std::min(next, promise.when);
    } else if (promise.run.count > 0) {
      tell(promise.run);
    }
  }
  if (next < promise_.time()) shared_.calendar.schedule(promise_, next);
}

void Sink::tell(Run run) {
  run.origin += hold_;
  run.hopeful = false;  // it is taken, whatever its sender hoped for
  FabricPhase phase = FabricPhase::kCredit;
  sc_core::sc_time delay;
  in->nb_transport_bw(run, phase, delay);
}

void Sink::on_message(Message& message, Time now) {
  deliveries.push_back({message.source, message.tag, now, message.bytes, message.data});
  shared_.pool.release(&message);
  if (on_delivery) on_delivery(deliveries.back());
}

Time Sink::arrival(NpuId from, std::uint64_t tag) const {
  for (const Delivery& delivery : deliveries) {
    if (delivery.from == from && delivery.tag == tag) return delivery.when;
  }
  return kNever;
}

namespace {
class ToOutput final : public RoutingAlgorithm {
 public:
  explicit ToOutput(unsigned output) : output_(output) {}
  unsigned output(NpuId) const override { return output_; }

 private:
  unsigned output_;
};
}  // namespace

std::unique_ptr<RoutingAlgorithm> to_output(unsigned output) { return std::make_unique<ToOutput>(output); }

LinkBench::LinkBench(const std::string& name, const LinkConfig& config)
    : shared(name),
      source((name + "_source").c_str(), shared),
      link((name + "_link").c_str(), config, shared.calendar),
      sink((name + "_sink").c_str(), shared, config.latency) {
  source.out.bind(link.in);
  link.out.bind(sink.in);
  link.set_target(sink, 0);
  for (std::uint32_t npu = 0; npu < 8; ++npu) source.serve(NpuId(npu), link);
}

void LinkBench::run() { simulate({&shared}); }

MergeBench::MergeBench(const std::string& name, const std::vector<LinkConfig>& feed_configs,
                       const LinkConfig& shared_link)
    : shared(name),
      router((name + "_router").c_str(), {static_cast<unsigned>(feed_configs.size()), 1, false, 0},
             to_output(0)),
      link((name + "_link").c_str(), shared_link, shared.calendar),
      sink((name + "_sink").c_str(), shared, shared_link.latency) {
  for (std::uint32_t k = 0; k < feed_configs.size(); ++k) {
    const std::string number = std::to_string(k);
    Source& source = sources.emplace_back((name + "_source" + number).c_str(), shared);
    Link& feed = feeds.emplace_back((name + "_feed" + number).c_str(), feed_configs[k], shared.calendar);
    Monitor& monitor =
        monitors.emplace_back((name + "_monitor" + number).c_str(), shared, feed_configs[k].latency);
    source.out.bind(feed.in);
    feed.out.bind(monitor.in);
    monitor.out.bind(router.in[k]);
    feed.set_target(router, k);
    source.serve(NpuId(k), feed);
  }
  router.out[0].bind(link.in);
  router.set_output_link(0, link);
  link.out.bind(sink.in);
  link.set_target(sink, 0);
}

LinkConfig link_config(std::uint64_t bytes_per_s, Time latency, bool packet_grain) {
  static std::uint32_t next = 0;
  LinkConfig config;
  config.id = LinkId(next++);
  config.rate = Rate(bytes_per_s);
  config.latency = latency;
  const std::uint64_t on_the_way = bytes_per_s / kGB * 2 * latency;  // in 10^-3 bytes
  config.buffer_packets = static_cast<std::uint32_t>((on_the_way + 4'095'999) / 4'096'000 + 2);
  config.packet_grain = packet_grain;
  return config;
}

void simulate(std::initializer_list<Shared*> benches) {
  sc_core::sc_start();
  for (Shared* bench : benches) {
    bench->calendar.rethrow_failure();
    EXPECT_TRUE(bench->calendar.empty());
    EXPECT_EQ(bench->pool.outstanding(), 0u) << "messages are lost";
  }
}

}  // namespace wafervp::test

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

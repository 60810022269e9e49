// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/flow_table.h"
#include "link/link.h"
#include "router/router.h"

namespace wafervp::test {

inline constexpr std::uint64_t kGB = 1'000'000'000;
inline constexpr Time kNs = 1000;

/// End of the n-th byte of a busy period, by its definition.
Time serialisation(std::uint64_t bytes, std::uint64_t bytes_per_s);

/// A call at a given time.
class Action final : public CalendarEntry {
 public:
  Action(Stage stage, std::function<void()> what) : CalendarEntry(stage, 0), what_(std::move(what)) {}

 private:
  void fire(Time) override { what_(); }
  std::function<void()> what_;
};

/// What all modules of a bench share.
struct Shared {
  explicit Shared(const std::string& name) : calendar((name + "_calendar").c_str()) {}
  void at(Time when, std::function<void()> action, Stage stage = Stage::kFirmware);

  Calendar calendar;
  MessagePool pool;
  FlowTable flows;
  std::deque<Action> actions;
};

struct Sending {
  NpuId from, to;  ///< `from` is the generator's port as well
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t group = 0;  ///< not 0: into this in-network flow
  Bytes data;
  std::uint8_t dtype = 0;
};

/// `count` full packets from the generator's port `port`, as a flow of its own to NPU 100 + port.
inline Sending flow_packets(std::uint64_t count, std::uint32_t port, std::uint64_t tag = 0) {
  Sending sending;
  sending.from = NpuId(port);
  sending.to = NpuId(100 + port);
  sending.bytes = count * kPacketBytes;
  sending.tag = tag;
  return sending;
}

/// Traffic generator: hands messages to what is behind it, whole, as an accelerator does. Flows of NPU k
/// come by its input port k.
class Source : public sc_core::sc_module, public FabricBwInterface, public FabricNode {
 public:
  FabricInitiatorSocket out;

  Source(sc_core::sc_module_name name, Shared& shared);
  /// Flows of NPU `npu` enter here; the link is the way of all of them.
  void serve(NpuId npu, FabricLink& link);
  void send(const Sending& sending);
  void send_at(Time when, const Sending& sending);

  unsigned route(const Flow&, unsigned) override { return 0; }
  FabricLink& output_link(unsigned) override { return *link_; }
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;

  std::vector<Run> credits;

 private:
  Shared& shared_;
  FabricLink* link_ = nullptr;
};

/// A packet that passed one place.
struct Packet {
  FlowId flow;
  std::uint64_t number;
  Time head, tail;
  std::uint64_t bytes;
};

/// The runs that were promised at one place. Expects each to obey the protocol: in order, without gaps,
/// shortened only, and only by packets that have not begun.
class RunLog {
 public:
  /// `lead`: how long after its start on the link in question a head passes here.
  void note(const Run& run, Time now, Time lead);
  /// All packets in order of their heads.
  std::vector<Packet> packets() const;
  std::vector<Packet> packets_of(FlowId flow) const;
  std::size_t runs() const;

 private:
  std::map<FlowId, std::vector<Run>> runs_;
};

/// Passes everything on and writes down the runs that come by.
class Monitor : public sc_core::sc_module, public FabricFwInterface, public FabricBwInterface {
 public:
  FabricTargetSocket in;
  FabricInitiatorSocket out;

  Monitor(sc_core::sc_module_name name, Shared& shared, Time lead);
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;

  RunLog log;
  unsigned stalls = 0;

 private:
  Shared& shared_;
  Time lead_;
};

struct Delivery {
  NpuId from;
  std::uint64_t tag;
  Time when;
  std::uint64_t bytes;
  Bytes data;
};

/// Checker at the end of the way. It takes all packets at once, or holds each for a time and gives credits.
class Sink : public sc_core::sc_module, public FabricFwInterface, public FabricNode, public MessageSink {
 public:
  FabricTargetSocket in;

  Sink(sc_core::sc_module_name name, Shared& shared, Time lead);
  /// A packet stays in the sink's buffer for `hold` after its tail; the buffer is finite.
  void hold_packets(Time hold);

  unsigned route(const Flow&, unsigned) override { return kEndsHere; }
  bool consumes(const Flow&) const override { return !limited_; }
  FabricLink& output_link(unsigned) override { throw std::logic_error("a sink has no output"); }
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  void on_message(Message& message, Time now) override;

  Time arrival(NpuId from, std::uint64_t tag) const;

  RunLog log;
  std::vector<Delivery> deliveries;
  std::function<void(const Delivery&)> on_delivery;

 private:
  struct Promise {
    Time when;
    Run run;
  };
  void promise(Time now);
  void tell(Run run);

  Shared& shared_;
  Time lead_;
  Time hold_ = 0;
  bool limited_ = false;
  std::vector<Promise> owed_;
  CalendarCall<Sink, &Sink::promise> promise_;
};

/// Sends every flow by `output`.
std::unique_ptr<RoutingAlgorithm> to_output(unsigned output);

/// A source, a link and a sink.
struct LinkBench {
  LinkBench(const std::string& name, const LinkConfig& config);
  void run();

  Shared shared;
  Source source;
  Link link;
  Sink sink;
};

/// n sources, each with a link of its own, into one router, then one link and the sink.
struct MergeBench {
  MergeBench(const std::string& name, const std::vector<LinkConfig>& feeds, const LinkConfig& shared_link);

  Shared shared;
  std::deque<Source> sources;
  std::deque<Link> feeds;
  std::deque<Monitor> monitors;  ///< behind each feed
  Router router;
  Link link;
  Sink sink;
};

/// A configuration of `rate` and `latency` with the platform's choice of buffer.
LinkConfig link_config(std::uint64_t bytes_per_s, Time latency = 20 * kNs, bool packet_grain = false);

/// Starts the simulation, once a process, and hands on what failed.
void simulate(std::initializer_list<Shared*> benches);

}  // namespace wafervp::test

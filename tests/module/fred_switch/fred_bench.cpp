// SPDX-License-Identifier: Apache-2.0
#include "fred_bench.h"

#include <algorithm>

namespace wafervp::test {

StageConfig Directory::find(NodeId node, std::uint32_t group, unsigned input) const {
  for (const auto& [where, stage] : stages_) {
    if (where != node || stage.group != group) continue;
    if (std::find(stage.inputs.begin(), stage.inputs.end(), input) != stage.inputs.end()) return stage;
  }
  return {};
}

namespace {

RouterConfig config_of(unsigned ports, Time latency) {
  RouterConfig config;
  config.inputs = config.outputs = ports;
  config.latency = latency;
  return config;
}

/// A part of flow 1.
StageConfig stage(std::vector<unsigned> inputs, std::vector<unsigned> outputs) {
  StageConfig config;
  config.group = 1;
  config.inputs = std::move(inputs);
  config.outputs = std::move(outputs);
  return config;
}

std::unique_ptr<RoutingAlgorithm> by_number(unsigned ports) {
  std::vector<unsigned> table;
  for (unsigned port = 0; port < ports; ++port) table.push_back(port);
  return std::make_unique<TableRouting>(std::move(table));
}

}  // namespace

SwitchBench::SwitchBench(const std::string& name, unsigned ports, const FredRates& rates, unsigned lanes)
    : shared(name),
      fred((name + "_fred").c_str(), config_of(ports, rates.switch_latency), by_number(ports), NodeId(0),
           directory, shared.calendar, shared.pool, shared.flows,
           {std::vector<std::uint64_t>(lanes, rates.up), 4, rates.packet_grain, LinkId(1000)}),
      ports_(ports) {
  for (unsigned k = 0; k < ports; ++k) {
    const std::string number = std::to_string(k);
    sources.emplace_back((name + "_source" + number).c_str(), shared);
    ups.emplace_back((name + "_up" + number).c_str(),
                     link_config(rates.up, rates.latency, rates.packet_grain), shared.calendar);
    downs.emplace_back((name + "_down" + number).c_str(),
                       link_config(rates.down, rates.latency, rates.packet_grain), shared.calendar);
    sinks.emplace_back((name + "_sink" + number).c_str(), shared, rates.latency);
    sources[k].out.bind(ups[k].in);
    ups[k].out.bind(fred.in[k]);
    ups[k].set_target(fred, k);
    sources[k].serve(NpuId(k), ups[k]);
    fred.out[k].bind(downs[k].in);
    fred.set_output_link(k, downs[k]);
    downs[k].out.bind(sinks[k].in);
    downs[k].set_target(sinks[k], 0);
  }
}

std::uint32_t SwitchBench::flow(std::vector<unsigned> inputs, std::vector<unsigned> outputs,
                                std::shared_ptr<const StageArithmetic> arithmetic) {
  StageConfig stage;
  stage.group = ++groups_;
  stage.inputs = std::move(inputs);
  stage.outputs = std::move(outputs);
  stage.arithmetic = std::move(arithmetic);
  directory.add(NodeId(0), stage);
  return groups_;
}

std::uint32_t SwitchBench::flow_through(unsigned lane, std::vector<unsigned> inputs,
                                        std::vector<unsigned> outputs) {
  const std::uint32_t group = flow(std::move(inputs), {ports_ + lane});
  StageConfig out;
  out.group = group;
  out.inputs = {ports_ + lane};
  out.outputs = std::move(outputs);
  out.takes_latency = false;
  directory.add(NodeId(0), out);
  return group;
}

void SwitchBench::send_at(Time when, std::uint32_t from, std::uint32_t group, std::uint64_t bytes, Bytes data,
                          Element element) {
  Sending sending;
  sending.from = NpuId(from);
  sending.group = group;
  sending.bytes = bytes;
  sending.data = std::move(data);
  sending.dtype = static_cast<std::uint8_t>(element);
  sources[from].send_at(when, sending);
}

void SwitchBench::run() {
  sc_core::sc_start();
  shared.calendar.rethrow_failure();
  EXPECT_TRUE(shared.calendar.empty());
  fred.release_passed();
  EXPECT_EQ(shared.pool.outstanding(), 0u) << "messages are lost";
}

std::string SwitchBench::run_to_error() {
  try {
    sc_core::sc_start();
    shared.calendar.rethrow_failure();
  } catch (const CollectiveMismatch& mismatch) {
    return mismatch.what();
  } catch (const std::runtime_error& other) {
    return std::string("other: ") + other.what();
  }
  return "";
}

TreeBench::TreeBench(const std::string& name, unsigned l1s, unsigned npus, const FredRates& rates,
                     std::uint64_t uplink_rate)
    : shared(name),
      l2((name + "_l2").c_str(), config_of(l1s, rates.switch_latency), by_number(l1s), NodeId(0), directory,
         shared.calendar, shared.pool, shared.flows) {
  std::vector<unsigned> below, all;
  for (unsigned n = 0; n < npus; ++n) below.push_back(n);
  for (unsigned s = 0; s < l1s; ++s) all.push_back(s);
  directory.add(NodeId(0), stage(all, all));
  const auto link = [&](const std::string& which, std::uint64_t rate) -> Link& {
    return links.emplace_back((name + which).c_str(), link_config(rate, rates.latency, rates.packet_grain),
                              shared.calendar);
  };
  for (unsigned s = 0; s < l1s; ++s) {
    const std::string number = std::to_string(s);
    FredSwitch& here = l1.emplace_back((name + "_l1_" + number).c_str(),
                                       config_of(npus + 1, rates.switch_latency), by_number(npus + 1),
                                       NodeId(1 + s), directory, shared.calendar, shared.pool, shared.flows);
    directory.add(NodeId(1 + s), stage(below, {npus}));
    directory.add(NodeId(1 + s), stage({npus}, below));
    Link& up = link("_uplink" + number, uplink_rate);
    Link& down = link("_downlink" + number, uplink_rate);
    here.out[npus].bind(up.in);
    here.set_output_link(npus, up);
    up.out.bind(l2.in[s]);
    up.set_target(l2, s);
    l2.out[s].bind(down.in);
    l2.set_output_link(s, down);
    down.out.bind(here.in[npus]);
    down.set_target(here, npus);
    for (unsigned n = 0; n < npus; ++n) {
      const std::string npu = std::to_string(s * npus + n);
      Source& source = sources.emplace_back((name + "_source" + npu).c_str(), shared);
      Link& in = link("_up" + npu, rates.up);
      Link& out = link("_down" + npu, rates.down);
      Sink& sink = sinks.emplace_back((name + "_sink" + npu).c_str(), shared, rates.latency);
      source.out.bind(in.in);
      source.serve(NpuId(s * npus + n), in);
      in.out.bind(here.in[n]);
      in.set_target(here, n);
      here.out[n].bind(out.in);
      here.set_output_link(n, out);
      out.out.bind(sink.in);
      out.set_target(sink, 0);
    }
  }
}

void TreeBench::send_at(Time when, std::uint32_t from, std::uint64_t bytes) {
  Sending sending;
  sending.from = NpuId(from);
  sending.group = 1;
  sending.bytes = bytes;
  sources[from].send_at(when, sending);
}

Time TreeBench::end() const {
  Time last = 0;
  for (const Sink& sink : sinks) {
    EXPECT_FALSE(sink.deliveries.empty());
    for (const Delivery& delivery : sink.deliveries) last = std::max(last, delivery.when);
  }
  return last;
}

}  // namespace wafervp::test

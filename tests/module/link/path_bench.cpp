// SPDX-License-Identifier: Apache-2.0
#include "path_bench.h"

namespace wafervp::test {

namespace {

/// Port 0 at the destination, else on to the next router.
class AlongTheRow final : public RoutingAlgorithm {
 public:
  explicit AlongTheRow(std::uint32_t here) : here_(here) {}
  unsigned output(NpuId destination) const override { return destination.value == here_ ? 0 : 1; }

 private:
  std::uint32_t here_;
};

}  // namespace

PathBench::PathBench(const std::string& name, const std::vector<LinkConfig>& configs) : shared(name) {
  const auto nodes = static_cast<std::uint32_t>(configs.size() + 1);
  for (std::uint32_t k = 0; k < nodes; ++k) {
    const std::string number = std::to_string(k);
    const unsigned inputs = k == 0 ? 1 : 2, outputs = k + 1 == nodes ? 1 : 2;
    Router& router =
        routers.emplace_back((name + "_router" + number).c_str(), RouterConfig{inputs, outputs, true, 0},
                             std::make_unique<AlongTheRow>(k));
    Source& source = sources.emplace_back((name + "_source" + number).c_str(), shared);
    Sink& sink =
        sinks.emplace_back((name + "_sink" + number).c_str(), shared, k == 0 ? 0 : configs[k - 1].latency);
    source.out.bind(router.in[0]);
    router.out[0].bind(sink.in);
    shared.flows.set_entry(NpuId(k), router, 0);
  }
  for (std::uint32_t k = 0; k + 1 < nodes; ++k) {
    Link& link =
        links.emplace_back((name + "_link" + std::to_string(k)).c_str(), configs[k], shared.calendar);
    routers[k].out[1].bind(link.in);
    routers[k].set_output_link(1, link);
    link.out.bind(routers[k + 1].in[1]);
    link.set_target(routers[k + 1], 1);
  }
}

void PathBench::open(std::uint32_t from, std::uint32_t to) {
  shared.flows.unicast(NpuId(from), NpuId(to), 0);
}

void PathBench::send_at(Time when, const Sending& sending, Stage stage) {
  shared.at(
      when, [this, sending] { sources[sending.from.value].send(sending); }, stage);
}

Time PathBench::arrival(std::uint32_t from, std::uint64_t tag) const {
  Time when = kNever;
  for (const Sink& sink : sinks) when = std::min(when, sink.arrival(NpuId(from), tag));
  return when;
}

Time PathBench::left(std::uint32_t from, std::uint32_t to, std::uint64_t packet) const {
  Time when = kNever;
  std::uint64_t told = ~std::uint64_t{0};  // first packet of the run that holds this one
  for (const Run& credit : sources[from].credits) {
    if (credit.flow->destination != NpuId(to)) continue;
    if (credit.first <= packet && packet < credit.end()) {
      when = credit.tail(packet - credit.first);
      told = credit.first;
    } else if (credit.first == told) {
      when = kNever;
    }
  }
  return when;
}

Sending bytes_between(std::uint32_t from, std::uint32_t to, std::uint64_t count, std::uint64_t tag) {
  Sending sending;
  sending.from = NpuId(from);
  sending.to = NpuId(to);
  sending.bytes = count;
  sending.tag = tag;
  return sending;
}

}  // namespace wafervp::test

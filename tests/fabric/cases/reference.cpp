// SPDX-License-Identifier: Apache-2.0
#include "cases/reference.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace fabric_cases {

namespace {

using packet_loop::FlowId;
using packet_loop::LinkId;
using packet_loop::Time;

/// The case's wafer in the packet loop. Links are added node by node, so that the ports of a node have the
/// order of its links.
class Network {
 public:
  explicit Network(const FabricCase& of) : case_(of) {
    switch (of.fabric) {
      case Fabric::kMesh2d:
        add_mesh();
        break;
      case Fabric::kRing:
        add_ring();
        break;
      case Fabric::kSwitch:
        add_switch();
        break;
      case Fabric::kFred:
        add_fred();
        break;
    }
  }

  packet_loop::Loop& loop() { return loop_; }

  /// Levels of the traffic classes, with pre-emption.
  enum class Level : std::uint32_t { kMessages = 2, kAllReduce = 3 };

  FlowId flow(const std::vector<std::string>& places, std::uint32_t destination, Level level) {
    std::vector<LinkId> path;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      const std::string name = places[i] + "->" + places[i + 1];
      path.push_back(links_.at(name));
      ++flows_of_link_[name];
    }
    return loop_.add_flow(path, destination, case_.preemption ? static_cast<std::uint32_t>(level) : 0);
  }

  /// Nodes from NPU to NPU: x first on the mesh, the shorter way round on the ring (ties clockwise).
  std::vector<std::string> route(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::string> places;
    switch (case_.fabric) {
      case Fabric::kMesh2d: {
        std::uint32_t x = from % case_.columns, y = from / case_.columns;
        const std::uint32_t to_x = to % case_.columns, to_y = to / case_.columns;
        places.push_back(mesh_place(x, y));
        while (x != to_x) places.push_back(mesh_place(x < to_x ? ++x : --x, y));
        while (y != to_y) places.push_back(mesh_place(x, y < to_y ? ++y : --y));
        break;
      }
      case Fabric::kRing: {
        const std::uint32_t n = case_.npus();
        const std::uint32_t step = 2 * ((to + n - from) % n) <= n ? 1 : n - 1;
        places.push_back(npu(from));
        for (std::uint32_t at = from; at != to;) places.push_back(npu(at = (at + step) % n));
        break;
      }
      case Fabric::kSwitch:
        places = {npu(from), "switch", npu(to)};
        break;
      case Fabric::kFred: {
        const std::uint32_t a = from / case_.columns, b = to / case_.columns;
        places = {npu(from), l1(a)};
        if (a != b) places.insert(places.end(), {"l2", l1(b)});
        places.push_back(npu(to));
        break;
      }
    }
    return places;
  }

  static std::string npu(std::uint32_t n) { return "npu" + std::to_string(n); }
  static std::string l1(std::uint32_t n) { return "l1_" + std::to_string(n); }
  const std::map<std::string, std::uint32_t>& flows_of_link() const { return flows_of_link_; }

 private:
  static std::string mesh_place(std::uint32_t x, std::uint32_t y) {
    return "x" + std::to_string(x) + "y" + std::to_string(y);
  }

  void add(const std::string& from, const std::string& to, std::uint64_t rate) {
    const std::string name = from + "->" + to;
    const auto own = case_.link_rates.find(name);
    if (own != case_.link_rates.end()) rate = own->second;
    const Time latency = Time{case_.latency_ns} * 1000;
    const Time node = to.compare(0, 3, "npu") == 0 ? 0 : Time{case_.switch_latency_ns} * 1000;
    const std::uint32_t buffer = case_.buffer_packets
                                     ? case_.buffer_packets
                                     : packet_loop::default_buffer_packets(rate, latency, node);
    links_[name] = loop_.add_link(rate, latency, buffer, node);
    if (case_.preemption && from.compare(0, 1, "l") == 0) {
      loop_.set_reconfiguration(links_[name], case_.reconfiguration_ps);
    }
    flows_of_link_[name] = 0;
  }
  void add_mesh() {
    const std::uint32_t w = case_.columns, h = case_.rows;
    for (std::uint32_t y = 0; y < h; ++y) {
      for (std::uint32_t x = 0; x < w; ++x) {
        const std::string here = mesh_place(x, y);
        if (x + 1 < w) add(here, mesh_place(x + 1, y), case_.bytes_per_s);
        if (x > 0) add(here, mesh_place(x - 1, y), case_.bytes_per_s);
        if (y + 1 < h) add(here, mesh_place(x, y + 1), case_.bytes_per_s);
        if (y > 0) add(here, mesh_place(x, y - 1), case_.bytes_per_s);
      }
    }
  }
  void add_ring() {
    const std::uint32_t n = case_.npus();
    for (std::uint32_t i = 0; i < n; ++i) {
      add(npu(i), npu((i + 1) % n), case_.bytes_per_s);
      add(npu(i), npu((i + n - 1) % n), case_.bytes_per_s);
    }
  }
  void add_switch() {
    for (std::uint32_t i = 0; i < case_.npus(); ++i) {
      add(npu(i), "switch", case_.bytes_per_s);
      add("switch", npu(i), case_.bytes_per_s);
    }
  }
  void add_fred() {
    for (std::uint32_t i = 0; i < case_.npus(); ++i) {
      add(npu(i), l1(i / case_.columns), case_.bytes_per_s);
      add(l1(i / case_.columns), npu(i), case_.bytes_per_s);
    }
    for (std::uint32_t s = 0; s < case_.rows; ++s) {
      add(l1(s), "l2", case_.uplink_bytes_per_s);
      add("l2", l1(s), case_.uplink_bytes_per_s);
    }
  }

  const FabricCase& case_;
  packet_loop::Loop loop_;
  std::map<std::string, LinkId> links_;
  std::map<std::string, std::uint32_t> flows_of_link_;
};

/// Runs a case and notes who sent and who received on each flow that has NPUs at its ends.
class Run {
 public:
  explicit Run(const FabricCase& of) : case_(of), network_(of) {
    if (of.all_reduce) {
      if (of.all_reduce->algorithm == "ring") {
        add_ring_all_reduce();
      } else if (of.all_reduce->algorithm == "in_switch") {
        add_in_switch_all_reduce();
      } else {
        throw std::invalid_argument("no such algorithm here: " + of.all_reduce->algorithm);
      }
    }
    add_messages();
  }

  Reference result() {
    if (on_delivered_) network_.loop().set_on_delivered(on_delivered_);
    Reference made;
    made.finished = network_.loop().run();
    made.npus.resize(case_.npus());
    for (const auto& [flow, npu] : receivers_) {
      for (const Time when : network_.loop().delivered(flow)) {
        made.npus[npu].received_ps = std::max(made.npus[npu].received_ps, when);
      }
    }
    for (const auto& [flow, npu] : senders_) {
      for (const Time when : network_.loop().departed(flow)) {
        made.npus[npu].departed_ps = std::max(made.npus[npu].departed_ps, when);
      }
    }
    made.flows_of_link.assign(network_.flows_of_link().begin(), network_.flows_of_link().end());
    return made;
  }

 private:
  void add_messages() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, FlowId> flows;
    std::vector<MessageCase> by_start = case_.messages;
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const MessageCase& a, const MessageCase& b) { return a.start_ns < b.start_ns; });
    for (const MessageCase& message : by_start) {
      const std::pair<std::uint32_t, std::uint32_t> pair{message.from, message.to};
      if (flows.count(pair) == 0) {
        const FlowId flow =
            network_.flow(network_.route(message.from, message.to), message.to, Network::Level::kMessages);
        flows.emplace(pair, flow);
        senders_.emplace_back(flow, message.from);
        receivers_.emplace_back(flow, message.to);
      }
      network_.loop().inject(flows.at(pair), message.bytes, message.start_ns * 1000);
    }
  }

  Time start_of(std::uint32_t npu) const {
    const auto& late = case_.all_reduce->start_ns;
    const auto found = late.find(npu);
    return found == late.end() ? 0 : Time{found->second} * 1000;
  }

  /// 2 (n - 1) steps: each NPU hands on what it received in the step before (facts: ring formula).
  void add_ring_all_reduce() {
    const std::uint32_t n = case_.npus();
    const std::uint64_t share = case_.all_reduce->bytes / n;
    if (share * n != case_.all_reduce->bytes) throw std::invalid_argument("shares must be equal here");
    for (std::uint32_t i = 0; i < n; ++i) {
      const FlowId flow =
          network_.flow(network_.route(i, (i + 1) % n), (i + 1) % n, Network::Level::kAllReduce);
      if (static_cast<std::uint32_t>(flow) != i) throw std::logic_error("ring flows come first");
      senders_.emplace_back(flow, i);
      receivers_.emplace_back(flow, (i + 1) % n);
      network_.loop().inject(flow, share, start_of(i));
    }
    const std::uint32_t steps = 2 * (n - 1);
    on_delivered_ = [this, n, share, steps](FlowId flow, std::uint32_t step, Time now) {
      if (static_cast<std::uint32_t>(flow) >= n) return;  // a message
      const std::uint32_t receiver = (static_cast<std::uint32_t>(flow) + 1) % n;
      if (step + 1 < steps)
        network_.loop().inject(FlowId{receiver}, share, std::max(now, start_of(receiver)));
    };
  }

  /// Sums at the L1 switches and at L2, and the copies back (fred paper, in-network all-reduce).
  void add_in_switch_all_reduce() {
    constexpr auto kDp = Network::Level::kAllReduce;
    using Copies = packet_loop::Loop::Copies;
    // Where an output waits for another class, the product's others go on.
    const Copies copies = case_.preemption ? Copies::kApart : Copies::kTogether;
    std::vector<FlowId> all_up, all_down;
    for (std::uint32_t s = 0; s < case_.rows; ++s) {
      const std::string l1 = Network::l1(s);
      std::vector<FlowId> in, out;
      for (std::uint32_t i = s * case_.columns; i < (s + 1) * case_.columns; ++i) {
        in.push_back(network_.flow({Network::npu(i), l1}, i, kDp));
        out.push_back(network_.flow({l1, Network::npu(i)}, i, kDp));
        senders_.emplace_back(in.back(), i);
        receivers_.emplace_back(out.back(), i);
        network_.loop().inject(in.back(), case_.all_reduce->bytes, start_of(i));
      }
      all_up.push_back(network_.flow({l1, "l2"}, 0, kDp));
      all_down.push_back(network_.flow({"l2", l1}, 0, kDp));
      network_.loop().add_stage(in, {all_up.back()}, copies);
      network_.loop().add_stage({all_down.back()}, out, copies);
    }
    network_.loop().add_stage(all_up, all_down, copies);
  }

  const FabricCase& case_;
  Network network_;
  packet_loop::Loop::OnDelivered on_delivered_;
  std::vector<std::pair<FlowId, std::uint32_t>> senders_, receivers_;
};

}  // namespace

Reference reference(const FabricCase& fabric_case) { return Run(fabric_case).result(); }

}  // namespace fabric_cases

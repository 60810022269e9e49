// SPDX-License-Identifier: Apache-2.0
#include "topology/channels.h"

#include <algorithm>

#include "topology/trees.h"

namespace wafervp {
namespace {

const char* name_of(VirtualChannel channel) {
  switch (channel) {
    case VirtualChannel::kData:
      return "data";
    case VirtualChannel::kBehindDateline:
      return "data behind the dateline";
    case VirtualChannel::kRowFirstLoads:
      return "row-first loads";
    case VirtualChannel::kColumnFirstLoads:
      return "column-first loads";
    case VirtualChannel::kRowFirstStores:
      return "row-first stores";
    case VirtualChannel::kColumnFirstStores:
      return "column-first stores";
  }
  return "";
}

/// Messages of a ring that pass between the last NPU and the first go on in a channel of their own.
bool crosses_dateline(const Topology& topology, LinkId id) {
  if (topology.kind != FabricKind::kRing) return false;
  const LinkSpec& link = topology.link(id);
  const std::uint32_t n = topology.npus_per_site(), last = n - 1;
  const std::uint32_t from = link.from.value % n, to = link.to.value % n;
  return !link.between_sites() && ((from == last && to == 0) || (from == 0 && to == last));
}

void add_messages(const Topology& topology, ChannelDependencies& dependencies) {
  // Per destination, a walk that gets where another one has been, in the same channel, repeats it.
  std::vector<std::uint8_t> seen(2 * topology.nodes.size());
  for (std::uint32_t to = 0; to < topology.npus; ++to) {
    std::fill(seen.begin(), seen.end(), std::uint8_t{0});
    for (std::uint32_t from = 0; from < topology.npus; ++from) {
      NodeId at{from};
      VirtualChannel channel = VirtualChannel::kData;
      LinkChannel previous{LinkId(), channel};
      while (at.value != to) {
        const LinkId link = next_link(topology, at, NpuId{to});
        std::uint8_t& was_here = seen[2 * at.value + (channel == VirtualChannel::kData ? 0 : 1)];
        if (crosses_dateline(topology, link)) channel = VirtualChannel::kBehindDateline;
        const LinkChannel next{link, channel};
        if (previous.link.valid()) dependencies.add(previous, next);
        if (was_here != 0) break;
        was_here = 1;
        previous = next;
        if (topology.link(link).between_sites()) {  // whose gateway takes all that comes
          previous = {LinkId(), VirtualChannel::kData};
          channel = VirtualChannel::kData;
        }
        at = topology.link(link).to;
      }
    }
  }
}

void add_tree(const Topology& topology, const GroupTrees& trees, const Tree& tree, VirtualChannel channel,
              ChannelDependencies& dependencies) {
  for (const LinkId link : trees.links(tree)) {
    const NodeId node = topology.link(link).to;
    const bool ends =
        topology.is_io(node) || (topology.kind == FabricKind::kFred && node.value < topology.npus);
    if (ends) continue;
    for (const LinkId next : trees.part(tree, node, link).outputs) {
      dependencies.add({link, channel}, {next, channel});
    }
  }
}

VirtualChannel io_channel(const IoSite& io, TreeKind kind, IoChannels io_channels) {
  if (io_channels == IoChannels::kOne) return VirtualChannel::kRowFirstLoads;
  if (kind == TreeKind::kMulticast) {
    return io.row_first ? VirtualChannel::kRowFirstLoads : VirtualChannel::kColumnFirstLoads;
  }
  return io.row_first ? VirtualChannel::kRowFirstStores : VirtualChannel::kColumnFirstStores;
}

}  // namespace

void ChannelDependencies::add(const LinkChannel& holds, const LinkChannel& wants) {
  auto& list = waits_for_[index(holds)];
  const auto wanted = static_cast<std::uint32_t>(index(wants));
  if (std::find(list.begin(), list.end(), wanted) == list.end()) list.push_back(wanted);
}

std::vector<LinkChannel> ChannelDependencies::find_cycle() const {
  enum class Colour : std::uint8_t { kWhite, kOnPath, kDone };
  std::vector<Colour> colour(waits_for_.size(), Colour::kWhite);
  struct Frame {
    std::uint32_t at;
    std::size_t next;
  };
  std::vector<Frame> path;
  for (std::uint32_t start = 0; start < waits_for_.size(); ++start) {
    if (colour[start] != Colour::kWhite) continue;
    path.push_back({start, 0});
    colour[start] = Colour::kOnPath;
    while (!path.empty()) {
      Frame& top = path.back();
      if (top.next == waits_for_[top.at].size()) {
        colour[top.at] = Colour::kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t next = waits_for_[top.at][top.next++];
      if (colour[next] == Colour::kOnPath) {
        std::vector<LinkChannel> cycle;
        auto frame = std::find_if(path.begin(), path.end(), [&](const Frame& f) { return f.at == next; });
        for (; frame != path.end(); ++frame) {
          cycle.push_back({LinkId(static_cast<std::uint32_t>(frame->at / kVirtualChannels)),
                           static_cast<VirtualChannel>(frame->at % kVirtualChannels)});
        }
        return cycle;
      }
      if (colour[next] != Colour::kWhite) continue;
      colour[next] = Colour::kOnPath;
      path.push_back({next, 0});
    }
  }
  return {};
}

ChannelDependencies dependencies_of(const Topology& topology, IoChannels io_channels) {
  ChannelDependencies dependencies(topology);
  add_messages(topology, dependencies);
  if (!topology.in_network && topology.io.empty()) return dependencies;
  std::vector<NpuId> members;
  for (std::uint32_t n = 0; n < topology.ends(); ++n) members.emplace_back(n);
  const GroupTrees trees(topology, members);
  if (topology.in_network) {
    add_tree(topology, trees, {TreeKind::kAllReduce, NodeId()}, VirtualChannel::kData, dependencies);
  }
  for (std::uint32_t k = 0; k < topology.io.size(); ++k) {
    const NodeId controller(topology.npus + k);
    for (const TreeKind kind : {TreeKind::kMulticast, TreeKind::kReduce}) {
      add_tree(topology, trees, {kind, controller}, io_channel(topology.io[k], kind, io_channels),
               dependencies);
    }
  }
  return dependencies;
}

std::string cycle_text(const Topology& topology, const std::vector<LinkChannel>& cycle) {
  constexpr std::size_t kMostNames = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kMostNames); ++i) {
    text += topology.link(cycle[i].link).name + " (" + name_of(cycle[i].channel) + "), ";
  }
  if (cycle.size() > kMostNames) text += "..., ";
  return text + topology.link(cycle.front().link).name;
}

}  // namespace wafervp

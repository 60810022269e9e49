// SPDX-License-Identifier: Apache-2.0
#include "topology/trees.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "topology/fred_tree.h"

namespace wafervp {

namespace {

LinkId link_between(const Topology& topology, NodeId from, NodeId to) {
  for (const LinkId link : topology.outputs[from.value]) {
    if (topology.link(link).to == to) return link;
  }
  throw std::logic_error("no link joins these nodes");
}

/// The next node from `node` on the way to the controller's router: the dimension that its trees take first
/// is the last one on the way back.
NodeId towards(const Topology& topology, const IoSite& io, NodeId node) {
  const NodeSpec& here = topology.nodes[node.value];
  const NodeSpec& root = topology.nodes[io.at.value];
  const bool in_y = io.row_first ? here.y != root.y : here.x == root.x;
  if (in_y) return NodeId(here.y < root.y ? node.value + topology.columns : node.value - topology.columns);
  return NodeId(here.x < root.x ? node.value + 1 : node.value - 1);
}

}  // namespace

GroupTrees::GroupTrees(const Topology& topology, const std::vector<NpuId>& members) : topology_(topology) {
  for (const NpuId member : members) {
    const NodeId node(member.value);
    (topology.is_io(node) ? io_ : npus_).push_back(node);
  }
  std::sort(npus_.begin(), npus_.end());
}

std::vector<NodeId> GroupTrees::sources(const Tree& tree) const {
  return tree.kind == TreeKind::kMulticast ? std::vector<NodeId>{tree.root} : npus_;
}

std::vector<NodeId> GroupTrees::sinks(const Tree& tree) const {
  if (tree.kind == TreeKind::kReduce) return {tree.root};
  if (tree.kind == TreeKind::kAllReduce) return npus_;
  std::vector<NodeId> others;
  for (const NodeId npu : npus_) {
    if (npu != tree.root) others.push_back(npu);
  }
  return others;
}

TreePart GroupTrees::part(const Tree& tree, NodeId node, std::optional<LinkId> input) const {
  if (topology_.kind == FabricKind::kFred) return fred_part(tree, node, input);
  if (topology_.kind == FabricKind::kMesh2d && tree.kind != TreeKind::kAllReduce &&
      topology_.is_io(tree.root)) {
    return mesh_part(tree, node, input);
  }
  throw std::invalid_argument("this fabric has no such trees");
}

bool GroupTrees::has_npu(std::uint32_t first_l1, std::uint32_t last_l1) const {
  const auto at = std::lower_bound(npus_.begin(), npus_.end(), NodeId(first_l1 * topology_.columns));
  return at != npus_.end() && at->value < last_l1 * topology_.columns;
}

TreePart GroupTrees::fred_part(const Tree& tree, NodeId node, std::optional<LinkId> input) const {
  const FredTree fred(topology_);
  const bool multicast = tree.kind == TreeKind::kMulticast, reduce = tree.kind == TreeKind::kReduce;
  const FredTree::Span span = fred.span(node);
  const std::uint32_t level = fred.level(node);
  const FredLevel& here = topology_.fred_levels[level - 1];
  // The root counts where it takes part: as the source of a multicast, as the sink of a reduction.
  const std::uint32_t root_l1 = multicast || reduce ? fred.l1_of(tree.root) : 0;

  // The ports downwards, one after the other: has it sources, has it sinks.
  std::vector<unsigned> sources, sinks;
  const auto note = [&](unsigned port, bool source, bool sink) {
    if (source) sources.push_back(port);
    if (sink) sinks.push_back(port);
  };
  if (level == 1) {
    const NodeId first(span.first * topology_.columns), end(span.last * topology_.columns);
    for (auto npu = std::lower_bound(npus_.begin(), npus_.end(), first); npu != npus_.end() && *npu < end;
         ++npu) {
      const bool root = *npu == tree.root;
      note(fred.port_of(*npu), !multicast || root, multicast ? !root : !reduce || root);
    }
    if ((multicast || reduce) && topology_.is_io(tree.root) && root_l1 == span.first) {
      note(fred.port_of(tree.root), multicast, reduce);
    }
  } else {
    const std::uint32_t width = (span.last - span.first) / here.children;
    for (std::uint32_t child = 0; child < here.children; ++child) {
      const std::uint32_t first = span.first + child * width, last = first + width;
      const bool root = root_l1 >= first && root_l1 < last;
      const bool npus = has_npu(first, last);
      // What a multicast came from has been copied there already.
      note(child, multicast ? root : npus, multicast ? npus && !root : reduce ? root : npus);
    }
  }
  const bool npus_outside = has_npu(0, span.first) || has_npu(span.last, topology_.rows);
  const bool root_outside = (multicast || reduce) && !span.has(root_l1);
  const bool top = level == topology_.fred_levels.size();
  const unsigned up = top ? ~0u : fred.up_port(node);
  const auto port_of_input = [&] {
    const auto& inputs = topology_.inputs[node.value];
    return static_cast<unsigned>(std::find(inputs.begin(), inputs.end(), *input) - inputs.begin());
  }();

  TreePart part;
  const auto fill = [&](const std::vector<unsigned>& in, const std::vector<unsigned>& out) {
    for (const unsigned port : in) part.inputs.push_back(topology_.inputs[node.value][port]);
    for (const unsigned port : out) part.outputs.push_back(topology_.outputs[node.value][port]);
  };
  if (port_of_input == up) {
    if ((npus_outside || root_outside) && !sinks.empty()) fill({up}, sinks);
    return part;
  }
  if (std::find(sources.begin(), sources.end(), port_of_input) == sources.end()) return part;
  if (multicast) {
    if (npus_outside) sinks.push_back(up);
    fill(sources, sinks);
  } else {
    fill(sources, npus_outside || root_outside ? std::vector<unsigned>{up} : sinks);
  }
  return part;
}

LinkId mesh_tree_link(const Topology& topology, const IoSite& io, NodeId node, bool towards_io) {
  const NodeId next = towards(topology, io, node);
  return towards_io ? link_between(topology, node, next) : link_between(topology, next, node);
}

const std::vector<std::uint8_t>& GroupTrees::needed(NodeId root) const {
  auto& nodes = needed_[root.value];
  if (!nodes.empty()) return nodes;
  const IoSite& io = topology_.io[root.value - topology_.npus];
  nodes.resize(topology_.npus);
  for (NodeId node : npus_) {
    while (nodes[node.value] == 0) {
      nodes[node.value] = 1;
      if (node != io.at) node = towards(topology_, io, node);
    }
  }
  nodes[io.at.value] = 1;
  return nodes;
}

TreePart GroupTrees::mesh_part(const Tree& tree, NodeId node, std::optional<LinkId> input) const {
  const IoSite& io = topology_.io[tree.root.value - topology_.npus];
  const std::vector<std::uint8_t>& on_the_way = needed(tree.root);
  TreePart part;
  if (on_the_way[node.value] == 0) return part;
  const bool multicast = tree.kind == TreeKind::kMulticast;
  auto& leaves = multicast ? part.outputs : part.inputs;
  auto& stem = multicast ? part.inputs : part.outputs;
  for (const LinkId link : multicast ? topology_.outputs[node.value] : topology_.inputs[node.value]) {
    const NodeId other = multicast ? topology_.link(link).to : topology_.link(link).from;
    if (other.value >= topology_.npus || on_the_way[other.value] == 0 || other == io.at) continue;
    if (towards(topology_, io, other) == node) leaves.push_back(link);
  }
  const NodeId next = node == io.at ? tree.root : towards(topology_, io, node);
  stem.push_back(multicast ? link_between(topology_, next, node) : link_between(topology_, node, next));
  (multicast ? part.to_here : part.from_here) = std::binary_search(npus_.begin(), npus_.end(), node);
  const bool fed =
      input ? std::find(part.inputs.begin(), part.inputs.end(), *input) != part.inputs.end() : part.from_here;
  return fed ? part : TreePart{};
}

std::vector<LinkId> GroupTrees::links(const Tree& tree) const {
  std::vector<LinkId> found;
  std::vector<std::uint8_t> seen(topology_.links.size());
  const auto note = [&](LinkId link) {
    if (seen[link.value] != 0) return false;
    seen[link.value] = 1;
    found.push_back(link);
    return true;
  };
  // From each source on along the outputs of the parts.
  const auto follow = [&](auto&& self, NodeId node, std::optional<LinkId> input) -> void {
    if (node.value < topology_.ends() && (topology_.kind == FabricKind::kFred || topology_.is_io(node)))
      return;
    for (const LinkId link : part(tree, node, input).outputs) {
      if (note(link)) self(self, topology_.link(link).to, link);
    }
  };
  for (const NodeId source : sources(tree)) {
    if (topology_.kind != FabricKind::kFred && !topology_.is_io(source)) {
      follow(follow, source, std::nullopt);
      continue;
    }
    const LinkId first = topology_.outputs[source.value].front();
    if (note(first)) follow(follow, topology_.link(first).to, first);
  }
  return found;
}

StreamRates stream_rates(const Topology& topology, const std::vector<std::vector<NpuId>>& groups) {
  StreamRates rates;
  std::vector<std::uint32_t> loads(topology.links.size()), stores(topology.links.size());
  for (const auto& members : groups) {
    const GroupTrees trees(topology, members);
    for (std::uint32_t k = 0; k < topology.io.size(); ++k) {
      const NodeId controller(topology.npus + k);
      for (const LinkId link : trees.links({TreeKind::kMulticast, controller})) ++loads[link.value];
      for (const LinkId link : trees.links({TreeKind::kReduce, controller})) ++stores[link.value];
    }
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const LinkSpec& link = topology.links[i];
    const bool channel = topology.is_io(link.from) || topology.is_io(link.to);
    const auto note = [&](std::uint32_t trees, std::uint64_t& rate, std::uint32_t& most) {
      if (trees == 0) return;
      const std::uint64_t share = link.bytes_per_s / trees;
      if (rate == 0 || share < rate) rate = share;
      if (!channel) most = std::max(most, trees);
    };
    note(loads[i], rates.load, rates.most_loads);
    note(stores[i], rates.store, rates.most_stores);
    note(loads[i] + stores[i], rates.both, rates.most_both);
  }
  return rates;
}

}  // namespace wafervp

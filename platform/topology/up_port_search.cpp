// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/fred_slice.h"
#include "topology/up_port_policies.h"

namespace wafervp {
namespace {

constexpr unsigned kNoPort = ~0u;
/// Bounds of the search; beyond them nothing is proved. The larger wafers' are smaller, since a try costs as
/// much as there are switches.
constexpr std::size_t kMostChoices = 4096;
constexpr std::uint64_t kMostChoicesInAll = 65'536, kMostTries = 20'000, kMostTriesApart = 200'000;

/// The up ports of all crossings at one switch; kNoPort where they do not pass.
struct Choice {
  std::vector<unsigned> up, down;
};

/// Chooses switch by switch, from L1 up: first what its own chip can route, then what the root's chips can
/// route of the flows so far. Both only get harder with each further switch, so that a failure ends all that
/// would follow.
class UpPortSearch {
 public:
  UpPortSearch(const FredWafer& wafer, const std::vector<FredFlow>& flows,
               const std::vector<Crossing>& crossings, const RoutingOptions& options, Directions directions)
      : flows_(flows),
        crossings_(crossings),
        options_(options),
        directions_(directions),
        chips_(chips_of_slice(wafer)),
        tree_(wafer),
        most_choices_(scaled(kMostChoicesInAll, tree_)),
        most_tries_(scaled(directions == Directions::kApart ? kMostTriesApart : kMostTries, tree_)),
        chip_(crossings.size(), kNoPort) {
    options_.name_conflicts = false;
    ports_.up.assign(crossings.size(), std::vector<unsigned>(tree_.root(), kNoPort));
    ports_.down = ports_.up;
  }

  UpPortChoice run() {
    UpPortChoice choice;
    choices_.resize(tree_.root());
    bool possible = true;
    for (unsigned l1 = 0; l1 < tree_.l1s() && l1 < tree_.root() && possible; ++l1) {
      enumerate(l1);
      possible = !choices_[l1].empty();
    }
    if (possible && choose(0)) choice.ports = ports_;
    choice.tried = tried_ + chosen_;
    choice.proved = !choice.ports && complete_;
    return choice;
  }

 private:
  /// Up ports of a switch that lead to one chip of its parent.
  unsigned ports_a_chip(unsigned node) const {
    return tree_[node].up_ports / (tree_.is_split(tree_[node].parent) ? tree_.root_chips() : 1);
  }

  /// All choices of a switch that its chip can route, one of each kind that its parent can tell apart: there
  /// ports 2k and 2k + 1 of a chip are alike. Above L1 for the choices that have been made below.
  void enumerate(unsigned node) {
    Choice choice{std::vector<unsigned>(crossings_.size(), kNoPort),
                  std::vector<unsigned>(crossings_.size(), kNoPort)};
    slots_.clear();
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      const bool up = crossings_[c].up[node], down = crossings_[c].down[node];
      if (up && down && directions_ == Directions::kTogether) {
        slots_.push_back({c, true, true});
        continue;
      }
      if (up) slots_.push_back({c, true, false});
      if (down) slots_.push_back({c, false, true});
    }
    kinds_.clear();
    choices_[node].clear();
    seen_ = 0;
    give(node, 0, choice);
  }

  void give(unsigned node, std::size_t slot, Choice& choice) {
    if (slot == slots_.size()) {
      if (exhausted()) {
        complete_ = false;
        return;
      }
      ++seen_;
      ++chosen_;
      keep(node, choice);
      return;
    }
    const auto [c, up, down] = slots_[slot];
    if (exhausted()) complete_ = false;
    for (unsigned port = 0; port < tree_[node].up_ports && !exhausted(); ++port) {
      const auto taken = [port](const std::vector<unsigned>& ports) {
        return std::find(ports.begin(), ports.end(), port) != ports.end();
      };
      if ((up && taken(choice.up)) || (down && taken(choice.down))) continue;
      if (up) choice.up[c] = port;
      if (down) choice.down[c] = port;
      give(node, slot + 1, choice);
      if (up) choice.up[c] = kNoPort;
      if (down) choice.down[c] = kNoPort;
    }
  }

  /// True when no more choices of the switch that is enumerated are looked at.
  bool exhausted() const { return seen_ == kMostChoices || chosen_ == most_choices_; }

  /// What the parent can tell of a choice: chip and μswitch of each port. Two μswitches of the outermost
  /// level that serve four ports of this switch meet nobody else further in, so that they are alike: the one
  /// that comes first counts as the first.
  std::vector<unsigned> kind_of(unsigned node, const Choice& choice) const {
    const unsigned first_port = tree_.port_at_parent(node, 0), ports = ports_a_chip(node);
    std::vector<unsigned> kind;
    for (const auto& given : {choice.up, choice.down}) {
      std::map<std::pair<unsigned, unsigned>, unsigned> first;  // by chip and group of four
      for (const unsigned port : given) {
        if (port == kNoPort) {
          kind.push_back(kNoPort);
          continue;
        }
        const unsigned chip = tree_.chip_at_parent(node, port);
        const unsigned part = tree_.port_at_parent(node, port) / 2, four = part / 2;
        const bool alone = 4 * four >= first_port && 4 * four + 4 <= first_port + ports;
        const unsigned leader = first.try_emplace({chip, four}, part).first->second;
        kind.push_back(chip);
        kind.push_back(alone ? 2 * four + (part == leader ? 0 : 1) : part);
      }
    }
    return kind;
  }

  void keep(unsigned node, const Choice& choice) {
    std::vector<unsigned> kind = kind_of(node, choice);
    if (kinds_.count(kind) != 0) return;
    put(node, choice);
    const std::vector<FredFlow> here = split(tree_, flows_, at_only(node), ports_)[node].flows;
    take_away(node);
    const RoutingStatus status = route(chips_[node].shape, here, options_).status;
    if (status == RoutingStatus::kOutOfBudget) complete_ = false;
    if (status != RoutingStatus::kRouted) return;
    kinds_.insert(std::move(kind));
    choices_[node].push_back(choice);
  }

  /// The crossings as one switch sees them, since others have no ports yet.
  std::vector<Crossing> at_only(unsigned node) const {
    std::vector<Crossing> here = crossings_;
    for (Crossing& crossing : here) {
      for (unsigned other = 0; other < tree_.root(); ++other) {
        const bool child = tree_[other].parent == node && other < node;
        if (other != node && !child) crossing.up[other] = crossing.down[other] = false;
      }
    }
    return here;
  }

  bool choose(unsigned node) {
    if (node == tree_.root()) return true;
    if (node >= tree_.l1s()) enumerate(node);
    const std::vector<Choice> choices = choices_[node];  // those of a higher level are made anew
    for (const Choice& choice : choices) {
      if (tried_ == most_tries_) {
        complete_ = false;
        return false;
      }
      const std::vector<unsigned> chips_before = chip_;
      if (tree_[node].parent != tree_.root() || same_chips(node, choice)) {
        ++tried_;
        put(node, choice);
        if ((tree_[node].parent != tree_.root() || root_routes()) && choose(node + 1)) return true;
        take_away(node);
      }
      chip_ = chips_before;
    }
    return false;
  }

  /// Notes the root's chip of each flow that passes; false when one is at another chip already.
  bool same_chips(unsigned node, const Choice& choice) {
    for (const auto& ports : {choice.up, choice.down}) {
      for (std::size_t c = 0; c < ports.size(); ++c) {
        if (ports[c] == kNoPort) continue;
        const unsigned chip = tree_.chip_at_parent(node, ports[c]);
        if (chip_[c] != kNoPort && chip_[c] != chip) return false;
        chip_[c] = chip;
      }
    }
    return true;
  }

  void put(unsigned node, const Choice& choice) {
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      ports_.up[c][node] = choice.up[c];
      ports_.down[c][node] = choice.down[c];
    }
  }
  void take_away(unsigned node) {
    for (std::size_t c = 0; c < crossings_.size(); ++c) ports_.up[c][node] = ports_.down[c][node] = kNoPort;
  }

  /// True when each chip of the root can route what is known of its flows: those that come from a switch with
  /// ports and go to one.
  bool root_routes() {
    const FredNode& root = tree_[tree_.root()];
    std::vector<std::vector<FredFlow>> flows(tree_.root_chips());
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      FredFlow flow;
      for (unsigned node = root.first_child; node < root.first_child + root.children; ++node) {
        const unsigned up = ports_.up[c][node], down = ports_.down[c][node];
        if (up != kNoPort) flow.inputs.push_back(tree_.port_at_parent(node, up));
        if (down != kNoPort) flow.outputs.push_back(tree_.port_at_parent(node, down));
      }
      if (!flow.inputs.empty() && !flow.outputs.empty()) flows[chip_[c]].push_back(std::move(flow));
    }
    for (unsigned chip = 0; chip < tree_.root_chips(); ++chip) {
      const RoutingStatus status = route(chips_[tree_.root() + chip].shape, flows[chip], options_).status;
      if (status == RoutingStatus::kOutOfBudget) complete_ = false;
      if (status != RoutingStatus::kRouted) return false;
    }
    return true;
  }

  const std::vector<FredFlow>& flows_;
  const std::vector<Crossing>& crossings_;
  RoutingOptions options_;
  Directions directions_;
  std::vector<FredChip> chips_;
  FredSlice tree_;
  std::uint64_t most_choices_, most_tries_;
  UpPorts ports_;
  std::vector<unsigned> chip_;                ///< chip of the root by crossing
  std::vector<std::vector<Choice>> choices_;  ///< by switch
  /// A port to be given at the switch that is enumerated: to a crossing's way up, its way down, or both.
  struct Slot {
    std::size_t crossing;
    bool up, down;
  };
  std::vector<Slot> slots_;
  std::set<std::vector<unsigned>> kinds_;  ///< of the switch that is enumerated
  std::size_t seen_ = 0;
  std::uint64_t tried_ = 0, chosen_ = 0;
  bool complete_ = true;
};

}  // namespace

UpPortChoice SearchedUpPorts::choose(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                                     const std::vector<Crossing>& crossings,
                                     const RoutingOptions& options) const {
  UpPortChoice in_order = InOrderUpPorts().choose(wafer, flows, crossings, options);
  if (in_order.ports && routable(wafer, flows, crossings, *in_order.ports, options)) return in_order;
  UpPortChoice searched = UpPortSearch(wafer, flows, crossings, options, directions_).run();
  if (searched.ports) return searched;
  in_order.tried = searched.tried;
  in_order.proved = searched.proved && directions_ == Directions::kApart;
  return in_order;
}

}  // namespace wafervp

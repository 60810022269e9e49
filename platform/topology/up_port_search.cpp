// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/up_port_policies.h"

namespace wafervp {
namespace {

constexpr unsigned kNoPort = ~0u;
/// Bounds of the search; beyond them nothing is proved.
constexpr std::size_t kMostChoicesAnL1 = 4096;
constexpr std::uint64_t kMostTries = 20'000, kMostTriesApart = 200'000;

/// The up ports of all crossings at one L1; kNoPort where they do not pass.
struct Choice {
  std::vector<unsigned> up, down;
};

/// Chooses L1 by L1: first what the L1 chip itself can route, then what the L2 chips can route of the flows
/// so far. Both only get harder with each further L1, so that a failure ends all that would follow.
class UpPortSearch {
 public:
  UpPortSearch(const FredWafer& wafer, const std::vector<FredFlow>& flows,
               const std::vector<Crossing>& crossings, const RoutingOptions& options, Directions directions)
      : wafer_(wafer),
        flows_(flows),
        crossings_(crossings),
        options_(options),
        directions_(directions),
        chips_(chips_of_slice(wafer)),
        l1s_(static_cast<unsigned>(wafer.l1s.size())),
        chip_(crossings.size(), kNoPort) {
    options_.name_conflicts = false;
    ports_.up.assign(crossings.size(), std::vector<unsigned>(l1s_, kNoPort));
    ports_.down = ports_.up;
  }

  UpPortChoice run() {
    UpPortChoice choice;
    choices_.resize(l1s_);
    bool possible = true;
    for (unsigned l1 = 0; l1 < l1s_ && possible; ++l1) {
      enumerate(l1);
      possible = !choices_[l1].empty();
    }
    if (possible && choose(0)) choice.ports = ports_;
    choice.tried = tried_;
    choice.proved = !choice.ports && complete_;
    return choice;
  }

 private:
  unsigned ports_a_chip() const { return wafer_.up_ports / wafer_.l2_chips; }
  unsigned l2_port(unsigned l1, unsigned up_port) const {
    return l1 * ports_a_chip() + up_port % ports_a_chip();
  }

  /// All choices of an L1 that its chip can route, one of each kind that L2 can tell apart: there ports 2k
  /// and 2k + 1 of a chip are alike.
  void enumerate(unsigned l1) {
    Choice choice{std::vector<unsigned>(crossings_.size(), kNoPort),
                  std::vector<unsigned>(crossings_.size(), kNoPort)};
    slots_.clear();
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      const bool up = crossings_[c].up[l1], down = crossings_[c].down[l1];
      if (up && down && directions_ == Directions::kTogether) {
        slots_.push_back({c, true, true});
        continue;
      }
      if (up) slots_.push_back({c, true, false});
      if (down) slots_.push_back({c, false, true});
    }
    kinds_.clear();
    seen_ = 0;
    give(l1, 0, choice);
  }

  void give(unsigned l1, std::size_t slot, Choice& choice) {
    if (slot == slots_.size()) {
      if (++seen_ > kMostChoicesAnL1) complete_ = false;
      if (seen_ <= kMostChoicesAnL1) keep(l1, choice);
      return;
    }
    const auto [c, up, down] = slots_[slot];
    for (unsigned port = 0; port < wafer_.up_ports && seen_ <= kMostChoicesAnL1; ++port) {
      const auto taken = [port](const std::vector<unsigned>& ports) {
        return std::find(ports.begin(), ports.end(), port) != ports.end();
      };
      if ((up && taken(choice.up)) || (down && taken(choice.down))) continue;
      if (up) choice.up[c] = port;
      if (down) choice.down[c] = port;
      give(l1, slot + 1, choice);
      if (up) choice.up[c] = kNoPort;
      if (down) choice.down[c] = kNoPort;
    }
  }

  /// What L2 can tell of a choice: chip and μswitch of each port. Two μswitches of the outermost level that
  /// serve four ports of this L1 meet nobody else further in, so that they are alike: the one that comes
  /// first counts as the first.
  std::vector<unsigned> kind_of(unsigned l1, const Choice& choice) const {
    std::vector<unsigned> kind;
    for (const auto& ports : {choice.up, choice.down}) {
      std::map<std::pair<unsigned, unsigned>, unsigned> first;  // by chip and group of four
      for (const unsigned port : ports) {
        if (port == kNoPort) {
          kind.push_back(kNoPort);
          continue;
        }
        const unsigned chip = port / ports_a_chip(), part = l2_port(l1, port) / 2, four = part / 2;
        const bool alone = 4 * four >= l2_port(l1, 0) && 4 * four + 4 <= l2_port(l1, 0) + ports_a_chip();
        const unsigned leader = first.try_emplace({chip, four}, part).first->second;
        kind.push_back(chip);
        kind.push_back(alone ? 2 * four + (part == leader ? 0 : 1) : part);
      }
    }
    return kind;
  }

  void keep(unsigned l1, const Choice& choice) {
    std::vector<unsigned> kind = kind_of(l1, choice);
    if (kinds_.count(kind) != 0) return;
    put(l1, choice);
    const std::vector<FredFlow> here = split(wafer_, flows_, at_l1_only(l1), ports_)[l1].flows;
    take_away(l1);
    const RoutingStatus status = route(chips_[l1].shape, here, options_).status;
    if (status == RoutingStatus::kOutOfBudget) complete_ = false;
    if (status != RoutingStatus::kRouted) return;
    kinds_.insert(std::move(kind));
    choices_[l1].push_back(choice);
  }

  /// The crossings as one L1 sees them, since the others have no ports yet.
  std::vector<Crossing> at_l1_only(unsigned l1) const {
    std::vector<Crossing> here = crossings_;
    for (Crossing& crossing : here) {
      for (unsigned other = 0; other < l1s_; ++other) {
        if (other != l1) crossing.up[other] = crossing.down[other] = false;
      }
    }
    return here;
  }

  bool choose(unsigned l1) {
    if (l1 == l1s_) return true;
    for (const Choice& choice : choices_[l1]) {
      if (tried_ == (directions_ == Directions::kApart ? kMostTriesApart : kMostTries)) {
        complete_ = false;
        return false;
      }
      const std::vector<unsigned> chips_before = chip_;
      if (same_chips(choice)) {
        ++tried_;
        put(l1, choice);
        if (l2_routes() && choose(l1 + 1)) return true;
        take_away(l1);
      }
      chip_ = chips_before;
    }
    return false;
  }

  /// Notes the L2 chip of each flow that passes; false when one is at another chip already.
  bool same_chips(const Choice& choice) {
    for (const auto& ports : {choice.up, choice.down}) {
      for (std::size_t c = 0; c < ports.size(); ++c) {
        if (ports[c] == kNoPort) continue;
        const unsigned chip = ports[c] / ports_a_chip();
        if (chip_[c] != kNoPort && chip_[c] != chip) return false;
        chip_[c] = chip;
      }
    }
    return true;
  }

  void put(unsigned l1, const Choice& choice) {
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      ports_.up[c][l1] = choice.up[c];
      ports_.down[c][l1] = choice.down[c];
    }
  }
  void take_away(unsigned l1) {
    for (std::size_t c = 0; c < crossings_.size(); ++c) ports_.up[c][l1] = ports_.down[c][l1] = kNoPort;
  }

  /// True when each L2 chip can route what is known of its flows: those that come from an L1 with ports and
  /// go to one.
  bool l2_routes() {
    std::vector<std::vector<FredFlow>> flows(wafer_.l2_chips);
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      FredFlow flow;
      for (unsigned l1 = 0; l1 < l1s_; ++l1) {
        if (ports_.up[c][l1] != kNoPort) flow.inputs.push_back(l2_port(l1, ports_.up[c][l1]));
        if (ports_.down[c][l1] != kNoPort) flow.outputs.push_back(l2_port(l1, ports_.down[c][l1]));
      }
      if (!flow.inputs.empty() && !flow.outputs.empty()) flows[chip_[c]].push_back(std::move(flow));
    }
    for (unsigned chip = 0; chip < wafer_.l2_chips; ++chip) {
      const RoutingStatus status = route(chips_[l1s_ + chip].shape, flows[chip], options_).status;
      if (status == RoutingStatus::kOutOfBudget) complete_ = false;
      if (status != RoutingStatus::kRouted) return false;
    }
    return true;
  }

  const FredWafer& wafer_;
  const std::vector<FredFlow>& flows_;
  const std::vector<Crossing>& crossings_;
  RoutingOptions options_;
  Directions directions_;
  std::vector<FredChip> chips_;
  unsigned l1s_;
  UpPorts ports_;
  std::vector<unsigned> chip_;                ///< L2 chip by crossing
  std::vector<std::vector<Choice>> choices_;  ///< by L1
  /// A port to be given at the L1 that is enumerated: to a crossing's way up, its way down, or both.
  struct Slot {
    std::size_t crossing;
    bool up, down;
  };
  std::vector<Slot> slots_;
  std::set<std::vector<unsigned>> kinds_;  ///< of the L1 that is enumerated
  std::size_t seen_ = 0;
  std::uint64_t tried_ = 0;
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

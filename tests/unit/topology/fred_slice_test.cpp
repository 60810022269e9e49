// SPDX-License-Identifier: Apache-2.0
// Do values that run through all chips of a slice, from their bits, come out as the wafer's flows define?
#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "core/split_mix.h"
#include "fred_network/evaluate.h"
#include "topology/fred_routes.h"

namespace wafervp::test {
namespace {

using Values = std::vector<std::optional<double>>;

double sum(double left, double right) { return left + right; }

/// The chips of a slice with their networks, configured for one set of flows.
class Slice {
 public:
  Slice(const FredWafer& wafer, const FredRoutes& routes) : wafer_(wafer) {
    const std::vector<FredChip> chips = chips_of_slice(wafer);
    for (std::size_t c = 0; c < chips.size(); ++c) {
      networks_.emplace_back(chips[c].shape);
      bits_.push_back(configure(networks_.back(), routes.parts[c].flows, routes.routings[c]));
    }
  }

  /// Values at the outputs of the wafer's ends.
  Values run(const Values& at_ends) const {
    const std::size_t l1s = wafer_.l1s.size();
    std::vector<Values> inputs;
    for (const FredNetwork& network : networks_) inputs.emplace_back(network.shape().ports);
    for (unsigned end = 0; end < at_ends.size(); ++end) {
      const FredPlace place = place_of(wafer_, end);
      inputs[place.l1][place.port] = at_ends[end];
    }
    // Up, across, and down: what comes down is no input of what goes up.
    const auto up_port = [&](std::size_t l1, unsigned k) {
      return wafer_.l1s[l1].npus + wafer_.l1s[l1].io_controllers + k;
    };
    const unsigned each = wafer_.up_ports / wafer_.l2_chips;
    for (std::size_t l1 = 0; l1 < l1s; ++l1) {
      const Values outputs = evaluate(networks_[l1], bits_[l1], inputs[l1], sum);
      for (unsigned k = 0; k < wafer_.up_ports; ++k) {
        inputs[l1s + k / each][l1 * each + k % each] = outputs[up_port(l1, k)];
      }
    }
    for (std::size_t chip = l1s; chip < networks_.size(); ++chip) {
      const Values outputs = evaluate(networks_[chip], bits_[chip], inputs[chip], sum);
      for (std::size_t l1 = 0; l1 < l1s; ++l1) {
        for (unsigned k = 0; k < each; ++k) {
          inputs[l1][up_port(l1, static_cast<unsigned>(chip - l1s) * each + k)] = outputs[l1 * each + k];
        }
      }
    }
    Values result(at_ends.size());
    std::vector<Values> outputs;
    for (std::size_t l1 = 0; l1 < l1s; ++l1)
      outputs.push_back(evaluate(networks_[l1], bits_[l1], inputs[l1], sum));
    for (unsigned end = 0; end < at_ends.size(); ++end) {
      const FredPlace place = place_of(wafer_, end);
      result[end] = outputs[place.l1][place.port];
    }
    return result;
  }

 private:
  FredWafer wafer_;
  std::vector<FredNetwork> networks_;
  std::vector<ConfigurationBits> bits_;
};

/// The sums of the L1s in the order of their ports, then their sum in the order of the L1s.
Values defined(const FredWafer& wafer, const std::vector<FredFlow>& flows, const Values& at_ends) {
  Values result(at_ends.size());
  for (const FredFlow& flow : flows) {
    Values l1_sums(wafer.l1s.size());
    for (unsigned l1 = 0; l1 < wafer.l1s.size(); ++l1) {
      Values by_port(wafer.l1s[l1].npus + wafer.l1s[l1].io_controllers);
      for (const unsigned end : flow.inputs) {
        const FredPlace place = place_of(wafer, end);
        if (place.l1 == l1) by_port[place.port] = at_ends[end];
      }
      l1_sums[l1] = tree_sum(by_port, sum);
    }
    for (const unsigned end : flow.outputs) result[end] = tree_sum(l1_sums, sum);
  }
  return result;
}

class SliceOf : public testing::TestWithParam<FredWafer> {};

TEST_P(SliceOf, GivesTheValuesOfEachPhaseOfEachParallelism) {
  SplitMix random(3);
  unsigned phases = 0;
  for (const ParallelismSpec& p : parallelisms(2, 20)) {
    for (const FredPhase& phase : fred_phases(p, consecutive_placement(p))) {
      const FredRoutes routes = route(GetParam(), phase.flows);
      if (routes.status != RoutingStatus::kRouted) continue;
      ++phases;
      Values at_ends(20);
      for (const FredFlow& flow : phase.flows) {
        for (const unsigned end : flow.inputs) at_ends[end] = 1.0 / (1 + random.below(1000000));
      }
      ASSERT_EQ(Slice(GetParam(), routes).run(at_ends), defined(GetParam(), phase.flows, at_ends))
          << phase.name << " of (" << p.mp << ", " << p.dp << ", " << p.pp << ")";
    }
  }
  EXPECT_GT(phases, 300u);
}
INSTANTIATE_TEST_SUITE_P(Wafers, SliceOf,
                         testing::Values(flat_fred(20, 3), flat_fred(20, 2), paper_fred(3, 1),
                                         paper_fred(2, 1), paper_fred(3, 2)));

TEST(SliceOfWeights, GoFromAnIoControllerToAllNpusAndComeBackAsASum) {
  const FredWafer wafer = paper_fred(3, 2);
  std::vector<unsigned> npus(20);
  for (unsigned n = 0; n < 20; ++n) npus[n] = n;
  // Weights in by io3, gradients out by io13, at the same time.
  const std::vector<FredFlow> flows = {{"weights", {23}, npus}, {"gradients", npus, {33}}};
  const FredRoutes routes = route(wafer, flows);
  ASSERT_EQ(routes.status, RoutingStatus::kRouted);
  Values at_ends(38);
  for (unsigned n = 0; n < 20; ++n) at_ends[n] = n;
  at_ends[23] = 7;
  const Values out = Slice(wafer, routes).run(at_ends);
  for (unsigned n = 0; n < 20; ++n) EXPECT_EQ(out[n], 7);
  EXPECT_EQ(out[33], 190);
}

}  // namespace
}  // namespace wafervp::test

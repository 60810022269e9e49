// SPDX-License-Identifier: Apache-2.0
// A training with replicas through the simulated wafer, against the same training in one process: sums of
// gradients as they are and as factors, on a mesh and in the switches of FRED; updates of U.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "run/run.h"
#include "scenario/reader.h"
#include "training/local_trainer.h"
#include "workload/training_kernels.h"

namespace wafervp::test {
namespace {

using training::LocalConfig;
using training::LocalTrainer;

Json scenario_of(const char* fabric, unsigned dp, unsigned pp, unsigned steps) {
  const unsigned npus = dp * pp;
  Json kind = {{"kind", fabric}};
  if (std::string(fabric) == "mesh2d") kind["mesh2d"] = {{"columns", npus / 2}, {"rows", 2}};
  if (std::string(fabric) == "fred") {
    kind["fred"] = {{"l1_switches", 2}, {"npus_per_l1", npus / 2}, {"in_network", true}};
  }
  return {{"version", 1},
          {"name", "replicas"},
          {"wafer", {{"npus", npus}, {"fabric", kind}}},
          {"workload",
           {{"kind", "training"},
            {"training",
             {{"dimension", 32},
              {"heads", 2},
              {"hidden", 64},
              {"vocabulary", 32},
              {"sequence", 16},
              {"blocks", 4},
              {"learning_rate", 0.005},
              {"warm_up", 10}}},
            {"parallelism", {{"mp", 1}, {"dp", dp}, {"pp", pp}}},
            {"samples_per_replica", 4},
            {"microbatches", 2},
            {"iterations", steps}}},
          {"detail", {{"data", "values"}}}};
}

Json with(Json json, const Json& patch) {
  json.merge_patch(patch);
  return json;
}

/// The losses of the same model without a wafer.
template <class T>
std::vector<double> locally(const Scenario& scenario) {
  LocalConfig config;
  config.model = model_config(scenario);
  config.optimizer = optimizer_config(scenario);
  config.power_sgd = factor_config(scenario);
  config.update_every = scenario.workload.training.update_every;
  config.update_step = scenario.workload.training.update_step;
  const auto data = training::make_chain(config.model, scenario.seed);
  LocalTrainer<T> trainer(config, *data, make_tables(scenario), make_subspace(scenario));
  return trainer.run();
}

struct Both {
  Results wafer;
  std::vector<double> local;
  double worst = 0;  // difference of losses
};

template <class T = double>
Both run_both(const Json& json) {
  const Scenario scenario = read_scenario(parse_document(json.dump(), "replicas"));
  Both both{run_scenario(scenario, {}), locally<T>(scenario)};
  EXPECT_EQ(both.wafer.status, "ok") << both.wafer.message;
  const auto& curve = both.wafer.training->curve;
  EXPECT_EQ(curve.size(), both.local.size());
  for (std::size_t i = 0; i < std::min(curve.size(), both.local.size()); ++i) {
    both.worst = std::max(both.worst, std::fabs(curve[i].loss - both.local[i]));
  }
  return both;
}

struct Case {
  const char* fabric;
  unsigned dp;
};
class Replicas : public testing::TestWithParam<Case> {};

TEST_P(Replicas, LearnAsOnesInOneProcess) {
  const Both both = run_both(scenario_of(GetParam().fabric, GetParam().dp, 2, 30));
  EXPECT_LE(both.worst, 1e-9);
  EXPECT_LT(both.local.back(), both.local.front() - 0.1);
  const GradientSumError& sum = both.wafer.training->gradient_sum;
  EXPECT_EQ(sum.count, 30u * 2 * GetParam().dp);
  EXPECT_LE(sum.relative, 1e-15);
  EXPECT_EQ(sum.between_replicas, 0);
}

TEST_P(Replicas, LearnFromFactorsAsOnesInOneProcess) {
  const Both both = run_both(with(scenario_of(GetParam().fabric, GetParam().dp, 2, 30),
                                  {{"workload", {{"gradients", {{"sum", "power_sgd"}, {"rank", 4}}}}}}));
  EXPECT_LE(both.worst, 1e-9);
  const GradientSumError& sum = both.wafer.training->gradient_sum;
  // A step's answer has what steps before it owed; of all steps together little is missing.
  EXPECT_GT(sum.relative, 0.1);
  EXPECT_GT(sum.of_all_steps, 0.01);
  EXPECT_LT(sum.of_all_steps, 0.5);
  EXPECT_EQ(sum.between_replicas, 0);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Replicas,
                         testing::Values(Case{"mesh2d", 2}, Case{"mesh2d", 4}, Case{"fred", 2},
                                         Case{"fred", 4}),
                         [](const auto& each) {
                           return std::string(each.param.fabric) + "_" + std::to_string(each.param.dp);
                         });

const Json kUpdates = {{"workload", {{"training", {{"subspace_k", 4}, {"update_every", 5}}}}}};
const Json kUnits = {
    {"wafer",
     {{"compression", {{"placement", "npu"}, {"policy", {{"pp", "subspace"}}}, {"codec", {{"k", 4}}}}}}}};

/// U was really turned: with a fixed one the losses are others.
void expect_updates_matter(const Both& both, const Json& json) {
  const Json fixed = with(json, {{"workload", {{"training", {{"update_every", 0}}}}}});
  const auto losses = locally<double>(read_scenario(parse_document(fixed.dump(), "fixed")));
  EXPECT_GT(std::fabs(losses.back() - both.local.back()), 1e-6);
}

TEST(Updates, GiveTheLossesOfOneProcess) {
  const Json json = with(scenario_of("mesh2d", 1, 4, 30), kUpdates);
  const Both both = run_both(json);
  EXPECT_LE(both.worst, 1e-9);
  expect_updates_matter(both, json);
}
TEST(Updates, GiveTheSameThroughUnits) {
  const Json json = with(with(scenario_of("mesh2d", 1, 4, 30), kUpdates), kUnits);
  EXPECT_LE(run_both(json).worst, 1e-9);
}
TEST(Updates, GiveTheSameThroughUnitsWithReplicas) {
  const Json json = with(with(scenario_of("mesh2d", 2, 2, 30), kUpdates), kUnits);
  EXPECT_LE(run_both(json).worst, 1e-9);
}
TEST(Updates, GiveAboutTheSameInFp32) {
  // U travels as fp32, and is made orthonormal again where it arrives.
  const Json narrow = {{"workload", {{"training", {{"type", "fp32"}}}}}};
  const Json json = with(with(with(scenario_of("mesh2d", 2, 2, 30), kUpdates), kUnits), narrow);
  EXPECT_LE(run_both<float>(json).worst, 1e-4);
}
TEST(Updates, GiveTheSameOnFred) {
  const Both both = run_both(with(scenario_of("fred", 2, 4, 30), kUpdates));
  EXPECT_LE(both.worst, 1e-9);
  for (const CollectiveResult& c : both.wafer.collectives) {
    if (c.communicator != "subspace" || c.operation != "broadcast") continue;
    EXPECT_EQ(c.count, 6u);
    EXPECT_EQ(c.bytes, 32u * 4 * 8);
  }
}

}  // namespace
}  // namespace wafervp::test

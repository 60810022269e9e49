// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "training/kernel_cost.h"

namespace wafervp::training {
namespace {

double products(const ModelConfig& model) {
  const double d = static_cast<double>(model.dimension), f = static_cast<double>(model.hidden);
  const double rows = static_cast<double>(model.rows());
  const double block = 2 * (4 * d * d + 2 * d * f) + 4 * static_cast<double>(model.tokens) * d;
  return rows * (static_cast<double>(model.blocks) * block + 2 * d * static_cast<double>(model.vocabulary));
}

double sum_of_flops(const ModelConfig& model, Kernel kernel) {
  double sum = 0;
  for (std::size_t stage = 0; stage < model.stages; ++stage)
    sum += static_cast<double>(kernel_cost(model, Stay::kRowWise, 0, stage, kernel, 4).flops);
  return sum;
}

TEST(KernelCost, IsMostlyThatOfTheProducts) {
  // d = 1024, f = 4 d: 24 d^2 + 4 n d a token and block; what is element by element is below 2 %.
  ModelConfig model;
  model.dimension = 1024;
  model.hidden = 4096;
  model.heads = 8;
  model.tokens = 1024;
  model.vocabulary = 50000;
  EXPECT_GE(sum_of_flops(model, Kernel::kForward), products(model));
  EXPECT_LE(sum_of_flops(model, Kernel::kForward), 1.02 * products(model));
  EXPECT_GE(sum_of_flops(model, Kernel::kBackward), 2 * products(model));
  EXPECT_LE(sum_of_flops(model, Kernel::kBackward), 2.02 * products(model));
}

TEST(KernelCost, OfAllStagesDoesNotDependOnTheCut) {
  ModelConfig model;
  model.blocks = 12;
  for (const Kernel kernel : all_kernels()) {
    model.stages = 1;
    const double whole = sum_of_flops(model, kernel);
    for (const std::size_t stages : {2, 5, 12}) {
      model.stages = stages;
      EXPECT_EQ(sum_of_flops(model, kernel), whole) << kernel_name(kernel);
    }
  }
}

TEST(KernelCost, OfProjectionsIsThatOfTheirProducts) {
  const ModelConfig model;  // d = 64, f = 256, one block a stage
  const std::uint64_t d = 64, f = 256, k = 8;
  const auto flops = [&](Stay stay, std::size_t stage, Kernel kernel) {
    return kernel_cost(model, stay, k, stage, kernel, 8).flops;
  };
  const std::uint64_t one_product = 2 * (d + f) * d * k;  // W_o and W_2
  EXPECT_EQ(flops(Stay::kRowWise, 1, Kernel::kFinishGradients), 2 * one_product);
  EXPECT_EQ(flops(Stay::kReparametrised, 1, Kernel::kFinishGradients), one_product);
  EXPECT_EQ(flops(Stay::kRowWise, 3, Kernel::kFinishGradients), 0u);
  EXPECT_EQ(flops(Stay::kRowWise, 1, Kernel::kSetSubspace), 4 * one_product);
  EXPECT_EQ(flops(Stay::kProjected, 1, Kernel::kStep) - flops(Stay::kProjected, 3, Kernel::kStep) +
                14 * d * model.vocabulary,
            2 * one_product);
}

TEST(KernelCost, OfTheStepReadsAndWritesWeightsMomentsAndReadsGradients) {
  const ModelConfig model;
  const std::uint64_t parameters = 12 * 64 * 64;
  EXPECT_EQ(kernel_cost(model, Stay::kRowWise, 0, 1, Kernel::kStep, 4).bytes, 7 * parameters * 4);
}

TEST(KernelCost, BytesScaleWithTheElementAndAreAtLeastTheWeights) {
  const ModelConfig model;
  for (const Kernel kernel : all_kernels()) {
    const KernelCost narrow = kernel_cost(model, Stay::kRowWise, 8, 0, kernel, 4);
    const KernelCost wide = kernel_cost(model, Stay::kRowWise, 8, 0, kernel, 8);
    EXPECT_EQ(wide.bytes, 2 * narrow.bytes);
    EXPECT_EQ(wide.flops, narrow.flops);
    EXPECT_GT(narrow.bytes, 0u);
  }
  EXPECT_GE(kernel_cost(model, Stay::kRowWise, 8, 1, Kernel::kForward, 4).bytes, 4u * 12 * 64 * 64);
}

TEST(KernelCost, KernelsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Kernel kernel : all_kernels()) names.insert(kernel_name(kernel));
  EXPECT_EQ(names.size(), 5u);
}

TEST(KernelCost, RefusesStagesAndRanksThatAreNotThere) {
  EXPECT_THROW(kernel_cost({}, Stay::kRowWise, 8, 4, Kernel::kForward, 4), TrainingError);
  EXPECT_THROW(kernel_cost({}, Stay::kRowWise, 65, 0, Kernel::kForward, 4), TrainingError);
}

}  // namespace
}  // namespace wafervp::training

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "compression/subspace.h"
#include "scenario/scenario.h"
#include "training/gradient_factors.h"
#include "training/kernel_cost.h"
#include "training/model_config.h"

namespace wafervp {

/// Number of a kernel in a COMPUTE command; its argument is the microbatch.
inline std::uint32_t kernel_number(training::Kernel kernel) { return static_cast<std::uint32_t>(kernel) + 1; }
inline training::Kernel kernel_of(std::uint32_t number) { return static_cast<training::Kernel>(number - 1); }

/// The model and its optimizer as the scenario says.
training::ModelConfig model_config(const Scenario& scenario);
training::OptimizerConfig optimizer_config(const Scenario& scenario);
/// PowerSGD of the replicas' gradients; none where they are added as they are.
std::optional<training::FactorConfig> factor_config(const Scenario& scenario);
/// Of a stage, with these.
training::FactorLayout factor_layout(const Scenario& scenario, std::size_t stage);
/// U, which all stages make by themselves from the seed; null without one.
std::shared_ptr<const compression::Subspace> make_subspace(const Scenario& scenario);
/// Dimensions that the model is kept in; 0: it is unconstrained, though there may be a U for codecs.
std::size_t constrained_k(const Scenario& scenario);
/// F and PE, likewise.
std::shared_ptr<const compression::FixedTables> make_tables(const Scenario& scenario);
/// Of a tensor between two stages.
std::uint64_t boundary_bytes(const Scenario& scenario);

}  // namespace wafervp

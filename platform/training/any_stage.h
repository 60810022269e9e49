// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compression/message.h"
#include "training/stage_model.h"

namespace wafervp::training {

/// A StageModel whose type of elements is chosen at run time and whose tensors are bytes, as memories and
/// links carry them: row-major, rows x d of the element type, no alignment needed. All calls are those of
/// StageModel.
class AnyStage {
 public:
  virtual ~AnyStage() = default;
  AnyStage() = default;
  AnyStage(const AnyStage&) = delete;
  AnyStage& operator=(const AnyStage&) = delete;

  virtual Element element() const = 0;
  virtual bool is_first() const = 0;
  virtual bool is_last() const = 0;
  /// Of activations and their gradients.
  compression::Shape boundary_shape() const { return {rows_, dimension_, element()}; }

  /// Throw TrainingError as StageModel does, and for a tensor of another size. `input` and `output_gradient`
  /// may be empty where they are not read.
  virtual std::vector<std::byte> forward(std::uint32_t microbatch, compression::ByteView input,
                                         const TokenBatch& tokens) = 0;
  virtual double loss(std::uint32_t microbatch) const = 0;
  virtual std::vector<std::byte> backward(std::uint32_t microbatch,
                                          compression::ByteView output_gradient) = 0;
  virtual void finish_gradients() = 0;
  /// The flat gradient: gradient_bytes() at the place that it returns, for reading and writing until step().
  virtual std::byte* gradients() = 0;
  virtual std::size_t gradient_bytes() const = 0;
  virtual void step() = 0;

  virtual const std::vector<ParameterInfo>& parameters() const = 0;
  virtual void collect_energy() = 0;
  virtual const compression::GradientEnergy& energy() const = 0;
  virtual void set_subspace(std::shared_ptr<const Subspace> subspace) = 0;
  virtual const std::shared_ptr<const Subspace>& subspace() const = 0;

 protected:
  std::size_t rows_ = 0, dimension_ = 0;
};

/// `element`: fp32 or fp64; throws TrainingError for others, which are types of links, not of arithmetic
/// here.
std::unique_ptr<AnyStage> make_stage(Element element, const ModelConfig& model,
                                     const OptimizerConfig& optimizer, std::size_t stage,
                                     std::shared_ptr<const FixedTables> tables,
                                     std::shared_ptr<const Subspace> subspace);

}  // namespace wafervp::training

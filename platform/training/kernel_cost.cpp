// SPDX-License-Identifier: Apache-2.0
#include "training/kernel_cost.h"

#include <fmt/format.h>

namespace wafervp::training {
namespace {

/// Multiplications and additions of an element besides matrix products, forward and backward.
constexpr std::uint64_t kNormFlops = 4, kNormBackwardFlops = 7;
constexpr std::uint64_t kSoftmaxFlops = 20, kSoftmaxBackwardFlops = 5;  // an exponential is 17 of the 20
constexpr std::uint64_t kReluFlops = 2, kReluBackwardFlops = 3;
constexpr std::uint64_t kAdamFlops = 14, kAdamRowWiseFlops = 9;

/// Of one matrix of the stage.
struct Weights {
  std::uint64_t rows, columns;
  bool constrained;
};

class Stage {
 public:
  Stage(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage)
      : blocks_(model.blocks_of(stage)),
        rows_(model.rows()),
        d_(model.dimension),
        f_(model.hidden),
        vocabulary_(model.vocabulary),
        scores_(model.heads * model.tokens * rows_),
        tokens_(model.tokens),
        rank_(rank),
        stay_(stay),
        is_first_(stage == 0),
        is_last_(stage + 1 == model.stages) {
    const bool inside = rank != 0;
    if (is_first_) matrices_.push_back({vocabulary_, d_, inside});
    for (std::uint64_t block = 0; block < blocks_; ++block) {
      matrices_.push_back({d_, 3 * d_, false});
      matrices_.push_back({d_, d_, inside && !is_last_});
      matrices_.push_back({d_, f_, false});
      matrices_.push_back({f_, d_, inside && !is_last_});
    }
    if (is_last_) matrices_.push_back({d_, vocabulary_, false});
  }

  /// Elements of memory stand for bytes here.
  KernelCost forward() const {
    KernelCost cost;
    add_products(cost, 1);
    cost.flops += blocks_ * (2 * kNormFlops * rows_ * d_ + kSoftmaxFlops * scores_ + kReluFlops * rows_ * f_);
    // Norms, products and sums of the stream read and write rows x d: 2 (norm) + 1 + 3 (qkv) + 3 + 1
    // (attention)
    // + 1 + 2 (w_o) + 2 (norm) + 1 (w_1) + 2 (w_2); scores twice, the hidden layer four times.
    cost.bytes += blocks_ * (18 * rows_ * d_ + 2 * scores_ + 4 * rows_ * f_);
    if (is_first_) {
      cost.flops += 2 * rows_ * d_;
      cost.bytes += 4 * rows_ * d_;
    }
    if (is_last_) {
      cost.flops += kNormFlops * rows_ * d_ + kSoftmaxFlops * rows_ * vocabulary_;
      cost.bytes += 3 * rows_ * d_ + 3 * rows_ * vocabulary_;
    }
    return cost;
  }

  KernelCost backward() const {
    KernelCost cost;
    add_products(cost, 2);
    cost.bytes += weight_elements();  // gradients of weights are read and written beside the weights
    cost.flops += blocks_ * (2 * kNormBackwardFlops * rows_ * d_ + kSoftmaxBackwardFlops * scores_ +
                             kReluBackwardFlops * rows_ * f_);
    // As forward, with a tensor and its gradient for each.
    cost.bytes += blocks_ * (36 * rows_ * d_ + 4 * scores_ + 8 * rows_ * f_);
    if (is_first_) {
      cost.flops += rows_ * d_;
      cost.bytes += 3 * rows_ * d_;
    }
    if (is_last_) {
      cost.flops += kNormBackwardFlops * rows_ * d_;
      cost.bytes += 6 * rows_ * d_ + 2 * rows_ * vocabulary_;
    }
    return cost;
  }

  KernelCost finish_gradients() const {
    KernelCost cost;
    for (const Weights& w : matrices_) {
      cost.bytes += 2 * w.rows * w.columns;
      if (w.constrained) add_projection(cost, w, stay_ == Stay::kReparametrised ? 1 : 2);
    }
    return cost;
  }

  KernelCost step() const {
    KernelCost cost;
    for (const Weights& w : matrices_) {
      const bool short_rows = w.constrained && stay_ == Stay::kReparametrised;
      const std::uint64_t elements = w.rows * (short_rows ? rank_ : w.columns);
      const bool row_wise = w.constrained && stay_ == Stay::kRowWise;
      cost.flops += (row_wise ? kAdamRowWiseFlops : kAdamFlops) * elements;
      // Gradient read; weights and moments read and written.
      cost.bytes += (row_wise ? 5 : 7) * elements + (row_wise ? 2 * w.rows : 0);
      if (w.constrained && !row_wise) add_projection(cost, w, short_rows ? 1 : 2);
    }
    return cost;
  }

  std::vector<MatrixSize> parameters() const {
    std::vector<MatrixSize> sizes;
    for (const Weights& w : matrices_) {
      sizes.push_back({w.rows, w.constrained && stay_ == Stay::kReparametrised ? rank_ : w.columns});
    }
    return sizes;
  }

  KernelCost set_subspace() const {
    KernelCost cost;
    for (const Weights& w : matrices_)
      if (w.constrained) {
        add_projection(cost, w, 2);  // weights
        add_projection(cost, w, 2);  // momentum
      }
    return cost;
  }

  /// C U, U^T (C U), the difference, and the orthonormalisation of U + R.
  KernelCost next_subspace() const {
    return {2 * d_ * d_ * rank_ + 4 * d_ * rank_ * rank_ + 2 * d_ * rank_ + 4 * d_ * rank_ * (rank_ + 1),
            d_ * d_ + 10 * d_ * rank_ + 2 * rank_ * rank_};
  }

 private:
  /// `times` 1: forward; 2: by the input and by the weights. Weights are read (or written) once each time.
  void add_products(KernelCost& cost, std::uint64_t times) const {
    const std::uint64_t weights = weight_elements() - (is_first_ ? vocabulary_ * d_ : 0);
    cost.flops += times * (2 * rows_ * weights + blocks_ * 4 * rows_ * tokens_ * d_);
    cost.bytes += times * weights;
  }

  /// Products with U, one or both: rows x d to rows x k, and back.
  void add_projection(KernelCost& cost, const Weights& w, std::uint64_t products) const {
    cost.flops += products * 2 * w.rows * w.columns * rank_;
    cost.bytes += products * (w.rows * (w.columns + rank_) + w.columns * rank_);
  }

  std::uint64_t weight_elements() const {
    std::uint64_t sum = 0;
    for (const Weights& w : matrices_) sum += w.rows * w.columns;
    return sum;
  }

  std::uint64_t blocks_, rows_, d_, f_, vocabulary_, scores_, tokens_, rank_;
  Stay stay_;
  bool is_first_, is_last_;
  std::vector<Weights> matrices_;
};

KernelCost cost_of(const Stage& stage, Kernel kernel) {
  switch (kernel) {
    case Kernel::kForward:
      return stage.forward();
    case Kernel::kBackward:
      return stage.backward();
    case Kernel::kFinishGradients:
      return stage.finish_gradients();
    case Kernel::kStep:
      return stage.step();
    case Kernel::kSetSubspace:
      return stage.set_subspace();
    case Kernel::kNextSubspace:
      return stage.next_subspace();
    case Kernel::kFactorP:
    case Kernel::kFactorQ:
    case Kernel::kExpandFactors:
      break;
  }
  return {};
}

}  // namespace

const char* kernel_name(Kernel kernel) {
  switch (kernel) {
    case Kernel::kForward:
      return "forward";
    case Kernel::kBackward:
      return "backward";
    case Kernel::kFinishGradients:
      return "finish_gradients";
    case Kernel::kStep:
      return "step";
    case Kernel::kSetSubspace:
      return "set_subspace";
    case Kernel::kNextSubspace:
      return "next_subspace";
    case Kernel::kFactorP:
      return "factor_p";
    case Kernel::kFactorQ:
      return "factor_q";
    case Kernel::kExpandFactors:
      return "expand_factors";
  }
  return "?";
}

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> kAll = {Kernel::kForward, Kernel::kBackward, Kernel::kFinishGradients,
                                           Kernel::kStep, Kernel::kSetSubspace};
  return kAll;
}

KernelCost kernel_cost(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage,
                       Kernel kernel, std::size_t element_bytes) {
  check(model);
  if (stage >= model.stages)
    throw TrainingError(fmt::format("stage: expected below {}, found {}", model.stages, stage));
  if (rank > model.dimension)
    throw TrainingError(fmt::format("rank: expected 0 to {}, found {}", model.dimension, rank));
  KernelCost cost = cost_of(Stage(model, stay, rank, stage), kernel);
  cost.bytes *= element_bytes;
  return cost;
}

KernelCost energy_cost(const ModelConfig& model, std::size_t element_bytes) {
  const std::uint64_t rows = model.rows(), d = model.dimension;
  return {2 * rows * d * d, (rows * d + 2 * d * d) * element_bytes};  // C <- C + G^T G
}

std::vector<MatrixSize> parameter_sizes(const ModelConfig& model, Stay stay, std::size_t rank,
                                        std::size_t stage) {
  check(model);
  return Stage(model, stay, rank, stage).parameters();
}

std::size_t parameter_count(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage) {
  std::size_t count = 0;
  for (const MatrixSize& size : parameter_sizes(model, stay, rank, stage)) count += size.rows * size.columns;
  return count;
}

}  // namespace wafervp::training

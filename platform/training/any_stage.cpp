// SPDX-License-Identifier: Apache-2.0
#include "training/any_stage.h"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>
#include <utility>

namespace wafervp::training {
namespace {

template <class T>
class TypedStage : public AnyStage {
 public:
  TypedStage(const ModelConfig& model, const OptimizerConfig& optimizer, std::size_t stage,
             std::shared_ptr<const FixedTables> tables, std::shared_ptr<const Subspace> subspace)
      : model_(model, optimizer, stage, std::move(tables), std::move(subspace)) {
    rows_ = model.rows();
    dimension_ = model.dimension;
  }

  Element element() const override { return std::is_same_v<T, double> ? Element::kFp64 : Element::kFp32; }
  bool is_first() const override { return model_.is_first(); }
  bool is_last() const override { return model_.is_last(); }

  std::vector<std::byte> forward(std::uint32_t microbatch, compression::ByteView input,
                                 const TokenBatch& tokens) override {
    return to_bytes(model_.forward(microbatch, is_first() ? Matrix<T>() : to_matrix("input", input), tokens));
  }
  double loss(std::uint32_t microbatch) const override { return model_.loss(microbatch); }
  std::vector<std::byte> backward(std::uint32_t microbatch, compression::ByteView output_gradient) override {
    return to_bytes(
        model_.backward(microbatch, is_last() ? Matrix<T>() : to_matrix("output_gradient", output_gradient)));
  }
  void finish_gradients() override { model_.finish_gradients(); }
  std::byte* gradients() override { return reinterpret_cast<std::byte*>(model_.gradients().data()); }
  std::size_t gradient_bytes() const override { return model_.gradients().size() * sizeof(T); }
  void step() override { model_.step(); }

  const std::vector<ParameterInfo>& parameters() const override { return model_.parameters(); }
  void collect_energy() override { model_.collect_energy(); }
  const compression::GradientEnergy& energy() const override { return model_.energy(); }
  void set_subspace(std::shared_ptr<const Subspace> subspace) override {
    model_.set_subspace(std::move(subspace));
  }
  const std::shared_ptr<const Subspace>& subspace() const override { return model_.subspace(); }

 private:
  Matrix<T> to_matrix(const char* what, compression::ByteView bytes) const {
    Matrix<T> matrix(rows_, dimension_);
    const std::size_t expected = matrix.values.size() * sizeof(T);
    if (bytes.size != expected)
      throw TrainingError(fmt::format("{}: expected {} bytes ({} x {} {}), found {}", what, expected, rows_,
                                      dimension_, element_name(element()), bytes.size));
    std::memcpy(matrix.values.data(), bytes.data, expected);
    return matrix;
  }
  static std::vector<std::byte> to_bytes(const Matrix<T>& matrix) {
    std::vector<std::byte> bytes(matrix.values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), matrix.values.data(), bytes.size());
    return bytes;
  }

  StageModel<T> model_;
};

}  // namespace

std::unique_ptr<AnyStage> make_stage(Element element, const ModelConfig& model,
                                     const OptimizerConfig& optimizer, std::size_t stage,
                                     std::shared_ptr<const FixedTables> tables,
                                     std::shared_ptr<const Subspace> subspace) {
  switch (element) {
    case Element::kFp64:
      return std::make_unique<TypedStage<double>>(model, optimizer, stage, std::move(tables),
                                                  std::move(subspace));
    case Element::kFp32:
      return std::make_unique<TypedStage<float>>(model, optimizer, stage, std::move(tables),
                                                 std::move(subspace));
    default:
      throw TrainingError(fmt::format("element: expected fp32 or fp64, found {}", element_name(element)));
  }
}

}  // namespace wafervp::training

// SPDX-License-Identifier: Apache-2.0
#include "compression/error_feedback.h"

#include <cmath>

#include "compression/values.h"

namespace wafervp::compression {

MessageView ErrorFeedback::owed(const MessageView& message, std::uint64_t stream) {
  const std::uint64_t elements = element_count(message.shape);
  current_ = &streams_[stream];
  if (current_->shape != message.shape || current_->residual.size() != elements) {
    current_->shape = message.shape;
    current_->residual.assign(elements, 0);
  }
  exact_.resize(elements);
  rounded_.resize(message.values.size);
  widen(message.shape.element, message.values.data, exact_.data(), elements);
  for (std::size_t i = 0; i < elements; ++i) exact_[i] += current_->residual[i];
  narrow(message.shape.element, exact_.data(), rounded_.data(), elements);
  return {message.shape, rounded_};
}

void ErrorFeedback::settle(ByteView sent) {
  std::vector<double>& residual = current_->residual;
  widen(current_->shape.element, sent.data, residual.data(), residual.size());
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double left = exact_[i] - residual[i];
    residual[i] = std::isfinite(left) ? left : 0;
  }
}

}  // namespace wafervp::compression

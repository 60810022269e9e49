// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/element.h"
#include "core/flow.h"

namespace wafervp {

/// How the part of a tree at a node makes the values at its outputs from those at its inputs.
class StageArithmetic {
 public:
  virtual ~StageArithmetic() = default;
  /// By output of the stage, from all inputs by their order in it. The inputs' buffers belong to the stage:
  /// sums may be made in them, and outputs may share one.
  virtual std::vector<Bytes> outputs(std::vector<Bytes> inputs, Element element) const = 0;
};

/// The sum of inputs at `ports` in the order of a binary tree over all ports: 2k and 2k + 1 first, then pairs
/// of pairs; a port without a partner passes. Made in the inputs' buffers, which nobody else has.
Bytes port_tree_sum(const std::vector<unsigned>& ports, std::vector<Bytes> inputs, Element element);

}  // namespace wafervp

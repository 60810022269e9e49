// SPDX-License-Identifier: Apache-2.0
#include "router/stage_arithmetic.h"

#include <utility>

namespace wafervp {

Bytes port_tree_sum(const std::vector<unsigned>& ports, std::vector<Bytes> inputs, Element element) {
  std::vector<Bytes> by_port;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (by_port.size() <= ports[i]) by_port.resize(ports[i] + 1);
    by_port[ports[i]] = std::move(inputs[i]);
  }
  while (by_port.size() > 1) {
    std::vector<Bytes> next((by_port.size() + 1) / 2);
    for (std::size_t i = 0; i < by_port.size(); i += 2) {
      Bytes left = std::move(by_port[i]);
      Bytes right = i + 1 < by_port.size() ? std::move(by_port[i + 1]) : nullptr;
      if (left != nullptr && right != nullptr) add(element, left->data(), right->data(), left->size());
      next[i / 2] = std::move(left == nullptr ? right : left);
    }
    by_port = std::move(next);
  }
  return std::move(by_port.front());
}

}  // namespace wafervp

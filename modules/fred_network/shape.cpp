// SPDX-License-Identifier: Apache-2.0
#include "fred_network/shape.h"

#include <stdexcept>

namespace wafervp {

void check(const FredShape& shape) {
  if (shape.ports >= 2 && shape.middles >= 2) return;
  throw std::invalid_argument(name_of(shape) + ": expected 2 or more ports and 2 or more middle networks");
}

unsigned levels(const FredShape& shape) {
  unsigned count = 0;
  for (unsigned ports = shape.ports; ports > 2; ports = middle_ports(ports)) ++count;
  return count;
}

std::string name_of(const FredShape& shape) {
  return "Fred" + std::to_string(shape.middles) + "(" + std::to_string(shape.ports) + ")";
}

}  // namespace wafervp

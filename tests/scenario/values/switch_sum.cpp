// SPDX-License-Identifier: Apache-2.0
#include "switch_sum.h"

#include <map>

namespace wafervp::test {
namespace {

/// Sum of the ports in [first, first + width), `width` a power of two; null when none of them has data.
const Buffer* tree(std::uint32_t dtype, std::map<std::uint32_t, Buffer>& ports, std::uint32_t first,
                   std::uint32_t width) {
  if (width == 1) {
    const auto port = ports.find(first);
    return port == ports.end() ? nullptr : &port->second;
  }
  const Buffer* left = tree(dtype, ports, first, width / 2);
  const Buffer* right = tree(dtype, ports, first + width / 2, width / 2);
  if (left == nullptr || right == nullptr) return left == nullptr ? right : left;
  Buffer sum = *left;
  add_all(dtype, sum.data(), right->data(), sum.size());
  ports[first] = std::move(sum);  // the ports below are not looked at again
  return &ports[first];
}

Buffer sum_of_ports(std::uint32_t dtype, std::map<std::uint32_t, Buffer> ports) {
  std::uint32_t width = 1;
  while (width <= ports.rbegin()->first) width *= 2;
  return *tree(dtype, ports, 0, width);
}

}  // namespace

Buffer switch_sum(std::uint32_t dtype, const std::vector<std::uint32_t>& members, std::uint32_t npus_per_l1,
                  const std::vector<Buffer>& values) {
  std::map<std::uint32_t, std::map<std::uint32_t, Buffer>> l1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    l1[members[i] / npus_per_l1][members[i] % npus_per_l1] = values[i];
  }
  // A single flow takes the first of an L1's up ports, of which there are as many as NPUs.
  std::map<std::uint32_t, Buffer> sums;
  for (auto& [number, ports] : l1) sums[number * npus_per_l1] = sum_of_ports(dtype, ports);
  return sum_of_ports(dtype, sums);
}

}  // namespace wafervp::test

// SPDX-License-Identifier: Apache-2.0
#include "router/routing.h"

#include <utility>

namespace wafervp {

XyRouting::XyRouting(NpuId here, std::uint32_t columns, const Ports& ports)
    : columns_(columns), x_(here.value % columns), y_(here.value / columns), ports_(ports) {}

unsigned XyRouting::output(NpuId destination) const {
  const std::uint32_t x = destination.value % columns_;
  const std::uint32_t y = destination.value / columns_;
  if (x != x_) return x < x_ ? ports_.west : ports_.east;
  if (y != y_) return y < y_ ? ports_.north : ports_.south;
  return 0;
}

RingRouting::RingRouting(NpuId here, std::uint32_t npus, unsigned clockwise, unsigned counter_clockwise)
    : here_(here.value), npus_(npus), clockwise_(clockwise), counter_clockwise_(counter_clockwise) {}

unsigned RingRouting::output(NpuId destination) const {
  const std::uint32_t ahead = (destination.value + npus_ - here_) % npus_;
  if (ahead == 0) return 0;
  return 2 * ahead <= npus_ ? clockwise_ : counter_clockwise_;
}

TableRouting::TableRouting(std::vector<unsigned> port_of_npu) : port_of_npu_(std::move(port_of_npu)) {}

unsigned TableRouting::output(NpuId destination) const { return port_of_npu_.at(destination.value); }

}  // namespace wafervp

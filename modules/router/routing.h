// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"

namespace wafervp {

/// Chooses the output port of a unicast flow at one router. Port 0 of an NPU's router is the accelerator.
class RoutingAlgorithm {
 public:
  virtual ~RoutingAlgorithm() = default;
  virtual unsigned output(NpuId destination) const = 0;
};

/// Dimension order on a mesh without wraparound: x first, then y. NPU n is at (n % columns, n / columns).
/// Ports of the four sides are given, 0 where there is no link.
class XyRouting final : public RoutingAlgorithm {
 public:
  struct Ports {
    unsigned west = 0, east = 0, north = 0, south = 0;  ///< smaller x, larger x, smaller y, larger y
  };
  XyRouting(NpuId here, std::uint32_t columns, const Ports& ports);
  unsigned output(NpuId destination) const override;

 private:
  std::uint32_t columns_, x_, y_;
  Ports ports_;
};

/// The shorter way round a ring; clockwise (to the next higher number) where both are equal.
class RingRouting final : public RoutingAlgorithm {
 public:
  RingRouting(NpuId here, std::uint32_t npus, unsigned clockwise, unsigned counter_clockwise);
  unsigned output(NpuId destination) const override;

 private:
  std::uint32_t here_, npus_;
  unsigned clockwise_, counter_clockwise_;
};

/// A port for each destination, for switches.
class TableRouting final : public RoutingAlgorithm {
 public:
  explicit TableRouting(std::vector<unsigned> port_of_npu);
  unsigned output(NpuId destination) const override;

 private:
  std::vector<unsigned> port_of_npu_;
};

}  // namespace wafervp

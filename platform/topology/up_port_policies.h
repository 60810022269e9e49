// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/up_ports.h"

namespace wafervp {

// What they do stands at make_up_port_policy().

class InOrderUpPorts final : public UpPortPolicy {
 public:
  UpPortChoice choose(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                      const std::vector<Crossing>& crossings, const RoutingOptions& options) const override;
};

/// Whether a flow that goes up and comes down at an L1 keeps to one port there.
enum class Directions { kTogether, kApart };

class SearchedUpPorts final : public UpPortPolicy {
 public:
  explicit SearchedUpPorts(Directions directions) : directions_(directions) {}
  UpPortChoice choose(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                      const std::vector<Crossing>& crossings, const RoutingOptions& options) const override;

 private:
  Directions directions_;
};

}  // namespace wafervp

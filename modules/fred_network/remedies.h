// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fred_network/remedy.h"

namespace wafervp {

// What they do stands at make_remedy().

class SerialiseRemedy final : public Remedy {
 public:
  Remedied apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                 const RoutingOptions& options) const override;
};

class MoreMiddlesRemedy final : public Remedy {
 public:
  Remedied apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                 const RoutingOptions& options) const override;
};

class EndpointRingRemedy final : public Remedy {
 public:
  Remedied apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                 const RoutingOptions& options) const override;
};

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "accelerator/accelerator.h"
#include "link/link_engine.h"
#include "link/site_link.h"
#include "scenario/scenario.h"
#include "topology/topology.h"

namespace wafervp {

/// For all links of the wafer, which operations hold together; null: each holds those on its way only.
std::shared_ptr<PathHolders> holders_of_wafer(const Scenario& scenario);

/// What the scenario says of link `id`: rate under its packets' headers, buffers, grain, channels, errors.
SiteLinkConfig site_link_config(const Scenario& scenario, const Topology& topology, LinkId id);
LinkConfig link_config(const Scenario& scenario, const Topology& topology, LinkId id);

/// With pre-emption: which class an NPU holds back for which.
void hold_classes(const Scenario& scenario, AcceleratorConfig& config);

/// Each link with the one the other way between the same two nodes.
std::vector<std::pair<LinkId, LinkId>> link_pairs(const Topology& topology);

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "results/results.h"
#include "run/observer.h"
#include "scenario/scenario.h"
#include "topology/topology.h"
#include "wafer/wafer.h"
#include "workload/programs.h"

namespace wafervp {

/// What the modules of a run that has ended have counted: collectives beside their bounds, links, NPUs, I/O
/// controllers, compression as a whole and by traffic class.
void collect_statistics(Wafer& wafer, const Scenario& scenario, const Topology& topology,
                        const Workload& workload, const RunObserver& observer, Results& results);

}  // namespace wafervp

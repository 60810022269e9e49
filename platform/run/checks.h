// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "results/results.h"
#include "topology/topology.h"
#include "wafer/wafer.h"

namespace wafervp {

/// What a finished run promises: nothing is left in flight, bytes are conserved, no link carried more than
/// its rate allows and no collective was faster than its bound. Sets status check_failed and the message.
void check_promises(Wafer& wafer, const Topology& topology, Results& results);

}  // namespace wafervp

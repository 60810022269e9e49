// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "topology/channels.h"
#include "topology/topology.h"

namespace wafervp {

/// "free of cycles", or the cycle of channels that wait for each other, for reports. The work grows with the
/// square of the NPUs; beyond 4096 it is not done, and the text says so.
std::string describe_cycles(const Topology& topology, IoChannels io_channels);

/// Throws ScenarioError at /wafer/io/channels where the I/O trees of a mesh are put into one channel and can
/// wait for each other in a circle.
void refuse_deadlock(const Topology& topology, const WaferSpec& wafer);

}  // namespace wafervp

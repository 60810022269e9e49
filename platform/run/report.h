// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "run/observer.h"
#include "wafer/wafer.h"

namespace wafervp {

/// Ranks that wait for each other in a circle: a fault where nothing happens any more, and what each ring
/// collective looks like on its way.
enum class Cycles { kFault, kNormal };

/// Who waits for whom: one line a rank that is not done (the first `most`), and for kFault the cycle of waits
/// if there is one. Names NPU, command, operation, communicator, peer, bytes, since when.
std::string waiting_report(Wafer& wafer, const Workload& workload, const RunObserver& observer,
                           std::size_t most, Cycles cycles);

/// The state of a run on demand: time, ranks, operations, queues of links.
std::string state_report(Wafer& wafer, const Topology& topology, const Workload& workload,
                         const RunObserver& observer);

/// What a rank's failing EXIT means, with the bytes and the peer that it named.
std::string exit_report(Wafer& wafer, const Workload& workload, NpuId npu, std::uint32_t status);

}  // namespace wafervp

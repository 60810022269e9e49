// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases/cases.h"
#include "packet_loop/packet_loop.h"

namespace fabric_cases {

/// What the packet loop says of one NPU.
struct ReferenceNpu {
  packet_loop::Time received_ps = 0;  ///< last delivery to it; 0: none
  packet_loop::Time departed_ps = 0;  ///< last byte of its last message on its first link; 0: none
};

struct Reference {
  bool finished = false;
  std::vector<ReferenceNpu> npus;
  /// Messages that cross each link, by its name; in-switch legs and steps of a ring count as well.
  std::vector<std::pair<std::string, std::uint32_t>> flows_of_link;
};

/// Runs the case through the packet loop. Flows of messages are numbered in the order of the list.
Reference reference(const FabricCase& fabric_case);

}  // namespace fabric_cases

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerator/accelerator.h"

namespace wafervp {

struct IoControllerConfig {
  NpuId end;               ///< its number among the ends of the wafer: NPUs first
  std::uint32_t npus = 1;  ///< on the wafer
  std::uint32_t walk_entries = 80;
  std::uint64_t memory_bytes = 0;          ///< values that it keeps; 0: the run carries sizes only
  CompressionUnit* compression = nullptr;  ///< as of an accelerator
};

/// An I/O controller: a channel of off-wafer memory. It has the message engine, the memory and the registers
/// of an accelerator, with a control processor of its own, and no compute engine to speak of: firmware moves
/// weights in and gradients out with the same descriptors.
class IoController : public Accelerator {
 public:
  IoController(sc_core::sc_module_name name, const IoControllerConfig& config, Calendar& calendar,
               MessagePool& messages, FlowTable& flows, Arena& arena);
};

}  // namespace wafervp

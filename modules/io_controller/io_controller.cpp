// SPDX-License-Identifier: Apache-2.0
#include "io_controller/io_controller.h"

namespace wafervp {

namespace {

AcceleratorConfig accelerator_of(const IoControllerConfig& config) {
  AcceleratorConfig accelerator;
  accelerator.npu = config.end;
  accelerator.npus = config.npus;
  accelerator.peak_flops_per_s = 1;  // work that is posted all the same would take for ever
  accelerator.walk_entries = config.walk_entries;
  accelerator.memory_bytes = config.memory_bytes;
  accelerator.compression = config.compression;
  return accelerator;
}

}  // namespace

IoController::IoController(sc_core::sc_module_name name, const IoControllerConfig& config, Calendar& calendar,
                           MessagePool& messages, FlowTable& flows, Arena& arena)
    : Accelerator(name, accelerator_of(config), calendar, messages, flows, arena) {}

}  // namespace wafervp

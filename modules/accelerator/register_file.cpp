// SPDX-License-Identifier: Apache-2.0
#include "accelerator/register_file.h"

#include <string>

#include "accelerator/registers.h"

namespace wafervp {

namespace {
constexpr std::uint32_t kMagic = 0x57565031u;
}  // namespace

std::uint32_t RegisterFile::read_other(std::uint32_t offset, Time local) {
  switch (offset) {
    case WVP_REG_CQ_TAIL:
      return completions_.tail();
    case WVP_REG_CQ_HEAD:
      return completions_.head();
    case WVP_REG_TIME_LO:
      time_high_ = static_cast<std::uint32_t>(local >> 32);
      return static_cast<std::uint32_t>(local);
    case WVP_REG_TIME_HI:
      return time_high_;
    case WVP_REG_ID:
      return kMagic;
    case WVP_REG_NPU:
      return npu_.value;
    case WVP_REG_NPUS:
      return npus_;
    case WVP_REG_DQ_SIZE:
      return engine_.ring_size();
    case WVP_REG_CQ_SIZE:
      return completions_.size();
    case WVP_REG_WALKS:
      return engine_.walks().size();
    case WVP_REG_ERROR_OP:
    case WVP_REG_ERROR_PEER:
    case WVP_REG_ERROR_EXPECTED_LO:
    case WVP_REG_ERROR_EXPECTED_HI:
    case WVP_REG_ERROR_FOUND_LO:
    case WVP_REG_ERROR_FOUND_HI:
      return errors_[(offset - kFirstErrorRegister) / 4];
    default:
      accelerator_registers().refuse_read("NPU " + std::to_string(npu_.value), offset);
  }
}

void RegisterFile::mark(std::uint32_t kind, std::uint32_t traffic_class, std::uint32_t command, Time local) {
  if (ClassHold* hold = engine_.port().hold(); hold != nullptr && traffic_class <= WVP_CLASS_CONTROL) {
    if (kind == WVP_PHASE_OP_BEGIN) hold->begin(traffic_class);
    if (kind == WVP_PHASE_OP_END) hold->end(traffic_class, local);
  }
  if (observer_ != nullptr) observer_->on_phase(npu_, kind, command, local);
}

void RegisterFile::write_other(std::uint32_t offset, std::uint32_t value, Time local) {
  switch (offset) {
    case WVP_REG_PHASE:
      mark(value >> 24 & 0xfu, value >> 28, value & 0xffffffu, local);
      return;
    case WVP_REG_EXIT:
      completions_.close();
      if (observer_ != nullptr) observer_->on_exit(npu_, value, local);
      return;
    case WVP_REG_ERROR_OP:
    case WVP_REG_ERROR_PEER:
    case WVP_REG_ERROR_EXPECTED_LO:
    case WVP_REG_ERROR_EXPECTED_HI:
    case WVP_REG_ERROR_FOUND_LO:
    case WVP_REG_ERROR_FOUND_HI:
      errors_[(offset - kFirstErrorRegister) / 4] = value;
      return;
    default:
      accelerator_registers().refuse_write("NPU " + std::to_string(npu_.value), offset, value);
  }
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "compression/unit_registers.h"

#include <iterator>

#include "compression/compression_unit.h"

namespace wafervp {

namespace {

std::uint32_t word_of(std::uint64_t counter, std::uint32_t offset) {
  return static_cast<std::uint32_t>(offset % 8 == 0 ? counter : counter >> 32);
}

std::uint32_t counter_word(const CompressionStatistics::Engine& engine, std::uint32_t offset) {
  const std::uint64_t counters[] = {engine.messages, engine.dense_bytes, engine.wire_bytes, engine.busy_ps};
  return word_of(counters[offset % 32 / 8], offset);
}

}  // namespace

const RegisterMap& compression_unit_registers() {
  static constexpr RegisterInfo kRegisters[] = {
#define WAFERVP_REGISTER(name, offset, access, reset, text) \
  {#name, offset, RegisterInfo::Access::access, reset, text},
      WAFERVP_COMPRESSION_REGISTERS(WAFERVP_REGISTER)
#undef WAFERVP_REGISTER
  };
  static const RegisterMap map(kRegisters, std::size(kRegisters));
  return map;
}

std::uint32_t CompressionUnit::read32(std::uint32_t offset) {
  const RegisterInfo* info = compression_unit_registers().find(offset);
  if (info == nullptr) compression_unit_registers().refuse_read(owner_ + ", compression unit", offset);
  if (offset >= WVP_CU_INGRESS_MESSAGES) return counter_word(statistics_.ingress, offset);
  if (offset >= WVP_CU_EGRESS_MESSAGES) return counter_word(statistics_.egress, offset);
  const Bank& bank = selected();
  switch (offset) {
    case WVP_CU_SELECT:
      return select_;
    case WVP_CU_CODEC:
      return bank.on ? 1 + static_cast<std::uint32_t>(bank.use.codec->id()) : 0;
    case WVP_CU_K:
      return static_cast<std::uint32_t>(bank.use.k);
    case WVP_CU_U_VERSION:
      return bank.version;
    case WVP_CU_TABLE_LO:
    case WVP_CU_TABLE_HI:
      return word_of(bank.tables, offset);
    default:
      return info->reset;
  }
}

void CompressionUnit::write32(std::uint32_t offset, std::uint32_t value) {
  constexpr std::uint64_t kWord = 0xffffffffu;
  Bank& bank = selected();
  const auto forbid = [&](const std::string& expected) {
    throw BusError(owner_ + ", compression unit: bus error, expected " + expected + ", found " +
                   std::to_string(value));
  };
  switch (offset) {
    case WVP_CU_SELECT:
      if (value >= kClasses * kTensors) forbid("0 to 15 in SELECT");
      select_ = value;
      return;
    case WVP_CU_CODEC: {
      const std::uint32_t built =
          bank.use.codec != nullptr ? 1 + static_cast<std::uint32_t>(bank.use.codec->id()) : 0;
      if (value != 0 && value != built) forbid("0 or " + std::to_string(built) + " in CODEC");
      bank.on = value != 0;
      return;
    }
    case WVP_CU_U_VERSION:
      bank.version = value;
      return;
    case WVP_CU_TABLE_LO:
      bank.tables = (bank.tables & ~kWord) | value;
      return;
    case WVP_CU_TABLE_HI:
      bank.tables = (bank.tables & kWord) | std::uint64_t{value} << 32;
      return;
    default:
      compression_unit_registers().refuse_write(owner_ + ", compression unit", offset, value);
  }
}

}  // namespace wafervp

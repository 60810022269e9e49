// SPDX-License-Identifier: Apache-2.0
#include "fred_network/configuration.h"

#include <array>
#include <stdexcept>

namespace wafervp {
namespace {

/// Bits of a number of 0 (idle) to `middles`.
unsigned select_bits(unsigned middles) {
  unsigned bits = 0;
  while (middles >> bits != 0) ++bits;
  return bits;
}

unsigned select_of(const MicroSwitch& part, unsigned middles, const ConfigurationBits& bits, unsigned port) {
  const unsigned width = select_bits(middles);
  const unsigned select = bits.get(part.first_bit + std::size_t{port} * width, width);
  if (select > middles) {
    throw std::invalid_argument(std::string(name_of(part.kind)) + " " + std::to_string(part.index) +
                                ": the configuration names middle network " + std::to_string(select - 1) +
                                " of " + std::to_string(middles));
  }
  return select;
}

constexpr Drive kNothing{0, 0, 0}, kInput0{1, 0, 0}, kInput1{1, 1, 0}, kSum{2, 0, 1};
/// Outputs 0 and 1 by RdMode.
constexpr std::array<std::array<Drive, 2>, 8> kRdDrives = {{{kNothing, kNothing},
                                                            {kInput0, kInput1},
                                                            {kInput1, kInput0},
                                                            {kInput0, kInput0},
                                                            {kInput1, kInput1},
                                                            {kSum, kNothing},
                                                            {kNothing, kSum},
                                                            {kSum, kSum}}};
constexpr std::array<const char*, 8> kRdNames = {"idle",   "pass",     "cross",    "copy 0",
                                                 "copy 1", "add to 0", "add to 1", "add and copy"};

/// True when an output that is to send `wanted` may send `sent`: where nothing is wanted, a single input does
/// no harm, since nothing comes in there.
bool serves(const Drive& sent, const Drive& wanted) {
  if (wanted.count == 0) return sent.count < 2;
  return sent.count == wanted.count && (wanted.count == 2 || sent.left == wanted.left);
}

}  // namespace

unsigned field_bits(MicroSwitchKind kind, unsigned middles) {
  switch (kind) {
    case MicroSwitchKind::kReduce:
    case MicroSwitchKind::kDistribute:
      return 2 * select_bits(middles);
    case MicroSwitchKind::kDemux:
    case MicroSwitchKind::kMux:
      return select_bits(middles);
    case MicroSwitchKind::kReduceDistribute:
      return 3;
  }
  return 0;
}

unsigned ConfigurationBits::get(std::size_t first, unsigned bits) const {
  if (first + bits > size_) throw std::out_of_range("a configuration has no such field");
  unsigned value = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const std::size_t at = first + i;
    value |= ((bytes_[at / 8] >> (at % 8)) & 1u) << i;
  }
  return value;
}

void ConfigurationBits::set(std::size_t first, unsigned bits, unsigned value) {
  if (first + bits > size_) throw std::out_of_range("a configuration has no such field");
  if (value >> bits != 0) throw std::out_of_range("a value does not fit into its field of the configuration");
  for (unsigned i = 0; i < bits; ++i) {
    const std::size_t at = first + i;
    const auto mask = static_cast<std::uint8_t>(1u << (at % 8));
    if ((value >> i & 1u) != 0) {
      bytes_[at / 8] |= mask;
    } else {
      bytes_[at / 8] &= static_cast<std::uint8_t>(~mask);
    }
  }
}

Drive drive_of(const MicroSwitch& part, unsigned middles, const ConfigurationBits& bits, unsigned output) {
  switch (part.kind) {
    case MicroSwitchKind::kReduce:
    case MicroSwitchKind::kDemux: {
      Drive drive;
      for (unsigned input = 0; input < part.inputs.size(); ++input) {
        if (select_of(part, middles, bits, input) != output + 1) continue;
        (drive.count == 0 ? drive.left : drive.right) = input;
        ++drive.count;
      }
      return drive;
    }
    case MicroSwitchKind::kDistribute:
    case MicroSwitchKind::kMux: {
      const unsigned select = select_of(part, middles, bits, output);
      return select == 0 ? kNothing : Drive{1, select - 1, 0};
    }
    case MicroSwitchKind::kReduceDistribute:
      return kRdDrives[bits.get(part.first_bit, part.bits)][output];
  }
  return kNothing;
}

void set_middle(const MicroSwitch& part, unsigned middles, ConfigurationBits& bits, unsigned port,
                unsigned middle) {
  const unsigned width = select_bits(middles);
  bits.set(part.first_bit + std::size_t{port} * width, width, middle + 1);
}

RdMode rd_mode(const Drive& first, const Drive& second) {
  if (first.count == 0 && second.count == 0) return RdMode::kIdle;
  for (std::size_t mode = 1; mode < kRdDrives.size(); ++mode) {
    if (serves(kRdDrives[mode][0], first) && serves(kRdDrives[mode][1], second)) {
      return static_cast<RdMode>(mode);
    }
  }
  throw std::invalid_argument("an RD μswitch has no mode for these flows");
}

std::string describe(const MicroSwitch& part, unsigned middles, const ConfigurationBits& bits) {
  if (part.kind == MicroSwitchKind::kReduceDistribute) return kRdNames[bits.get(part.first_bit, part.bits)];
  const bool input_side = part.kind == MicroSwitchKind::kReduce || part.kind == MicroSwitchKind::kDemux;
  const std::size_t ports = (input_side ? part.inputs : part.outputs).size();
  std::vector<unsigned> selects;
  for (unsigned port = 0; port < ports; ++port) selects.push_back(select_of(part, middles, bits, port));
  const std::string towards = input_side ? " to " : " from ";
  if (ports == 2 && selects[0] == selects[1] && selects[0] != 0) {
    return (input_side ? "add" : "copy") + towards + std::to_string(selects[0] - 1);
  }
  std::string text;
  for (unsigned port = 0; port < ports; ++port) {
    if (selects[port] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(port) + towards + std::to_string(selects[port] - 1);
  }
  return text.empty() ? "idle" : text;
}

}  // namespace wafervp

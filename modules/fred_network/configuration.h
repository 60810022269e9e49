// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fred_network/network.h"

namespace wafervp {

/// What an RD μswitch does: the modes of the paper's prototype, with a copy of either input.
enum class RdMode : std::uint8_t {
  kIdle,
  kPass,    ///< input 0 to output 0, input 1 to output 1
  kCross,   ///< input 0 to output 1, input 1 to output 0
  kCopy0,   ///< input 0 to both outputs
  kCopy1,   ///< input 1 to both outputs
  kAdd0,    ///< the sum to output 0
  kAdd1,    ///< the sum to output 1
  kAddCopy  ///< the sum to both outputs
};

/// Bits of a μswitch's field. R and demultiplexer: for each input the middle network that it goes to, plus
/// one, or 0 for idle; two inputs with the same number are added. D and multiplexer: for each output the
/// middle network that it comes from, plus one, or 0; the same number twice is a copy. RD: the RdMode.
unsigned field_bits(MicroSwitchKind kind, unsigned middles);

/// The configuration of a whole switch for one phase, all idle at first.
class ConfigurationBits {
 public:
  explicit ConfigurationBits(std::size_t bits) : size_(bits), bytes_((bits + 7) / 8) {}

  std::size_t size() const { return size_; }
  /// As stored: bit i is bit i mod 8 of byte i / 8.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  /// Both throw std::out_of_range for a field that is not inside, `set` also for a value that does not fit.
  unsigned get(std::size_t first, unsigned bits) const;
  void set(std::size_t first, unsigned bits, unsigned value);

  friend bool operator==(const ConfigurationBits& a, const ConfigurationBits& b) {
    return a.size_ == b.size_ && a.bytes_ == b.bytes_;
  }
  friend bool operator!=(const ConfigurationBits& a, const ConfigurationBits& b) { return !(a == b); }

 private:
  std::size_t size_;
  std::vector<std::uint8_t> bytes_;
};

/// What an output of a μswitch sends: nothing, one of the inputs, or the sum of two, the left one first.
struct Drive {
  unsigned count = 0;
  unsigned left = 0, right = 0;  ///< input ports; `left` where count > 0, `right` where it is 2
};

/// What the bits make of output port `output` of a μswitch. Throws std::invalid_argument when a field names a
/// middle network that is not there.
Drive drive_of(const MicroSwitch& part, unsigned middles, const ConfigurationBits& bits, unsigned output);

/// Writes into the field of an R or demultiplexer that `input` goes to middle network `middle`, or of a D or
/// multiplexer that `output` comes from it.
void set_middle(const MicroSwitch& part, unsigned middles, ConfigurationBits& bits, unsigned port,
                unsigned middle);
/// The mode of an RD whose outputs send `first` and `second`. Throws std::invalid_argument when no mode does.
RdMode rd_mode(const Drive& first, const Drive& second);

/// What the bits make of a μswitch: of an RD its mode ("pass", "add and copy"), of the others the middle
/// networks that its inputs go to ("add to 1", "0 to 2, 1 to 0") or its outputs come from ("copy from 1"), or
/// "idle".
std::string describe(const MicroSwitch& part, unsigned middles, const ConfigurationBits& bits);

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "fred_network/configuration.h"

namespace wafervp {

/// The SRAM of a switch's control unit has no room for a further configuration.
class ConfigurationStoreFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The configurations that a switch holds; the header of a packet names one by its index (arXiv
/// 2406.19580: 1.5 KB of SRAM a switch, tables made at compile time).
class ConfigurationStore {
 public:
  static constexpr std::size_t kPaperBytes = 1536;

  /// For a switch whose configuration has `bits` bits. Entries are stored in whole bytes.
  explicit ConfigurationStore(std::size_t bits, std::size_t capacity_bytes = kPaperBytes)
      : bits_(bits), capacity_bytes_(capacity_bytes) {}

  std::size_t entry_bytes() const { return (bits_ + 7) / 8; }
  /// Configurations that there is room for.
  std::size_t capacity() const { return capacity_bytes_ / entry_bytes(); }
  std::size_t size() const { return entries_.size(); }
  const ConfigurationBits& operator[](std::size_t index) const { return entries_[index]; }

  /// Index of the configuration; one that is there already is not stored again. Throws
  /// ConfigurationStoreFull, and std::invalid_argument for a configuration of another width.
  std::size_t add(const ConfigurationBits& configuration);

 private:
  std::size_t bits_, capacity_bytes_;
  std::vector<ConfigurationBits> entries_;
};

}  // namespace wafervp

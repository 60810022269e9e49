// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace wafervp {

/// One register of a block that is accessed by aligned 32-bit words.
struct RegisterInfo {
  enum class Access : std::uint8_t { RO, WO, RW };
  const char* name;
  std::uint32_t offset;
  Access access;
  std::uint32_t reset;
  const char* text;
};

/// An access that the register map forbids.
class BusError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A register map, for messages and documentation. The table outlives the map.
class RegisterMap {
 public:
  RegisterMap(const RegisterInfo* registers, std::size_t count) : registers_(registers), count_(count) {}
  const RegisterInfo* begin() const { return registers_; }
  const RegisterInfo* end() const { return registers_ + count_; }
  /// The register at `offset`, null if there is none.
  const RegisterInfo* find(std::uint32_t offset) const;

  /// Throws BusError: who accessed what, why that is forbidden, and the nearest register.
  [[noreturn]] void refuse_read(const std::string& owner, std::uint32_t offset) const;
  [[noreturn]] void refuse_write(const std::string& owner, std::uint32_t offset, std::uint32_t value) const;
  /// The map as a table in Markdown.
  std::string markdown() const;

 private:
  std::string reason(std::uint32_t offset, RegisterInfo::Access forbidden) const;

  const RegisterInfo* registers_;
  std::size_t count_;
};

}  // namespace wafervp

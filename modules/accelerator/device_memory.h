// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/flow.h"
#include "core/ids.h"

namespace wafervp {

/// Backing store of the device addresses of one NPU. With a size of 0 the run carries sizes only: each
/// method then does nothing, whatever the address.
class DeviceMemory {
 public:
  DeviceMemory(NpuId npu, std::uint64_t bytes) : store_(bytes), npu_(npu) {}

  bool holds_values() const { return !store_.empty(); }
  std::byte* data() { return store_.data(); }

  /// The bytes as the values of a message; null for an empty range.
  /// `use` and `cookie` say in an error who asked. Throws std::runtime_error when the range is not in memory.
  Bytes snapshot(std::uint64_t address, std::uint64_t bytes, const char* use, std::uint32_t cookie) const;
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint32_t cookie);
  /// memory[to ..] = the values of the message; a message of `bytes` without values is an error.
  void store(std::uint64_t to, const Bytes& values, std::uint64_t bytes, std::uint32_t cookie);
  /// memory[to ..] += the values of the message, element by element.
  void reduce(std::uint64_t to, const Bytes& values, std::uint64_t bytes, std::uint8_t dtype,
              std::uint32_t cookie);

 private:
  void check(std::uint64_t address, std::uint64_t bytes, const char* use, std::uint32_t cookie) const;
  void check_values(const Bytes& values, std::uint64_t bytes, const char* use, std::uint32_t cookie) const;
  [[noreturn]] void refuse(const std::string& why, const char* use, std::uint32_t cookie) const;

  std::vector<std::byte> store_;
  NpuId npu_;
};

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "accelerator/device_memory.h"

#include <cstring>
#include <stdexcept>

#include "core/element.h"

namespace wafervp {

void DeviceMemory::refuse(const std::string& why, const char* use, std::uint32_t cookie) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": " + use + " of descriptor cookie " +
                           std::to_string(cookie) + ": " + why);
}

void DeviceMemory::check(std::uint64_t address, std::uint64_t bytes, const char* use,
                         std::uint32_t cookie) const {
  if (address <= store_.size() && bytes <= store_.size() - address) return;
  refuse("address " + std::to_string(address) + " with " + std::to_string(bytes) +
             " bytes is outside the memory of " + std::to_string(store_.size()) + " bytes",
         use, cookie);
}

void DeviceMemory::check_values(const Bytes& values, std::uint64_t bytes, const char* use,
                                std::uint32_t cookie) const {
  const std::uint64_t found = values ? values->size() : 0;
  if (found == bytes) return;
  refuse("the message of " + std::to_string(bytes) + " bytes came with " + std::to_string(found) +
             " bytes of values",
         use, cookie);
}

Bytes DeviceMemory::snapshot(std::uint64_t address, std::uint64_t bytes, const char* use,
                             std::uint32_t cookie) const {
  if (!holds_values() || bytes == 0) return nullptr;
  check(address, bytes, use, cookie);
  const std::byte* begin = store_.data() + address;
  return std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
}

void DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint32_t cookie) {
  if (!holds_values() || bytes == 0) return;
  check(from, bytes, "copy source", cookie);
  check(to, bytes, "copy target", cookie);
  std::memmove(store_.data() + to, store_.data() + from, bytes);
}

void DeviceMemory::store(std::uint64_t to, const Bytes& values, std::uint64_t bytes, std::uint32_t cookie) {
  if (!holds_values() || bytes == 0) return;
  check(to, bytes, "combine by copy", cookie);
  check_values(values, bytes, "combine by copy", cookie);
  std::memcpy(store_.data() + to, values->data(), bytes);
}

void DeviceMemory::reduce(std::uint64_t to, const Bytes& values, std::uint64_t bytes, std::uint8_t dtype,
                          std::uint32_t cookie) {
  if (!holds_values() || bytes == 0) return;
  check(to, bytes, "combine by sum", cookie);
  check_values(values, bytes, "combine by sum", cookie);
  try {
    add(element_of(dtype), store_.data() + to, values->data(), bytes);
  } catch (const std::invalid_argument& error) {
    refuse(error.what(), "combine by sum", cookie);
  }
}

}  // namespace wafervp

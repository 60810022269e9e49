// SPDX-License-Identifier: Apache-2.0
#include "results/hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace wafervp {

std::string fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace wafervp {

/// Asks the processor to bring `bytes` from `address` on into its cache. A hint: it never faults.
inline void prefetch(const void* address, std::size_t bytes) {
#ifdef __GNUC__
  constexpr std::size_t kLine = 64;
  const auto* at = static_cast<const char*>(address);
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i, 1);
#else
  static_cast<void>(address), static_cast<void>(bytes);
#endif
}

}  // namespace wafervp

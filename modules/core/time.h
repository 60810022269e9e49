// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace wafervp {

/// Simulated time in picoseconds since the start of the run (213 days fit).
using Time = std::uint64_t;
inline constexpr Time kNever = std::numeric_limits<Time>::max();

/// Nothing happens after this time (106 days), so that sums of two times do not overflow.
inline constexpr Time kTimeEnd = Time{1} << 63;

inline constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000ull;
inline constexpr std::uint32_t kPacketBytes = 4096;

/// Packets that carry a message of `bytes`; an empty message still needs one (header) packet.
constexpr std::uint32_t packets_of(std::uint64_t bytes) {
  return bytes == 0 ? 1u : static_cast<std::uint32_t>((bytes + kPacketBytes - 1) / kPacketBytes);
}

}  // namespace wafervp

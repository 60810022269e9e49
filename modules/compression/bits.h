// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace wafervp::compression {

/// Fields of up to 56 bits one after the other, lowest bit first; the last byte is padded with zeros.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}
  void put(std::uint64_t field, unsigned bits) {
    held_ |= field << count_;
    count_ += bits;
    while (count_ >= 8) {
      *to_++ = static_cast<std::byte>(held_ & 0xff);
      held_ >>= 8;
      count_ -= 8;
    }
  }
  void finish() {
    if (count_ > 0) *to_++ = static_cast<std::byte>(held_ & 0xff);
    held_ = 0;
    count_ = 0;
  }

 private:
  std::byte* to_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

/// Reads no byte beyond those of the fields that were asked for.
class BitReader {
 public:
  explicit BitReader(const std::byte* from) : from_(from) {}
  std::uint64_t get(unsigned bits) {
    while (count_ < bits) {
      held_ |= static_cast<std::uint64_t>(*from_++) << count_;
      count_ += 8;
    }
    const std::uint64_t field = held_ & ((std::uint64_t{1} << bits) - 1);
    held_ >>= bits;
    count_ -= bits;
    return field;
  }
  /// What pads the last byte: zero, unless something is wrong.
  std::uint64_t padding() const { return held_; }

 private:
  const std::byte* from_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

inline std::uint64_t bytes_of_bits(std::uint64_t bits) { return (bits + 7) / 8; }

}  // namespace wafervp::compression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/time.h"

namespace wafervp {

/// A data rate in whole bytes per second, kept as the reduced fraction of ps per byte so that the
/// end of the n-th byte, ceil(n * 10^12 / rate), is exact and mostly needs one 64-bit division.
class Rate {
 public:
  constexpr Rate() = default;
  /// `bytes_per_s` > 0.
  explicit constexpr Rate(std::uint64_t bytes_per_s)
      : bytes_per_s_(bytes_per_s),
        num_(kPsPerSecond / std::gcd(kPsPerSecond, bytes_per_s)),
        den_(bytes_per_s / std::gcd(kPsPerSecond, bytes_per_s)),
        safe_bytes_((~std::uint64_t{0} - den_) / num_) {}

  /// The rate of `payload` bytes that go over a wire of this rate with `header` bytes more.
  constexpr Rate under_header(std::uint32_t payload, std::uint32_t header) const {
    Rate rate;
    const std::uint64_t whole = std::uint64_t{payload} + header,
                        part = std::gcd(whole, std::uint64_t{payload});
    const std::uint64_t num = num_ * (whole / part), den = den_ * (payload / part);
    const std::uint64_t common = std::gcd(num, den);
    rate.bytes_per_s_ = static_cast<std::uint64_t>(static_cast<Wide>(bytes_per_s_) * payload / whole);
    rate.num_ = num / common;
    rate.den_ = den / common;
    rate.safe_bytes_ = (~std::uint64_t{0} - rate.den_) / rate.num_;
    return rate;
  }

  constexpr std::uint64_t bytes_per_s() const { return bytes_per_s_; }

  /// ps from the start of a busy period to the end of its `bytes`-th byte, rounded up; at most half of
  /// kTimeEnd.
  Time ps(std::uint64_t bytes) const {
    if (bytes <= safe_bytes_) return std::min((bytes * num_ + den_ - 1) / den_, kTimeEnd / 2);
    return wide_ps(bytes);
  }

  /// Largest number of bytes whose end is not after `ps`: floor(ps * rate / 10^12).
  std::uint64_t bytes(Time ps) const {
    std::uint64_t product;
    return __builtin_mul_overflow(ps, den_, &product) ? wide_bytes(ps) : product / num_;
  }

  friend constexpr bool operator==(const Rate& a, const Rate& b) { return a.bytes_per_s_ == b.bytes_per_s_; }
  friend constexpr bool operator<(const Rate& a, const Rate& b) { return a.bytes_per_s_ < b.bytes_per_s_; }

 private:
  __extension__ using Wide = unsigned __int128;
  [[gnu::noinline, gnu::cold]] Time wide_ps(std::uint64_t bytes) const {
    const Wide ps = (static_cast<Wide>(bytes) * num_ + den_ - 1) / den_;
    return ps < kTimeEnd / 2 ? static_cast<Time>(ps) : kTimeEnd / 2;
  }
  [[gnu::noinline, gnu::cold]] std::uint64_t wide_bytes(Time ps) const {
    return static_cast<std::uint64_t>(static_cast<Wide>(ps) * den_ / num_);
  }

  std::uint64_t bytes_per_s_ = 1;
  std::uint64_t num_ = kPsPerSecond;
  std::uint64_t den_ = 1;
  std::uint64_t safe_bytes_ = (~std::uint64_t{0} - 1) / kPsPerSecond;
};

}  // namespace wafervp

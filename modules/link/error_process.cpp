// SPDX-License-Identifier: Apache-2.0
#include "link/error_process.h"

#include <algorithm>

namespace wafervp {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr unsigned kDoublings = 62;

/// Of two independent events, at least one.
double either(double a, double b) { return a + b - a * b; }

}  // namespace

ErrorProcess::ErrorProcess(const LinkErrors& errors) : random_(errors.seed), script_(errors.script) {
  std::sort(script_.begin(), script_.end());
  if (errors.bit_error_rate <= 0) return;
  double within = std::min(errors.bit_error_rate, 1.0);
  for (unsigned bits = 1; bits < 8; bits *= 2) within = either(within, within);
  within_.push_back(within);
  while (within_.size() < kDoublings) within_.push_back(either(within_.back(), within_.back()));
  next_byte_ = draw();
}

/// Bytes that pass before the next one in error: the largest n with P(error within n bytes) <= u.
std::uint64_t ErrorProcess::draw() {
  const double u = static_cast<double>(random_.next() >> 11) * 0x1p-53;
  std::uint64_t bytes = 0;
  double within = 0;
  for (std::size_t k = within_.size(); k-- > 0;) {
    const double further = either(within, within_[k]);
    if (further > u) continue;
    within = further;
    bytes += std::uint64_t{1} << k;
  }
  return bytes;
}

std::uint64_t ErrorProcess::clear(const SentSoFar& sent, std::uint64_t packet_bytes) const {
  std::uint64_t packets = kNone;
  if (next_byte_ != kNone && packet_bytes > 0) packets = (next_byte_ - sent.bytes) / packet_bytes;
  if (next_ < script_.size()) packets = std::min(packets, script_[next_] - 1 - sent.packets);
  return packets;
}

void ErrorProcess::pass(const SentSoFar& sent) {
  while (next_byte_ < sent.bytes) {
    const std::uint64_t gap = draw();
    next_byte_ = gap < kNone - next_byte_ - 1 ? next_byte_ + 1 + gap : kNone;
  }
  while (next_ < script_.size() && script_[next_] <= sent.packets) ++next_;
}

}  // namespace wafervp

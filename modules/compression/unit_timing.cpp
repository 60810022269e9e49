// SPDX-License-Identifier: Apache-2.0
#include "compression/unit_timing.h"

#include <algorithm>

namespace wafervp {

namespace {

constexpr Time kUnitSetup = 20'000;       // ps
constexpr Time kKernelSetup = 5'000'000;  // ps
constexpr std::uint64_t kUnitLanes = 32;  // elements of 2 bytes a cycle
constexpr std::uint64_t kUnitClock = 1'000'000'000;

Rate rate_or_one(std::uint64_t per_s) { return Rate(per_s == 0 ? 1 : per_s); }

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

}  // namespace

CompressionRates CompressionRates::kernel(std::uint64_t hbm_bytes_per_s, double flops_per_s) {
  CompressionRates rates;
  rates.dense_bytes_per_s = hbm_bytes_per_s;
  rates.macs_per_s = static_cast<std::uint64_t>(std::clamp(flops_per_s / 2, 1.0, 9e18));
  rates.setup_ps = kKernelSetup;
  rates.forwards_packets = false;
  return rates;
}

CompressionRates CompressionRates::unit(std::uint64_t k) {
  CompressionRates rates;
  rates.clock_hz = kUnitClock;
  rates.dense_bytes_per_s = kUnitClock * kUnitLanes * 2;
  rates.macs_per_s = product(kUnitClock * kUnitLanes, std::max<std::uint64_t>(k, 1));
  rates.setup_ps = kUnitSetup;
  return rates;
}

CompressionTiming::CompressionTiming(const CompressionRates& rates)
    : rates_(rates),
      clock_(rate_or_one(rates.clock_hz)),
      dense_(rate_or_one(rates.dense_bytes_per_s)),
      macs_(rate_or_one(rates.macs_per_s)),
      wire_(rate_or_one(rates.wire_bytes_per_s)) {}

CompressionTiming::Terms CompressionTiming::terms(const compression::Cost& cost) const {
  return {rates_.dense_bytes_per_s == 0 ? 0 : dense_.ps(product(cost.dense_bytes, cost.passes)),
          rates_.macs_per_s == 0 ? 0 : macs_.ps(cost.macs),
          rates_.wire_bytes_per_s == 0 ? 0 : wire_.ps(cost.wire_bytes)};
}

Time CompressionTiming::busy(const compression::Cost& cost) const {
  const Terms t = terms(cost);
  return std::max({t.values, t.arithmetic, t.payload});
}

Time CompressionTiming::fill(const compression::Cost& cost, Element element) const {
  if (rates_.clock_hz == 0) return 0;
  const std::uint64_t lanes = rates_.dense_bytes_per_s / rates_.clock_hz / element_bytes(element);
  return clock_.ps(compression::pipeline_fill_cycles(cost, std::max<std::uint64_t>(lanes, 1)) +
                   rates_.fill_cycles);
}

const char* CompressionTiming::limit(const compression::Cost& cost) const {
  const Terms t = terms(cost);
  const Time slowest = std::max({t.values, t.arithmetic, t.payload});
  if (slowest == 0) return "nothing";
  if (slowest == t.values) return "values";
  return slowest == t.arithmetic ? "arithmetic" : "payload";
}

}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "compression/codec.h"
#include "core/rate.h"
#include "core/time.h"

namespace wafervp {

/// How fast a compression unit is, alike for both of its engines. A rate of 0 is no limit.
struct CompressionRates {
  std::uint64_t clock_hz = 0;           ///< of the pipeline; 0: it takes no time to fill
  std::uint64_t dense_bytes_per_s = 0;  ///< of the values, each pass over them
  std::uint64_t macs_per_s = 0;         ///< multiply-accumulate operations
  std::uint64_t wire_bytes_per_s = 0;   ///< of the payload
  Time setup_ps = 0;                    ///< of a message
  std::uint64_t fill_cycles = 0;        ///< of the pipeline, besides those of the codec
  bool forwards_packets = true;         ///< where the codec streams; false: whole messages only

  /// A kernel on an accelerator: 5 us to launch, values at the rate of its memory, a multiply-accumulate is
  /// two of its floating-point operations. It works from memory to memory, on whole messages.
  static CompressionRates kernel(std::uint64_t hbm_bytes_per_s, double flops_per_s);
  /// A unit of its own: 1 GHz, 64 bytes of values a cycle, so that 32 elements of 2 bytes meet `k` columns,
  /// 20 ns of setup.
  static CompressionRates unit(std::uint64_t k);
};

/// Time of messages by the law of the compression units: setup + the slowest of values, arithmetic and
/// payload + the filling of the pipeline. Each is rounded up to whole ps.
class CompressionTiming {
 public:
  explicit CompressionTiming(const CompressionRates& rates);

  Time setup() const { return rates_.setup_ps; }
  /// For which the next message waits.
  Time busy(const compression::Cost& cost) const;
  /// Until the first result is out.
  Time fill(const compression::Cost& cost, Element element) const;
  /// Of one message alone.
  Time alone(const compression::Cost& cost, Element element) const {
    return setup() + busy(cost) + fill(cost, element);
  }
  /// What busy() is: "values", "arithmetic", "payload"; "nothing" where no rate limits.
  const char* limit(const compression::Cost& cost) const;
  const CompressionRates& rates() const { return rates_; }

 private:
  struct Terms {
    Time values, arithmetic, payload;
  };
  Terms terms(const compression::Cost& cost) const;

  CompressionRates rates_;
  Rate clock_, dense_, macs_, wire_;
};

}  // namespace wafervp

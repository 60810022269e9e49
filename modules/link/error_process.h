// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/split_mix.h"
#include "link/flow_control.h"

namespace wafervp {

/// How far a link has come in its stream: what it has sent, without what goes in vain behind an error.
struct SentSoFar {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< on the wire, with headers
};

/// Where the errors of a link's stream are. Each bit is in error with the same probability, so that a packet
/// of n bits is with 1 - (1 - p)^n; the script's packets are in any case. The same on each machine: additions
/// and multiplications only.
class ErrorProcess {
 public:
  explicit ErrorProcess(const LinkErrors& errors);

  /// Packets of `packet_bytes` on the wire that pass from `sent` on before one is in error.
  std::uint64_t clear(const SentSoFar& sent, std::uint64_t packet_bytes) const;
  /// All errors before `sent` are over.
  void pass(const SentSoFar& sent);

 private:
  std::uint64_t draw();

  std::vector<double> within_;  ///< k: probability of an error within 2^k bytes
  SplitMix random_;
  std::uint64_t next_byte_ = ~std::uint64_t{0};  ///< of the stream
  std::vector<std::uint64_t> script_;
  std::size_t next_ = 0;  ///< in the script
};

}  // namespace wafervp

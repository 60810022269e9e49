// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Contention cases as data: the same list goes through the packet loop and through the product.
namespace fabric_cases {

enum class Fabric { kMesh2d, kRing, kSwitch, kFred };

struct MessageCase {
  std::uint32_t from = 0, to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;
};

/// One all-reduce of all NPUs in one chunk.
struct AllReduceCase {
  std::string algorithm;  ///< "ring" on a ring, "in_switch" on FRED
  std::uint64_t bytes = 0;
  std::map<std::uint32_t, std::uint64_t> start_ns;  ///< late NPUs
};

struct FabricCase {
  std::string name;
  std::string why;
  Fabric fabric = Fabric::kMesh2d;
  std::uint32_t columns = 5,
                rows = 4;         ///< mesh2d; fred: NPUs of an L1 switch, L1 switches; else columns NPUs
  std::uint64_t bytes_per_s = 0;  ///< all links; fred: NPU links
  std::uint64_t uplink_bytes_per_s = 0;  ///< fred
  std::uint32_t latency_ns = 20;
  std::uint32_t switch_latency_ns = 0;   ///< switch and fred
  bool preemption = false;               ///< messages (PP) go before an all-reduce (DP)
  std::uint32_t reconfiguration_ps = 0;  ///< with preemption, outputs of FRED switches
  std::uint32_t buffer_packets = 0;      ///< 0: ceil(rate * (2 * latency + switch) / 4096) + 2 of each link
  std::map<std::string, std::uint64_t> link_rates;
  std::vector<MessageCase> messages;
  std::optional<AllReduceCase> all_reduce;

  std::uint32_t npus() const;
};

/// The 28 named cases of 4 to 64 MiB.
const std::vector<FabricCase>& named_cases();

/// 60 random cases: 12 messages of 4 to 16 MiB between distinct pairs of a 5x4 mesh, each starting within 2
/// us. 0..29: all links 750 GB/s; 30..59: each link's rate is a random whole number of GB/s in 375..3000. The
/// generator is this file's own, so that a number names the same case everywhere.
FabricCase random_case(std::uint32_t number);
inline constexpr std::uint32_t kRandomCases = 60;
inline constexpr std::uint32_t kUniformRandomCases = 30;

/// 60 random cases on a 5x4 mesh of equal links: a message of 16 to 32 MiB over four links or more, and three
/// of 4 to 16 MiB over parts of its path that start within 20 us, while it is alone there.
FabricCase joined_case(std::uint32_t number);
inline constexpr std::uint32_t kJoinedCases = 60;

/// 24 random cases with a switch latency of 10 to 200 ns and 12 messages as in random_case(). 0..11: FRED
/// without in-network collectives, with uplinks of a random rate; 12..23: 20 NPUs on one switch.
FabricCase switch_latency_case(std::uint32_t number);
inline constexpr std::uint32_t kSwitchLatencyCases = 24;
inline constexpr std::uint32_t kUnequalSwitchCases = 12;

/// 10 random cases with pre-emption: six messages of 4 to 16 MiB that start within 10 us go before an
/// all-reduce of 8 to 32 MiB, in the switches of a FRED of 20 NPUs whose uplinks have a random rate and whose
/// switches take up to 5 ns to change over.
FabricCase preempted_case(std::uint32_t number);
inline constexpr std::uint32_t kPreemptedCases = 10;

/// The case as a scenario of the product. `grain` is "auto" or "packet".
std::string scenario_json(const FabricCase& fabric_case, const std::string& grain);

}  // namespace fabric_cases

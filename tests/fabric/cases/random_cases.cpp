// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "cases/cases.h"

namespace fabric_cases {

namespace {

/// splitmix64 (Steele, Lea, Flood 2014): the same numbers from every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// `low` <= result <= `high`.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + next() % (high - low + 1); }

 private:
  std::uint64_t state_;
};

std::string place(std::uint32_t x, std::uint32_t y) {
  return "x" + std::to_string(x) + "y" + std::to_string(y);
}

}  // namespace

FabricCase random_case(std::uint32_t number) {
  Random random(1000 + number);
  FabricCase made;
  made.name = "random_" + std::to_string(number);
  made.why = "12 random messages";
  made.bytes_per_s = 750'000'000'000;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  while (made.messages.size() < 12) {
    const auto from = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto to = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const std::pair<std::uint32_t, std::uint32_t> pair{from, to};
    if (from == to || std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) continue;
    pairs.push_back(pair);
    made.messages.push_back({from, to, random.between(4u << 20, 16u << 20), random.between(0, 2000)});
  }
  if (number >= kUniformRandomCases) {
    const auto set = [&](const std::string& a, const std::string& b) {
      made.link_rates[a + "->" + b] = random.between(375, 3000) * 1'000'000'000;
      made.link_rates[b + "->" + a] = random.between(375, 3000) * 1'000'000'000;
    };
    for (std::uint32_t y = 0; y < made.rows; ++y) {
      for (std::uint32_t x = 0; x < made.columns; ++x) {
        if (x + 1 < made.columns) set(place(x, y), place(x + 1, y));
        if (y + 1 < made.rows) set(place(x, y), place(x, y + 1));
      }
    }
  }
  return made;
}

FabricCase switch_latency_case(std::uint32_t number) {
  FabricCase made = random_case(number % kUniformRandomCases);
  Random random(3000 + number);
  made.name = "switch_latency_" + std::to_string(number);
  made.why = "12 random messages through switches with a latency";
  made.messages.clear();
  while (made.messages.size() < 12) {
    const auto from = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto to = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto same = [&](const MessageCase& other) { return other.from == from && other.to == to; };
    if (from == to || std::any_of(made.messages.begin(), made.messages.end(), same)) continue;
    made.messages.push_back({from, to, random.between(4u << 20, 16u << 20), random.between(0, 2000)});
  }
  made.switch_latency_ns = static_cast<std::uint32_t>(random.between(10, 200));
  made.fabric = number < kUnequalSwitchCases ? Fabric::kFred : Fabric::kSwitch;
  if (made.fabric == Fabric::kFred) {
    std::swap(made.columns, made.rows);
    made.uplink_bytes_per_s = random.between(375, 3000) * 1'000'000'000;
  } else {
    made.columns *= made.rows;
    made.rows = 1;
  }
  return made;
}

FabricCase preempted_case(std::uint32_t number) {
  Random random(4000 + number);
  FabricCase made;
  made.name = "preempted_" + std::to_string(number);
  made.why = "random messages go before an in-switch all-reduce";
  made.fabric = Fabric::kFred;
  made.columns = 4;
  made.rows = 5;
  made.bytes_per_s = 3'000'000'000'000;
  made.uplink_bytes_per_s = random.between(1500, 12000) * 1'000'000'000;
  made.preemption = true;
  made.reconfiguration_ps = static_cast<std::uint32_t>(random.between(0, 5000));
  made.all_reduce = AllReduceCase{"in_switch", random.between(1u << 11, 1u << 13) * 4096, {}};
  while (made.messages.size() < 6) {
    const auto from = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto to = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto same = [&](const MessageCase& other) { return other.from == from && other.to == to; };
    if (from == to || std::any_of(made.messages.begin(), made.messages.end(), same)) continue;
    made.messages.push_back({from, to, random.between(4u << 20, 16u << 20), random.between(0, 10'000)});
  }
  return made;
}

FabricCase joined_case(std::uint32_t number) {
  Random random(2000 + number);
  FabricCase made;
  made.name = "joined_" + std::to_string(number);
  made.why = "a message alone on its path is joined";
  made.bytes_per_s = 750'000'000'000;
  std::vector<std::uint32_t> path;  // x first, as the mesh routes
  while (path.size() < 5) {
    auto at = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    const auto to = static_cast<std::uint32_t>(random.between(0, made.npus() - 1));
    path = {at};
    while (at % made.columns != to % made.columns)
      path.push_back(at % made.columns < to % made.columns ? ++at : --at);
    while (at != to) path.push_back(at = at < to ? at + made.columns : at - made.columns);
  }
  made.messages.push_back({path.front(), path.back(), random.between(16u << 20, 32u << 20), 0});
  std::vector<std::pair<std::size_t, std::size_t>> joined;
  while (joined.size() < 3) {
    const std::size_t first = random.between(0, path.size() - 2);
    const std::size_t last = random.between(first + 1, path.size() - 1);
    const bool whole = first == 0 && last + 1 == path.size();
    if (whole || std::find(joined.begin(), joined.end(), std::pair(first, last)) != joined.end()) continue;
    joined.emplace_back(first, last);
    made.messages.push_back(
        {path[first], path[last], random.between(4u << 20, 16u << 20), random.between(0, 20'000)});
  }
  return made;
}

}  // namespace fabric_cases

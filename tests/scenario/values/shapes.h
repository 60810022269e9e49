// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// The wafers of the values tests, as "npus" and "fabric" of a scenario.
namespace wafervp::test {

using nlohmann::json;

inline json wafer(std::uint32_t npus, const json& fabric) { return {{"npus", npus}, {"fabric", fabric}}; }
inline json ring(std::uint32_t n) { return wafer(n, {{"kind", "ring"}}); }
inline json plain_switch(std::uint32_t n) { return wafer(n, {{"kind", "switch"}}); }
inline json mesh(std::uint32_t columns, std::uint32_t rows) {
  return wafer(columns * rows, {{"kind", "mesh2d"}, {"mesh2d", {{"columns", columns}, {"rows", rows}}}});
}
/// A mesh of `n` NPUs with as many rows as divide them, up to 4.
inline json flat_mesh(std::uint32_t n) {
  for (std::uint32_t rows : {4u, 3u, 2u}) {
    if (n % rows == 0) return mesh(n / rows, rows);
  }
  return mesh(n, 1);
}
inline json fred(std::uint32_t l1, std::uint32_t per_l1, bool in_network) {
  return wafer(l1 * per_l1,
               {{"kind", "fred"},
                {"fred", {{"l1_switches", l1}, {"npus_per_l1", per_l1}, {"in_network", in_network}}}});
}

/// `count` of the wafer's NPUs, in no order.
inline std::vector<std::uint32_t> some_of(std::uint32_t npus, std::uint32_t count) {
  std::vector<std::uint32_t> all(npus);
  std::iota(all.begin(), all.end(), 0);
  std::mt19937 random(count);
  for (std::uint32_t i = 0; i < count; ++i) std::swap(all[i], all[i + random() % (npus - i)]);
  all.resize(count);
  return all;
}

}  // namespace wafervp::test

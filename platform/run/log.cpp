// SPDX-License-Identifier: Apache-2.0
#include "run/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "scenario/text.h"
#include "topology/topology.h"

namespace wafervp {

RunLog::RunLog(const RunHooks& hooks, const std::vector<NpuId>& npu_of_rank)
    : hooks_(hooks), level_(hooks.log ? hooks.log_level : 0), filter_(hooks.log_filter) {
  if (filter_.rfind("rank", 0) != 0) return;
  std::uint32_t rank = 0;
  const char* end = filter_.data() + filter_.size();
  const auto [at, error] = std::from_chars(filter_.data() + 4, end, rank);
  if (error == std::errc() && at == end && rank < npu_of_rank.size()) {
    filter_ = "npu" + std::to_string(npu_of_rank[rank].value);
  }
}

void RunLog::line(Time when, const std::string& name, const std::string& text) const {
  if (!filter_.empty() && name != filter_) return;
  hooks_.log(fmt::format("{:>15}.{:03} ns  {}  {}", when / 1000, when % 1000, name, text));
}

namespace {

bool is_number_below(std::string_view text, std::uint64_t end) {
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && at == text.data() + text.size() && number < end;
}

}  // namespace

std::string unknown_log_name(const Scenario& scenario, const std::string& filter) {
  const ParallelismSpec& degrees = scenario.workload.parallelism;
  const std::uint64_t npus = scenario.wafer.npus;
  const std::uint64_t ranks = std::uint64_t{degrees.mp} * degrees.dp * degrees.pp;
  const std::string_view name = filter;
  if (name.empty() || name == "run") return "";
  if (name.substr(0, 3) == "npu" && is_number_below(name.substr(3), npus)) return "";
  if (name.substr(0, 4) == "rank" && is_number_below(name.substr(4), ranks)) return "";
  const std::size_t arrow = name.find("->");
  if (arrow != name.npos && is_number_below(name.substr(0, arrow), npus) &&
      is_number_below(name.substr(arrow + 2), npus)) {
    return "";
  }
  std::vector<std::string> names{"run", "npu0", "rank0"};
  for (const LinkSpec& link : build_topology(scenario.wafer).links) names.push_back(link.name);
  if (std::find(names.begin(), names.end(), filter) != names.end()) return "";
  const std::string near = nearest_word(filter, names);
  return "no line of the log has the name " + quote(filter) +
         (near.empty() ? "" : "; did you mean " + near + '?') +
         fmt::format(
             " There are run, npu0 to npu{}, rank0 to rank{}, links such as {}, and messages such as 0->1",
             npus - 1, ranks - 1, names.size() > 3 ? names[3] : "npu0->npu1");
}

}  // namespace wafervp

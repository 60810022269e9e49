// SPDX-License-Identifier: Apache-2.0
#include "run/log.h"

#include <fmt/format.h>

#include <charconv>

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

}  // namespace wafervp

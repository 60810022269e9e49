// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "results/result_files.h"

namespace wafervp {
namespace {

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string microseconds(Time ps) { return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000); }

/// Writes the slices of one NPU and one category, and gives each the first thread that is free.
class Lanes {
 public:
  Lanes(Sink& sink, unsigned npu, const std::string& category, unsigned first_thread)
      : sink_(sink), npu_(npu), category_(category), first_thread_(first_thread) {}

  void add(const TraceSlice& slice) {
    std::size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > slice.begin) ++lane;
    if (lane == ends_.size()) open_lane();
    ends_[lane] = slice.end;
    sink_.append(
        fmt::format(",\n{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}}",
                    quoted(slice.name), quoted(slice.category), npu_, first_thread_ + lane,
                    microseconds(slice.begin), microseconds(slice.end - slice.begin)));
  }
  unsigned next_thread() const { return first_thread_ + static_cast<unsigned>(ends_.size()); }

 private:
  void open_lane() {
    const std::string number = ends_.empty() ? "" : ' ' + std::to_string(ends_.size() + 1);
    sink_.append(fmt::format(
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", npu_,
        next_thread(), quoted(category_ + number)));
    ends_.push_back(0);
  }

  Sink& sink_;
  unsigned npu_;
  std::string category_;
  unsigned first_thread_;
  std::vector<Time> ends_;
};

}  // namespace

void write_trace(const Results& results, Sink& sink) {
  const std::vector<TraceSlice>& slices = results.trace;
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&slices](std::size_t a, std::size_t b) {
    const TraceSlice &x = slices[a], &y = slices[b];
    return std::tie(x.npu, x.category, x.begin, y.end, x.name, a) <
           std::tie(y.npu, y.category, y.begin, x.end, y.name, b);
  });
  sink.append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  sink.append("{\"name\":\"wafervp\",\"ph\":\"M\",\"pid\":0,\"args\":{}}");
  std::size_t i = 0;
  while (i < order.size()) {
    const unsigned npu = slices[order[i]].npu;
    sink.append(fmt::format(
        ",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{0},\"args\":{{\"name\":\"npu{0}\"}}}}", npu));
    unsigned thread = 0;
    while (i < order.size() && slices[order[i]].npu == npu) {
      const std::string& category = slices[order[i]].category;
      Lanes lanes(sink, npu, category, thread);
      for (; i < order.size(); ++i) {
        const TraceSlice& slice = slices[order[i]];
        if (slice.npu != npu || slice.category != category) break;
        lanes.add(slice);
      }
      thread = lanes.next_thread();
    }
  }
  sink.append("\n]}\n");
}

}  // namespace wafervp

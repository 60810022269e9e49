// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "results/result_files.h"
#include "temporary_folder.h"

namespace wafervp {
namespace {

Json trace_of(const Results& results) {
  TemporaryFolder parent;
  ResultFolder folder(parent.path());
  folder.stage("trace.json", [&results](Sink& sink) { write_trace(results, sink); });
  folder.commit();
  return Json::parse(read_file(folder.file("trace.json")));
}

TEST(Trace, KeepsPicoseconds) {
  Results results;
  results.trace.push_back({3, "step \"1\"", "compute", 1, 1234567});
  const Json trace = trace_of(results);
  const Json& slice = trace["traceEvents"].back();
  EXPECT_EQ(slice["ph"], "X");
  EXPECT_EQ(slice["name"], "step \"1\"");
  EXPECT_EQ(slice["pid"], 3);
  EXPECT_DOUBLE_EQ(slice["ts"].get<double>(), 0.000001);
  EXPECT_DOUBLE_EQ(slice["dur"].get<double>(), 1.234566);
}

TEST(Trace, SlicesOnOneThreadDoNotOverlap) {
  Results results;
  for (Time i = 0; i < 40; ++i) {
    results.trace.push_back(
        {static_cast<std::uint32_t>(i % 2), "op", i % 3 ? "dp" : "mp", i * 10, i * 10 + 55});
  }
  const Json trace = trace_of(results);
  std::map<std::pair<unsigned, unsigned>, double> ends;
  std::map<std::pair<unsigned, unsigned>, std::string> threads;
  unsigned slices = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++slices;
    const std::pair<unsigned, unsigned> thread{event["pid"], event["tid"]};
    EXPECT_GE(event["ts"].get<double>() + 1e-9, ends[thread]);
    ends[thread] = event["ts"].get<double>() + event["dur"].get<double>();
    const auto named = threads.emplace(thread, event["cat"]);
    EXPECT_EQ(named.first->second, event["cat"]);
  }
  EXPECT_EQ(slices, 40u);
}

TEST(Trace, AnEmptyOneIsValid) { EXPECT_TRUE(trace_of(Results())["traceEvents"].is_array()); }

}  // namespace
}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
#include "results/result_files.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "results/breakdown.h"
#include "results/json_text.h"
#include "temporary_folder.h"

namespace wafervp {
namespace {

using testing::ElementsAre;

const ProgramInfo kProgram{"1.2.3", "abc"};

Results some_results() {
  Results results;
  results.time_ps = 5;
  results.breakdown.compute = 2;
  results.breakdown.idle = 3;
  results.links.push_back({"a->b", "a", "b", 4096, 750, 10, 1, 0.5});
  results.npus.emplace_back();
  results.collectives.emplace_back();
  results.warnings = {"/x: odd"};
  return results;
}

Scenario some_scenario(bool statistics, bool trace) {
  Scenario scenario{};
  scenario.name = "s";
  scenario.outputs = {statistics, trace};
  return scenario;
}

TEST(ResultJson, HasTheDocumentedMembers) {
  const Json json =
      Json::parse(result_text(some_results(), some_scenario(true, false), Json::object(), kProgram));
  std::vector<std::string> names;
  for (const auto& item : json.items()) names.push_back(item.key());
  EXPECT_THAT(names, ElementsAre("name", "status", "message", "time_ps", "breakdown_ps", "payload_bytes",
                                 "events", "seed", "program", "scenario_hash", "warnings", "collectives",
                                 "links", "npus", "io_controllers"));
  EXPECT_EQ(json["breakdown_ps"].dump(),
            R"({"compute":2,"input_load":0,"mp":0,"dp":0,"pp":0,"weight_streaming":0,"idle":3})");
}

// The lists of links and NPUs are put together without a JSON value; the layout is that of all files.
TEST(ResultJson, IsLaidOutAsJsonTextDoes) {
  Results results = some_results();
  for (const bool empty : {false, true}) {
    if (empty) {
      results.links.clear();
      results.npus.clear();
      results.collectives.clear();
    } else {
      results.links.push_back({"a \"quoted\" name\n\xff", std::string(400, 'x'), "é", 1, 2, 3, 4, 1e22});
      results.links.push_back(results.links.front());
    }
    const std::string text = result_text(results, some_scenario(true, false), Json::object(), kProgram);
    EXPECT_EQ(text, json_text(Json::parse(text)));
  }
}

TEST(ResultJson, StatisticsCanBeOff) {
  const Json json =
      Json::parse(result_text(some_results(), some_scenario(false, false), Json::object(), kProgram));
  EXPECT_FALSE(json.contains("links") || json.contains("npus") || json.contains("collectives"));
  EXPECT_EQ(json["time_ps"], 5);
}

TEST(Breakdown, ReadsBack) {
  const Breakdown breakdown = read_breakdown(breakdown_json(some_results().breakdown));
  for (const BreakdownPart& part : kBreakdownParts) {
    EXPECT_EQ(breakdown.*part.member, some_results().breakdown.*part.member) << part.name;
  }
  EXPECT_EQ(read_breakdown(Json()).compute, 0u);
}

TEST(ScenarioHash, DependsOnScenarioAndProgram) {
  const Json a = Json::parse(R"({"x": 1})"), b = Json::parse(R"({"x": 2})");
  const std::string hash = scenario_hash(a, kProgram);
  EXPECT_EQ(scenario_hash(a, kProgram), hash);
  EXPECT_NE(scenario_hash(b, kProgram), hash);
  EXPECT_NE(scenario_hash(a, {"1.2.4", "abc"}), hash);
  EXPECT_NE(scenario_hash(a, {"1.2.3", "abd"}), hash);
}

TEST(LinksCsv, HasARowALink) {
  EXPECT_EQ(links_csv(some_results(), some_scenario(true, false)),
            "name,from,to,bytes,bytes_per_s,busy_ps,stalled_ps,utilisation\na->b,a,b,4096,750,10,1,0.5\n");
}

TEST(LinksCsv, TellsOfTheWireWhereItDiffersFromThePayload) {
  Results results = some_results();
  LinkResult& link = results.links.front();
  link.wire_bytes = 8204;
  link.errors = 1;
  link.resent_packets = 1;
  link.resent_bytes = 4096;
  link.ack_bytes = 512;
  Scenario scenario = some_scenario(true, false);
  const std::string tail =
      ",wire_bytes,errors,resent_packets,resent_bytes,ack_bytes\na->b,a,b,4096,750,10,1,0.5,"
      "8204,1,1,4096,512\n";
  scenario.wafer.fabric.flow_control.header_bytes = 6;
  EXPECT_THAT(links_csv(results, scenario), testing::EndsWith(tail));
  EXPECT_TRUE(
      Json::parse(result_text(results, scenario, Json::object(), kProgram))["links"][0].contains("errors"));
  scenario.wafer.fabric.flow_control.header_bytes = 0;
  scenario.wafer.fabric.flow_control.retransmission = Retransmission::kGoBackN;
  EXPECT_THAT(links_csv(results, scenario), testing::EndsWith(tail));
}

TEST(WriteResults, WritesWhatTheScenarioAsksFor) {
  TemporaryFolder parent;
  ResultFolder folder(parent.path());
  write_results(folder, some_results(), some_scenario(true, true), Json::object(), kProgram);
  EXPECT_THAT(names_in(parent.path()),
              ElementsAre("effective-scenario.json", "links.csv", "result.json", "trace.json"));
  // Written again without them, the files of the first run are not left to mislead.
  write_results(folder, some_results(), some_scenario(false, false), Json::object(), kProgram);
  EXPECT_THAT(names_in(parent.path()), ElementsAre("effective-scenario.json", "result.json"));
}

}  // namespace
}  // namespace wafervp

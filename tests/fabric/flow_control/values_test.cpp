// SPDX-License-Identifier: Apache-2.0
// Are the values those of the plain reference, bit for bit, whatever is sent again? And do sizes alone take
// the same time?
#include <gtest/gtest.h>

#include "simulation.h"

namespace wafervp::test {
namespace {

Wanted all_reduce(nlohmann::json fabric, const char* algorithm, nlohmann::json errors) {
  fabric["flow_control"] = {{"retransmission", "go_back_n"}};
  fabric["errors"] = std::move(errors);
  Wanted wanted;
  wanted.wafer = {{"npus", 20}, {"fabric", std::move(fabric)}};
  wanted.operation = "all_reduce";
  wanted.algorithm = algorithm;
  wanted.type = "fp16";
  wanted.elements = 200'003;
  wanted.chunks = 3;
  return wanted;
}

const nlohmann::json kMesh = {{"kind", "mesh2d"}}, kRing = {{"kind", "ring"}}, kFred = {{"kind", "fred"}};

nlohmann::json script(std::initializer_list<const char*> links) {
  nlohmann::json errors = nlohmann::json::array();
  for (const char* link : links) {
    for (const unsigned packet : {2u, 3u, 20u, 41u}) errors.push_back({{"link", link}, {"packet", packet}});
  }
  return {{"script", errors}};
}

TEST(ErrorValues, ScriptedBetweenEndPoints) {
  EXPECT_EQ(difference(all_reduce(kMesh, "hierarchical", script({"x1y0->x2y0", "x0y1->x0y2"}))), "");
  EXPECT_EQ(difference(all_reduce(kRing, "ring", script({"npu3->npu4", "npu19->npu0"}))), "");
}

TEST(ErrorValues, ScriptedInsideAReduction) {
  for (const char* link : {"npu2->l1_0", "l1_1->l2", "l2->l1_3", "l1_3->npu13"}) {
    EXPECT_EQ(difference(all_reduce(kFred, "in_switch", script({link}))), "") << link;
  }
  EXPECT_EQ(difference(all_reduce(kFred, "in_switch", script({"npu2->l1_0", "l1_1->l2", "l2->l1_3"}))), "");
}

TEST(ErrorValues, ByRate) {
  for (const double rate : {1e-12, 1e-8, 1e-7, 1e-6}) {
    EXPECT_EQ(difference(all_reduce(kFred, "in_switch", {{"bit_error_rate", rate}})), "") << rate;
    EXPECT_EQ(difference(all_reduce(kMesh, "hierarchical", {{"bit_error_rate", rate}})), "") << rate;
  }
}

}  // namespace
}  // namespace wafervp::test

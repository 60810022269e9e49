// SPDX-License-Identifier: Apache-2.0
#include "results/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "results/csv.h"
#include "results/hash.h"

namespace wafervp {
namespace {

TEST(DoubleText, IsShortestAndMarkedAsReal) {
  EXPECT_EQ(double_text(0.1), "0.1");
  EXPECT_EQ(double_text(1), "1.0");
  EXPECT_EQ(double_text(-2), "-2.0");
  EXPECT_EQ(double_text(1e22), "1e+22");
  EXPECT_EQ(double_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(double_text(5e-324), "5e-324");
  EXPECT_EQ(double_text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(double_text(std::nan("")), "null");
}

TEST(DoubleText, ReadsBackAsTheSameNumber) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(Json::parse(double_text(value)).get<double>(), value);
  }
}

TEST(JsonText, KeepsIntegersAndOrder) {
  Json json = Json::object();
  json["z"] = 18446744073709551615ull;
  json["a"] = -1;
  json["s"] = "q\"\n\xff";
  EXPECT_EQ(json_text(json),
            "{\n  \"z\": 18446744073709551615,\n  \"a\": -1,\n  \"s\": \"q\\\"\\n\xef\xbf\xbd\"\n}\n");
}

TEST(JsonText, PutsFlatContainersOnOneLine) {
  const Json json =
      Json::parse(R"({"list": [{"a": 1, "b": []}, {"a": 2}], "empty": {}, "deep": {"x": {"y": 1}}})");
  EXPECT_EQ(json_text(json),
            "{\n"
            "  \"list\": [\n"
            "    {\"a\": 1, \"b\": []},\n"
            "    {\"a\": 2}\n"
            "  ],\n"
            "  \"empty\": {},\n"
            "  \"deep\": {\n"
            "    \"x\": {\"y\": 1}\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(Json::parse(json_text(json)), json);
}

TEST(CsvField, QuotesWhatMustBe) {
  EXPECT_EQ(csv_field("x0y0->x1y0"), "x0y0->x1y0");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
}

// Values of the FNV reference (draft-eastlake-fnv, 64-bit FNV-1a test vectors).
TEST(Hash, IsFnv1a) {
  EXPECT_EQ(fnv1a64(""), "cbf29ce484222325");
  EXPECT_EQ(fnv1a64("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(fnv1a64("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace wafervp

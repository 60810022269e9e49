// SPDX-License-Identifier: Apache-2.0
// Do base files and overrides merge as RFC 7386 says, and does each value remember where it came from?
#include "scenario/merge.h"

#include "support.h"

namespace wafervp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Document document_of(const std::string& text, const std::string& file, std::uint32_t rank = 0) {
  Document document;
  document.value = Json::parse(text);
  document.sources.push_back({file, {}, {}, {}, rank});
  document.origins[""] = {};
  return document;
}

TEST(Merge, ExamplesOfRfc7386) {
  // Appendix A of the RFC: original, patch, result.
  const char* const rows[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& row : rows) {
    Document target = document_of(row[0], "target");
    merge_onto(target, document_of(row[1], "patch"));
    EXPECT_EQ(target.value, Json::parse(row[2])) << row[0] << " + " << row[1];
  }
}

TEST(Merge, OriginsFollowTheValues) {
  const Folder folder;
  folder.write("base.json", R"({"version": 1,
    "wafer": {"npus": 4, "fabric": {"kind": "ring", "ring": {"link_latency_ns": 5}}},
    "workload": {"kind": "collective"}})");
  const std::string top = folder.write("top.json", R"({"version": 1, "base": "base.json",
    "wafer": {"npus": 8, "fabric": {"ring": null}}})");
  const Document document = read_document(top);
  const auto file_of = [&](const char* pointer) {
    return document.sources.at(document.origins.at(pointer).source).file;
  };
  EXPECT_EQ(file_of("/wafer/npus"), top);
  EXPECT_EQ(document.origins.at("/wafer/npus").line, 2u);
  EXPECT_EQ(file_of("/wafer/fabric/kind"), folder.path("base.json"));
  EXPECT_EQ(document.origins.count("/wafer/fabric/ring/link_latency_ns"), 0u);
  EXPECT_EQ(document.value.count("base"), 0u);
  const Scenario scenario = read_scenario(document);
  EXPECT_EQ(scenario.wafer.npus, 8u);
  EXPECT_EQ(scenario.wafer.fabric.ring.link_latency_ns, 20);
}

TEST(Merge, FaultsOfABaseNameBothFiles) {
  const Folder folder;
  const std::string base =
      folder.write("base.json", R"({"version": 1, "wafer": {"npus": 0, "fabric": {"kind": "ring"}}})");
  const std::string top = folder.write(
      "top.json", R"({"version": 1, "base": "base.json", "nmae": "x", "workload": {"kind": "collective"}})");
  EXPECT_THAT(read_message(top), AllOf(StartsWith(top + ":1:37: unknown member \"nmae\""),
                                       HasSubstr("\n" + base + ":1:26: /wafer/npus: found 0"),
                                       HasSubstr("(base of " + top + ")")));
  folder.write("base.json", "{\"version\": 1,}");
  EXPECT_EQ(read_message(top),
            base + ":1:14: expected a member name, found }; remove the comma (base of " + top + ")");
  folder.write("base.json", "{\"version\": 7}");
  EXPECT_THAT(read_message(top),
              AllOf(StartsWith(base + ":1:2: /version: found 7"), HasSubstr("(base of " + top + ")")));
}

TEST(Merge, MissingAndCircularBases) {
  const Folder folder;
  const std::string lost = folder.write("lost.json", "{\"version\": 1,\n \"base\": \"los.json\"}");
  EXPECT_EQ(read_message(lost), lost + ":2:2: /base: " + folder.path("los.json") + ": no such file (" +
                                    folder.path("los.json") + "); did you mean " + lost + "?");
  const std::string a = folder.write("a.json", R"({"version": 1, "base": "b.json"})");
  folder.write("b.json", R"({"version": 1, "base": "./sub/../a.json"})");
  std::filesystem::create_directory(folder.path("sub"));
  EXPECT_THAT(read_message(a), AllOf(HasSubstr("b.json:1:16: /base: the bases form a cycle: " + a + " -> "),
                                     HasSubstr("(base of " + a + ")")));
  EXPECT_THAT(read_message(folder.write("self.json", R"({"base": "self.json"})")), HasSubstr("form a cycle"));
  EXPECT_THAT(read_message(folder.write("type.json", R"({"base": 3})")),
              HasSubstr("/base: expected a file name, found 3"));
  folder.write("study.json", R"({"version": 1, "variants": {"a": {}}})");
  EXPECT_THAT(read_message(folder.write("onstudy.json", R"({"base": "study.json"})")),
              HasSubstr("is a study"));
}

TEST(Overrides, ValuesAreJsonOrBareWords) {
  const Folder folder;
  const std::string file = folder.write("a.json", scenario_text());
  const Document document = read_document(file, {{"/wafer/npus", "6"},
                                                 {"/name", "12"},
                                                 {"/workload/schedule", "1f1b"},
                                                 {"/workload/collective", "{\"bytes\": 8}"},
                                                 {"/workload/collective/ranks", "[0,1]"},
                                                 {"/workload/collective/ranks/1", "3"}});
  const Scenario scenario = read_scenario(document);
  EXPECT_EQ(scenario.wafer.npus, 6u);
  EXPECT_EQ(scenario.name, "12");
  EXPECT_EQ(scenario.workload.schedule, PipelineSchedule::k1f1b);
  EXPECT_EQ(scenario.workload.collective.bytes, 8u);
  EXPECT_THAT(scenario.workload.collective.ranks, ::testing::ElementsAre(0, 3));
}

TEST(Overrides, FaultsNameTheOption) {
  const Folder folder;
  const std::string file = folder.write("a.json", scenario_text());
  const auto message = [&](const char* pointer, const char* value) {
    return read_message(file, {{pointer, value}});
  };
  EXPECT_THAT(message("/wafer/npus", "0"), StartsWith("--set: /wafer/npus: found 0"));
  EXPECT_THAT(message("/wafer/npus", "\"8\""), StartsWith("--set: /wafer/npus: expected integer"));
  EXPECT_THAT(message("/wafer/npuss", "8"), AllOf(StartsWith("--set: /wafer/npuss: no such member"),
                                                  HasSubstr("did you mean /wafer/npus?")));
  EXPECT_THAT(message("wafer/npus", "8"), HasSubstr("expected a JSON pointer such as /wafer/npus"));
  EXPECT_THAT(message("/wafer/npus/x", "8"), HasSubstr("/wafer/npus is integer and has no members"));
  EXPECT_THAT(message("/wafer/fabric/ring", "{\"link_latency_ns\": 1,}"), HasSubstr("remove the comma"));
  EXPECT_THAT(message("/limits/time_ns", "NaN"), HasSubstr("NaN is not JSON"));
  EXPECT_THAT(message("/name", "\xff"), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(message("/base", "x.json"), HasSubstr("cannot be set here"));
  EXPECT_THAT(message("/wafer/npus", "8"), IsEmpty());
}

}  // namespace
}  // namespace wafervp

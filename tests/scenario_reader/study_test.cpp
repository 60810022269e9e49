// SPDX-License-Identifier: Apache-2.0
// Are studies expanded as written, and are their faults found in the study's own file?
#include "support.h"

namespace wafervp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kScenario[] =
    R"("wafer": {"npus": 4, "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"})";

std::string study_text(const std::string& members) {
  return R"({"version": 1, "scenario": {)" + std::string(kScenario) + "},\n" + members + "}";
}

Study study_of(const std::string& members) {
  return read_study(parse_document(study_text(members), "s.json"));
}

std::vector<std::string> names(const Study& study) {
  std::vector<std::string> out;
  for (const Variant& variant : study.variants) out.push_back(variant.name);
  return out;
}

TEST(Study, VariantsKeepTheirOrder) {
  const Study study = study_of(
      R"("name": "n", "variants": {"z": {}, "a": {"wafer": {"npus": 5}}, "m": {}}, "compare_to": "m")");
  EXPECT_EQ(study.name, "n");
  EXPECT_THAT(names(study), ElementsAre("z", "a", "m"));
  EXPECT_EQ(read_scenario(study.variants[1].document).wafer.npus, 5u);
  EXPECT_EQ(study.variants[1].compare_to, "m");
}

TEST(Study, GridIsTheCrossProduct) {
  const Study study = study_of(R"("variants": {"a": {}, "b": {"name": "x"}}, "compare_to": "b",
    "grid": {"/wafer/npus": [2, 3], "/workload/collective/type": ["fp16", "fp32"]})");
  EXPECT_THAT(names(study), ElementsAre("a-npus=2-type=fp16", "a-npus=2-type=fp32", "a-npus=3-type=fp16",
                                        "a-npus=3-type=fp32", "b-npus=2-type=fp16", "b-npus=2-type=fp32",
                                        "b-npus=3-type=fp16", "b-npus=3-type=fp32"));
  EXPECT_EQ(study.variants[3].of, "a");
  EXPECT_EQ(study.variants[3].compare_to, "b-npus=3-type=fp32");
  const Scenario scenario = read_scenario(study.variants[3].document);
  EXPECT_EQ(scenario.wafer.npus, 3u);
  EXPECT_EQ(scenario.workload.collective.type, ElementType::kFp32);
}

TEST(Study, GridNamesTellMembersOfEqualNameApart) {
  const Study study = study_of(R"("variants": {"a": {}},
    "grid": {"/workload/collective/chunks": [1], "/wafer/firmware/chunks": [2], "/wafer/fabric/ring": [{}, {"link_latency_ns": 1}]})");
  EXPECT_THAT(names(study),
              ElementsAre("a-collective.chunks=1-firmware.chunks=2-ring=__",
                          "a-collective.chunks=1-firmware.chunks=2-ring=__link_latency_ns__1_"));
}

TEST(Study, OverridesReachEveryVariant) {
  const Document document = parse_document(
      study_text(R"("variants": {"a": {"wafer": {"npus": 6}}, "b": {}})"), "s.json", {{"/wafer/npus", "3"}});
  for (const Variant& variant : read_study(document).variants) {
    EXPECT_EQ(read_scenario(variant.document).wafer.npus, 3u) << variant.name;
  }
}

TEST(Study, BaseIsReadBesideTheStudy) {
  const Folder folder;
  folder.write("base.json", "{\"version\": 1,\n" + std::string(kScenario) + "}");
  const std::string file =
      folder.write("s.json", R"({"version": 1, "base": "base.json", "variants": {"a": {}}})");
  EXPECT_THAT(read_message(file), IsEmpty());
  folder.write(
      "base.json",
      R"({"version": 1, "wafer": {"npus": 0, "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"}})");
  EXPECT_THAT(read_message(file),
              AllOf(HasSubstr("base.json:1:26: /wafer/npus: found 0"), HasSubstr("(base of " + file + ")")));
  folder.write("base.json", R"({"version": 1, "variants": {}})");
  EXPECT_THAT(read_message(file), AllOf(HasSubstr("s.json:1:16: /base: "), HasSubstr("is a study")));
  std::filesystem::remove(folder.path("base.json"));
  EXPECT_THAT(read_message(file),
              HasSubstr("s.json:1:16: /base: " + folder.path("base.json") + ": no such file"));
}

TEST(Study, FaultsOfAPatchPointIntoTheStudy) {
  const auto issues = faults_of(study_text(R"("variants": {"a": {},
    "b": {"wafer": {"fabric": {"knd": "ring"}}},
    "c": {"wafer": {"npus": -1}}},
    "grid": {"/workload/collective/bytes": [3]})"));
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_THAT(issues[0].format(),
              ::testing::StartsWith("test.json:3:32: /variants/b/wafer/fabric: unknown member \""));
  EXPECT_THAT(issues[0].text, HasSubstr("did you mean kind?"));
  EXPECT_EQ(issues[1].pointer, "/variants/c/wafer/npus");
  EXPECT_EQ(issues[2].pointer, "/grid/~1workload~1collective~1bytes/0");
}

TEST(Study, AFaultThatAllVariantsShareIsToldOnce) {
  const auto shared = faults_of(
      R"({"version": 1, "scenario": {"wafer": {"npus": 0, "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"}},
    "variants": {"a": {}, "b": {}}})");
  ASSERT_THAT(shared, SizeIs(1));
  EXPECT_EQ(shared[0].pointer, "/scenario/wafer/npus");
  const auto one =
      faults_of(study_text(R"("variants": {"a": {}, "b": {"wafer": {"fabric": {"kind": "mesh2d"}}}})"));
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_THAT(one[0].text, HasSubstr("(variant b)"));
}

TEST(Study, OwnMembersAreHeldAgainstTheTable) {
  const auto text = [](const std::string& members) { return message_of(study_text(members)); };
  EXPECT_THAT(text(R"("variants": {})"), HasSubstr("/variants: has no variant"));
  EXPECT_THAT(text(R"("variants": [])"), HasSubstr("/variants: expected object, found an array"));
  EXPECT_THAT(text(R"("variants": {"a": 3})"), HasSubstr("/variants/a: expected an object, found 3"));
  EXPECT_THAT(text(R"("variants": {"a/b": {}})"), HasSubstr("a variant's name is also that of a folder"));
  EXPECT_THAT(text(R"("variants": {"..": {}})"), HasSubstr("a variant's name is also that of a folder"));
  EXPECT_THAT(text(R"("variants": {"a": {}}, "varients": {})"), HasSubstr("did you mean variants?"));
  EXPECT_THAT(text(R"("variants": {"mesh": {}}, "compare_to": "mehs")"), HasSubstr("did you mean mesh?"));
  EXPECT_THAT(text(R"("variants": {"a": {"base": "x"}})"), HasSubstr("/variants/a/base: belongs to a file"));
  EXPECT_THAT(text(R"("variants": {"a": {}}, "scenario": [])"), HasSubstr("duplicate member"));
  EXPECT_THAT(message_of(R"({"version": 1, "variants": {"a": {}}, "scenario": []})"),
              HasSubstr("/scenario: expected object, found an array"));
}

TEST(Study, GridFaults) {
  const auto text = [](const std::string& grid) {
    return message_of(study_text(R"("variants": {"a": {}}, "grid": {)" + grid + "}"));
  };
  EXPECT_THAT(text(R"("/wafer/npu_s": [1])"), HasSubstr("did you mean /wafer/npus?"));
  EXPECT_THAT(text(R"("npus": [1])"), HasSubstr("expected a JSON pointer"));
  EXPECT_THAT(text(R"("/wafer/npus": 3)"), HasSubstr("expected an array of at least one value, found 3"));
  EXPECT_THAT(text(R"("/wafer/npus": [])"), HasSubstr("found none"));
  std::string values = "1";
  for (int i = 0; i < 150; ++i) values += ", 2";
  EXPECT_THAT(text("\"/seed\": [" + values + "], \"/wafer/npus\": [" + values + "]"),
              HasSubstr("more than 10000 runs"));
}

TEST(Study, PublishedFigures) {
  const auto with = [](const std::string& published) {
    return study_text(R"("variants": {"a": {}, "b": {}}, "compare_to": "a", "published": {)" + published +
                      "}");
  };
  const Study study = read_study(parse_document(
      with(
          R"("b": {"speedup": {"value": 1.41, "source": "paper"}, "time_over_mesh": {"value": 0.5, "source": "x"}})"),
      "s.json"));
  ASSERT_THAT(study.published.at("b"), SizeIs(2));
  EXPECT_EQ(study.published.at("b")[0].value, 1.41);
  EXPECT_EQ(study.published.at("b")[0].source, "paper");
  EXPECT_THAT(message_of(with(R"("c": {})")), HasSubstr("/published/c: found \"c\", which is no variant"));
  EXPECT_THAT(message_of(with(R"("b": {"speedop": {}})")), HasSubstr("did you mean speedup?"));
  EXPECT_THAT(message_of(with(R"("b": {"speedup": {"value": "1", "src": 1}})")),
              AllOf(HasSubstr("expected a number greater than 0, found string \"1\""),
                    HasSubstr("unknown member \"src\""), HasSubstr("required member \"source\" is missing")));
  EXPECT_THAT(message_of(with(R"("b": 1)")), HasSubstr("expected an object, found 1"));
}

TEST(Study, Calibration) {
  const auto with = [](const std::string& calibrate) {
    return study_text(R"("variants": {"a": {}, "b": {}}, "compare_to": "a", "calibrate": {)" + calibrate +
                      "}");
  };
  const std::string good =
      R"("parameter": "/workload/compute/fixed_ns", "low": 1, "high": 10, "variant": "b", "target": 1.5)";
  const Study study = read_study(
      parse_document(with(good + R"(, "patch": {"workload": {"compute": {"mode": "fixed"}}})"), "s.json"));
  ASSERT_TRUE(study.calibrate);
  EXPECT_EQ(study.calibrate->quantity, "speedup");
  EXPECT_EQ(study.calibrate->patch.at("workload").at("compute").at("mode"), "fixed");
  EXPECT_THAT(message_of(with("")),
              AllOf(HasSubstr("/calibrate: required member \"parameter\""), HasSubstr("\"target\"")));
  EXPECT_THAT(
      message_of(with(
          R"("parameter": "/workload/compute/fixed", "low": 1, "high": 10, "variant": "bb", "target": 1)")),
      AllOf(HasSubstr("did you mean /workload/compute/fixed_ns?"),
            HasSubstr("found \"bb\", which is no variant; allowed: a, b")));
  EXPECT_THAT(
      message_of(with(
          R"("parameter": "/workload/compute/mode", "low": 1, "high": 10, "variant": "b", "target": 1)")),
      HasSubstr("is word; expected an integer or number"));
  EXPECT_THAT(
      message_of(with(
          R"("parameter": "/workload/compute/fixed_ns", "low": 10, "high": 1, "variant": "b", "target": 0)")),
      AllOf(HasSubstr("low must be below high"), HasSubstr("/calibrate/target: found 0")));
  EXPECT_THAT(message_of(with(good + R"(, "patch": {"workload": {"compute": {"mod": "fixed"}}})")),
              HasSubstr("/calibrate/patch/workload/compute: unknown member \"mod\""));
  EXPECT_THAT(message_of(study_text(R"("variants": {"a": {}, "b": {}}, "calibrate": {)" + good + "}")),
              HasSubstr("needs /compare_to"));
}

}  // namespace
}  // namespace wafervp

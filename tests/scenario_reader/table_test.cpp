// SPDX-License-Identifier: Apache-2.0
// Do the table, the shipped files and the typed scenario agree?
#include <chrono>
#include <set>

#include "scenario/descriptors.h"
#include "scenario/merge.h"
#include "support.h"

namespace wafervp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::filesystem::path kScenarios = std::filesystem::path(WAFERVP_SOURCE_DIR) / "scenarios";

std::vector<std::string> shipped() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kScenarios)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() == ".json" && path.find("/schema/") == std::string::npos)
      files.push_back(path);
  }
  return files;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Document> shipped_scenarios() {
  std::vector<Document> all;
  for (const std::string& path : shipped()) {
    Document document = read_document(path);
    if (!is_study(document)) {
      all.push_back(std::move(document));
    } else {
      for (Variant& variant : read_study(document).variants) all.push_back(std::move(variant.document));
    }
  }
  return all;
}

TEST(Table, ShippedFilesAreAccepted) {
  EXPECT_GE(shipped().size(), 14u);
  for (const std::string& path : shipped()) EXPECT_THAT(read_message(path), IsEmpty()) << path;
}

TEST(Table, EffectiveScenarioReadsBackTheSame) {
  const auto texts = [](const std::vector<Issue>& issues) {
    std::vector<std::string> out;
    for (const Issue& issue : issues) out.push_back(issue.text);
    return out;
  };
  for (const Document& document : shipped_scenarios()) {
    std::vector<Issue> before, after;
    const Json effective = effective_json(read_scenario(document, &before));
    const Document again = parse_document(effective.dump(), "effective.json");
    EXPECT_EQ(effective_json(read_scenario(again, &after)), effective);
    EXPECT_EQ(texts(after), texts(before));
    // The FRED paper's Transformer-17B has 18 ranks on 20 NPUs.
    for (const std::string& text : texts(before)) EXPECT_THAT(text, HasSubstr("2 of 20 NPUs have no rank"));
  }
}

TEST(Table, EffectiveScenarioHoldsWhatTheFileSays) {
  const auto contains = [](const Json& whole, const Json& part, const auto& self) -> bool {
    if (!part.is_object()) return whole == part;
    for (const auto& item : part.items()) {
      if (!whole.contains(item.key()) || !self(whole.at(item.key()), item.value(), self)) return false;
    }
    return true;
  };
  for (const Document& document : shipped_scenarios()) {
    Json said = document.value;
    // Messages gain a start time, and an ignored block is not written.
    if (said["workload"].contains("messages")) said["workload"].erase("messages");
    EXPECT_TRUE(contains(effective_json(read_scenario(document)), said, contains)) << said;
  }
}

TEST(Table, EveryMemberReachesItsField) {
  // Each member that has a range or words is set to another value than its default, one at a time.
  const Document base = parse_document(
      scenario_text(
          R"("kind": "fred", "fred": {"l1_switches": 2, "npus_per_l1": 2})",
          R"("kind": "collective", "collective": {"bytes": 1024}, "parallelism": {"mp": 1, "dp": 1, "pp": 1})"),
      "test.json");
  const Json before = effective_json(read_scenario(base));
  std::size_t changed = 0;
  for (const Descriptor& descriptor : scenario_descriptors()) {
    const Json* now = find_value(before, descriptor.pointer);
    Json other;
    switch (descriptor.type) {
      case ValueType::kBoolean:
        other = !now->get<bool>();
        break;
      case ValueType::kInteger:
        other =
            now->get<std::uint64_t>() == descriptor.most ? descriptor.least : now->get<std::uint64_t>() + 1;
        break;
      case ValueType::kNumber:
        other = now->get<double>() == descriptor.high ? descriptor.high / 2 : descriptor.high;
        break;
      case ValueType::kWord:
        for (const std::string& word : descriptor.words) {
          if (word != now->get<std::string>()) other = word;
        }
        break;
      default:
        break;
    }
    if (other.is_null() || descriptor.pointer == "/version") continue;
    Json expected = before;
    Document document = base;
    Document part;
    part.value = other;
    part.sources.push_back({"x", {}, {}, {}, 0});
    part.origins[""] = {};
    ASSERT_TRUE(put_at(document, descriptor.pointer, part));
    try {
      const Json after = effective_json(read_scenario(document));
      const Json* value = find_value(after, descriptor.pointer);
      // The block of a collective is gone when the workload is of another kind.
      if (value != nullptr) {
        EXPECT_EQ(*value, other) << descriptor.pointer;
      }
      EXPECT_NE(after, before) << descriptor.pointer;
      ++changed;
    } catch (const ScenarioError& error) {
      // Members that hang together with others; those others are in the message.
      EXPECT_THAT(
          std::string(error.what()),
          ::testing::AnyOf(HasSubstr("npus"), HasSubstr("needs"), HasSubstr("group"),
                           HasSubstr("whole number"), HasSubstr("is missing"), HasSubstr("does not do")))
          << descriptor.pointer;
    }
  }
  EXPECT_GE(changed, 50u);
}

TEST(Table, EveryMemberIsDocumented) {
  std::set<std::string> seen;
  for (const auto* table : {&scenario_descriptors(), &study_descriptors()}) {
    seen.clear();
    for (const Descriptor& descriptor : *table) {
      EXPECT_TRUE(seen.insert(descriptor.pointer).second) << descriptor.pointer;
      EXPECT_FALSE(descriptor.documentation.empty()) << descriptor.pointer;
      EXPECT_EQ(descriptor.documentation.back(), '.') << descriptor.pointer;
      const std::string& pointer = descriptor.pointer;
      const auto ends = [&](const std::string& tail) {
        return pointer.size() > tail.size() &&
               pointer.compare(pointer.size() - tail.size(), tail.size(), tail) == 0;
      };
      const std::string unit = ends("_ns")            ? "ns"
                               : ends("_bytes_per_s") ? "bytes/s"
                               : ends("bytes")        ? "bytes"
                                                      : "";
      if (!unit.empty()) {
        EXPECT_EQ(descriptor.unit, unit) << pointer;
      }
    }
  }
}

TEST(Table, GeneratedFilesAreUpToDate) {
  const std::string hint = "run: write_schema scenarios/schema";
  EXPECT_EQ(text_of(kScenarios / "schema/scenario.schema.json"), scenario_schema().dump(2) + '\n') << hint;
  EXPECT_EQ(text_of(kScenarios / "schema/study.schema.json"), study_schema().dump(2) + '\n') << hint;
  EXPECT_THAT(text_of(kScenarios / "schema/parameters.md"), HasSubstr(parameter_table())) << hint;
}

TEST(Table, ReadmeOfTheScenariosNamesEveryFile) {
  const std::string readme = text_of(kScenarios / "README.md");
  for (const std::string& path : shipped()) {
    EXPECT_THAT(readme, HasSubstr(std::filesystem::path(path).filename().string()));
  }
}

TEST(Table, DefaultsThatDependOnOtherMembers) {
  const auto read = [](const std::string& workload, int npus) {
    return read_scenario(parse_document(scenario_text(R"("kind": "ring")", workload, npus), "test.json"))
        .workload;
  };
  EXPECT_EQ(read(R"("kind": "resnet152")", 20).parallelism.dp, 20u);
  EXPECT_EQ(read(R"("kind": "transformer", "parallelism": {"mp": 3, "pp": 2})", 20).parallelism.dp, 3u);
  const WorkloadSpec preset = read(R"("kind": "transformer", "transformer": {"hidden": 8})", 20);
  EXPECT_EQ(preset.transformer.layers, 78u);
  EXPECT_EQ(preset.transformer.hidden, 8u);
  EXPECT_EQ(preset.transformer.parameters, 17e9);
  const WorkloadSpec custom = read(
      R"("kind": "transformer", "transformer": {"preset": "custom", "layers": 2, "hidden": 10, "sequence": 4})",
      20);
  EXPECT_EQ(custom.transformer.parameters, 12.0 * 2 * 100);
  EXPECT_TRUE(read(R"("kind": "collective")", 4).has_collective);
  EXPECT_FALSE(
      read(R"("kind": "collective", "messages": [{"from": 0, "to": 1, "bytes": 1}])", 4).has_collective);
  EXPECT_TRUE(
      read(R"("kind": "collective", "collective": {}, "messages": [{"from": 0, "to": 1, "bytes": 1}])", 4)
          .has_collective);
}

TEST(Table, CombinationsThatNoFabricRuns) {
  const auto message = [](const std::string& fabric, const std::string& collective) {
    return message_of(scenario_text(fabric, R"("kind": "collective", "collective": {)" + collective + "}"));
  };
  const std::string fred = R"("kind": "fred", "fred": {"l1_switches": 2, "npus_per_l1": 2, "in_network": )";
  EXPECT_THAT(message(R"("kind": "ring")", R"("algorithm": "in_switch")"),
              HasSubstr("in_switch needs a fabric of kind fred"));
  EXPECT_THAT(message(fred + "false}", R"("algorithm": "in_switch")"), HasSubstr("in_network false"));
  EXPECT_THAT(message(fred + "true}", R"("algorithm": "in_switch")"), IsEmpty());
  EXPECT_THAT(message(R"("kind": "switch")", R"("algorithm": "hierarchical")"), HasSubstr("two dimensions"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("operation": "all_to_all", "algorithm": "ring")"),
              HasSubstr("does not do /workload/collective/operation all_to_all; allowed: auto, direct"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("bytes": 7)"),
              AllOf(HasSubstr("remainder 1"), HasSubstr("nearest: 6, 8")));
  EXPECT_THAT(message(R"("kind": "ring")", R"("bytes_of": {"1": 3})"),
              HasSubstr("/workload/collective/bytes_of/1: found 3"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("operation": "broadcast", "root": 4)"),
              HasSubstr("the group has 4 members, allowed 0..3"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("operation": "send", "root": 3)"), HasSubstr("allowed 0..2"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("start_ns": {"4": 1, "x": 2})"),
              HasSubstr("/workload/collective/start_ns/x: expected an NPU number"));
  EXPECT_THAT(message(R"("kind": "ring")", R"("ranks": [0, 1], "absent": [2])"),
              HasSubstr("NPU 2 is not in /workload/collective/ranks"));
  EXPECT_THAT(
      message_of(
          scenario_text(R"("kind": "ring")",
                        R"("kind": "collective", "placement": {"kind": "explicit", "npus": [0, 0, 9]})")),
      AllOf(HasSubstr("NPU 0 is already at index 0"), HasSubstr("/workload/placement/npus/2: found 9")));
  EXPECT_THAT(
      message_of(scenario_text(R"("kind": "ring")",
                               R"("kind": "collective", "placement": {"kind": "explicit", "npus": [0, 1]})")),
      HasSubstr("found 2 NPUs; explicit placement needs one for each of the 4 ranks"));
  EXPECT_THAT(
      message_of(
          R"({"version": 1, "wafer": {"npus": 4, "fabric": {"kind": "ring"}, "firmware": {"all_reduce": "in_switch"}}, "workload": {"kind": "collective"}})"),
      HasSubstr("/wafer/firmware/all_reduce: in_switch needs"));
  EXPECT_THAT(
      message_of(scenario_text(
          R"("kind": "ring")",
          R"("kind": "transformer", "transformer": {"preset": "tiny"}, "parallelism": {"pp": 8})", 8)),
      HasSubstr("found 8 stages for /workload/transformer/layers 4"));
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring")",
                                       R"("kind": "transformer", "transformer": {"preset": "custom"})")),
              HasSubstr("required member \"layers\""));
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring", "link_rates": {"npu0->npu2": 5})")),
              HasSubstr("no link of a ring joins these two"));
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring", "link_rates": {"a": 5})")),
              HasSubstr("expected a link such as npu0->npu1"));
}

TEST(Table, WarnsOfWhatHasNoEffect) {
  const auto warnings = [](const std::string& workload, int npus) {
    std::vector<Issue> issues;
    std::string text;
    EXPECT_THAT(faults_of(scenario_text(R"("kind": "ring")", workload, npus), &issues), IsEmpty());
    for (const Issue& issue : issues) text += issue.pointer + ": " + issue.text + '\n';
    return text;
  };
  const std::string collective = R"("kind": "collective", )";
  EXPECT_THAT(warnings(collective + R"("parallelism": {"mp": 3})", 7),
              HasSubstr("/workload/parallelism: mp 3 * dp 2 * pp 1 = 6 ranks: 1 of 7 NPUs have no rank"));
  EXPECT_THAT(warnings(collective + R"("parallelism": {"mp": 3}, "collective": {"ranks": [0, 1]})", 7),
              IsEmpty());
  EXPECT_THAT(warnings(collective + R"("messages": [{"from": 0, "to": 1, "bytes": 1}])", 7), IsEmpty());
  EXPECT_THAT(warnings(collective + R"("collective": {"bytes": 6, "type": "fp16", "chunks": 4})", 4),
              HasSubstr("/workload/collective/chunks: found 4 for 3 elements"));
  EXPECT_THAT(warnings(collective + R"("collective": {"bytes": 6, "type": "fp16", "chunks": 3})", 4),
              IsEmpty());
  EXPECT_THAT(warnings(collective + R"("collective": {"chunks": 2, "active_chunks": 3})", 4),
              HasSubstr("/workload/collective/active_chunks: found 3 of 2 chunks"));
  EXPECT_THAT(warnings(collective + R"("collective": {"root": 1})", 4), HasSubstr("all_reduce has no root"));
  EXPECT_THAT(warnings(collective + R"("collective": {"ranks": [0, 1], "groups": "dp"})", 4),
              HasSubstr("/workload/collective/groups: has no effect"));
  const std::string training = R"("kind": "resnet152", "compute": )";
  EXPECT_THAT(warnings(training + R"({"mode": "fixed"})", 4), HasSubstr("computing takes no time"));
  EXPECT_THAT(warnings(training + R"({"mode": "fixed", "fixed_ns": 1})", 4), IsEmpty());
  EXPECT_THAT(warnings(training + R"({"fixed_ns": 1})", 4),
              HasSubstr("/workload/compute/fixed_ns: has no effect"));
}

TEST(Table, SchemaAddressIsIgnored) {
  const std::string schema = R"("$schema": "https://example.org/x.json", )";
  const std::string text = scenario_text();
  const Document with = parse_document("{" + schema + text.substr(1), "x");
  EXPECT_EQ(effective_json(read_scenario(with)), effective_json(read_scenario(parse_document(text, "x"))));
  EXPECT_THAT(message_of("{" + schema + R"("version": 1, "scenario": )" + text.substr(0, 1) +
                         text.substr(text.find("\"wafer\"")) + R"(, "variants": {"a": {}}})"),
              IsEmpty());
  EXPECT_THAT(message_of(R"({"version": 1, "variants": {"a": {"$schema": "x"}}})"),
              HasSubstr("belongs to a file"));
}

// "npuss" is told, and not that npus is missing too; nor that columns * rows is wrong.
TEST(Table, AMisspeltNameHidesWhatFollowsFromIt) {
  const std::string message = message_of(
      R"({"version": 1, "wafer": {"npuss": 8, "fabric": {"kind": "mesh2d", "mesh2d": {"colums": 4, "rows": 2}}},
          "workload": {"kind": "collective"}})");
  EXPECT_THAT(message, AllOf(HasSubstr("did you mean npus?"), HasSubstr("did you mean columns?")));
  EXPECT_THAT(message, testing::Not(HasSubstr("is missing")));
  EXPECT_THAT(message, testing::Not(HasSubstr("columns 5")));
}

TEST(Table, AFaultThatAnOptionMakesNamesTheOption) {
  try {
    read_scenario(parse_document(scenario_text(), "x.json", {{"/wafer/fabric/kind", "mesh2d"}}));
    FAIL();
  } catch (const ScenarioError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("x.json"), HasSubstr("(with --set /wafer/fabric/kind)")));
  }
}

TEST(Table, ReadingIsFast) {
  const std::string path = (kScenarios / "fred/wafer_20.json").string();
  read_scenario(read_document(path));
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    read_scenario(read_document(path));
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(best, 5.0);
}

}  // namespace
}  // namespace wafervp

// SPDX-License-Identifier: Apache-2.0
// Does each row of tests/reference/scenarios get the message that it asks for? S26 needs the workload
// builder; S21 and S22, on custom graphs, are held on what this format can say.
#include <chrono>

#include "support.h"

namespace wafervp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(BadScenarios, S01TrailingComma) {
  EXPECT_EQ(message_of("{\"version\": 1,\n \"wafer\": {\"npus\": 8,}}"),
            "test.json:2:21: /wafer: expected a member name, found }; remove the comma");
}

TEST(BadScenarios, S02Comment) {
  const std::string text = "comments are not JSON; use a \"comment\" member";
  EXPECT_EQ(message_of("// my wafer\n{\"version\": 1} /* end */"),
            "test.json:1:1: " + text + "\ntest.json:2:16: " + text);
}

TEST(BadScenarios, S03SecondDocument) {
  EXPECT_EQ(message_of(scenario_text() + "\n" + scenario_text()),
            "test.json:2:1: expected end of file, found {; one scenario per file");
}

TEST(BadScenarios, S04NotANumber) {
  const auto issues = faults_of(scenario_text(
      R"("kind": "ring", "ring": {"link_latency_ns": NaN, "link_bytes_per_s": -Infinity}, "buffer_packets": Infinity)"));
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_EQ(issues[0].pointer, "/wafer/fabric/ring/link_latency_ns");
  EXPECT_EQ(issues[0].text, "NaN is not JSON; expected a finite number");
  EXPECT_GT(issues[0].column, 1u);
  EXPECT_EQ(issues[1].text, "-Infinity is not JSON; expected a finite number");
  EXPECT_EQ(issues[2].pointer, "/wafer/fabric/buffer_packets");
}

TEST(BadScenarios, S05ByteOrderMarkIsAccepted) {
  const Document plain = parse_document(scenario_text(), "test.json");
  const Document marked = parse_document("\xef\xbb\xbf" + scenario_text(), "test.json");
  EXPECT_EQ(plain.value, marked.value);
  EXPECT_EQ(plain.origins.at("/wafer/npus").column, marked.origins.at("/wafer/npus").column);
}

TEST(BadScenarios, S06InvalidUtf8) {
  EXPECT_EQ(
      message_of("{\"version\": 1, \"name\": \"\xff\xfe\"}"),
      "test.json:1:25: /name: not valid UTF-8 at byte offset 24, found \\xff\\xfe; save the file as UTF-8");
}

TEST(BadScenarios, S07MissingFile) {
  const Folder folder;
  folder.write("wafer.json", scenario_text());
  const std::string typed = folder.path("wafr.json");
  EXPECT_EQ(read_message(typed),
            typed + ": no such file (" + typed + "); did you mean " + folder.path("wafer.json") + "?");
  EXPECT_THAT(read_message("no_such_folder/wafer.json"),
              AllOf(StartsWith("no_such_folder/wafer.json: no such file (/"),
                    HasSubstr("the folder no_such_folder does not exist")));
}

TEST(BadScenarios, S08Directory) {
  const Folder folder;
  for (const char* name : {"a.json", "b.json", "c.txt"}) folder.write(name, "{}");
  EXPECT_EQ(read_message(folder.path("")),
            folder.path("") + ": is a directory, expected a file; JSON files inside: a.json, b.json");
}

TEST(BadScenarios, S09EmptyFile) {
  const Folder folder;
  for (const char* text : {"", " \r\n\t\n"}) {
    EXPECT_THAT(read_message(folder.write("empty.json", text)),
                AllOf(HasSubstr("empty.json: file is empty"), HasSubstr("scenarios/examples/ring.json")));
  }
  EXPECT_THAT(message_of("  "), HasSubstr("file is empty"));
}

TEST(BadScenarios, S10UnknownKeysAllAtOnce) {
  const auto issues = faults_of(R"({"version": 1, "wafr": 1,
    "wafer": {"npus": 4, "fabric": {"kind": "ring", "ring": {"lateny_ns": 20}}}, "workload": {"kind": "collective", "zzz": 1}})");
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_EQ(issues[0].pointer, "");
  EXPECT_THAT(issues[0].text, AllOf(HasSubstr("unknown member \"wafr\""), HasSubstr("did you mean wafer?")));
  EXPECT_EQ(issues[1].pointer, "/wafer/fabric/ring");
  EXPECT_EQ(issues[1].text,
            "unknown member \"lateny_ns\" in /wafer/fabric/ring; did you mean link_latency_ns? allowed: "
            "link_bytes_per_s, link_latency_ns");
  EXPECT_THAT(issues[2].text, AllOf(HasSubstr("\"zzz\""), Not(HasSubstr("did you mean"))));
}

TEST(BadScenarios, S11MisspeltWord) {
  const auto issues = faults_of(scenario_text(
      R"("kind": "Ring")", R"("kind": "collective", "collective": {"algorithm": "rnig", "type": 5})"));
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_EQ(issues[0].text, "found \"Ring\"; did you mean ring? allowed: ring, switch, mesh2d, fred");
  EXPECT_EQ(issues[1].text,
            "found \"rnig\"; did you mean ring? allowed: auto, ring, hierarchical, in_switch, direct, relay, "
            "ring_both, tree, best");
  EXPECT_EQ(issues[2].text, "expected one of fp32, fp16, bf16, int32, fp64, found 5");
}

TEST(BadScenarios, S12MissingKey) {
  const auto issues =
      faults_of(R"({"version": 1, "wafer": {"fabric": {}}, "workload": {"kind": "collective"}})");
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].pointer, "/wafer");
  EXPECT_EQ(issues[0].text, "required member \"npus\" (integer in NPUs) is missing");
  EXPECT_EQ(issues[1].pointer, "/wafer/fabric");
  EXPECT_THAT(issues[1].text, HasSubstr("required member \"kind\""));
  EXPECT_THAT(message_of("{}"),
              AllOf(HasSubstr("\"version\""), HasSubstr("\"wafer\""), HasSubstr("\"workload\"")));
}

TEST(BadScenarios, S13VersionComesFirst) {
  const auto issues = faults_of(R"({"foo": 1, "version": 99, "bar": {}})");
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/version");
  EXPECT_THAT(issues[0].text,
              AllOf(HasSubstr("found 99"), HasSubstr("this tool (wafervp "), HasSubstr("reads version 1")));
  EXPECT_THAT(message_of(R"({"version": "1"})"), HasSubstr("found string \"1\""));
  EXPECT_THAT(message_of(R"({"version": 1.5})"), HasSubstr("found 1.5"));
}

TEST(BadScenarios, S14NumberInQuotes) {
  EXPECT_THAT(
      message_of(
          R"({"version": 1, "wafer": {"npus": "8", "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"}})"),
      HasSubstr("/wafer/npus: expected integer in NPUs, found string \"8\"; remove the quotes"));
}

TEST(BadScenarios, S15FractionAndWholeFloats) {
  const auto with = [](const std::string& npus) {
    return R"({"version": 1, "wafer": {"npus": )" + npus +
           R"(, "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"}})";
  };
  EXPECT_THAT(message_of(with("8.5")), HasSubstr("/wafer/npus: expected integer in NPUs, found 8.5"));
  for (const char* eight : {"8.0", "8e0", "80e-1"}) {
    EXPECT_EQ(read_scenario(parse_document(with(eight), "test.json")).wafer.npus, 8u) << eight;
  }
}

TEST(BadScenarios, S16WrongKindOfValue) {
  const auto issues = faults_of(scenario_text(
      R"("kind": "ring", "ring": {"link_bytes_per_s": null, "link_latency_ns": []}, "buffer_packets": {})"));
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_THAT(issues[0].text, HasSubstr("expected integer in bytes/s, found null"));
  EXPECT_THAT(issues[1].text, HasSubstr("expected number in ns, found an array"));
  EXPECT_THAT(issues[2].text, HasSubstr("expected integer in packets, found an object"));
}

TEST(BadScenarios, S17NegativeRateAndLatency) {
  const auto issues = faults_of(
      scenario_text(R"("kind": "ring", "ring": {"link_bytes_per_s": -750, "link_latency_ns": -1.5})"));
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_THAT(issues[0].text,
              AllOf(HasSubstr("found -750"), HasSubstr("greater than 0"), HasSubstr("bytes/s")));
  EXPECT_THAT(issues[1].text,
              AllOf(HasSubstr("found -1.5"), HasSubstr("smallest legal value 0"), HasSubstr("ns")));
}

TEST(BadScenarios, S18Zero) {
  const auto issues =
      faults_of(scenario_text(R"("kind": "mesh2d", "mesh2d": {"columns": 0})", R"("kind": "collective")", 0));
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_THAT(issues[0].text, HasSubstr("found 0, below the smallest legal value 1"));
  EXPECT_EQ(issues[1].pointer, "/wafer/fabric/mesh2d/columns");
}

TEST(BadScenarios, S19AbsurdInteger) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string text =
      R"({"version": 1, "wafer": {"npus": 1e30, "fabric": {"kind": "ring"}}, "workload": {"kind": "collective"}})";
  EXPECT_THAT(message_of(text), HasSubstr("/wafer/npus: found 1e30, above the largest legal value 65536"));
  for (const char* number :
       {"18446744073709551616", "99999999999999999999999999", "-99999999999999999999999999"}) {
    std::string other = text;
    other.replace(other.find("1e30"), 4, number);
    EXPECT_THAT(message_of(other), HasSubstr(std::string("found ") + number)) << number;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(BadScenarios, S20UnitsInTheValue) {
  const auto hint = [](const char* value) {
    return message_of(
        scenario_text(R"("kind": "ring", "ring": {"link_bytes_per_s": ")" + std::string(value) + "\"}"));
  };
  EXPECT_THAT(hint("50GB"), AllOf(HasSubstr("expected integer in bytes/s, found string \"50GB\""),
                                  HasSubstr("write 50000000000 without quotes (in bytes/s)")));
  EXPECT_THAT(hint("50 GB/s"), HasSubstr("write 50000000000 "));
  EXPECT_THAT(hint("50GiB/s"), HasSubstr("write 53687091200 "));
  EXPECT_THAT(hint("50Gb"), HasSubstr("write 6250000000 "));
  EXPECT_THAT(hint("50 furlongs"), HasSubstr("write the number alone, without quotes (in bytes/s)"));
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring", "ring": {"link_latency_ns": "20us"})")),
              HasSubstr("write 20000 without quotes (in ns)"));
}

TEST(BadScenarios, S21NpuThatDoesNotExist) {
  const auto issues = faults_of(scenario_text(R"("kind": "ring")", R"("kind": "collective",
    "collective": {"ranks": [0, 20], "absent": [9]}, "messages": [{"from": 3, "to": 20, "bytes": 1}])"));
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].pointer, "/workload/collective/ranks/1");
  EXPECT_EQ(issues[0].text, "found 20; the wafer has NPUs 0..3");
  EXPECT_EQ(issues[1].pointer, "/workload/messages/0/to");
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring", "link_rates": {"npu3->npu4": 5})")),
              HasSubstr("npu4 does not exist; allowed 0..3"));
  EXPECT_THAT(
      message_of(scenario_text(
          R"("kind": "mesh2d", "mesh2d": {"columns": 2, "rows": 2}, "link_rates": {"x1y0->x2y0": 5})")),
      HasSubstr("x2y0 does not exist; allowed x 0..1, y 0..1"));
}

TEST(BadScenarios, S22LinkToItself) {
  EXPECT_THAT(message_of(scenario_text(R"("kind": "ring", "link_rates": {"npu2->npu2": 5})")),
              HasSubstr("/wafer/fabric/link_rates/npu2->npu2: link joins NPU 2 to itself"));
  EXPECT_THAT(
      message_of(scenario_text(R"("kind": "ring")",
                               R"("kind": "collective", "messages": [{"from": 3, "to": 3, "bytes": 1}])")),
      HasSubstr("/workload/messages/0: message joins NPU 3 to itself"));
}

TEST(BadScenarios, S23SidesOfTheWafer) {
  const auto mesh = faults_of(scenario_text(R"("kind": "mesh2d", "mesh2d": {"columns": 4, "rows": 5})",
                                            R"("kind": "collective")", 19));
  ASSERT_THAT(mesh, SizeIs(1));
  EXPECT_EQ(mesh[0].pointer, "/wafer/fabric/mesh2d");
  EXPECT_THAT(mesh[0].text,
              HasSubstr("columns 4 * rows 5 = 20, but /wafer/npus is 19; sides that give 19: 19 and 1"));
  EXPECT_THAT(
      message_of(scenario_text(R"("kind": "fred")", R"("kind": "collective")", 12)),
      HasSubstr("l1_switches 5 * npus_per_l1 4 = 20, but /wafer/npus is 12; sides that give 12: 4 and 3"));
}

TEST(BadScenarios, S24TooManyRanks) {
  const auto issues = faults_of(scenario_text(
      R"("kind": "ring")", R"("kind": "collective", "parallelism": {"mp": 4, "dp": 3, "pp": 2})", 20));
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(
      issues[0].text,
      "/workload/parallelism/mp 4 * /workload/parallelism/dp 3 * /workload/parallelism/pp 2 = 24 ranks, but "
      "/wafer/npus is 20; a combination that fits: mp 4, dp 2, pp 2");
}

TEST(BadScenarios, S25BatchThatDoesNotDivide) {
  const auto issues = faults_of(scenario_text(
      R"("kind": "ring")", R"("kind": "resnet152", "samples_per_replica": 30, "microbatches": 4)"));
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/workload/samples_per_replica");
  EXPECT_EQ(
      issues[0].text,
      "found 30, which /workload/microbatches 4 does not divide: remainder 2; nearest that divide: 28, 32");
}

TEST(BadScenarios, S26IsToldWithItsPlaceAfterwards) {
  const Document document = parse_document(scenario_text(), "test.json");
  const auto located = locate(document, {{"", 0, 0, "/workload/kind", "does not fit"}});
  ASSERT_THAT(located, SizeIs(1));
  EXPECT_EQ(located[0].format(), "test.json:1:79: /workload/kind: does not fit");
}

TEST(BadScenarios, S27RankTwice) {
  const auto issues = faults_of(
      scenario_text(R"("kind": "ring")", R"("kind": "collective", "collective": {"ranks": [0, 1, 1, 3]})"));
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/workload/collective/ranks/2");
  EXPECT_EQ(issues[0].text, "rank 1 is already at index 1");
}

TEST(BadScenarios, S28ZeroBytesIsLegalWithOneWarning) {
  std::vector<Issue> warnings;
  const auto issues = faults_of(
      scenario_text(R"("kind": "ring")", R"("kind": "collective", "collective": {"bytes": 0})"), &warnings);
  EXPECT_THAT(issues, IsEmpty());
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].pointer, "/workload/collective/bytes");
  EXPECT_THAT(warnings[0].text, HasSubstr("all_reduce of 0 bytes"));
}

TEST(BadScenarios, FaultsOfAllKindsComeTogetherInFileOrder) {
  const auto issues = faults_of(R"({"version": 1,
    "workload": {"kind": "colective"},
    "name": 3,
    "wafer": {"npus": "4",
      "fabric": {"kind": "ring", "rings": 1}}})");
  ASSERT_THAT(issues, SizeIs(4));
  for (std::size_t i = 1; i < issues.size(); ++i) EXPECT_LT(issues[i - 1].line, issues[i].line);
}

}  // namespace
}  // namespace wafervp

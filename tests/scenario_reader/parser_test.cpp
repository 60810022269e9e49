// SPDX-License-Identifier: Apache-2.0
// Is JSON read strictly, and are the faults of its text placed and told?
#include "scenario/json_parser.h"

#include "scenario/text.h"
#include "support.h"

namespace wafervp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<Issue> syntax_of(const std::string& text) {
  std::vector<Issue> issues;
  parse_json(text, "t", issues);
  return issues;
}

Json value_of(const std::string& text) {
  std::vector<Issue> issues;
  const Document document = parse_json(text, "t", issues);
  EXPECT_THAT(issues, SizeIs(0)) << text;
  return document.value;
}

TEST(Parser, ReadsWhatAnIndependentParserReads) {
  for (const char* text :
       {R"({"a": [1, -2, 0.5, 1e3, -0, 1E-2, true, false, null, "x"], "b": {"": {}}, "c": []})",
        R"("\" \\ \/ \b \f \n \r \t \u00e9 \ud83d\ude00 é")", "  12  ", "18446744073709551615",
        "-9223372036854775808", "9223372036854775808", "1e308", "5e-324", "123456789012345678901234567890"}) {
    EXPECT_EQ(value_of(text), Json::parse(text)) << text;
  }
}

TEST(Parser, RefusesWhatAnIndependentParserRefuses) {
  for (const char* text : {"{",
                           "}",
                           "[1",
                           "[1,]",
                           "{\"a\" 1}",
                           "{\"a\":}",
                           "{a: 1}",
                           "{'a': 1}",
                           "01",
                           "+1",
                           ".5",
                           "1.",
                           "1e",
                           "0x10",
                           "tru",
                           "True",
                           "nul",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"a\nb\"",
                           "\"\x01\"",
                           "[1 2]",
                           "1 2",
                           "[,]",
                           "{,}",
                           "nan",
                           "1e999",
                           "-",
                           "",
                           "\"\\",
                           "[1;2]",
                           "{\"a\":1 \"b\":2}",
                           "/",
                           "\xc3"}) {
    EXPECT_FALSE(Json::accept(text)) << text;
    const auto issues = syntax_of(text);
    ASSERT_FALSE(issues.empty()) << text;
    EXPECT_FALSE(issues[0].text.empty()) << text;
  }
}

TEST(Parser, FaultsHaveTheirPlace) {
  const auto place = [](const std::string& text) { return syntax_of(text).at(0).format(); };
  EXPECT_EQ(place("{\"a\": 1\n \"b\": 2}"), "t:2:2: expected , or } in an object, found a string");
  EXPECT_EQ(place("{\"é\": 'x'}"), "t:1:7: /é: expected a value, found '; strings stand in double quotes");
  EXPECT_EQ(place("[1, {\"x\": True}]"), "t:1:11: /1/x: expected a value, found True; did you mean true?");
  EXPECT_EQ(place("{npus: 8}"), "t:1:2: expected a member name in double quotes, found npus");
  EXPECT_EQ(place("[007]"), "t:1:2: /0: 007 is not a JSON number; remove the leading zero");
  EXPECT_EQ(place("[1e999]"),
            "t:1:2: /0: 1e999 does not fit in a 64-bit floating-point number; expected a finite number");
  EXPECT_EQ(place("{\"a\": \"no end}\n"), "t:1:7: /a: this string has no closing quote in its line");
  EXPECT_EQ(place("{\"a\": 1"), "t:1:8: expected , or } in an object, found end of file");
}

TEST(Parser, DuplicateMembersAreToldWithBothPlaces) {
  const auto issues = syntax_of("{\"a\": 1,\n\"b\": {\"c\": 1, \"c\": 2},\n\"a\": 3}");
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].format(), "t:2:15: /b/c: duplicate member; it is already in line 2");
  EXPECT_EQ(issues[1].format(), "t:3:1: /a: duplicate member; it is already in line 1");
}

TEST(Parser, GoesOnAfterFaultsThatLeaveTheStructureClear) {
  EXPECT_THAT(syntax_of("{\"a\": NaN, // x\n \"b\": 01, \"b\": [1,], \"c\": \"\xff\", \"d\": nope,}"),
              SizeIs(8));
}

TEST(Parser, DeepNestingIsRefusedWithoutDeepRecursion) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += open;
    const auto issues = syntax_of(text);
    ASSERT_THAT(issues, SizeIs(1));
    EXPECT_THAT(issues[0].text, HasSubstr("nested deeper than 64 levels"));
  }
}

TEST(Parser, TheNumberOfValuesAndOfFaultsIsBounded) {
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  EXPECT_THAT(syntax_of(many + "]").at(0).text, HasSubstr("more than 500000 values"));
  std::string wrong = "[NaN";
  for (int i = 0; i < 1000; ++i) wrong += ",NaN";
  EXPECT_THAT(syntax_of(wrong + "]"), SizeIs(kMaxIssues));
}

TEST(Text, NearestWord) {
  const std::vector<std::string> words{"ring", "switch", "mesh2d", "fred", "link_latency_ns"};
  EXPECT_EQ(nearest_word("rnig", words), "ring");
  EXPECT_EQ(nearest_word("RING", words), "ring");
  EXPECT_EQ(nearest_word("mesh", words), "mesh2d");
  EXPECT_EQ(nearest_word("lateny_ns", words), "link_latency_ns");
  EXPECT_EQ(nearest_word("torus", words), "");
  EXPECT_EQ(nearest_word("", words), "");
}

TEST(Text, Utf8) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\xc3\xa9"), 2u);
  EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_EQ(utf8_length(bad), 0u);
  }
  EXPECT_EQ(quote("a\"\n\x01\xff é"), "\"a\\\"\\n\\x01\\xff é\"");
  EXPECT_THAT(quote(std::string(1000, 'x')), SizeIs(65));
}

TEST(Text, Pointers) {
  EXPECT_EQ(pointer_token("a/b~c"), "a~1b~0c");
  EXPECT_THAT(pointer_names("/a~1b~0c/0/"), ::testing::ElementsAre("a/b~c", "0", ""));
  EXPECT_THAT(pointer_names(""), SizeIs(0));
}

}  // namespace
}  // namespace wafervp

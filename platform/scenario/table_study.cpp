// SPDX-License-Identifier: Apache-2.0
#include "scenario/study_members.h"
#include "scenario/table.h"
#include "scenario/version.h"

#define FIELD(member) \
  [](StudyMembers & study) -> auto& { return study.member; }

#define BESIDE(member) \
  [](BesideMember & beside) -> auto& { return beside.member; }

namespace wafervp {

void describe_study(std::vector<Descriptor>& all) {
  Table<StudyMembers> table(all);
  table
      .add("/$schema", ValueType::kText, "", Json(),
           "Address of the JSON Schema, for editors; it has no effect.")
      .default_note = "none";
  all.back().most = 4096;
  table
      .integer("/version", "", Json(), kScenarioVersion, kScenarioVersion, "Version of the format.",
               FIELD(version))
      .required = true;
  table
      .add("/base", ValueType::kText, "", Json(),
           "Scenario that every variant is merged onto, relative to this file.")
      .default_note = "none";
  all.back().most = 4096;
  table.text("/name", "", 200, "Name, for reports.", FIELD(name));
  table.text("/comment", "", 100000, "Anything; it has no effect.", FIELD(comment));
  table.add("/scenario", ValueType::kPatch, "", Json::object(), "Merged onto the base for all variants.");
  table
      .add("/variants", ValueType::kNamed, "", Json(),
           "Named patches, each merged onto base and `scenario` (RFC 7386); their order is kept.")
      .required = true;
  table.add(
      "/grid", ValueType::kNamed, "", Json::object(),
      "JSON pointer into the scenario and a list of values; every variant runs at every point of the cross "
      "product.");
  table.text("/compare_to", "", kMaxVariantName, "Variant that speed-ups are taken over.", FIELD(compare_to));
  table.add(
      "/published", ValueType::kNamed, "", Json::object(),
      "Published figures: variant, then speedup or time_over_mesh, then value, source and perhaps a note.");
  table.object("/calibrate",
               "Fit of one parameter to a target of one variant; the other variants are predicted.");
  table
      .text("/calibrate/parameter", Json(), 1000, "JSON pointer of a number or integer of the scenario.",
            FIELD(calibrate.parameter))
      .required = true;
  table.number("/calibrate/low", "", Json(), 0, 1e300, "Lower end of the search.", FIELD(calibrate.low))
      .required = true;
  table.number("/calibrate/high", "", Json(), 0, 1e300, "Upper end of the search.", FIELD(calibrate.high))
      .required = true;
  table
      .text("/calibrate/variant", Json(), kMaxVariantName, "Variant that is fitted.",
            FIELD(calibrate.variant))
      .required = true;
  table.name("/calibrate/quantity", "speedup", {"speedup", "time_over_mesh"},
             "Quantity that is fitted: speed-up over compare_to, or its inverse.", FIELD(calibrate.quantity));
  Descriptor& target = table.number("/calibrate/target", "", Json(), 0, 1e6,
                                    "Value that the quantity shall have.", FIELD(calibrate.target));
  target.required = target.above_low = true;
  table.add("/calibrate/patch", ValueType::kPatch, "", Json::object(),
            "Merged onto every variant for the fit.");
  table.records<BesideMember>(
      "/beside", kMaxBeside,
      "Figures of other studies, such as those with the other setting of a convention, that are run too and "
      "shown under the table of this one. Their own members `beside` are not followed.",
      FIELD(beside), [](Table<BesideMember> members) {
        members.text("/label", Json(), 200, "What is different there.", BESIDE(label)).required = true;
        members.text("/study", Json(), 4096, "File of the study, relative to this file.", BESIDE(study))
            .required = true;
        members.text("/variant", Json(), kMaxVariantName, "Variant of that study.", BESIDE(variant))
            .required = true;
      });
}

}  // namespace wafervp

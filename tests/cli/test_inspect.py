# SPDX-License-Identifier: Apache-2.0
"""validate, schema, list, describe and compare."""

import json

from support import SCENARIO, CliTest, main, merge

STUDY = {
    "version": 1,
    "name": "study",
    "base": "small.json",
    "variants": {
        "ring": {},
        "fred": {"wafer": {"npus": 8, "fabric": {"kind": "fred", "fred": {"l1_switches": 2, "npus_per_l1": 4}}}},
    },
    "compare_to": "ring",
}


class Inspect(CliTest):
    def setUp(self):
        super().setUp()
        self.scenario()
        self.write("study.json", STUDY)

    def test_validate(self):
        text = self.expect(0, "validate", "small.json", "study.json").stdout
        self.assertIn("small.json: a scenario", text)
        # The channel-dependency graph of a ring of four has none with a dateline, that of a tree without one.
        self.assertIn("free of cycles, with a second channel", text)
        self.assertIn("fred: free of cycles", text)
        self.assertIn("study.json: a study of 2 variants", text)

    def test_describe_chips(self):
        # Five L1 switches of four NPUs; DP groups of three NPUs on three of them: the paper's m = 3 carries the six at
        # once, m = 2 does not.
        fred = {"npus": 20, "fabric": {"kind": "fred"}}
        workload = {"parallelism": {"mp": 3, "dp": 3, "pp": 2}, "placement": {"kind": "mp_pp_dp"},
                    "collective": {"groups": "dp"}}
        self.scenario("fred.json", {"wafer": fred, "workload": workload})
        text = self.expect(0, "describe", "fred.json", "--chips").stdout
        self.assertIn("chips: 5 slices, each of 5 Fred3(8) 1 Fred3(20)", text)
        self.assertIn("phase dp: 6 flows at the same time\n", text)
        self.assertIn("dp0: l1_0.up0, l1_1.up0, l1_3.up0 -> l1_0.up0, l1_1.up0, l1_3.up0", text)
        text = self.expect(0, "describe", "fred.json", "--chips", "--middles", "2").stdout
        self.assertIn("phase mp: 6 flows at the same time\n", text)
        self.assertIn("phase dp: 6 flows at the same time, which do not go together\n", text)
        self.assertIn("one after the other they take 2 rounds:", text)
        self.assertIn("--chips: the fabric is not fred", self.expect(0, "describe", "small.json", "--chips").stderr)
        self.assertIn("--chips", self.expect(2, "describe", "fred.json", "--middles", "2").stderr)
        self.assertIn("2 to 16", self.expect(2, "describe", "fred.json", "--chips", "--middles", "1").stderr)
        self.assertIn("--l2-chips", self.expect(2, "describe", "fred.json", "--chips", "--l2-chips", "3").stderr)

    def test_validate_reports_all_files(self):
        self.scenario("bad.json", {"wafer": {"npus": 0}})
        self.scenario("worse.json", {"workload": {"kind": "resnet"}})
        done = self.expect(2, "validate", "small.json", "bad.json", "worse.json")
        self.assertEqual(done.stdout, "")
        self.assertIn("bad.json", done.stderr)
        self.assertIn("worse.json", done.stderr)

    def test_validate_builds_the_workload(self):
        self.scenario("bad.json", {"workload": {"collective": {"operation": "all_to_all", "algorithm": "ring"}}})
        self.assertIn("/workload/collective/algorithm", self.expect(2, "validate", "bad.json").stderr)

    def test_schema_accepts_what_the_program_accepts(self):
        import jsonschema

        scenario = json.loads(self.expect(0, "schema", "scenario").stdout)
        study = json.loads(self.expect(0, "schema", "study").stdout)
        jsonschema.Draft202012Validator.check_schema(scenario)
        jsonschema.Draft202012Validator.check_schema(study)
        jsonschema.validate(SCENARIO, scenario, jsonschema.Draft202012Validator)
        jsonschema.validate(STUDY, study, jsonschema.Draft202012Validator)
        self.expect(0, "run", "small.json", "--out", "o")
        jsonschema.validate(self.json_of("o/effective-scenario.json"), scenario, jsonschema.Draft202012Validator)
        with self.assertRaises(jsonschema.ValidationError):
            wrong = merge(SCENARIO, {"wafer": {"npus": "4"}})
            jsonschema.validate(wrong, scenario, jsonschema.Draft202012Validator)

    def test_parameter_table(self):
        self.assertIn("/wafer/npus", self.expect(0, "schema", "parameters").stdout)

    def test_list(self):
        text = self.expect(0, "list").stdout
        for word in ["fabrics", "operations", "algorithms", "workloads", "placements", "element types", "presets"]:
            self.assertIn(word, text)
            one = self.expect(0, "list", word).stdout
            self.assertIn(one.strip(), text)
        self.assertEqual(
            self.expect(0, "list", "fabrics").stdout.split("\n", 1)[1].split(), ["ring", "switch", "mesh2d", "fred"]
        )
        self.assertEqual(self.expect(0, "list", "element-types").stdout, self.expect(0, "list", "element_types").stdout)

    def test_each_listed_fabric_is_accepted(self):
        for fabric in self.expect(0, "list", "fabrics").stdout.split("\n", 1)[1].split():
            self.expect(0, "validate", "small.json", "--set", "/wafer/npus=20", "--set", f"/wafer/fabric/kind={fabric}")

    def test_describe(self):
        text = self.expect(0, "describe", "small.json", "--routes", "0:3").stdout
        for word in ["modules", "router", "links", "750.0 GB/s", "1 all_reduce", "communicators", "npu0 -> npu3"]:
            self.assertIn(word, text)
        text = self.expect(0, "describe", "study.json", "--variant", "fred").stdout
        for word in ["routes: free of cycles", "variant fred", "FRED: 2 L1 switches of 4 NPUs", "l1_0 x4, l1_1 x4", "L1 + L2"]:
            self.assertIn(word, text)
        self.assertNotIn("variant ring", text)

    def test_describe_wrong_arguments(self):
        self.assertIn("0..3", self.expect(2, "describe", "small.json", "--routes", "0:4").stderr)
        self.assertIn("FROM:TO", self.expect(2, "describe", "small.json", "--routes", "0").stderr)
        self.assertIn("did you mean fred?", self.expect(2, "describe", "study.json", "--variant", "frd").stderr)

    def test_compare(self):
        self.expect(0, "run", "study.json", "--out", "s")
        self.expect(0, "run", "small.json", "--out", "one")
        lines = self.expect(0, "compare", "one", "s", "s/fred/").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["result", "one", "s/ring", "s/fred", "s/fred"])
        self.assertIn("1.0000", lines[2])
        self.assertEqual([line.split()[1] for line in lines], ["name", "small", "study", "study", "small"])


if __name__ == "__main__":
    main()

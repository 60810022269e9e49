# SPDX-License-Identifier: Apache-2.0
"""validate, schema, list, describe and compare."""

import json
import re

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

    def fred(self, name, parallelism, **members):
        """All-reduces of the DP groups on five L1 switches of four NPUs."""
        workload = {"parallelism": parallelism, "placement": {"kind": "mp_pp_dp"},
                    "collective": {"groups": "dp", "algorithm": "in_switch"}}
        wafer = {"npus": 20, "io": {"controllers": 18}, "fabric": {"kind": "fred", "fred": members}}
        self.scenario(name, {"wafer": wafer, "workload": workload})

    def test_describe_routes_of_fred(self):
        # DP groups of three NPUs on three L1 switches: the paper's m = 3 carries the six at once, m = 2 does not.
        self.fred("fred.json", {"mp": 3, "dp": 3, "pp": 2})
        text = self.expect(0, "describe", "--routes", "fred.json").stdout
        self.assertIn("FRED routes: 5 slices, each of 2 Fred3(11) 3 Fred3(12) 1 Fred3(20)", text)
        self.assertIn("phase dp all_reduce: 6 flows at the same time, routed\n", text)
        self.assertIn("dp[0]: l1_0.up0, l1_1.up0, l1_3.up0 -> l1_0.up0, l1_1.up0, l1_3.up0; middle networks", text)
        self.assertRegex(text, r"l2 +Fred3\(20\) +1 +119 +119 +12")
        self.assertIn("all 151 (MP, DP, PP) of 2 to 20 ranks in consecutive placement, 344 phases", text)
        self.assertIn("up ports in_order: 0\n", text)
        two = ["--set", "/wafer/fabric/fred/middles=2"]
        done = self.expect(0, "describe", "--routes", "fred.json", *two)
        self.assertIn("phase dp all_reduce: 6 flows at the same time, which cannot all be routed at once\n", done.stdout)
        self.assertRegex(done.stdout, r"serialise +2 rounds.*: dp\[")
        self.assertRegex(done.stdout, r"more_middles +m = 3 carries all at once")
        self.assertRegex(done.stdout, r"endpoint_ring +dp\[\d\] as a ring of 3, each of which sends 1.33 of its bytes")
        self.assertRegex(done.stdout, r"move_workers +all phases of mp 3, dp 3, pp 2 at once with --set")
        self.assertIn("up ports in_order: 31", done.stdout)
        self.assertIn("up ports searched: 23", done.stdout)
        self.assertIn("phase dp all_reduce: its 6 flows cannot all be routed at once", done.stderr)
        self.assertIn("cannot all be routed at once", self.expect(0, "validate", "fred.json", *two).stderr)

    def test_the_placement_that_describe_proposes_has_no_conflict(self):
        self.fred("ports.json", {"mp": 1, "dp": 3, "pp": 5}, l2_chips=2)
        text = self.expect(0, "describe", "--routes", "ports.json").stdout
        self.assertIn("No up ports would do for all of these; an L2 chip has 2 ports for each L1:", text)
        self.assertRegex(text, r"more_middles +no number of middle networks")
        patch = text.split("--set '")[1].split("'")[0]
        done = self.expect(0, "validate", "ports.json", "--set", patch)
        self.assertNotIn("cannot all be routed", done.stderr)

    def test_describe_area_of_fred(self):
        self.fred("fred.json", {"mp": 1, "dp": 20, "pp": 1}, l2_chips=2)
        text = self.expect(0, "describe", "fred.json").stdout
        self.assertRegex(text, r"Fred3\(12\) +15 +685 mm2 +10275 mm2 +3.75 W")
        self.assertRegex(text, r"Fred3\(10\) +10 +814 mm2 +8140 mm2 +not known +assumption")
        self.assertRegex(text, r"all +35 +25195 mm2 +179.35 W in all")
        self.assertRegex(self.expect(0, "describe", "fred.json", "--set", "/wafer/fabric/fred/l2_chips=1").stdout,
                         r"all +30 +not known +not known")

    def test_structural_switches(self):
        self.fred("fred.json", {"mp": 3, "dp": 3, "pp": 2})
        self.assertIn('found "rtl", which is not there yet; allowed: behavioural, structural',
                      self.expect(2, "validate", "fred.json", "--set", "/detail/fred_switch=rtl").stderr)
        small = ["--set", "/detail/fred_switch=structural", "--set", "/wafer/fabric/fred/store_bytes=100"]
        for command in (["validate", "fred.json"], ["run", "fred.json", "--out", "small"]):
            error = self.expect(2, *command, *small).stderr
            for word in ["/wafer/fabric/fred/store_bytes", "switch l2, Fred3(20)", "phase dp all_reduce", "119 bytes"]:
                self.assertIn(word, error)
        self.assertIn("expected a divisor of the 3 up ports",
                      self.expect(2, "validate", "fred.json", "--set", "/wafer/fabric/fred/up_ports=3", "--set",
                                  "/wafer/fabric/fred/l2_chips=2").stderr)

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
        codecs = self.expect(0, "list", "codecs").stdout
        self.assertIn(codecs.strip(), text)
        names = re.findall(r"^  (\w+): ", codecs, re.MULTILINE)
        self.assertEqual(
            names,
            ["bypass", "cast", "int8", "int4", "top_k", "threshold", "low_rank", "subspace", "lossless", "zfp"],
        )
        for word in ["block", "assumed_ratio", "every bit", "two rounds", "backward only"]:
            self.assertIn(word, codecs)
        self.assertEqual(self.expect(0, "list", "element-types").stdout, self.expect(0, "list", "element_types").stdout)

    def test_each_listed_fabric_is_accepted(self):
        for fabric in self.expect(0, "list", "fabrics").stdout.split("\n", 1)[1].split():
            self.expect(0, "validate", "small.json", "--set", "/wafer/npus=20", "--set", f"/wafer/fabric/kind={fabric}")

    def test_describe(self):
        text = self.expect(0, "describe", "small.json", "--between", "0:3").stdout
        for word in ["modules", "router", "links", "750.0 GB/s", "1 all_reduce", "communicators", "npu0 -> npu3"]:
            self.assertIn(word, text)
        text = self.expect(0, "describe", "study.json", "--variant", "fred").stdout
        for word in ["routes: free of cycles", "variant fred", "FRED: 2 L1 switches of 4 NPUs", "l1_0 x4, l1_1 x4", "L1 + L2"]:
            self.assertIn(word, text)
        self.assertNotIn("variant ring", text)

    def test_describe_wrong_arguments(self):
        self.assertIn("0..3", self.expect(2, "describe", "small.json", "--between", "0:4").stderr)
        self.assertIn("FROM:TO", self.expect(2, "describe", "small.json", "--between", "0").stderr)
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

# SPDX-License-Identifier: Apache-2.0
"""`wafervp run` of single scenarios: files, tables, exit statuses."""

import csv
import json

from support import DEADLOCK, SCENARIO, CliTest, main

PARTS = ["compute", "input_load", "mp", "dp", "pp", "weight_streaming", "idle"]


class Run(CliTest):
    def test_files(self):
        done = self.expect(0, "run", self.scenario(), "--out", "out")
        self.assertEqual(sorted(self.files_in("out")), ["effective-scenario.json", "links.csv", "result.json"])
        result = self.json_of("out/result.json")
        self.assertEqual(result["status"], "ok")
        self.assertGreater(result["time_ps"], 0)
        self.assertEqual(sorted(result["breakdown_ps"]), sorted(PARTS))
        self.assertEqual(sum(result["breakdown_ps"].values()), result["time_ps"])
        self.assertEqual(len(result["npus"]), 4)
        self.assertEqual(result["collectives"][0]["ranks"], 4)
        self.assertGreaterEqual(result["collectives"][0]["time_ps"], result["collectives"][0]["bound_ps"])
        with open(self.folder / "out/links.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([r["name"] for r in rows], [link["name"] for link in result["links"]])
        self.assertEqual([int(r["bytes"]) for r in rows], [link["bytes"] for link in result["links"]])
        for word in ["small: ok", "all_reduce", "most loaded links", "results in out"]:
            self.assertIn(word, done.stdout)
        self.assertEqual(done.stderr, "")

    def test_default_folder_is_the_name(self):
        self.expect(0, "run", self.scenario(patch={"name": "a b/c"}))
        self.assertIn("result.json", self.files_in("results/a_b_c"))

    def test_the_effective_scenario_gives_the_same_result(self):
        self.expect(0, "run", self.scenario(), "--out", "a")
        self.expect(0, "run", "a/effective-scenario.json", "--out", "b")
        self.assertEqual(self.files_in("a"), self.files_in("b"))

    def test_two_runs_give_the_same_bytes(self):
        self.scenario()
        for out in ["a", "b"]:
            self.expect(0, "run", "small.json", "--trace", "--out", out)
        self.assertEqual(self.files_in("a"), self.files_in("b"))

    def test_files_hold_no_path(self):
        self.expect(0, "run", self.scenario(), "--out", "out")
        for name, content in self.files_in("out").items():
            self.assertNotIn(str(self.folder).encode(), content, name)

    def test_quiet(self):
        self.assertEqual(self.expect(0, "run", self.scenario(), "--quiet").stdout, "")

    def test_set(self):
        self.scenario()
        self.expect(0, "run", "small.json", "--out", "o", "--set", "/wafer/npus=6", "--set", "/name=six")
        self.assertEqual(self.json_of("o/effective-scenario.json")["wafer"]["npus"], 6)
        self.assertEqual(self.json_of("o/result.json")["name"], "six")

    def test_statistics_off(self):
        self.scenario()
        self.expect(0, "run", "small.json", "--out", "o", "--set", "/outputs/statistics=false")
        self.assertEqual(sorted(self.files_in("o")), ["effective-scenario.json", "result.json"])
        result = self.json_of("o/result.json")
        for name in ["links", "npus", "collectives"]:
            self.assertNotIn(name, result)

    def test_trace(self):
        self.expect(0, "run", self.scenario(), "--trace", "--out", "o")
        events = self.json_of("o/trace.json")["traceEvents"]
        self.assertTrue([e for e in events if e["ph"] == "X"])
        self.assertIs(self.json_of("o/effective-scenario.json")["outputs"]["trace"], True)
        # A later run without it leaves none that is not its own.
        self.expect(0, "run", "small.json", "--out", "o")
        self.assertNotIn("trace.json", self.files_in("o"))

    def test_standard_input(self):
        self.expect(0, "run", "-", "--out", "o", input=json.dumps(SCENARIO))
        self.assertEqual(self.json_of("o/result.json")["name"], "small")

    def test_several_files(self):
        self.scenario("a.json", {"name": "a"})
        self.scenario("b.json", {"name": "b"})
        done = self.expect(0, "run", "a.json", "b.json", "--out", "o")
        self.assertLess(done.stdout.index("a: ok"), done.stdout.index("b: ok"))
        self.assertIn("a/result.json", self.files_in("o"))
        self.assertIn("b/result.json", self.files_in("o"))

    def test_nothing_runs_when_one_file_is_wrong(self):
        self.scenario("a.json", {"name": "a"})
        self.scenario("b.json", {"name": "b", "wafer": {"npus": 0}})
        done = self.expect(2, "run", "a.json", "b.json", "--out", "o")
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "o").exists())

    def test_without_a_name_the_file_is_the_title(self):
        self.scenario("plain.json", {"name": None})
        self.write("some.study.json", {"version": 1, "base": "plain.json", "variants": {"a": {}}})
        done = self.expect(0, "run", "plain.json", "some.study.json")
        self.assertRegex(done.stdout, "(?m)^plain: ok, ")
        self.assertRegex(done.stdout, "(?m)^some.study$")
        self.assertTrue((self.folder / "results/plain/result.json").exists())
        self.assertTrue((self.folder / "results/some.study/summary.json").exists())

    def test_a_name_that_no_log_line_has(self):
        self.scenario()
        for name in ["npu4", "rank4", "npu0->npu9", "0->4", "router1"]:
            done = self.expect(2, "run", "small.json", "--out", "o", "--log", "debug:" + name)
            self.assertIn(f'no line of the log has the name "{name}"', done.stderr)
            self.assertFalse((self.folder / "o/result.json").exists())
        for name in ["run", "npu3", "rank3", "npu0->npu1", "0->2"]:
            self.expect(0, "run", "small.json", "--out", "o", "--quiet", "--log", "debug:" + name)

    def test_warning_names_the_member(self):
        self.scenario(patch={"workload": {"collective": {"bytes": 0}}})
        done = self.expect(0, "run", "small.json", "--out", "o")
        self.assertIn("warning: small.json", done.stderr)
        self.assertIn("/workload/collective/bytes", done.stderr)


class Statuses(CliTest):
    def test_deadlock(self):
        done = self.expect(3, "run", self.scenario(patch=DEADLOCK), "--out", "o")
        self.assertEqual(self.json_of("o/result.json")["status"], "deadlock")
        self.assertIn("deadlock", done.stderr)

    def test_time_limit(self):
        done = self.expect(3, "run", self.scenario(patch={"limits": {"time_ns": 10}}), "--out", "o")
        self.assertEqual(self.json_of("o/result.json")["status"], "time_limit")
        self.assertIn("time_limit", done.stderr)

    def test_sizes_that_disagree(self):
        self.scenario(patch={"workload": {"collective": {"bytes_of": {"2": 4096}}}})
        self.expect(1, "run", "small.json", "--out", "o")
        self.assertEqual(self.json_of("o/result.json")["status"], "check_failed")

    def test_unsupported_combination(self):
        self.scenario(patch={"workload": {"collective": {"operation": "all_to_all", "algorithm": "ring"}}})
        done = self.expect(2, "run", "small.json", "--out", "o")
        self.assertIn("small.json", done.stderr)
        self.assertIn("/workload/collective/algorithm", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "o").exists())

    def test_wall_clock_limit(self):
        patch = {"workload": {"collective": {"repeats": 1000000, "bytes": 1 << 20}}, "limits": {"wall_s": 0.5}}
        done = self.expect(3, "run", self.scenario(patch=patch), "--out", "o")
        self.assertIn("the limit of 0.5 s of wall-clock time (/limits/wall_s) is reached; 4 of 4 ranks are not done", done.stderr)
        self.assertRegex(done.stderr, "NPU 0: command [0-9]+: all_reduce of 1048576 bytes on all")

    def test_the_worst_of_several(self):
        self.scenario("a.json", merge_name("a", DEADLOCK))
        self.scenario("b.json", {"name": "b"})
        self.expect(3, "run", "a.json", "b.json")


def merge_name(name, patch):
    return {**patch, "name": name}


if __name__ == "__main__":
    main()

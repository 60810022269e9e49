# SPDX-License-Identifier: Apache-2.0
"""Studies: variants, summary, resuming, calibration."""

import csv

from support import DEADLOCK, SCENARIO, CliTest, main, merge

STUDY = {
    "version": 1,
    "name": "study",
    "base": "small.json",
    "variants": {
        "slow": {},
        "fast": {"wafer": {"fabric": {"ring": {"link_bytes_per_s": 3000000000000}}}},
        "other": {"wafer": {"fabric": {"ring": {"link_bytes_per_s": 1500000000000}}}},
    },
    "compare_to": "slow",
    "published": {"fast": {"speedup": {"value": 3.5, "source": "nowhere"}}},
}
# A step whose compute time is free: ResNet-152 on four NPUs.
TRAINING = merge(SCENARIO, {"workload": {"kind": "resnet152", "collective": None}})
CALIBRATED = merge(
    STUDY,
    {
        "calibrate": {
            "parameter": "/workload/compute/fixed_ns",
            "low": 1000,
            "high": 1000000000,
            "variant": "fast",
            "quantity": "speedup",
            "target": 1.5,
            "patch": {"workload": {"compute": {"mode": "fixed"}}},
        }
    },
)


class Study(CliTest):
    def setUp(self):
        super().setUp()
        self.scenario()
        self.write("study.json", STUDY)

    def test_summary(self):
        done = self.expect(0, "run", "study.json", "--out", "o")
        summary = self.json_of("o/summary.json")
        rows = {row["name"]: row for row in summary["variants"]}
        self.assertEqual(list(rows), ["slow", "fast", "other"])
        self.assertEqual(summary["compare_to"], "slow")
        for name, row in rows.items():
            self.assertEqual(row["status"], "ok")
            self.assertEqual(row["time_ps"], self.json_of(f"o/{name}/result.json")["time_ps"])
            self.assertAlmostEqual(row["speedup"], rows["slow"]["time_ps"] / row["time_ps"])
            self.assertNotIn("uncalibrated", row)
        published = rows["fast"]["published"]["speedup"]
        self.assertEqual(published["value"], 3.5)
        self.assertAlmostEqual(published["difference"], rows["fast"]["speedup"] - 3.5)
        with open(self.folder / "o/summary.csv") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([r["name"] for r in table], list(rows))
        self.assertEqual(float(table[1]["published_speedup"]), 3.5)
        for word in ["speed-up over slow", "fast", "3.5"]:
            self.assertIn(word, done.stdout)

    def test_figures_of_other_studies_stand_beside(self):
        self.write("training.json", TRAINING)
        self.write("other.json", merge(CALIBRATED, {"name": "elsewhere", "base": "training.json", "variants": {
            "slower": {"wafer": {"fabric": {"ring": {"link_bytes_per_s": 300000000000}}}}, "unused": {}}}))
        content = merge(CALIBRATED, {"base": "training.json",
                                     "beside": [{"label": "half as fast", "study": "other.json", "variant": "slower"}]})
        self.write("study.json", content)
        self.expect(0, "validate", "study.json")
        done = self.expect(0, "run", "study.json", "--out", "o")
        self.assertIn("for comparison", done.stdout)
        self.assertIn("half as fast: slower", done.stdout)
        summary = self.json_of("o/summary.json")
        self.assertEqual([row["name"] for row in summary["variants"]], ["slow", "fast", "other"])
        (row,) = summary["beside"]
        self.assertEqual((row["label"], row["study"], row["variant"]["name"]), ("half as fast", "elsewhere", "slower"))
        # The fit is the same, so that it is made once and the other study's own run gives the same figure.
        self.assertEqual(row["calibration"]["fitted_value"], summary["calibration"]["fitted_value"])
        self.expect(0, "run", "other.json", "--out", "alone")
        (alone,) = [r for r in self.json_of("alone/summary.json")["variants"] if r["name"] == "slower"]
        self.assertEqual(row["variant"]["time_ps"], alone["time_ps"])
        self.assertEqual(row["variant"]["speedup"], alone["speedup"])
        self.assertFalse((self.folder / "o/beside/half_as_fast/unused").exists())
        before = self.files_in("o")
        again = self.expect(0, "run", "study.json", "--out", "o")
        self.assertIn("9 of 9 runs are done already", again.stderr)
        self.assertIn("calibration.json is used", again.stderr)
        self.assertEqual(self.files_in("o"), before)
        changed = self.expect(0, "run", "study.json", "--out", "o", "--set", "/wafer/npus=6")
        self.assertIn("study: what the fit depends on has changed", changed.stderr)

    def test_a_study_beside_is_read_before_anything_runs(self):
        for beside, words in [
            ({"study": "missing.json", "variant": "fast"}, "missing.json"),
            ({"study": "small.json", "variant": "fast"}, "small.json is a scenario"),
            ({"study": "other.json", "variant": "fasst"}, 'found "fasst", which is no variant'),
        ]:
            self.write("other.json", STUDY)
            self.write("study.json", merge(STUDY, {"beside": [merge(beside, {"label": "x"})]}))
            done = self.expect(2, "run", "study.json", "--out", "o")
            self.assertIn("study.json:", done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "o").exists())

    def test_the_number_of_jobs_changes_no_byte(self):
        for jobs in ["1", "2", "5"]:
            self.expect(0, "run", "study.json", "--out", "jobs" + jobs, "--jobs", jobs)
        self.assertEqual(self.files_in("jobs1"), self.files_in("jobs2"))
        self.assertEqual(self.files_in("jobs1"), self.files_in("jobs5"))

    def test_a_variant_is_the_scenario_run_alone(self):
        self.expect(0, "run", "study.json", "--out", "o")
        self.expect(0, "run", "o/fast/effective-scenario.json", "--out", "alone")
        self.assertEqual(self.files_in("o/fast"), self.files_in("alone"))

    def test_set_reaches_every_variant(self):
        self.expect(0, "run", "study.json", "--out", "o", "--set", "/wafer/npus=6")
        for name in STUDY["variants"]:
            self.assertEqual(len(self.json_of(f"o/{name}/result.json")["npus"]), 6)

    def test_what_is_done_is_not_done_again(self):
        self.expect(0, "run", "study.json", "--out", "o")
        before = self.files_in("o")
        (self.folder / "o/summary.json").unlink()
        (self.folder / "o/fast/result.json").unlink()
        stamp = (self.folder / "o/slow/result.json").stat().st_mtime_ns
        done = self.expect(0, "run", "study.json", "--out", "o")
        self.assertIn("2 of 3 runs are done already", done.stderr)
        self.assertEqual((self.folder / "o/slow/result.json").stat().st_mtime_ns, stamp)
        self.assertEqual(self.files_in("o"), before)

    def test_what_is_not_repeated_is_said_again(self):
        for patch, status, words in [
            ({"workload": {"collective": {"bytes": 0}}}, 0, ": /workload/collective/bytes: all_reduce of 0 bytes"),
            (DEADLOCK, 3, "fast: deadlock"),
        ]:
            self.scenario(patch=patch)
            first = self.expect(status, "run", "study.json", "--out", "o")
            again = self.expect(status, "run", "study.json", "--out", "o")
            self.assertIn("3 of 3 runs are done already", again.stderr)
            self.assertEqual(again.stdout, first.stdout)
            for text in [first.stderr, again.stderr]:
                self.assertIn(words, text)

    def test_a_changed_variant_is_run_again(self):
        self.expect(0, "run", "study.json", "--out", "o")
        changed = merge(STUDY, {"variants": {"fast": {"wafer": {"npus": 8}}}})
        self.write("study.json", changed)
        done = self.expect(0, "run", "study.json", "--out", "o")
        self.assertIn("2 of 3 runs are done already", done.stderr)
        self.assertEqual(len(self.json_of("o/fast/result.json")["npus"]), 8)

    def test_a_broken_result_is_run_again(self):
        self.expect(0, "run", "study.json", "--out", "o")
        before = self.files_in("o")
        self.write("o/fast/result.json", "{")
        self.expect(0, "run", "study.json", "--out", "o")
        self.assertEqual(self.files_in("o"), before)

    def test_a_variant_that_fails_makes_a_row(self):
        failing = {
            "dead": DEADLOCK,
            "wrong": {"workload": {"collective": {"operation": "all_to_all", "algorithm": "ring"}}},
            "limit": {"limits": {"time_ns": 10}},
        }
        self.write("study.json", merge(STUDY, {"variants": failing}))
        done = self.run_wafervp("run", "study.json", "--out", "o")
        if done.returncode == 2:  # the combination is refused before anything runs
            self.assertIn("/workload/collective/algorithm", done.stderr)
            del failing["wrong"]
            self.write("study.json", merge(STUDY, {"variants": failing}))
            done = self.run_wafervp("run", "study.json", "--out", "o")
        self.assertEqual(done.returncode, 3, done.stderr)
        rows = {row["name"]: row for row in self.json_of("o/summary.json")["variants"]}
        self.assertEqual(rows["dead"]["status"], "deadlock")
        self.assertTrue(rows["dead"]["message"])
        self.assertIsNone(rows["dead"]["time_ps"])
        self.assertIsNone(rows["dead"]["speedup"])
        self.assertEqual(rows["limit"]["status"], "time_limit")
        if "wrong" in failing:
            self.assertEqual(rows["wrong"]["status"], "bad_input")
        self.assertEqual(rows["fast"]["status"], "ok")


class Calibrate(CliTest):
    def setUp(self):
        super().setUp()
        self.write("small.json", TRAINING)
        self.write("study.json", CALIBRATED)

    def test_run_fits_and_keeps_the_study_as_it_is_beside(self):
        done = self.expect(0, "run", "study.json", "--out", "o")
        summary = self.json_of("o/summary.json")
        calibration = summary["calibration"]
        self.assertEqual(calibration["fitted"], ["fast"])
        self.assertEqual(calibration["predicted"], ["other"])
        self.assertAlmostEqual(calibration["reached"], 1.5, places=5)
        rows = {row["name"]: row for row in summary["variants"]}
        self.assertAlmostEqual(rows["fast"]["speedup"], 1.5, places=5)
        # But for latencies T_slow = c + a, T_fast = c + a / 4, T_other = c + a / 2: 1.5 lies at c = 1.25 a.
        self.assertAlmostEqual(rows["other"]["speedup"], 2.25 / 1.75, delta=0.001)
        for name, row in rows.items():
            raw = self.json_of(f"o/uncalibrated/{name}/result.json")
            self.assertEqual(row["uncalibrated"]["time_ps"], raw["time_ps"])
            fixed = self.json_of(f"o/{name}/effective-scenario.json")["workload"]["compute"]
            self.assertEqual(fixed, {"mode": "fixed", "fixed_ns": calibration["fitted_value"]})
        for word in ["fitted", "predicted", "uncalibrated"]:
            self.assertIn(word, done.stdout)

    def test_the_fit_is_not_repeated(self):
        self.expect(0, "run", "study.json", "--out", "o")
        before = self.files_in("o")
        self.expect(0, "run", "study.json", "--out", "o")
        self.assertEqual(self.files_in("o"), before)

    def test_calibrate_prints_fitted_and_predicted_apart(self):
        text = self.expect(0, "calibrate", "study.json").stdout
        fitted, predicted = text.split("\npredicted\n")
        self.assertIn("  fast ", fitted)
        self.assertIn("  other ", predicted)
        self.assertNotIn("  fast ", predicted)
        self.assertFalse((self.folder / "results").exists())

    def test_options_replace_the_section(self):
        self.write("plain.json", STUDY)
        done = self.expect(2, "calibrate", "plain.json")
        self.assertIn("--parameter is needed", done.stderr)
        text = self.expect(
            0, "calibrate", "plain.json", "--parameter", "/workload/compute/fixed_ns", "--variant", "fast",
            "--target", "1.5", "--low", "1000", "--high", "1e9", "--set", "/workload/compute/mode=fixed",
        ).stdout  # fmt: skip
        self.assertIn("gives speedup 1.5000 of fast", text)

    def test_a_target_out_of_reach(self):
        self.write("study.json", merge(CALIBRATED, {"calibrate": {"target": 100}}))
        done = self.expect(1, "run", "study.json", "--out", "o")
        self.assertIn("the target 100 is not between", done.stderr)
        self.assertIsNone(self.json_of("o/summary.json")["calibration"]["fitted_value"])

    def test_time_over_mesh_is_the_inverse_of_the_speedup(self):
        self.write("study.json", merge(CALIBRATED, {"calibrate": {"quantity": "time_over_mesh", "target": 0.8}}))
        self.expect(0, "run", "study.json", "--out", "o")
        rows = {row["name"]: row for row in self.json_of("o/summary.json")["variants"]}
        self.assertAlmostEqual(rows["fast"]["speedup"], 1 / 0.8, places=5)

    def test_a_parameter_without_effect_is_told(self):
        self.write("study.json", merge(CALIBRATED, {"calibrate": {"patch": None}}))
        done = self.expect(1, "run", "study.json", "--out", "o")
        self.assertIn("/workload/compute/fixed_ns has no effect here", done.stderr)

    def test_wrong_sections(self):
        for patch, word in [
            ({"variant": "fst"}, "did you mean fast?"),
            ({"parameter": "/workload/kind"}, "/calibrate/parameter"),
            ({"low": 5, "high": 1}, "/calibrate"),
        ]:
            self.write("study.json", merge(CALIBRATED, {"calibrate": patch}))
            done = self.expect(2, "run", "study.json", "--out", "o")
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()

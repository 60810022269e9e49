# SPDX-License-Identifier: Apache-2.0
"""tools/reproduce: are the rows what they are said to be, are the files whole or not there, does it go on where it stopped?

usage: reproduce_test.py --wafervp PATH CASE"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from product import REPOSITORY, files, parser

TOOL = REPOSITORY / "tools" / "reproduce"
sys.path.insert(0, str(REPOSITORY / "tools"))

from reproduction import fred, table  # noqa: E402

WAFERVP = None
NAMES = ["fred.csv", "fred.json", "fred.md"]


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="wafervp-reproduce-")
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name, "out")

    def command(self, *words):
        return [sys.executable, str(TOOL), "fred", "--wafervp", WAFERVP, "--out", str(self.out), *words]

    def reproduce(self, *words, status=0):
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=3500, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def rows(self):
        return {row["id"]: row for row in json.loads((self.out / "fred.json").read_text())["rows"]}

    def tables(self):
        return sorted(path.name for path in self.out.glob("*fred*")) if self.out.exists() else []


class Table(Folder):
    ROW = {"id": "a.b", "section": "s", "item": "thing", "paper": 2.0, "unit": "GB/s", "source": "Fig. 1", "sure": "stated",
           "within": 0.01, "cause": "why"}

    def fill(self, outcome, **other):
        return table.fill({**self.ROW, **other}, outcome)

    def test_differences(self):
        self.assertEqual(self.fill(table.predicted(2.0))["difference"], 0)
        self.assertAlmostEqual(self.fill(table.predicted(1.5))["difference"], -0.25)
        for paper, ours, expected in (({"between": [1, 2]}, 1.5, 0), ({"between": [1, 2]}, 3, 0.5),
                                      ({"between": [2, 4]}, 1, -0.5), ({"at_most": 2}, -5, 0), ({"at_most": 2}, 3, 0.5),
                                      ({"at_least": 2}, 9, 0), ({"at_least": 2}, 1, -0.5), (0, 3, 3), (0, 0, 0)):
            self.assertAlmostEqual(self.fill(table.predicted(ours), paper=paper)["difference"], expected)

    def test_bounds_and_causes(self):
        near, far = self.fill(table.predicted(2.02)), self.fill(table.predicted(2.03))
        self.assertEqual((near["fits"], far["fits"]), (True, False))
        self.assertEqual((self.fill(table.predicted(2.009))["cause"], far["cause"]), ("", "why"))
        self.assertIsNone(self.fill(table.predicted(9.0), within=None)["fits"])
        self.assertEqual(self.fill(table.predicted("(1, 2, 3)"), paper="(1, 2, 3)")["fits"], True)
        self.assertEqual(self.fill(table.predicted("(1, 2, 4)"), paper="(1, 2, 3)")["fits"], False)
        missing = self.fill(("not measured yet", "no such thing"))
        self.assertEqual((missing["ours"], missing["kind"], missing["cause"], missing["fits"]),
                         (None, "not measured yet", "no such thing", None))

    def test_forms(self):
        rows = [self.fill(table.fitted(2.5)), self.fill(("not measured yet", "a | b"), id="c", section="t")]
        head = {"title": "T", "paper": "P", "program": "W", "sure": {"stated": "so"}}
        text = table.markdown(head, rows)
        self.assertIn("| thing | 2 GB/s | 2.5 GB/s | +25.0 % | fitted | why | Fig. 1 (stated) |", text)
        self.assertIn("| thing | 2 GB/s | - |  | not measured yet | a \\| b | Fig. 1 (stated) |", text)
        cells = list(csv.DictReader(table.as_csv(rows).splitlines()))
        self.assertEqual([cell["ours"] for cell in cells], ["2.5", ""])
        self.assertEqual([cell["fits"] for cell in cells], ["False", ""])

    def test_files_are_whole_or_not_there(self):
        self.out.mkdir()
        table.write_whole(self.out, {"one": "1", "two": "2"})
        self.assertEqual(files(self.out), {"one": b"1", "two": b"2"})
        (self.out / ".two.part").mkdir()
        with self.assertRaises(OSError):
            table.write_whole(self.out, {"one": "new", "two": "new"})
        self.assertEqual(files(self.out), {"one": b"1", "two": b"2"})

    def test_each_row_of_the_paper_has_one_measure(self):
        data = json.loads((REPOSITORY / "tools" / "reproduction" / "fred.json").read_text())
        measured = [row for ids, _, _ in fred.MEASURES for row in ids]
        self.assertEqual(sorted(measured), sorted(row["id"] for row in data["rows"]))
        for row in data["rows"]:
            self.assertTrue(row["source"] and (row["sure"] in data["sure"] or row["paper"] is None), row["id"])

    def test_strategies(self):
        self.assertEqual(len(fred.strategies(2, 20)), 151)
        of_20 = set(fred.strategies(20, 20))
        self.assertEqual(len(of_20), 18)
        for study in ("strategies_17b", "strategies_17b_best_mesh"):
            variants = json.loads((REPOSITORY / "scenarios" / "fred" / f"{study}.json").read_text())["variants"]
            for fabric in {fred.split_name(name)[0] for name in variants}:
                self.assertEqual(set(fred.by_strategy(variants, fabric)), of_20 | {(3, 3, 2)})
            microbatches = {1: 1, 2: 10, 4: 20, 5: 20, 10: 20, 20: 40}  # as the paper plots Transformer-17B
            for name, patch in variants.items():
                strategy = fred.split_name(name)[1]
                shape = patch["workload"]["parallelism"]
                self.assertEqual((shape["mp"], shape["dp"], shape["pp"]), strategy)
                self.assertEqual(patch["workload"]["microbatches"], microbatches[strategy[2]])

    def test_averages_of_seven(self):
        self.assertEqual(fred.middle_of_averages([2.0] * 9), (2.0, 2.0))
        low, high = fred.middle_of_averages([1.0] * 10 + [8.0])  # 330 of 11 over 7: 120 without the 8
        self.assertAlmostEqual(low, 1.0)
        self.assertAlmostEqual(high, 2.0)


class SomeRows(Folder):
    def test_traffic_and_bandwidth_against_their_formulas(self):
        self.reproduce("--only", "traffic", "--only", "mesh.wafer_wide", "--only", "best.wafer_wide", "--only", "flow.buffers",
                       "--only", "fred.", "--only", "wafer.", "--only", "streaming")
        self.assertEqual(self.tables(), NAMES)
        rows = self.rows()
        for n, published in ((20, 47), (5, 37.5), (4, 33), (3, 25), (2, 0)):
            row = rows[f"traffic.saved_{n}"]
            ring = 2 * (n - 1) / n
            self.assertAlmostEqual(row["ours"], (ring - 1) / ring, places=6)
            # The paper's figures have no digit behind the point, 37.5 has one.
            self.assertEqual(round(100 * row["ours"], 1 if n == 5 else 0), published)
        self.assertTrue(1485 <= rows["mesh.wafer_wide"]["ours"] <= 1500)
        # 31 edges of the mesh for the 19 of a tree: 2 * 19 / 20 * 750 * 31 / 19 at most.
        self.assertTrue(1500 < rows["best.wafer_wide"]["ours"] <= 2325)
        self.assertTrue(1485 <= rows["best.wafer_wide_ring_both"]["ours"] <= 1500)
        # Six packets in 40 ns and the time of one: 6 * 4096 B / (40 ns + 4096 B / 750 GB/s).
        self.assertAlmostEqual(rows["flow.buffers_24_kib"]["ours"], 6 * 4096 / (40 + 4096 / 750), delta=2)
        self.assertEqual([rows[f"fred.bisection_{v}"]["ours"] for v in "abcd"], [3.75, 3.75, 30, 30])
        self.assertEqual(rows["wafer.mesh_bisection"]["ours"], 3.75)
        # (2 N - 1) P with N the longer side, and as much again for what the other trees bring the other way.
        for mesh, one_way, both in (("4x4", 7, 10), ("5x4", 9, 12), ("8x8", 15, 18)):
            self.assertEqual(rows[f"streaming.hotspot_{mesh}"]["ours"], one_way)
            self.assertEqual(rows[f"streaming.hotspot_write_back_{mesh}"]["ours"], both)
        self.assertAlmostEqual(rows["streaming.factor"]["ours"], 750 / (9 * 128), delta=0.001 * 0.651)
        self.assertAlmostEqual(rows["streaming.factor_write_back"]["ours"], 750 / (12 * 128), delta=0.001 * 0.488)


class Command(Folder):
    def test_usage(self):
        self.assertIn("Exit status", self.reproduce("--help").stdout)
        listed = self.reproduce("--list", "--only", "fig9.mp2_").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed], [f"fig9.mp2_{v}" for v in "abcd"])
        for words, text in ((("--only", "fig99"), "--only"), (("--jobs", "0"), "--jobs"), (("--wafervp", "nowhere"), "nowhere"),
                            (("--wafervp", "/bin/true"), "/bin/true"), (("--what",), "--what")):
            self.assertIn(text, self.reproduce(*words, status=2).stderr)
            self.assertEqual(self.tables(), [])

    def test_goes_on_where_it_stopped(self):
        self.reproduce("--only", "fig9.mp2", "--only", "fig9.dp5")
        tables = {name: (self.out / name).read_bytes() for name in NAMES}
        times = {path: path.stat().st_mtime_ns for path in self.out.rglob("result.json")}
        self.assertEqual(len(times), 20)
        (self.out / "fred.md").unlink()
        self.reproduce("--only", "fig9.mp2", "--only", "fig9.dp5")
        self.assertEqual({name: (self.out / name).read_bytes() for name in NAMES}, tables)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.out.rglob("result.json")}, times)

    def test_a_failed_run_makes_rows_and_status_1(self):
        broken = self.out.parent / "wafervp"
        broken.write_text(f'#!/bin/sh\nfor w; do case "$w" in *traffic_saved*) exit 4;; esac; done\nexec "{WAFERVP}" "$@"\n')
        broken.chmod(0o755)
        self.reproduce("--wafervp", str(broken), "--only", "traffic", "--only", "wafer.npus", status=1)
        rows = self.rows()
        self.assertEqual(rows["traffic.saved_5"]["kind"], "failed")
        self.assertIn("status 4", rows["traffic.saved_5"]["cause"])
        self.assertEqual(rows["wafer.npus"]["ours"], 20)

    def test_interrupted_leaves_no_table(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(self.command("--only", "fig11.17b"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, start_new_session=True)
            self.addCleanup(process.kill)
            end = time.monotonic() + 20
            while not (self.out / "logs").exists() and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.3)
            process.send_signal(number)
            output, errors = process.communicate(timeout=20)
            self.assertEqual((process.returncode, output), (130, ""), errors)
            self.assertEqual(self.tables(), [])
            self.assertEqual(os.system(f"pgrep -g {process.pid} > /dev/null"), 256, "a run is left over")

    def test_files_that_cannot_be_written(self):
        self.out.write_text("in the way")
        self.assertIn("error:", self.reproduce("--only", "traffic", status=4).stderr)


class AllRows(Folder):
    def test_all(self):
        done = self.reproduce()
        print(done.stdout)
        self.assertEqual(self.tables(), NAMES)
        print((self.out / "fred.md").read_text())
        for row in self.rows().values():
            self.assertNotEqual(row["kind"], "failed", row)
            self.assertIsNot(row["fits"], False, row)
            if row["ours"] is not None and row["difference"] is not None and abs(row["difference"]) > 0.05:
                self.assertTrue(row["cause"], f"no cause is given: {row}")


def main():
    global WAFERVP
    options = parser()
    options.add_argument("case")
    args = options.parse_args()
    WAFERVP = str(pathlib.Path(args.wafervp).resolve())
    unittest.main(argv=[sys.argv[0], args.case], verbosity=2)


main()

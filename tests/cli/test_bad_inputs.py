# SPDX-License-Identifier: Apache-2.0
"""The shared set of wrong scenarios (tests/reference/scenarios) through the program: status 2, the message, no
output, below 1 s of processor time and 200 MB. S21 and S22 are said with `messages`, the links that a scenario has."""

import json
import os
import resource

from support import SCENARIO, CliTest, main, merge

TEXT = json.dumps(SCENARIO, indent=1)
TRAINING = {"kind": "transformer", "collective": None}


def patched(patch):
    return json.dumps(merge(SCENARIO, patch), indent=1)


def set_text(old, new):
    assert old in TEXT
    return TEXT.replace(old, new, 1)


# id: text of the file, words of the message
CASES = {
    "S01": (set_text('"kind": "ring"', '"kind": "ring",'), ["expected a member name", "}", "comma"]),
    "S02": ("// my wafer\n" + TEXT, [":1:1:", "comments are not JSON"]),
    "S03": (TEXT + "\n" + TEXT, ["expected end of file"]),
    "S04": (set_text("65536", "NaN"), ["/workload/collective/bytes", "NaN is not JSON"]),
    "S06": (set_text("small", "\udcff\udcfe").encode("utf-8", "surrogateescape"), ["not valid UTF-8", "/name", "\\xff"]),
    "S09": (" \n\n", ["file is empty"]),
    "S10": (patched({"wafer": {"fabric": {"ring": {"link_lateny_ns": 20}}, "npuss": 3}}),
            ["/wafer/fabric/ring", "link_lateny_ns", "link_latency_ns", "npuss"]),
    "S11": (patched({"workload": {"collective": {"algorithm": "rnig"}}}),
            ["/workload/collective/algorithm", '"rnig"', "hierarchical", "did you mean ring?"]),
    "S12": (patched({"wafer": {"npus": None}}), ["/wafer", "npus"]),
    "S13": (patched({"version": 99, "unknown": 1}), ["/version", "99", "1"]),
    "S14": (patched({"wafer": {"npus": "8"}}), ["/wafer/npus", "expected", 'string "8"', "quotes"]),
    "S15": (patched({"wafer": {"npus": 8.5}}), ["/wafer/npus", "integer", "8.5"]),
    "S16": (set_text('"npus": 4', '"npus": null'), ["/wafer/npus", "null"]),
    "S17": (patched({"wafer": {"fabric": {"ring": {"link_bytes_per_s": -750}}}}),
            ["/wafer/fabric/ring/link_bytes_per_s", "-750", "bytes/s"]),
    "S18": (patched({"wafer": {"npus": 0}}), ["/wafer/npus", "0", "1"]),
    "S19": (set_text('"npus": 4', '"npus": 1e30'), ["/wafer/npus", "1e30", "65536"]),
    "S20": (patched({"wafer": {"fabric": {"ring": {"link_bytes_per_s": "50GB"}}}}),
            ["/wafer/fabric/ring/link_bytes_per_s", "bytes/s", '"50GB"']),
    "S21": (patched({"workload": {"messages": [{"from": 3, "to": 20, "bytes": 1}]}}), ["/workload/messages/0/to", "20", "0..3"]),
    "S22": (patched({"workload": {"messages": [{"from": 2, "to": 2, "bytes": 1}]}}), ["/workload/messages/0", "2", "itself"]),
    "S23": (patched({"wafer": {"npus": 19, "fabric": {"kind": "mesh2d", "mesh2d": {"columns": 4, "rows": 5}}}}),
            ["4", "5", "20", "19"]),
    "S24": (patched({"wafer": {"npus": 20}, "workload": {**TRAINING, "parallelism": {"mp": 4, "dp": 3, "pp": 2}}}),
            ["/workload/parallelism", "24", "20"]),
    "S25": (patched({"workload": {**TRAINING, "samples_per_replica": 30, "microbatches": 4}}),
            ["/workload/", "30", "4", "28", "32"]),
    "S26": (patched({"workload": TRAINING, "memory": {"check": "error"}, "wafer": {"npu": {"hbm_bytes": 1000000000}}}),
            ["weights", "gradients", "optimiser", "activations"]),
    "S27": (patched({"workload": {"collective": {"ranks": [0, 1, 1, 3]}}}),
            ["/workload/collective/ranks/2", "already at index 1"]),
}  # fmt: skip
# Of our own, in the same form.
MORE = {
    "compute beyond simulated time": (
        patched({"wafer": {"npu": {"peak_flops_per_s": 4}}, "workload": {**TRAINING, "transformer": {"preset": "tiny"}}}),
        ["/wafer/npu/peak_flops_per_s", "9000000 s"]),
    "streaming without memory": (patched({"workload": {**TRAINING, "weights": "streaming"}}),
                                 ["/workload/weights", "/wafer/io/controllers is 0"]),
    "I/O controllers of a ring": (patched({"wafer": {"io": {"controllers": 4}}}), ["/wafer/io/controllers", "mesh2d or fred"]),
    "I/O controllers of a mesh": (
        patched({"wafer": {"fabric": {"kind": "mesh2d", "mesh2d": {"columns": 2, "rows": 2}}, "io": {"controllers": 7}}}),
        ["/wafer/io/controllers", "found 7", "= 8"]),
    "levels of FRED": (
        patched({"wafer": {"fabric": {"kind": "fred",
                                      "fred": {"l1_switches": 2, "npus_per_l1": 2, "upper_children": [3]}}}}),
        ["/wafer/fabric/fred/upper_children", "give 3", "is 2"]),
}  # fmt: skip


class BadInputs(CliTest):
    def check(self, name, words, *more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.expect(2, *(more or ["run"]), name, "--out", "o")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith(name), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "o").exists())
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
        self.assertLess(after.ru_maxrss, 200000)

    def test_shared_set(self):
        for case, (text, words) in CASES.items():
            with self.subTest(case):
                self.check(self.write("bad.json", text), words)

    def test_more(self):
        for case, (text, words) in MORE.items():
            with self.subTest(case):
                self.write("wrong.json", text)
                self.check("wrong.json", words)

    def test_as_a_base(self):
        for case, (text, _) in CASES.items():
            with self.subTest(case):
                if case in ["S12", "S13"]:
                    continue  # a base need not be whole
                self.write("below.json", text)
                self.write("top.json", {"version": 1, "base": "below.json"})
                done = self.expect(2, "run", "top.json", "--out", "o")
                self.assertEqual(done.stdout, "")
                self.assertIn("below.json", done.stderr)

    def test_byte_order_mark_is_accepted(self):  # S05
        self.write("plain.json", TEXT)
        self.write("marked.json", b"\xef\xbb\xbf" + TEXT.encode())
        for name in ["plain", "marked"]:
            self.expect(0, "run", name + ".json", "--out", name)
        self.assertEqual(self.files_in("plain"), self.files_in("marked"))

    def test_no_such_file(self):  # S07
        self.write("wafer.json", TEXT)
        self.check("wafr.json", ["no such file", str(self.folder), "wafer.json"])

    def test_a_directory(self):  # S08
        os.mkdir(self.folder / "scenarios")
        self.write("scenarios/one.json", TEXT)
        self.check("scenarios", ["is a directory", "one.json"])

    def test_zero_bytes_run(self):  # S28
        self.write("zero.json", patched({"workload": {"collective": {"bytes": 0}}}))
        done = self.expect(0, "run", "zero.json", "--out", "o")
        self.assertIn("/workload/collective/bytes", done.stderr)
        self.assertEqual(sum(link["bytes"] for link in self.json_of("o/result.json")["links"]), 0)

    def test_several_faults_at_once_in_file_order(self):
        self.write("bad.json", patched({"wafer": {"npus": 0, "npuss": 1}, "workload": {"kind": "x", "colective": {}}}))
        lines = self.expect(2, "run", "bad.json").stderr.splitlines()
        self.assertGreaterEqual(len(lines), 4)
        self.assertEqual([int(line.split(":")[1]) for line in lines], sorted(int(line.split(":")[1]) for line in lines))


if __name__ == "__main__":
    main()

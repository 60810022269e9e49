# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, termination, the state on request, closed pipes, killed studies."""

import os
import pathlib
import signal
import subprocess
import time

from support import BINARY, ENDLESS, SCENARIO, CliTest, main, merge


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("what the test waits for did not come")


class Signals(CliTest):
    def start_endless(self, name="small.json"):
        self.scenario(name, ENDLESS)
        process = self.start_wafervp("run", name, "--out", "o")
        self.addCleanup(process.kill)
        # The folder is made just before the simulation starts.
        wait_for(lambda: (self.folder / "o").exists())
        time.sleep(0.3)
        return process

    def test_interrupt_and_terminate(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            process = self.start_endless()
            process.send_signal(number)
            output, error = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(output, "")
            self.assertIn("interrupted", error)
            self.assertFalse((self.folder / "o").exists())

    def test_state_report(self):
        process = self.start_endless()
        process.send_signal(signal.SIGUSR1)
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
        for word in ["simulated time", "NPU 0", "all_reduce", "1048576 bytes"]:
            self.assertIn(word, error)

    def test_closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [BINARY, "run", self.scenario(), "--out", "o"],
            cwd=self.folder, stdout=write, stderr=subprocess.PIPE, restore_signals=False, timeout=20,
        )  # fmt: skip
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("result.json", self.files_in("o"))

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            done = self.run_wafervp("run", self.scenario(), "--out", "o", stdout=full)
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot write to the standard output", done.stderr)
        self.assertIn("result.json", self.files_in("o"))


class Studies(CliTest):
    def setUp(self):
        super().setUp()
        self.scenario()
        self.study = {
            "version": 1,
            "name": "study",
            "base": "small.json",
            "variants": {"a": {}, "b": {"wafer": {"npus": 6}}, "last": merge(ENDLESS, {})},
        }
        self.write("study.json", self.study)

    def start(self):
        process = self.start_wafervp("run", "study.json", "--out", "o", "--jobs", "1")
        self.addCleanup(process.kill)
        wait_for(lambda: (self.folder / "o/last").exists())
        return process

    def check_whole_files(self):
        for name in self.files_in("o"):
            self.assertFalse(pathlib.Path(name).name.startswith("."), name)
            if name.endswith(".json"):
                self.json_of("o/" + name)
        self.assertNotIn("summary.json", self.files_in("o"))

    def finish(self):
        """The study again, its endless variant replaced: the others are not repeated."""
        self.write("study.json", merge(self.study, {"variants": {"last": {"workload": SCENARIO["workload"]}}}))
        stamp = (self.folder / "o/a/result.json").stat().st_mtime_ns
        done = self.run_wafervp(
            "run", "study.json", "--out", "o", "--set", "/workload/collective/repeats=1", "--jobs", "2"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 of 3 runs are done already", done.stderr)
        self.assertEqual((self.folder / "o/a/result.json").stat().st_mtime_ns, stamp)
        resumed = self.files_in("o")
        self.expect(0, "run", "study.json", "--out", "fresh", "--set", "/workload/collective/repeats=1")
        self.assertEqual(resumed, self.files_in("fresh"))

    def test_an_interrupted_study_resumes(self):
        process = self.start()
        children = wait_for(lambda: children_of(process.pid))
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertIn("run it again to go on", error)
        for child in children:
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists())
        self.check_whole_files()
        self.finish()

    def test_a_killed_study_resumes(self):
        process = self.start()
        children = wait_for(lambda: children_of(process.pid))
        process.kill()
        process.communicate(timeout=20)
        for child in children:
            wait_for(lambda child=child: not alive(child))
        self.check_whole_files()
        self.finish()

    def test_a_crash_makes_a_row(self):
        process = self.start()
        (child,) = wait_for(lambda: children_of(process.pid))
        os.kill(child, signal.SIGABRT)
        _, error = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 4)
        rows = {row["name"]: row for row in self.json_of("o/summary.json")["variants"]}
        self.assertEqual(rows["a"]["status"], "ok")
        self.assertEqual(rows["last"]["status"], "crashed")
        self.assertIn("signal 6", rows["last"]["message"])
        self.assertIn("last: crashed", error)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    main()

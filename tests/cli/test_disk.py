# SPDX-License-Identifier: Apache-2.0
"""Folders that cannot be used, and disks that are full."""

import os
import subprocess
import unittest

from support import SCENARIO, CliTest, file_size_limit, main


class OutputFolder(CliTest):
    def setUp(self):
        super().setUp()
        self.scenario()

    def check_unusable(self, path, *words):
        done = self.expect(2, "run", "small.json", "--out", path)
        self.assertEqual(done.stdout, "")
        for word in ["--out", *words]:
            self.assertIn(word, done.stderr)

    def test_a_file(self):
        self.check_unusable("small.json", "small.json", "Not a directory")
        self.check_unusable("small.json/below", "small.json", "Not a directory")

    def test_a_name_too_long(self):
        self.check_unusable("x" * 300, "File name too long")

    def test_a_read_only_file_system(self):
        self.check_unusable("/proc/wafervp", "/proc/wafervp")

    @unittest.skipIf(os.geteuid() == 0, "the superuser may write anywhere")
    def test_no_permission(self):
        os.mkdir(self.folder / "locked", 0o500)
        self.check_unusable("locked/o", "Permission denied")

    def test_in_use(self):
        os.mkdir(self.folder / "o")
        holder = subprocess.Popen(["flock", self.folder / "o", "sleep", "20"])
        try:
            while subprocess.run(["flock", "-n", self.folder / "o", "true"]).returncode == 0:
                pass
            self.check_unusable("o", "in use by another run")
        finally:
            holder.kill()
            holder.wait()


class FullDisk(CliTest):
    def test_a_file_that_cannot_grow(self):
        self.scenario()
        done = self.expect(4, "run", "small.json", "--out", "o", limit=file_size_limit(2048))
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"cannot write o/\S+: File too large")
        self.assertFalse((self.folder / "o").exists())

    def test_the_results_of_before_stay_whole(self):
        self.scenario()
        self.expect(0, "run", "small.json", "--out", "o")
        before = self.files_in("o")
        self.expect(4, "run", "small.json", "--out", "o", limit=file_size_limit(2048))
        self.assertEqual(self.files_in("o"), before)

    def test_a_study(self):
        self.scenario()
        self.write("study.json", {"version": 1, "name": "s", "base": "small.json", "variants": {"a": {}, "b": {}}})
        done = self.run_wafervp("run", "study.json", "--out", "o", limit=file_size_limit(3000))
        self.assertEqual(done.returncode, 4)
        self.assertIn("File too large", done.stderr)
        self.assertFalse([name for name in self.files_in("o") if name.endswith("result.json") or "/." in name])

    def test_a_full_file_system(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if mounted.returncode != 0:
            self.skipTest("no right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.write("large.json", {**SCENARIO, "wafer": {"npus": 200, "fabric": {"kind": "ring"}}})
        done = self.expect(4, "run", "large.json", "--out", disk / "o")
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(self.files_in("disk"), {})


if __name__ == "__main__":
    main()

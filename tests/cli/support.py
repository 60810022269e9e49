# SPDX-License-Identifier: Apache-2.0
"""What the black-box tests of the program share. Each file runs as: python3 test_NAME.py PATH-OF-WAFERVP."""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from product import files, merge

BINARY = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "wafervp"

SCENARIO = {
    "version": 1,
    "name": "small",
    "wafer": {"npus": 4, "fabric": {"kind": "ring"}},
    "workload": {"kind": "collective", "collective": {"operation": "all_reduce", "bytes": 65536}},
}
# Never enters: the others wait for it.
DEADLOCK = {"workload": {"collective": {"absent": [2]}}}
# Runs for minutes.
ENDLESS = {"workload": {"collective": {"bytes": 1 << 20, "repeats": 1000000}}}


class CliTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="wafervp-cli-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return name

    def scenario(self, name="small.json", patch=None):
        return self.write(name, merge(SCENARIO, patch or {}))

    def run_wafervp(self, *args, limit=None, **options):
        def set_limit():
            if limit:
                limit()

        return subprocess.run(
            [BINARY, *map(str, args)],
            cwd=self.folder,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=50,
            text=True,
            errors="surrogateescape",
            preexec_fn=set_limit,
            **options,
        )

    def start_wafervp(self, *args):
        return subprocess.Popen(
            [BINARY, *map(str, args)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def expect(self, status, *args, **options):
        done = self.run_wafervp(*args, **options)
        self.assertEqual(done.returncode, status, (args, done.stdout, done.stderr))
        self.assertNotIn("internal error:", done.stderr)
        return done

    def json_of(self, name):
        return json.loads((self.folder / name).read_text())

    def files_in(self, name):
        """Content by path, hidden files too."""
        return files(self.folder / name)


def file_size_limit(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)

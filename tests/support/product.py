# SPDX-License-Identifier: Apache-2.0
"""What the Python tests of all folders share: runs of the program, the files that they leave, and a record of what was not
as expected."""

import argparse
import copy
import json
import pathlib
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--wafervp", required=True, help="the program")
    return made


def merge(base, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    merged = copy.deepcopy(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


class Run:
    """What one call of the program left behind."""

    def __init__(self, status, output, folder):
        self.status = status
        self.output = output
        result = pathlib.Path(folder, "result.json")
        summary = pathlib.Path(folder, "summary.json")
        self.result = json.loads(result.read_text()) if result.exists() else None
        self.summary = json.loads(summary.read_text()) if summary.exists() else None


def run(program, scenario, *words, timeout=60):
    """`wafervp run SCENARIO WORDS...`; a scenario is a path or the content of a file."""
    with tempfile.TemporaryDirectory(prefix="wafervp-scenario-") as scratch:
        if isinstance(scenario, dict):
            path = pathlib.Path(scratch, "scenario.json")
            path.write_text(json.dumps(scenario))
        else:
            path = pathlib.Path(scenario)
        out = pathlib.Path(scratch, "out")
        done = subprocess.run(
            [program, "run", str(path), "--out", str(out), *words], cwd=scratch, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False,
        )
        return Run(done.returncode, done.stdout, out)


def files(folder):
    """Path below `folder` -> bytes, of all files, hidden ones too."""
    root = pathlib.Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def differences(one, two):
    """In words: where two results of files() differ; empty when they are the same bytes."""
    lines = [f"only one side has {name}" for name in sorted(set(one) ^ set(two))]
    for name in sorted(set(one) & set(two)):
        for number, pair in enumerate(zip(one[name].splitlines(), two[name].splitlines()), 1):
            if pair[0] != pair[1]:
                lines.append(f"{name}:{number}:\n    {pair[0][:300]!r}\n    {pair[1][:300]!r}")
                break
        else:
            if one[name] != two[name]:
                lines.append(f"{name}: the lengths differ")
    return "\n".join(lines)


class Checks:
    """Prints each check; the test fails if one of them does not hold."""

    def __init__(self):
        self.failures = 0

    def that(self, holds, what, shown=""):
        print(("ok      " if holds else "FAILED  ") + what)
        if not holds:
            self.failures += 1
            if shown:
                print(shown)

    def within(self, found, low, high, what):
        self.that(low <= found <= high, f"{what}: {found:.4f}, to be within {low:.4f} and {high:.4f}")

    def status(self):
        return 1 if self.failures else 0

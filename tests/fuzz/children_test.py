# SPDX-License-Identifier: Apache-2.0
"""Accepted mutants run as children of this test: each ends by itself within 10 s, with a documented status and no signal.

usage: children_test.py SCENARIO_FUZZ SCENARIOS WAFERVP [COUNT]
A mutant may ask for a long run; limits.wall_s ends it with status 3.
"""
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

LIMIT_S = 10
WALL_S = 4
DOCUMENTED = {0, 1, 2, 3}


def run(wafervp, path, out):
    """What is wrong with one run, empty when nothing is, and its status."""
    command = [wafervp, "run", path, "--quiet", "--jobs", "1", "--out", out]
    with open(path, encoding="utf-8") as file:
        if '"variants"' not in file.read():
            command += ["--set", f"/limits/wall_s={WALL_S}"]
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{os.path.basename(path)}: still runs after {LIMIT_S} s", None
    text = answer.stderr.decode(errors="replace")
    if answer.returncode not in DOCUMENTED:
        return f"{os.path.basename(path)}: status {answer.returncode}\n{text}", answer.returncode
    if answer.returncode != 0 and not text.strip():
        return f"{os.path.basename(path)}: status {answer.returncode} without a message", answer.returncode
    return "", answer.returncode


def main():
    fuzz, scenarios, wafervp = sys.argv[1:4]
    count = sys.argv[4] if len(sys.argv) > 4 else "500"
    with tempfile.TemporaryDirectory() as scratch:
        kept = os.path.join(scratch, "kept")
        os.mkdir(kept)
        subprocess.run([fuzz, scenarios, "--seed", "3", "--keep", kept, "--count", count, "--mutations", "100000"],
                       stdout=subprocess.DEVNULL, check=True)
        paths = sorted(os.path.join(place, name) for place, _, names in os.walk(kept) for name in names)
        statuses = collections.Counter()
        faults = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(run, wafervp, path, os.path.join(scratch, f"out{i}")) for i, path in enumerate(paths)]
            for job in jobs:
                fault, status = job.result()
                statuses[status] += 1
                if fault:
                    faults.append(fault)
        print(f"{len(paths)} accepted mutants ran; by status: {dict(sorted(statuses.items(), key=str))}")
        print("\n".join(faults))
        return 1 if faults or len(paths) < int(count) else 0


if __name__ == "__main__":
    sys.exit(main())

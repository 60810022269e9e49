# SPDX-License-Identifier: Apache-2.0
"""Structural and behavioural FRED switches leave the same files but for what says which they were."""

import json
import pathlib
import subprocess
import sys
import tempfile

from product import REPOSITORY, Checks, files, parser

SMALL = ["--set", "/workload/collective/bytes=1048576"]
CASES = [("examples/fred.json", [*SMALL, "--set", "/detail/data=values"]),
         ("examples/tiny_transformer.json", ["--set", "/detail/data=values"])] + [
    (f"fred/microbench_{name}.json", SMALL) for name in ("mp20", "dp5", "mp2", "pp2")
]
# What tells of the program and the scenario, in results, summaries and scenarios.
TELLTALE = {"scenario_hash", "fred_switch"}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if key not in TELLTALE}
    return [plain(item) for item in value] if isinstance(value, list) else value


def files_of_run(program, path, words, fred_switch):
    with tempfile.TemporaryDirectory(prefix="wafervp-model-") as scratch:
        out = pathlib.Path(scratch, "out")
        done = subprocess.run([program, "run", str(path), "--out", str(out), "--quiet", *words,
                               "--set", f"/detail/fred_switch={fred_switch}"], timeout=120, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout)
        return {name: content.decode() for name, content in files(out).items()}


def main():
    args = parser().parse_args()
    checks = Checks()
    for name, words in CASES:
        try:
            one, other = (files_of_run(args.wafervp, REPOSITORY / "scenarios" / name, words, model)
                          for model in ("behavioural", "structural"))
        except RuntimeError as error:
            checks.that(False, name, str(error))
            continue
        checks.that(sorted(one) == sorted(other), f"{name}: the same files, {', '.join(sorted(one))}")
        for file in sorted(one):
            left, right = one[file], other[file]
            if file.endswith(".json"):
                left, right = plain(json.loads(left)), plain(json.loads(right))
            checks.that(left == right, f"{name}: {file} is the same")
    return checks.status()


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Sizes only and real values give the same files but for what says which it was (and what the values take in memory)."""

import json
import pathlib
import subprocess
import sys
import tempfile

from product import REPOSITORY, Checks, files, merge, parser


def files_of_run(program, content, data):
    with tempfile.TemporaryDirectory(prefix="wafervp-data-") as scratch:
        path = pathlib.Path(scratch, "scenario.json")
        path.write_text(json.dumps(merge(content, {"detail": {"data": data}, "outputs": {"trace": True}})))
        out = pathlib.Path(scratch, "out")
        done = subprocess.run([program, "run", str(path), "--out", str(out), "--quiet"], timeout=60, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout)
        return {name: content.decode() for name, content in files(out).items()}


def main():
    args = parser().parse_args()
    checks = Checks()
    for path in sorted((REPOSITORY / "scenarios" / "examples").glob("*.json")):
        content = json.loads(path.read_text())
        workload = content["workload"]
        if workload["kind"] == "collective" and "messages" not in workload:
            collective = workload.setdefault("collective", {})
            # Within limits.value_bytes.
            collective["bytes"] = min(collective.get("bytes", 1 << 20), 1 << 20)
        try:
            none, values = (files_of_run(args.wafervp, content, data) for data in ("none", "values"))
        except RuntimeError as error:
            checks.that(False, path.name, str(error))
            continue
        checks.that(sorted(none) == sorted(values), f"{path.name}: the same files, {', '.join(none)}")
        for name in none:
            if name == "effective-scenario.json":
                continue
            left, right = none[name], values[name]
            if name == "result.json":
                left, right = json.loads(left), json.loads(right)
                for result in (left, right):
                    result.pop("scenario_hash", None)
            checks.that(left == right, f"{path.name}: {name} is the same")
            if left != right and isinstance(left, dict):
                print({key: (left.get(key), right.get(key)) for key in left if left.get(key) != right.get(key)})
    return checks.status()


sys.exit(main())

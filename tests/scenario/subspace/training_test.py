#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A model that is really trained through simulated links and compression units: the same losses with the subspace codec as
without, the bytes of the codec's formula on each link, replicas, 1F1B, lossy codecs, and what is refused."""
import csv
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import product

STEPS = 300
UNIT = {"placement": "npu", "policy": {"pp": "subspace"}, "codec": {"k": 4}}
BASE = json.loads((product.REPOSITORY / "scenarios" / "subspace" / "training_small.json").read_text())["scenario"]
ROWS, K, STAGES, MICROBATCHES = 2 * 16, 4, 4, 4


def train(program, patch):
    """(status, output, result, losses) of one run."""
    scenario = product.merge({"version": 1, "name": "training", **BASE}, patch)
    with tempfile.TemporaryDirectory(prefix="wafervp-training-") as scratch:
        path, out = pathlib.Path(scratch, "scenario.json"), pathlib.Path(scratch, "out")
        path.write_text(json.dumps(scenario))
        done = subprocess.run([program, "run", str(path), "--out", str(out)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        if done.returncode != 0:
            return done.returncode, done.stdout, None, None
        with open(out / "loss.csv", encoding="utf-8") as file:
            losses = [float(row["loss"]) for row in csv.DictReader(file)]
        return 0, done.stdout, json.loads((out / "result.json").read_text()), losses


def difference(a, b, steps=None):
    return max(abs(x - y) for x, y in list(zip(a, b))[:steps])


def equality(checks, program):
    _, text, plain, losses = train(program, {})
    checks.that(losses is not None and len(losses) == STEPS, "300 steps", text[-300:])
    checks.within(losses[0] / 3.4657, 0.95, 1.05, "loss at the beginning over ln 32")
    checks.within(losses[-1], 1.06, 2.6, "loss at the end, not below the entropy of the chain")
    _, text, result, through = train(program, {"wafer": {"compression": UNIT}})
    checks.within(difference(losses, through), 0, 1e-9, "fp64: largest difference of the losses, unit on and off")
    there = result["training"]["reconstruction"]["forward"]
    checks.within(there["largest_difference"] / there["largest_value"], 0, 1e-13, "activations come back")
    checks.that(result["time_ps"] < plain["time_ps"], "and the step is shorter", f"{result['time_ps']} {plain['time_ps']}")

    for element, name in ((8, "fp64"), (4, "fp32")):
        _, text, result, _ = train(program, {"workload": {"training": {"type": name}, "iterations": 3},
                                             "wafer": {"compression": UNIT}})
        links = {link["name"]: link["bytes"] for link in result["links"]}
        messages = 3 * MICROBATCHES
        for stage in range(STAGES - 1):
            checks.that(links[f"site{stage}->site{stage + 1}"] == messages * ROWS * (K * element + 4),
                        f"{name}: bytes forward from stage {stage}", str(links))
            checks.that(links[f"site{stage + 1}->site{stage}"] == messages * ROWS * K * element,
                        f"{name}: bytes backward to stage {stage}", str(links))
    single = {"workload": {"training": {"type": "fp32"}, "iterations": 60}}
    _, _, _, narrow = train(program, single)
    _, _, _, narrow_through = train(program, product.merge(single, {"wafer": {"compression": UNIT}}))
    checks.within(difference(narrow, narrow_through, 50), 0, 1e-5, "fp32: the same over the first 50 steps")
    _, _, _, again = train(program, product.merge(single, {"wafer": {"compression": UNIT}}))
    checks.that(narrow_through == again, "the same losses again", "")


def variants(checks, program):
    short = {"workload": {"iterations": 20}}
    _, _, _, gpipe = train(program, short)
    _, _, _, other = train(program, product.merge(short, {"workload": {"schedule": "1f1b"}}))
    checks.within(difference(gpipe, other), 0, 1e-12, "1F1B: the losses of GPipe")
    # Two replicas of two microbatches see what one of four does not, but learn alike; and stay equal to each other.
    _, text, result, replicas = train(program, product.merge(
        short, {"wafer": {"npus": 8, "sites": {"count": 8}}, "workload": {"parallelism": {"dp": 2}}}))
    checks.that(result is not None and len(replicas) == 20, "two replicas", text[-300:])
    checks.within(replicas[-1] / gpipe[-1], 0.9, 1.1, "two replicas: loss over that of one")
    free = product.merge(short, {"workload": {"training": {"subspace_k": 0}}})
    _, _, _, losses = train(program, free)
    for codec, most in (("cast", 0.01), ("int8", 0.01), ("int4", 0.3)):
        _, text, _, lossy = train(program, product.merge(
            free, {"wafer": {"compression": {"placement": "npu", "policy": {"pp": codec}}}}))
        checks.that(lossy is not None and 0 < difference(losses, lossy) < most, f"{codec}: close to no codec, not equal",
                    text[-300:])


def interruption(checks, program):
    """Ctrl-C leaves the losses so far, whole."""
    scenario = product.merge({"version": 1, "name": "training", **BASE}, {"workload": {"iterations": 10000}})
    with tempfile.TemporaryDirectory(prefix="wafervp-training-") as scratch:
        path, out = pathlib.Path(scratch, "scenario.json"), pathlib.Path(scratch, "out")
        path.write_text(json.dumps(scenario))
        child = subprocess.Popen([program, "run", str(path), "--out", str(out)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(3)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=60)
        checks.that(child.returncode == 130 and "interrupted, the losses of" in output, "interrupted: status 130, and what is there",
                    f"status {child.returncode}: {output}")
        result = json.loads((out / "result.json").read_text())
        rows = (out / "loss.csv").read_text().splitlines()
        checks.that(result["status"] == "interrupted" and 1 < len(rows) < 10001, "interrupted: a part of the curve",
                    f"{result['status']} {len(rows)}")
        checks.that(result["training"]["steps_done"] == len(rows) - 1, "interrupted: as many steps as losses", str(len(rows)))


def refusals(checks, program):
    for name, patch, words in (
            ("other k", {"wafer": {"compression": product.merge(UNIT, {"codec": {"k": 5}})}}, "both ends have one U"),
            ("no ids", {"wafer": {"compression": product.merge(UNIT, {"codec": {"id_bytes": 0}})}}, "needs the token ids"),
            ("unconstrained", {"workload": {"training": {"subspace_k": 0}}, "wafer": {"compression": UNIT}},
             "would drop what lies outside"),
            ("sizes only", {"detail": {"data": "none"}}, "needs values"),
            ("heads", {"workload": {"training": {"heads": 5}}}, "does not divide"),
            ("stages", {"workload": {"training": {"blocks": 3}}}, "each stage needs a block"),
            ("half", {"workload": {"training": {"type": "fp16"}}}, "allowed: fp64, fp32")):
        status, output, _, _ = train(program, patch)
        checks.that(status == 2 and words in output, f"refused: {name}", f"status {status}: {output}")


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    for part in (equality, variants, interruption, refusals):
        part(checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

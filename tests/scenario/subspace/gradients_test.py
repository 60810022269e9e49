#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Gradients of replicas as they are, through int8 and zfp, by PowerSGD, and under the hybrid policy, on the mesh and on Fred-D:
times, bytes and errors of each class; what is refused, with the reason."""
import json
import pathlib
import subprocess
import sys
import tempfile

import product

FOLDER = product.REPOSITORY / "scenarios" / "subspace"
FABRICS, WAYS = ("mesh", "fred_d"), ("none", "int8", "zfp", "hybrid", "power_sgd")
STEPS, REPLICAS, STAGES = 60, 4, 2


def study(program, name, *words):
    """(status, output, results by variant)."""
    with tempfile.TemporaryDirectory(prefix="wafervp-gradients-") as scratch:
        out = pathlib.Path(scratch, "out")
        done = subprocess.run([program, "run", str(FOLDER / f"{name}.json"), "--out", str(out), "--quiet", *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=170,
                              check=False)
        results = {path.parent.name: json.loads(path.read_text()) for path in sorted(out.glob("*/result.json"))}
        return done.returncode, done.stdout, results


def classes(result):
    return {row["class"]: row for row in result.get("compression_classes", [])}


def sums(result):
    """Bytes of the all-reduces of each stage's gradients, in their order."""
    return [c["bytes"] for c in result["collectives"] if c["kind"] == "dp" and c["communicator"] == "dp[stage=0]"]


def values(checks, program):
    status, output, results = study(program, "dp_gradients_values", "--set", f"/workload/iterations={STEPS}")
    checks.that(status == 0 and len(results) == len(FABRICS) * len(WAYS), "values: all variants run", output)
    # Of a stage: embedding or head, and two blocks, of width 32 and 128 in the feed-forward part.
    block = ((32, 96), (32, 32), (32, 128), (128, 32))
    matrices = ((32, 32),) + block + block
    elements = sum(rows * columns for rows, columns in matrices)
    # Rings and grids send 2 (n - 1) / n of it from each replica.
    dense = STEPS * STAGES * REPLICAS * elements * 4 * 2 * (REPLICAS - 1) // REPLICAS
    for fabric in FABRICS:
        ran = {way: results[f"{fabric}_{way}"] for way in WAYS}
        error = {way: ran[way]["training"]["gradient_sum"]["relative_error"] for way in WAYS}
        loss = {way: ran[way]["training"]["last_loss"] for way in WAYS}
        first = ran["none"]["training"]["first_loss"]
        checks.that(sums(ran["none"]) == [4 * elements], f"{fabric}, none: one all-reduce", str(sums(ran["none"])))
        checks.within(error["none"], 0, 4 * 2**-24, f"{fabric}, none: error of the sum, in roundings of fp32")
        checks.that(loss["none"] < first - 0.5, f"{fabric}, none: it learns", f"{first} {loss['none']}")
        for way, wire in (("int8", dense // 4 + dense // 4 // 128 * 4), ("zfp", dense // 4), ("hybrid", dense // 4)):
            row = classes(ran[way])["dp"]
            checks.that((row["dense_bytes"], row["wire_bytes"]) == (dense, wire), f"{fabric}, {way}: bytes of gradients",
                        f"{row} {dense} {wire}")
            checks.that(0 < row["relative_error"] < error[way] < 6 * row["relative_error"],
                        f"{fabric}, {way}: errors of hops add up", f"{row['relative_error']} {error[way]}")
            checks.within(abs(loss[way] - loss["none"]), 0, 0.02, f"{fabric}, {way}: loss beside that without a codec")
        # Half a step of 1/127 of a block's largest value at most, three times, of values that are smaller than it.
        checks.within(error["int8"], 1e-3, 0.03, f"{fabric}, int8: error of the sum")
        checks.within(error["zfp"], 2e-3, 0.08, f"{fabric}, zfp: error of the sum")
        row = classes(ran["hybrid"])["pp"]
        checks.that(row["relative_error"] == 0 and row["ratio"] > 1.05, f"{fabric}, hybrid: PP loses nothing", str(row))
        checks.within(error["hybrid"] / error["zfp"], 1 - 1e-9, 1 + 1e-9, f"{fabric}, hybrid: error of the sum over that of zfp alone")
        p, q = 4 * sum(rows for rows, _ in matrices), 4 * sum(columns for _, columns in matrices)
        checks.that(sums(ran["power_sgd"]) == [4 * p, 4 * q], f"{fabric}, power_sgd: P, then Q", str(sums(ran["power_sgd"])))
        factored = ran["power_sgd"]["training"]["gradient_sum"]
        checks.within(factored["relative_error_of_all_steps"], 0.01, 0.3, f"{fabric}, power_sgd: what is missing of all steps")
        checks.that(factored["between_replicas"] == 0, f"{fabric}, power_sgd: replicas stay equal", str(factored))
        checks.that(loss["power_sgd"] < first - 0.5 * (first - loss["none"]), f"{fabric}, power_sgd: it learns", f"{loss}")
        algorithms = {c["algorithm"] for c in ran["power_sgd"]["collectives"] if c["kind"] == "dp"}
        checks.that((algorithms == {"in_switch"}) == (fabric == "fred_d"), f"{fabric}, power_sgd: who adds", str(algorithms))
    checks.that(results["mesh_none"]["time_ps"] > results["fred_d_none"]["time_ps"], "Fred-D is faster than the mesh", "")


def sizes(checks, program):
    """Transformer-17B. A rank has 17e9 / 6 parameters, an all-reduce of three sends 4/3 of them."""
    status, output, results = study(program, "dp_gradients")
    checks.that(status == 0 and len(results) == len(FABRICS) * len(WAYS), "17B: all variants run", output)
    dense = 18 * 17e9 / 6 * 2 * 4 / 3
    for fabric in FABRICS:
        ran = {way: results[f"{fabric}_{way}"] for way in WAYS}
        for way, ratio in (("int8", 2 / (1 + 4 / 128)), ("zfp", 4), ("hybrid", 4)):
            row = classes(ran[way])["dp"]
            checks.within(row["dense_bytes"] / dense, 1 - 1e-8, 1 + 1e-8, f"17B, {fabric}, {way}: bytes of gradients")
            checks.within(row["ratio"] / ratio, 0.999, 1.001, f"17B, {fabric}, {way}: ratio over {ratio:.3f}")
            checks.that("relative_error" not in row, f"17B, {fabric}, {way}: no error without values", str(row))
        rows = classes(ran["hybrid"])
        checks.that([rows[name]["codec"] for name in ("mp", "pp", "dp")] == ["lossless", "lossless", "zfp"],
                    f"17B, {fabric}: hybrid", str(rows))
        times = {way: ran[way]["time_ps"] for way in WAYS}
        # Its kernels: 8 FLOPs a weight and column of a factor, over 494.5 TFLOP/s; its sums: 1 / 30 of the bytes.
        kernels = (8 * 64 * 12 * 4256**2 * 39 / 3) / 494.5e12 * 1e12
        grown = ran["power_sgd"]["breakdown_ps"]["compute"] - ran["none"]["breakdown_ps"]["compute"]
        checks.within(grown / kernels, 1, 1.05, f"17B, {fabric}: kernels of PowerSGD over their products")
        left = ran["power_sgd"]["breakdown_ps"]["dp"] / ran["none"]["breakdown_ps"]["dp"]
        checks.within(left, 0.02, 0.06, f"17B, {fabric}: exposed sums with PowerSGD, of those without")
        checks.that(times["power_sgd"] < times["zfp"], f"17B, {fabric}: PowerSGD before zfp", str(times))


def refusals(checks, program):
    document = json.loads((FOLDER / "dp_gradients_values.json").read_text())

    def variant(name, patch):
        return product.merge({"version": 1, "name": name, **product.merge(document["scenario"], document["variants"][name])}, patch)

    in_switches = {"wafer": {"firmware": {"all_reduce": None}}}
    io = {"wafer": {"io": {"controllers": 4}}}
    for name, what, patch, words in (
            ("fred_d_int8", "int8 summed in the switches", in_switches, "cannot be added up there: "),
            ("fred_d_zfp", "zfp summed in the switches", in_switches, "cannot be added up there: "),
            ("fred_d_hybrid", "lossless and zfp summed in the switches", in_switches, "cannot be added up there: "),
            ("mesh_power_sgd", "PowerSGD with ZeRO", {"workload": {"dp_sync": "rs_ag"}}, "each needs all of the first factor"),
            ("mesh_power_sgd", "PowerSGD of streamed weights", product.merge(
                io, {"workload": {"kind": "transformer", "weights": "streaming"}, "detail": {"data": "none"}}),
             "nobody makes them whole from factors"),
            ("mesh_power_sgd", "PowerSGD without matrices",
             {"workload": {"kind": "resnet152", "parallelism": {"dp": 8, "pp": 1}}, "detail": {"data": "none"}},
             "resnet152 has no sizes"),
            ("mesh_power_sgd", "PowerSGD of a rank that is too high", {"workload": {"gradients": {"rank": 32}}},
             "at which no matrix of the model becomes smaller")):
        done = product.run(program, variant(name, patch))
        checks.that(done.status == 2 and words in done.output, f"refused: {what}", f"status {done.status}: {done.output}")


def main():
    parser = product.parser()
    parser.add_argument("case", choices=("values", "sizes", "refusals"))
    arguments = parser.parse_args()
    checks = product.Checks()
    {"values": values, "sizes": sizes, "refusals": refusals}[arguments.case](checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

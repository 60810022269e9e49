# SPDX-License-Identifier: Apache-2.0
"""Weights from off-wafer memory (arXiv 2406.19580): the load of the mesh's links, the rate of the channels, and the two
models that stream, with compute fitted on Fred-C."""

import sys

from product import REPOSITORY, Checks, merge, parser, run

FRED = REPOSITORY / "scenarios" / "fred"
LINE_RATE = 128e9
MESHES = {(4, 4): (7, 10), (5, 4): (9, 12), (8, 8): (15, 18)}  # columns, rows: trees on a link one way, and both


def memory(operation, columns=5, rows=4, channel_bytes=16 << 20, **more):
    """A scenario in which all channels stream `channel_bytes`."""
    channels = 2 * (columns + rows)
    return merge({
        "version": 1,
        "name": f"{operation}_{columns}x{rows}",
        "wafer": {
            "npus": columns * rows,
            "fabric": {"kind": "mesh2d", "mesh2d": {"columns": columns, "rows": rows}},
            "io": {"controllers": channels},
        },
        "workload": {"kind": "collective",
                     "collective": {"operation": operation, "bytes": channels * channel_bytes}},
    }, more)


def done_well(checks, program, scenario, what):
    done = run(program, scenario)
    checks.that(done.status == 0, f"{what}: status 0", done.output)
    return done.result if done.status == 0 else None


def hotspots(checks, program):
    """Bytes on the most loaded link over bytes of a channel: (2 N - 1) one way on N x N (the paper: 4x4 -> 7)."""
    size = 1 << 20
    for (columns, rows), expected in MESHES.items():
        for operation, factor in zip(("load", "store", "load_and_store"), (expected[0], expected[0], expected[1])):
            result = done_well(checks, program, memory(operation, columns, rows, size), f"{operation} {columns}x{rows}")
            links = [link for link in result["links"] if "io" not in link["name"]] if result else []
            most = max((link["bytes"] for link in links), default=0)
            checks.that(most == factor * size, f"{operation} on {columns}x{rows}: the most loaded link carries "
                        f"{most / size:g} times a channel's bytes, expected {factor}")


def rates(checks, program):
    """Rate of a channel over its line rate: 750 / (9 x 128) = 0.651 one way, 750 / (12 x 128) = 0.488 both ways."""
    size = 64 << 20
    for operation, expected in (("load", 750 / 9 / 128), ("store", 750 / 9 / 128), ("load_and_store", 750 / 12 / 128)):
        result = done_well(checks, program, memory(operation, channel_bytes=size), operation)
        if result:
            found = size / (result["time_ps"] * 1e-12) / LINE_RATE
            checks.within(found, 0.99 * expected, 1.001 * expected, f"{operation}: of line rate")


def grains(checks, program):
    for operation in ("load", "store", "load_and_store"):
        times = [done_well(checks, program, memory(operation, channel_bytes=1 << 20, detail={"grain": grain}),
                           f"{operation}, grain {grain}")["time_ps"] for grain in ("auto", "packet")]
        checks.within(times[0] / times[1], 0.99, 1.01, f"{operation}: grain auto over packet")


def one_channel(checks, program):
    done = run(program, memory("load", wafer={"io": {"channels": "one"}}))
    checks.that(done.status == 2, f"one channel for all trees is refused: status {done.status}", done.output)
    checks.that("/wafer/io/channels" in done.output and "wait for each other in a circle" in done.output,
                "the message names the member and the cycle", done.output)


def fitted(checks, program, name, target):
    """Fred-C is fitted. Fred-D is the same by construction: nothing that streams gains from sums in the switches."""
    done = run(program, FRED / f"{name}.json", timeout=850)
    checks.that(done.status == 0, f"{name}: status 0", done.output)
    if done.status != 0:
        return
    print(done.output)
    rows = {row["name"]: row for row in done.summary["variants"]}
    checks.within(rows["fred_c"]["speedup"], target - 0.001, target + 0.001, "Fred-C, fitted")
    checks.within(rows["fred_d"]["speedup"], target - 0.01, target + 0.01, "Fred-D (no test: C = D)")
    checks.that(rows["fred_d"]["published"]["speedup"]["note"] == "no test: C = D", "the label stands in the summary")
    for variant in ("fred_a", "fred_b"):
        checks.within(rows[variant]["speedup"], 1.0, rows["fred_c"]["speedup"], f"{variant} lies between mesh and Fred-C")


def transformer_1t(checks, program):
    fitted(checks, program, "transformer_1t", 1.40)


def gpt3(checks, program):
    fitted(checks, program, "gpt3", 1.34)


CASES = {f.__name__: f for f in (hotspots, rates, grains, one_channel, transformer_1t, gpt3)}


def main():
    arguments = parser()
    arguments.add_argument("case", choices=CASES)
    options = arguments.parse_args()
    checks = Checks()
    CASES[options.case](checks, options.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

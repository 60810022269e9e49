# SPDX-License-Identifier: Apache-2.0
"""Ring collectives against the times of another simulator: each row of collectives.csv with topology Ring, algorithm ring,
all_reduce, reduce_scatter or all_gather, and one chunk active. A row agrees within 0.1 % or within 1 ns a hop, for the
other simulator cuts every hop to whole nanoseconds (and each of the three parts of a local reduction: 3 ns more where
reductions take time). The same time without those cuts is held to a few picoseconds a hop."""

import csv
import sys

from product import Checks, parser, run

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather")
FREE = 10**9  # of local_mem_bw


def wanted(row):
    return (
        row["topology"] == f"Ring({row['npus']})"
        and row["algorithm"] == "ring"
        and row["collective"] in OPERATIONS
        and row["active_chunks"] == "1"
    )


def scenario(row):
    npus = int(row["npus"])
    size = int(row["size_bytes"])
    memory = float(row["local_mem_bw"])
    return {
        "version": 1,
        "name": "row",
        "wafer": {
            "npus": npus,
            "npu": {"reduce_bytes_per_s": 0 if memory >= FREE else round(memory * 1e9)},
            "fabric": {
                "kind": "ring",
                "ring": {
                    "link_bytes_per_s": round(float(row["link_bytes_per_ns"]) * 1e9),
                    "link_latency_ns": float(row["link_latency_ns"]),
                },
            },
            "firmware": {"step_ns": float(row["endpoint_delay_ns"])},
        },
        "workload": {
            "kind": "collective",
            "collective": {
                "operation": row["collective"],
                "algorithm": "ring",
                # The file's all_gather has the size of one rank's input, ours the size of the result.
                "bytes": size * npus if row["collective"] == "all_gather" else size,
                "type": "fp16",
                "chunks": int(row["chunks"]),
                "active_chunks": 1,
            },
        },
        "memory": {"check": "off"},
    }


def steps(row):
    """Hops and reductions, one after the other, of all chunks."""
    once = (int(row["npus"]) - 1) * int(row["chunks"])
    return (2 if row["collective"] == "all_reduce" else 1) * once, 0 if row["collective"] == "all_gather" else once


def uncut_ns(row):
    """The closed form of tests/reference/collectives/README.md without its cuts to whole nanoseconds."""
    chunks, npus = int(row["chunks"]), int(row["npus"])
    hops, reductions = steps(row)
    size = int(row["size_bytes"]) / chunks / (1 if row["collective"] == "all_gather" else npus)
    memory = float(row["local_mem_bw"])
    return (
        hops * (float(row["link_latency_ns"]) + size / float(row["link_bytes_per_ns"]))
        + (hops + chunks) * float(row["endpoint_delay_ns"])
        + (0 if memory >= FREE else reductions * 3 * size / memory)
    )


def main():
    options = parser()
    options.add_argument("--rows", required=True, help="collectives.csv")
    options.add_argument("--npus", required=True, help="rings of this size only")
    options.add_argument("--least", type=int, required=True, help="rows that there must be")
    args = options.parse_args()
    checks = Checks()
    with open(args.rows, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if wanted(row) and row["npus"] == args.npus]
    checks.that(len(rows) >= args.least, f"there are rows to compare: {len(rows)}")
    for row in rows:
        name = (
            f"{row['topology']} {row['collective']} of {row['size_bytes']} B in {row['chunks']} chunks, step "
            f"{row['endpoint_delay_ns']} ns, memory {row['local_mem_bw']}"
        )
        done = run(args.wafervp, scenario(row), "--quiet")
        if done.status != 0:
            checks.that(False, name, f"status {done.status}\n{done.output}")
            continue
        found = done.result["time_ps"] / 1000
        expected = float(row["time_ns"])
        hops, reductions = steps(row)
        cut = hops + (0 if float(row["local_mem_bw"]) >= FREE else 3 * reductions)
        checks.that(abs(found - expected) <= max(0.001 * expected, cut),
                    f"{name}: {found:.3f} ns, reference {expected:.0f} ns, {100 * (found / expected - 1):+.3f} %, "
                    f"{(found - expected) / hops:+.3f} ns a hop")
        # Shares that are longer by one element of two bytes, and times rounded up to the picosecond.
        uneven = 2 / float(row["link_bytes_per_ns"]) + 0.001
        exact = uncut_ns(row)
        checks.that(abs(found - exact) <= hops * uneven + reductions * 0.001,
                    f"{name}: {found:.3f} ns, closed form {exact:.3f} ns, {1000 * (found - exact) / hops:+.3f} ps a hop")
    return checks.status()


sys.exit(main())

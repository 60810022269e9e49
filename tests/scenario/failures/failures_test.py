# SPDX-License-Identifier: Apache-2.0
"""Runs that cannot end well: each ends, with the status that says how, and with the ranks, operation and bytes that say
why. No run may hang: each has a time limit."""

import re
import subprocess
import sys

from product import Checks, merge, parser, run

FABRICS = {
    "ring": {"npus": 4, "fabric": {"kind": "ring"}},
    "switch": {"npus": 4, "fabric": {"kind": "switch"}},
    "mesh2d": {"npus": 6, "fabric": {"kind": "mesh2d", "mesh2d": {"columns": 3, "rows": 2}}},
    "fred": {"npus": 6, "fabric": {"kind": "fred", "fred": {"l1_switches": 3, "npus_per_l1": 2}}},
    "fred_end_points": {
        "npus": 6,
        "fabric": {"kind": "fred", "fred": {"l1_switches": 3, "npus_per_l1": 2, "in_network": False}},
    },
}
DEADLOCK_OR_LIMIT, WRONG, BAD_INPUT = 3, 1, 2
# Algorithms of all_reduce on each fabric.
WAYS = [
    ("ring", "ring"), ("switch", "ring"), ("mesh2d", "ring"), ("fred", "ring"), ("mesh2d", "hierarchical"),
    ("fred_end_points", "hierarchical"), ("fred", "in_switch"),
]


def scenario(fabric, **collective):
    patch = {"operation": "all_reduce", "algorithm": "auto", "bytes": 196608, "type": "fp16"}
    patch.update(collective)
    return {
        "version": 1,
        "name": "failure",
        "wafer": FABRICS[fabric],
        "workload": {"kind": "collective", "collective": patch},
    }


class Failures:
    def __init__(self, program, checks):
        self.program = program
        self.checks = checks

    def expect(self, what, wanted, content, statuses, *patterns, words=()):
        try:
            done = run(self.program, content, *words, timeout=10)
        except subprocess.TimeoutExpired:
            self.checks.that(False, f"{what}: ends")
            return None
        self.checks.that(done.status in statuses, f"{what}: status {done.status}, {wanted}", done.output)
        for pattern in patterns:
            self.checks.that(re.search(pattern, done.output), f"{what}: the message has /{pattern}/", done.output)
        return done

    def missing_rank(self):
        """One rank never enters: the others name what they wait for, and one of them names that rank."""
        for fabric, algorithm in WAYS:
            done = self.expect(
                f"{fabric}, {algorithm}, NPU 1 absent", "a deadlock", scenario(fabric, algorithm=algorithm, absent=[1]),
                (DEADLOCK_OR_LIMIT,), "deadlock", r"NPU 0\b.*all_reduce of 196608 bytes", r"(from|missing:) NPU 1\b", r"[0-9]+ bytes",
            )
            if done and done.result:
                self.checks.that(done.result["status"] == "deadlock", "the result file has the status deadlock")
                finished = [npu["npu"] for npu in done.result["npus"] if npu["finished"]]
                self.checks.that(finished == [1], f"only the absent rank is done: {finished}")
        for operation, algorithm in (("broadcast", "relay"), ("all_gather", "ring"), ("reduce_scatter", "ring"),
                                     ("all_to_all", "direct"), ("barrier", "auto"), ("send", "auto")):
            absent = [0] if operation in ("broadcast", "send") else [1]
            self.expect(
                f"ring, {operation}, NPU {absent[0]} absent", "a deadlock",
                scenario("ring", operation=operation, algorithm=algorithm, absent=absent), (DEADLOCK_OR_LIMIT,),
                "deadlock", "receive" if operation == "send" else operation, rf"from NPU {absent[0]}\b",
            )

    def time_limit(self):
        late = scenario("mesh2d", start_ns={"2": 1e9})
        late["limits"] = {"time_ns": 100000}
        done = self.expect("a rank that enters after the limit", "the limit of simulated time", late, (DEADLOCK_OR_LIMIT,),
                           "time_ns", r"NPU 1\b.*all_reduce of 196608 bytes", r"NPU 2\b.*compute")
        if done and done.result:
            self.checks.that(done.result["status"] == "time_limit", "the result file has the status time_limit")
        for fabric, algorithm in WAYS:
            short = scenario(fabric, algorithm=algorithm)
            short["limits"] = {"time_ns": 30}
            self.expect(f"{fabric}, {algorithm}, limit of 30 ns", "the limit of simulated time", short, (DEADLOCK_OR_LIMIT,),
                        "30 ns", "all_reduce of 196608 bytes")
        endless = scenario("ring", repeats=1000000)
        endless["limits"] = {"wall_s": 0.5}
        self.expect("a run of hours, limit of half a second", "the limit of wall-clock time", endless,
                    (DEADLOCK_OR_LIMIT,), "wall_s")

    def other_size(self):
        """Ranks that disagree about the size: the message names ranks, operation and bytes. A disagreement that
        leaves a rank waiting may end as a deadlock that names them."""
        for fabric, algorithm in WAYS:
            for chunks in (0, 1, 4):
                for size in (98304, 196610, 393216, 0):
                    self.expect(
                        f"{fabric}, {algorithm}, {chunks or 'automatic'} chunks, NPU 1 has {size} instead of 196608 bytes",
                        "a failed check or a deadlock",
                        scenario(fabric, algorithm=algorithm, chunks=chunks, bytes_of={"1": size}),
                        (WRONG, DEADLOCK_OR_LIMIT), r"NPU \d+", "all_reduce", r"[0-9]+ bytes",
                    )
        many = scenario("mesh2d", algorithm="hierarchical", chunks=9, bytes=1048576, bytes_of={"13": 1000, "14": 2000})
        many["wafer"] = {"npus": 64, "fabric": {"kind": "mesh2d", "mesh2d": {"columns": 8, "rows": 8}}}
        self.expect("more messages on their way to NPU 14, which has given up, than its completion ring holds",
                    "a failed check", many, (WRONG,), r"NPU 14", "all_reduce", r"2000|1000|1048576")
        for operation in ("reduce_scatter", "all_gather", "broadcast", "all_to_all", "send"):
            for fabric in ("ring", "fred"):
                self.expect(f"{fabric}, {operation}, NPU 1 has half the bytes", "a failed check or a deadlock",
                            scenario(fabric, operation=operation, bytes_of={"1": 98304}), (WRONG, DEADLOCK_OR_LIMIT),
                            r"NPU \d+", "receive|send" if operation == "send" else operation.replace("_scatter", ""), r"[0-9]+ bytes")

    def unsupported(self):
        for fabric, collective, pattern in (
            ("ring", {"algorithm": "hierarchical"}, "two dimensions"),
            ("ring", {"algorithm": "in_switch"}, "in_network"),
            ("mesh2d", {"algorithm": "in_switch"}, "in_network"),
            ("fred_end_points", {"algorithm": "in_switch"}, "in_network"),
            ("ring", {"algorithm": "relay"}, "relay"),
            ("ring", {"operation": "all_to_all", "algorithm": "ring"}, "all_to_all"),
            ("ring", {"operation": "broadcast", "algorithm": "ring"}, "broadcast"),
            ("mesh2d", {"algorithm": "hierarchical", "ranks": [0, 1, 3]}, "grid"),
            ("ring", {"bytes": 196607}, "whole number"),
            ("ring", {"ranks": [0, 4]}, "NPU"),
            ("ring", {"ranks": [0, 0]}, "already"),
            ("ring", {"operation": "send", "root": 3}, "root"),
        ):
            done = self.expect(f"{fabric}, {collective}", "bad input", scenario(fabric, **collective), (BAD_INPUT,),
                               r"/workload/collective/\w+", pattern)
            if done:
                self.checks.that(done.result is None, "no result file")
        large = scenario("ring", bytes=1 << 40)
        large["detail"] = {"data": "values"}
        large["memory"] = {"check": "off"}
        self.expect("values of 4 TiB", "bad input, before the run", large, (BAD_INPUT,), "/limits/value_bytes",
                    str(4 << 40), "1073741824")


def main():
    checks = Checks()
    failures = Failures(parser().parse_args().wafervp, checks)
    failures.missing_rank()
    failures.time_limit()
    failures.other_size()
    failures.unsupported()
    return checks.status()


sys.exit(main())

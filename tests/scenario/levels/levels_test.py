# SPDX-License-Identifier: Apache-2.0
"""A thousand NPUs under three levels of FRED switches, against closed forms."""

import json
import sys

from product import REPOSITORY, Checks, merge, parser, run

STUDY = REPOSITORY / "scenarios" / "fred" / "three_levels_1024.json"
NPU_RATE = 3e12  # bytes/s
HOP = 20e-9
LINKS = 6  # NPU, L1, L2, L3 and down again


def result(checks, program, variant):
    study = json.loads(STUDY.read_text())
    done = run(program, merge(merge(study["scenario"], {"version": 1, "name": variant}), study["variants"][variant]),
               timeout=850)
    checks.that(done.status == 0, f"{variant}: status 0", done.output)
    return done.result


def all_reduce(checks, program):
    """One flow in the network: S over the port of an NPU, behind the latency of the way up and down."""
    done = result(checks, program, "all_reduce")
    closed = done["collectives"][0]["bytes"] / NPU_RATE + LINKS * HOP
    checks.within(done["time_ps"] * 1e-12 / closed, 1, 1.02, "all-reduce over its closed form")


def transformer(checks, program):
    """1F1B of p stages and m microbatches: (m + p - 1) times compute and MP of a microbatch, a hand-over between the stages
    each way, and the gradients of a stage over the port of an NPU."""
    done = result(checks, program, "transformer")
    microbatches, stages = 8, 4
    groups = {row["kind"]: row for row in done["collectives"]}
    compute = done["breakdown_ps"]["compute"] * 1e-12 / microbatches
    layers = 80 // stages
    model = 4 * layers * (groups["mp"]["bytes"] / NPU_RATE + 2 * HOP)
    hand_over = groups["pp"]["bytes"] / NPU_RATE + 4 * HOP
    gradients = groups["dp"]["bytes"] / NPU_RATE + LINKS * HOP
    closed = (microbatches + stages - 1) * (compute + model) + 2 * (stages - 1) * hand_over + gradients
    checks.within(done["time_ps"] * 1e-12 / closed, 0.98, 1.02, "step over its closed form")


def main():
    options = parser()
    options.add_argument("case", choices=("all_reduce", "transformer"))
    arguments = options.parse_args()
    checks = Checks()
    globals()[arguments.case](checks, arguments.wafervp)
    return checks.status()


sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the subspace paper (arXiv 2506.01260) and of its authors' public logs. Measured: two runs of ProtocolNanoGPT.
Derived: an independent event model of a pipeline of 2e9 parameters. Reported: a gain of 13 in four regions."""
import sys

import product

FOLDER = product.REPOSITORY / "scenarios" / "subspace"
TOKENS = 32768


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()

    def seconds(name):
        run = product.run(arguments.wafervp, FOLDER / f"{name}.json")
        checks.that(run.status == 0, f"{name} runs", run.output[-300:])
        return run.result["time_ps"] / 1e12, run.result["payload_bytes"]

    (dense, dense_bytes), (subspace, subspace_bytes) = seconds("nanogpt_dense"), seconds("nanogpt_subspace")
    checks.within(dense / 100.475, 0.985, 1.015, "ProtocolNanoGPT, dense, over the measured 100.475 s")
    checks.within(subspace / 19.889, 0.985, 1.015, "ProtocolNanoGPT, 160 coefficients, over the measured 19.889 s")
    checks.that(dense_bytes * 322 == subspace_bytes * 2048, "2048 and 322 bytes a token each way",
                f"{dense_bytes} {subspace_bytes}")

    def rows(name):
        run = product.run(arguments.wafervp, FOLDER / f"{name}.json", "--quiet")
        checks.that(run.status == 0, f"{name} runs", run.output[-300:])
        return {row["name"]: row["time_ps"] / 1e12 for row in run.summary["variants"]}

    sweep = rows("sweep_2b")
    for speed, expected in (("tf20_m8", (340, 6453, 7054)), ("tf30_m8", (343, 9251, 10538)), ("tf40_m8", (344, 11812, 13994)),
                            ("tf40_m32", (512, 20288, 21744))):
        for link, rate in zip(("dense_80m", "k40_80m", "dense_100g"), expected):
            checks.within(TOKENS / sweep[f"{speed}_{link}"] / rate, 0.97, 1.03, f"{speed}, {link}: tokens/s over {rate}")
    regions = rows("regions_8b")
    for rate, gain in ((60, 32.8), (80, 25.4), (160, 13.4), (200, 10.9), (350, 6.5)):
        checks.within(regions[f"dense_{rate}m"] / regions[f"k40_{rate}m"] / gain, 0.95, 1.05,
                      f"four regions, {rate} Mb/s: gain over {gain}")
    checks.within(regions["dense_drawn"] / regions["k40_drawn"], 6.5, 32.8, "four regions, drawn rates: inside the band")
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

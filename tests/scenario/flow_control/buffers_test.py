#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The FRED paper's buffers taken literally (24 KiB a channel and port) starve a link: b packets pass in a round trip and a
packet's own time. The default keeps it busy. And a header of 6 bytes costs 6/4096 of the rate."""
import sys

import product

PACKET, MESSAGE = 4096, 8000 * 4096


def rate_of(program, fabric, receiver):
    """bytes/s of one long message."""
    run = product.run(program, {
        "version": 1, "name": "buffers", "wafer": {"npus": 20, "fabric": fabric},
        "workload": {"kind": "collective", "messages": [{"from": 0, "to": receiver, "bytes": MESSAGE}]},
        "memory": {"check": "off"}})
    return MESSAGE * 1e12 / run.result["time_ps"], run


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    slices = {"l1_switches": 5, "npus_per_l1": 4, "npu_bytes_per_s": 600 * 10**9, "uplink_bytes_per_s": 600 * 10**9}
    # fabric, receiver over two links or more, rate, packets of buffer, what fred.md's formula gives
    for fabric, receiver, rate, buffer, said in (
            ({"kind": "mesh2d"}, 2, 750e9, 6, 541e9),
            ({"kind": "fred", "fred": slices}, 1, 600e9, 6, 525e9),
            ({"kind": "fred"}, 1, 3000e9, 30, 2971e9)):
        formula = buffer * PACKET / (40e-9 + PACKET / rate)
        checks.within(formula / said, 0.999, 1.001, f"{fabric['kind']} {rate / 1e9:.0f} GB/s: the formula")
        fabric["flow_control"] = {"buffers": "paper"}
        checks.within(rate_of(arguments.wafervp, fabric, receiver)[0] / formula, 0.995, 1.005,
                      f"{fabric['kind']} {rate / 1e9:.0f} GB/s with the paper's buffers, over {formula / 1e9:.0f} GB/s")
        fabric["flow_control"] = {}
        checks.within(rate_of(arguments.wafervp, fabric, receiver)[0] / rate, 0.99, 1,
                      f"{fabric['kind']} {rate / 1e9:.0f} GB/s with buffers for the round trip, over the link's rate")
    with_headers, run = rate_of(arguments.wafervp, {"kind": "mesh2d", "flow_control": {"header_bytes": 6}}, 1)
    without, _ = rate_of(arguments.wafervp, {"kind": "mesh2d"}, 1)
    checks.within(without / with_headers, 1 + 5.9 / 4096, 1 + 6.1 / 4096, "headers: time over that without")
    link = next(link for link in run.result["links"] if link["bytes"])
    checks.that(link["wire_bytes"] == MESSAGE + 6 * 8000, "headers: bytes on the wire", str(link))
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Go-Back-N through the whole wafer: one scripted error on each kind of link, in both grains.

All payload arrives, on each link as much as without errors; the links send again what the formula says, and the
run takes as much longer.
"""
import copy
import json
import math
import pathlib
import sys

import product

LATENCY_PS, PACKET, CONTROL = 20_000, 4096, 512


def ps(size, rate):
    return -(-size * 10**12 // rate)


def round_trip_ps(rate):
    """From the start of a packet in error to the time when its sender knows."""
    return ps(PACKET, rate) + 2 * LATENCY_PS + ps(CONTROL, rate)


def scenario(fabric, workload, io=0):
    fabric = copy.deepcopy(fabric)
    fabric["flow_control"] = {"retransmission": "go_back_n"}
    npus = {"ring": 8, "switch": 8}.get(fabric["kind"], 20)
    made = {"version": 1, "name": "errors", "wafer": {"npus": npus, "fabric": fabric},
            "workload": dict(workload, kind="collective"), "memory": {"check": "off"}}
    if io:
        made["wafer"]["io"] = {"controllers": io}
    return made


def message(sender, receiver):
    return {"messages": [{"from": sender, "to": receiver, "bytes": 1000 * PACKET}]}


FRED = {"kind": "fred"}
SUM = {"collective": {"operation": "all_reduce", "algorithm": "in_switch", "bytes": 1000 * PACKET, "chunks": 1}}
# A message alone fills its link: fabric, workload, link, rate.
ALONE = [
    ({"kind": "mesh2d"}, message(0, 13), "x1y0->x2y0", 750 * 10**9),
    ({"kind": "mesh2d"}, message(0, 13), "x3y1->x3y2", 750 * 10**9),
    ({"kind": "ring"}, message(0, 2), "npu1->npu2", 750 * 10**9),
    ({"kind": "switch"}, message(0, 2), "npu0->switch", 3000 * 10**9),
    ({"kind": "switch"}, message(0, 2), "switch->npu2", 3000 * 10**9),
    (FRED, message(0, 13), "npu0->l1_0", 3000 * 10**9),
    (FRED, message(0, 13), "l1_3->npu13", 3000 * 10**9),
]
# Inside a reduction: the link, and the links that are asked for their packets again, by the switches between.
TREE = [("npu2->l1_0", 0), ("l1_1->l2", 1), ("l2->l1_3", 2), ("l1_3->npu13", 3)]


def with_error(base, link, grain):
    made = copy.deepcopy(base)
    made["detail"] = {"grain": grain}
    if link:
        made["wafer"]["fabric"]["errors"] = {"script": [{"link": link, "packet": 501}]}
    return made


def by_name(run):
    return {link["name"]: link for link in run.result["links"]}


def compare(checks, program, base, link, grain, what):
    """(run without errors, run with one), after the checks that hold for all."""
    clean = product.run(program, with_error(base, None, grain))
    broken = product.run(program, with_error(base, link, grain))
    checks.that(clean.status == 0 and broken.status == 0, f"{what}: runs", clean.output + broken.output)
    if clean.status or broken.status:
        return None
    one, two = by_name(clean), by_name(broken)
    checks.that(all(two[name]["bytes"] == one[name]["bytes"] for name in one), f"{what}: payload is conserved")
    checks.that(two[link]["errors"] == 1 and sum(each["errors"] for each in two.values()) == 1, f"{what}: one error")
    checks.that(all(each["ack_bytes"] <= each["bytes"] / 128 for each in two.values()), f"{what}: acknowledgements")
    return clean, broken


def alone(checks, program, case, grain):
    fabric, workload, link, rate = case
    what = f"{fabric['kind']} {link} {grain}"
    runs = compare(checks, program, scenario(fabric, workload), link, grain, what)
    if runs is None:
        return
    again = math.ceil(round_trip_ps(rate) / ps(PACKET, rate))
    found = by_name(runs[1])[link]
    checks.that(found["resent_packets"] == again and found["resent_bytes"] == again * PACKET,
                f"{what}: {found['resent_packets']} packets again, formula {again}")
    others = [each["name"] for each in by_name(runs[1]).values() if each["resent_packets"] and each["name"] != link]
    checks.that(not others, f"{what}: no other link sends again", str(others))
    later = runs[1].result["time_ps"] - runs[0].result["time_ps"]
    checks.that(abs(later - again * PACKET * 10**12 / rate) <= 2, f"{what}: {later} ps later, {again} packets")
    checks.that(found["ack_bytes"] == 1000 // 16 * CONTROL, f"{what}: {found['ack_bytes']} bytes of acknowledgements")


def in_a_sum(checks, program, link, switches, grain):
    """A NACK goes on through `switches` switches to all sources, and what they send again comes back."""
    what = f"sum {link} {grain}"
    runs = compare(checks, program, scenario(FRED, SUM), link, grain, what)
    if runs is None:
        return
    links = by_name(runs[1])
    depth = {"npu": 0, "up": 1, "down": 2, "last": 3}

    def place(name):
        if name.startswith("npu"):
            return depth["npu"]
        if name.endswith("->l2"):
            return depth["up"]
        return depth["down"] if name.startswith("l2") else depth["last"]

    def below(name):
        """Whether `name` feeds the sum on `link`."""
        if place(name) >= place(link):
            return False
        if place(link) == 1:
            return name.endswith(link.split("->")[0])
        return place(name) < 2 or name.split("->")[1] == link.split("->")[0]

    asked = {name for name, each in links.items() if each["resent_packets"] and name != link}
    expected = {name for name in links if below(name)}
    checks.that(asked == expected, f"{what}: {len(expected)} links above send again", f"{asked ^ expected}")
    # Each link and back, a packet in error, and a control packet a link. A link that has more room waits.
    slow, fast = 3000 * 10**9, 12000 * 10**9
    rates = [slow, fast, fast, slow][:place(link) + 1]
    trip = ps(PACKET, rates[-1]) + sum(2 * LATENCY_PS + ps(CONTROL, rate) for rate in rates)
    later = runs[1].result["time_ps"] - runs[0].result["time_ps"]
    packet = ps(PACKET, slow)
    checks.that(trip - 1500 <= later <= trip + packet + 1500, f"{what}: {later} ps later, round trip {trip} ps")
    # No more than it may have on the way: what it sends until it knows, and what fits into the buffer.
    for name in expected:
        rate = slow if place(name) == 0 else fast
        room = math.ceil(rate * 2 * LATENCY_PS / 10**12 / PACKET) + 2
        ahead = (place(link) - place(name)) * room
        most = min(math.ceil((trip + 3000) / packet), ahead + room)
        found = links[name]["resent_packets"]
        checks.that(0 < found <= most, f"{what}: {name} sends {found} again, at most {most}")


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    program = arguments.wafervp
    for grain in ("auto", "packet"):
        for case in ALONE:
            alone(checks, program, case, grain)
        for link, switches in TREE:
            in_a_sum(checks, program, link, switches, grain)
    # Off-wafer memory: a tree of multicast on the mesh, and on FRED. Each controller's channel is a link.
    load = {"collective": {"operation": "load", "bytes": 18 * 1000 * PACKET}}
    for fabric, link in (({"kind": "mesh2d"}, "io0->npu0"), (FRED, "io0->l1_0")):
        compare(checks, program, scenario(fabric, load, io=18), link, "auto", f"load {link}")
    dead = scenario({"kind": "mesh2d"}, message(0, 1))
    dead["wafer"]["fabric"]["errors"] = {"bit_error_rate": 1}
    run = product.run(program, dead)
    checks.that(run.status == 1 and "x0y0->x1y0" in run.output and "dead" in run.output, "a dead link is named",
                run.output)
    # All at once, in a step of training.
    step = product.merge(json.loads(pathlib.Path(product.REPOSITORY, "scenarios/examples/tiny_transformer.json").read_text()),
                         {"wafer": {"fabric": {"flow_control": {"retransmission": "go_back_n", "header_bytes": 6,
                                                                "acknowledgements": "charged",
                                                                "preemption": "mp_pp_dp"},
                                               "errors": {"bit_error_rate": 1e-6}}}})
    for grain in ("auto", "packet"):
        run = product.run(program, product.merge(step, {"detail": {"grain": grain}}))
        checks.that(run.status == 0, f"a step of training with errors, {grain}", run.output)
        if run.status == 0:
            links = run.result["links"]
            checks.that(sum(link["errors"] for link in links) > 100, f"a step has errors, {grain}")
            for link in links:
                packets = (link["wire_bytes"] - link["bytes"] - link["resent_bytes"]) / 6
                checks.that(link["resent_bytes"] == 0 or packets > link["resent_packets"], f"headers of {link['name']}")
    # Acknowledgements that take time: 512 bytes for 16 packets, on the links that carry data the other way.
    both = scenario({"kind": "ring"}, {"messages": [{"from": 0, "to": 1, "bytes": 1600 * PACKET},
                                                    {"from": 1, "to": 0, "bytes": 1600 * PACKET}]})
    counted = product.run(program, both)
    both["wafer"]["fabric"]["flow_control"]["acknowledgements"] = "charged"
    charged = product.run(program, both)
    checks.within(charged.result["time_ps"] / counted.result["time_ps"], 1 + 0.9 / 128, 1 + 1.1 / 128,
                  "charged acknowledgements: time over that without")
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

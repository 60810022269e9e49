#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Go-Back-N on the links of I/O controllers: weights that come in by trees of multicast, gradients that go out summed, on meshes
and on FRED, in both grains. The flows are paced: packets come every `s`, where the link could send one every `p` <= s.

What is expected are the formulas of modules/link/README.md: packets in vain, packets that links above carry once more, and
the time by which the controller ends later.
"""
import collections
import math
import sys

import product

LATENCY_PS, PACKET, CONTROL = 20_000, 4096, 512
CHANNEL, MESH, NPU, UP = 128 * 10**9, 750 * 10**9, 3000 * 10**9, 12000 * 10**9


def ps(size, rate):
    return -(-size * 10**12 // rate)


def told(rate):
    """From the start of a packet in error to the time when its sender knows."""
    return ps(PACKET, rate) + 2 * LATENCY_PS + ps(CONTROL, rate)


def again(rate, above):
    """The same to the time when the packet is there once more, which all sources behind the links `above` send again."""
    return told(rate) + sum(2 * LATENCY_PS + ps(CONTROL, each) for each in above)


def lost(rate, spacing, back, rest):
    """By how much the last of `rest` packets behind the one in error is later, if that is there again after `back`. What
    went in vain has to be off the wire, and then the link is faster than the flow."""
    packet = ps(PACKET, rate)
    in_vain = min(math.ceil(told(rate) / spacing), rest + 1)
    return max(0, max(back, (in_vain - 1) * spacing + packet) - rest * (spacing - packet))


class Wafer:
    """A fabric, its controllers, the time between two packets of a stream, and how long other streams take the most loaded
    link of the mesh for a packet each."""

    def __init__(self, name, fabric, npus, controllers, spacing, wait):
        self.name, self.fabric, self.npus, self.controllers = name, fabric, npus, controllers
        self.spacing, self.wait = spacing, wait

    def scenario(self, operation, packets, grain, errors):
        fabric = dict(self.fabric, flow_control={"retransmission": "go_back_n"}, errors=errors)
        return {"version": 1, "name": "io_errors", "memory": {"check": "off"}, "detail": {"grain": grain},
                "wafer": {"npus": self.npus, "fabric": fabric, "io": {"controllers": self.controllers}},
                "workload": {"kind": "collective",
                             "collective": {"operation": operation, "bytes": self.controllers * packets * PACKET}}}


def mesh(columns, rows, spacing, streams):
    return Wafer(f"mesh {columns}x{rows}", {"kind": "mesh2d", "mesh2d": {"columns": columns, "rows": rows}}, columns * rows,
                 2 * (columns + rows), spacing, (streams - 1) * ps(PACKET, MESH))


FREE = ps(PACKET, CHANNEL)
# The most loaded link of the mesh carries 2 N - 1 streams (arXiv 2406.19580): more than it can on 5 x 4.
MESH_3X3, MESH_5X4 = mesh(3, 3, FREE, 5), mesh(5, 4, 9 * PACKET * 10**12 / MESH, 9)
FRED_1, FRED_18 = (Wafer(f"fred, {count} controllers", {"kind": "fred", "fred": {"uplink_bytes_per_s": UP}}, 20, count, FREE, 0)
                   for count in (1, 18))


class Pair:
    """A run without errors and the same one with some, and the checks that hold for all."""

    def __init__(self, checks, program, wafer, operation, packets, grain, errors, what):
        clean = product.run(program, wafer.scenario(operation, packets, grain, {}))
        broken = product.run(program, wafer.scenario(operation, packets, grain, errors))
        self.fine = clean.status == 0 and broken.status == 0
        checks.that(self.fine, f"{what}: runs", clean.output + broken.output)
        if not self.fine:
            return
        before = {each["name"]: each for each in clean.result["links"]}
        self.links = {each["name"]: each for each in broken.result["links"]}
        self.all_later = broken.result["time_ps"] - clean.result["time_ps"]
        self.later = [two["end_ps"] - one["end_ps"] for one, two in
                      zip(clean.result["io_controllers"], broken.result["io_controllers"])]
        checks.that(all(self.links[name]["bytes"] == before[name]["bytes"] for name in before), f"{what}: payload is conserved")
        checks.that(all(each["wire_bytes"] == each["bytes"] + each["resent_bytes"] and
                        each["resent_bytes"] == PACKET * each["resent_packets"] for each in self.links.values()),
                    f"{what}: bytes on the wire")
        checks.that(all(each["ack_bytes"] == each["bytes"] // (16 * PACKET) * CONTROL for each in self.links.values()),
                    f"{what}: 512 bytes of acknowledgements for each 65536")


def near(checks, found, expected, what):
    checks.that(abs(found - expected) <= 4, f"{what}: {found} ps later, formula {expected:.0f}")


def row(what, packet, found, formula, later, later_formula):
    print(f"{what:34} {packet:7} {found:6} {formula:8}   {later / 1000:.3f} ns, {later_formula / 1000:.3f} ns")


def script(link, *packets):
    return {"script": [{"link": link, "packet": packet} for packet in packets]}


def weights(checks, program, wafer, link, grain, packet):
    """Weights in: the controller itself sends again, nobody else."""
    what = f"{wafer.name}, load, {link}, packet {packet}, {grain}"
    pair = Pair(checks, program, wafer, "load", 1000, grain, script(link, packet), what)
    if not pair.fine:
        return
    rest = 1000 - packet
    expected = min(math.ceil(told(CHANNEL) / wafer.spacing), rest + 1)
    resent = {name: each["resent_packets"] for name, each in pair.links.items() if each["resent_packets"]}
    checks.that(resent == {link: expected} and pair.links[link]["errors"] == 1, f"{what}: {resent} again, formula {expected}")
    later = lost(CHANNEL, wafer.spacing, told(CHANNEL), rest)
    near(checks, pair.later[0], later, what)
    row(f"{wafer.name}, weights, {link}", packet, resent.get(link, 0), expected, pair.later[0], later)
    checks.that(not any(pair.later[1:]), f"{what}: other controllers end as before")


def ends(link):
    """Nodes at its ends; an L1 switch on the way up is another one than on the way down."""
    one, two = link.split("->")
    return (one + " up" if two == "l2" else one), (two + " up" if one.startswith("npu") and two.startswith("l1") else two)


def hops_to(root, links):
    """link -> (links from it to the root, itself with them; links behind it, at most), in the tree of `links`."""
    into = collections.defaultdict(list)
    for name in links:
        into[ends(name)[1]].append(name)
    places = {}

    def visit(node, distance):
        deepest = 0
        for name in into[node]:
            behind = visit(ends(name)[0], distance + 1)
            places[name] = (distance + 1, behind)
            deepest = max(deepest, behind + 1)
        return deepest

    visit(root, 0)
    return places


def gradients(checks, program, wafer, link, root, above, grain, packet, exact=True):
    """Gradients out: the NACK goes on to all NPUs, over links of the rates `above` on the longest way."""
    what = f"{wafer.name}, store, {link}, packet {packet}, {grain}"
    pair = Pair(checks, program, wafer, "store", 1000, grain, script(link, packet), what)
    if not pair.fine:
        return
    rest, spacing = 1000 - packet, wafer.spacing
    in_vain = min(math.ceil(told(CHANNEL) / spacing), rest + 1)
    checks.that(pair.links[link]["resent_packets"] == in_vain and pair.links[link]["errors"] == 1,
                f"{what}: {pair.links[link]['resent_packets']} again, formula {in_vain}")
    back = again(CHANNEL, above)
    expected = lost(CHANNEL, spacing, back, rest)
    row(f"{wafer.name}, gradients, {link}", packet, pair.links[link]["resent_packets"], in_vain, pair.later[0], expected)
    if exact:
        near(checks, pair.later[0], expected, what)
    else:
        # The most loaded links of the mesh carry nine streams of a ninth of their rate each: what they carry again, which
        # the formula has as free, they can only carry later, and how late each stream's share of it is depends on the turns
        # of all of them at all links. No more than if nothing was caught up.
        checks.that(expected - 4 <= pair.later[0] < back, f"{what}: {pair.later[0]} ps later, formula {expected:.0f}, "
                    f"without the pace {back}")
    # From its first start to the time when the packet is there again, a link sends one every `spacing`.
    tree = hops_to(root, [name for name, each in pair.links.items() if each["resent_packets"] and name != link])
    checks.that(len({name.split("->")[0] for name in tree if not name.startswith("l")}) == wafer.npus - (root[0] == "x"),
                f"{what}: all NPUs send again")
    for name, (distance, behind) in tree.items():
        asked = told(CHANNEL) + len(above) * LATENCY_PS
        nack = sum(LATENCY_PS + ps(CONTROL, each) for each in above[:distance + behind])
        # It may have had to wait once for a packet of each other stream first.
        most, least = (min(math.ceil((asked + nack - wait) / spacing), rest + 1) for wait in (0, wafer.wait))
        found = pair.links[name]["resent_packets"]
        checks.that(least <= found <= most, f"{what}: {name} carries {found} again, formula {least} to {most}")


def channel_asked(links):
    """When the first of `links` (rates, from a controller on) is asked to send again because of an error on the last one,
    from its own start of the packet on."""
    if len(links) == 1:
        return told(links[0])
    # A faster link begins so late that it does not outrun the packet's tail.
    begins = (len(links) - 1) * LATENCY_PS + ps(PACKET, links[0]) - ps(PACKET, links[-1])
    return begins + told(links[-1]) + sum(LATENCY_PS + ps(CONTROL, each) for each in links[:-1])


def behind_the_channel(checks, program, name, rates, grain, packet):
    """Weights in, an error on link `name`, the last of `rates`: what the controller has sent until it is asked, it sends
    again, and as it is the slowest that is how much later all ends. If it has sent all by then, what is late is what comes
    once more, and what has waited behind it follows as fast as the slowest of the links to an NPU, its last one, sends."""
    what = f"fred, load, {name}, packet {packet}, {grain}"
    pair = Pair(checks, program, FRED_1, "load", 1000, grain, script(name, packet), what)
    if not pair.fine:
        return
    rest, asked = 1000 - packet, channel_asked(rates)
    in_window = math.ceil(asked / FREE)
    expected, found = min(in_window, rest + 1), pair.links["io0->l1_0"]["resent_packets"]
    checks.that(found == expected, f"{what}: the channel sends {found} again, formula {expected}")
    expected_here, found_here = min(math.ceil(told(rates[-1]) / FREE), rest + 1), pair.links[name]["resent_packets"]
    checks.that(found_here == expected_here, f"{what}: {found_here} in vain, formula {expected_here}")
    if rest >= in_window:
        later = in_window * FREE
        near(checks, pair.later[0], later, what)
    else:
        checks.that(pair.later[0] == 0, f"{what}: the controller has sent all before it is asked")
        back = again(rates[-1], rates[:-1][::-1])
        later = max(0, back - rest * (FREE - ps(PACKET, NPU)))
    near(checks, pair.all_later, later, f"{what}, all")
    row(f"fred, weights, {name}", packet, found, expected, pair.all_later, later)


def several(checks, program, grain):
    """Errors that lie apart cost the same each. What is sent again counts in the script, so the second is on packet 700."""
    for operation, link, each in (("load", "io0->l1_0", lost(CHANNEL, FREE, told(CHANNEL), 100)),
                                  ("store", "l1_0->io0", again(CHANNEL, (UP, UP, NPU)))):
        what = f"fred, {operation}, two errors, {grain}"
        pair = Pair(checks, program, FRED_1, operation, 1000, grain, script(link, 301, 701), what)
        if pair.fine:
            checks.that(pair.links[link]["resent_packets"] == 2 * math.ceil(told(CHANNEL) / FREE), f"{what}: sent again")
            near(checks, pair.later[0], 2 * each, what)


def scripted(checks, program):
    for grain in ("auto", "packet"):
        for packet in (1, 501, 992, 998, 1000) if grain == "auto" else (501, 998):
            for wafer in (MESH_3X3, MESH_5X4):
                weights(checks, program, wafer, "io0->npu0", grain, packet)
            for wafer in (FRED_1, FRED_18):
                weights(checks, program, wafer, "io0->l1_0", grain, packet)
                gradients(checks, program, wafer, "l1_0->io0", "l1_0", (UP, UP, NPU), grain, packet)
            gradients(checks, program, MESH_3X3, "npu0->io0", "x0y0", 4 * (MESH,), grain, packet)
            gradients(checks, program, MESH_5X4, "npu0->io0", "x0y0", 7 * (MESH,), grain, packet, exact=packet > 990)
        way = (CHANNEL, UP, UP, NPU)
        for length, name in ((2, "l1_0->l2"), (3, "l2->l1_3"), (4, "l1_3->npu13")):
            for packet in (501, 993, 996, 998, 1000):
                behind_the_channel(checks, program, name, way[:length], grain, packet)
        several(checks, program, grain)


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    print(f"{'link':34} {'packet':>7} {'again':>6} {'formula':>8}   later, formula")
    scripted(checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

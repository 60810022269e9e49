#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Site links against their law: a message waits for the wire, is sent whole, and arrives a latency later. Wires shared and
apart, latency in the wire or behind it, jitter, meshes with gateways, collectives that know where the boundary is."""
import sys

import product

RATE, LATENCY = 25_000_000, 50_000_000_000  # bytes/s, ps
BYTES = 1_000_000
SENDING = BYTES * 10**12 // RATE
MESH = {"kind": "mesh2d", "mesh2d": {"columns": 2, "rows": 2}}


def scenario(messages, count=3, npus=None, fabric=None, seed=1, **sites):
    return {
        "version": 1, "name": "sites", "seed": seed,
        "wafer": {"npus": npus or count, "fabric": fabric or {"kind": "ring"},
                  "sites": {"count": count, "bytes_per_s": RATE, "latency_ns": LATENCY / 1000, **sites}},
        "workload": {"kind": "collective", "messages": messages}, "memory": {"check": "off"}}


def message(sender, receiver, start_ns=0, size=BYTES):
    return {"from": sender, "to": receiver, "bytes": size, "start_ns": start_ns}


def law(checks, program):
    two = [message(1, 0), message(1, 0)]
    from_both = [message(1, 0), message(2, 0)]
    late = [message(1, 0), message(2, 0, start_ns=SENDING / 2000)]
    cases = (
        ("one message", [message(1, 0)], {}, SENDING + LATENCY),
        ("one message, latency in the wire", [message(1, 0)], {"latency": "occupies"}, SENDING + LATENCY),
        ("no bytes", [message(1, 0, size=0)], {}, LATENCY),
        ("two in a row", two, {}, 2 * SENDING + LATENCY),
        ("two in a row, latency in the wire", two, {"latency": "occupies"}, 2 * (SENDING + LATENCY)),
        ("from two sites", from_both, {}, SENDING + LATENCY),
        ("from two sites, one wire", from_both, {"wires": "shared_inbound"}, 2 * SENDING + LATENCY),
        ("from two sites, one wire, latency in it", from_both, {"wires": "shared_inbound", "latency": "occupies"},
         2 * (SENDING + LATENCY)),
        ("one comes later", late, {"wires": "shared_inbound"}, 2 * SENDING + LATENCY),
        ("one comes later, wires apart", late, {}, SENDING + SENDING // 2 + LATENCY),
        ("there and back", [message(1, 0), message(0, 1)], {"wires": "shared_inbound"}, SENDING + LATENCY))
    for name, messages, sites, expected in cases:
        for grain in ("auto", "packet"):
            run = product.run(program, product.merge(scenario(messages, **sites), {"detail": {"grain": grain}}))
            checks.that(run.status == 0 and run.result["time_ps"] == expected, f"{name}, {grain}",
                        f"expected {expected} ps, found {run.result and run.result['time_ps']} {run.output[-300:]}")
            sent = sum(link["bytes"] for link in run.result["links"])
            checks.that(sent == sum(m["bytes"] for m in messages), f"{name}: bytes", str(sent))
    single = scenario([message(1, 0)])
    single["wafer"]["fabric"]["link_rates"] = {"site1->site0": RATE // 5}
    run = product.run(program, single)
    checks.that(run.result["time_ps"] == 5 * SENDING + LATENCY, "rate of a single link", str(run.result["time_ps"]))


def jitter(checks, program):
    size = LATENCY // 5

    def time_of(seed, kind="uniform", messages=1):
        run = product.run(program, scenario([message(1, 0)] * messages, seed=seed, jitter=kind, jitter_ns=size / 1000))
        return run.result["time_ps"]

    later = [time_of(seed) - SENDING - LATENCY for seed in range(1, 17)]
    checks.that(all(0 <= ps <= size for ps in later), "uniform jitter is of 0 to its size", str(later))
    checks.that(len(set(later)) == len(later), "each seed draws its own", str(later))
    # 16 uniform numbers: mean 1/2 with deviation 1/sqrt(12 * 16) = 0.072.
    checks.within(sum(later) / len(later) / size, 0.5 - 4 * 0.072, 0.5 + 4 * 0.072, "mean of uniform jitter")
    around = [(time_of(seed, "normal") - SENDING - LATENCY) / size for seed in range(1, 17)]
    checks.that(min(around) < 0 < max(around), "normal jitter lies about the latency", str(around))
    checks.within(sum(x * x for x in around) / len(around), 0.2, 2.5, "square of normal jitter")
    checks.that(time_of(3) == time_of(3), "the same seed draws the same", "")
    many = time_of(5, messages=20)
    checks.within((many - 20 * SENDING - LATENCY) / size, 0, 1, "messages in a row keep their order: last one's jitter alone")


def meshes(checks, program):
    # From the corner across two links to the gateway 0, over, and two more links; 20 ns and 750 GB/s each.
    run = product.run(program, scenario([message(3, 7)], count=2, npus=8, fabric=MESH))
    hop, packet = 20_000, 4096 * 10**12 // 750 // 10**9
    expected = 4 * hop + BYTES * 10**12 // (750 * 10**9) + LATENCY + SENDING
    checks.within((run.result["time_ps"] - expected) / packet, -0.01, 2, "gateway to gateway: packets over the sum of the parts")
    inside = product.run(program, scenario([message(4, 7)], count=2, npus=8, fabric=MESH))
    alone = product.run(program, product.merge(
        scenario([message(0, 3)], count=2, npus=8, fabric=MESH),
        {"wafer": {"npus": 4, "sites": None}}))
    checks.that(inside.result["time_ps"] == alone.result["time_ps"], "inside a site as on a wafer alone",
                f"{inside.result['time_ps']} {alone.result['time_ps']}")


def collectives(checks, program):
    size = 8 << 20
    for algorithm, crossing in (("ring", 2 * 7 / 8), ("hierarchical", 1)):
        run = product.run(program, {
            "version": 1, "name": "sites_all_reduce",
            "wafer": {"npus": 8, "fabric": MESH, "sites": {"count": 2}},
            "workload": {"kind": "collective", "collective": {"operation": "all_reduce", "algorithm": algorithm, "bytes": size}},
            "memory": {"check": "off"}})
        checks.that(run.status == 0, f"{algorithm} over two sites", run.output[-300:])
        links = {link["name"]: link for link in run.result["links"]}
        for name in ("site0->site1", "site1->site0"):
            checks.within(links[name]["bytes"] / size, crossing - 0.01, crossing + 0.01,
                          f"{algorithm}: bytes over {name} by the vector's")
        entry = run.result["collectives"][0]
        checks.that(0 < entry["bound_ps"] <= entry["time_ps"], f"{algorithm}: not below the bound", str(entry))


def refusals(checks, program):
    for name, patch, words in (
            ("fred", {"wafer": {"npus": 20, "fabric": {"kind": "fred"}, "sites": {"count": 2}}}, "not there yet"),
            ("no divisor", {"wafer": {"npus": 7}}, "must divide"),
            ("gateway", {"wafer": {"sites": {"gateway": 1}}}, "a site has NPUs 0..0"),
            ("script", {"wafer": {"fabric": {"flow_control": {"retransmission": "go_back_n"},
                                             "errors": {"script": [{"link": "site1->site0", "packet": 1}]}}}},
             "no errors of their own"),
            ("rate", {"wafer": {"fabric": {"link_rates": {"site1->site9": 5}}}}, "site9 does not exist"),
            ("jitter", {"wafer": {"sites": {"jitter": "gaussian"}}}, "none, uniform, normal")):
        run = product.run(program, product.merge(scenario([message(1, 0)]), patch))
        checks.that(run.status == 2 and words in run.output, f"refused: {name}", f"status {run.status}: {run.output}")


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    for part in (law, jitter, meshes, collectives, refusals):
        part(checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

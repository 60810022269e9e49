#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Go-Back-N where each bit is in error at some rate, for weights that come in and gradients that go out, from seldom errors to
such that nearly each packet is in error on some link, and errors overlap.

What is expected on FRED is the law of modules/link/README.md as overlap_law.py follows it, with other random numbers: within
four standard deviations of what it draws, and of how well its mean is known.
"""
import math
import random
import statistics
import sys

import overlap_law
import product
from io_errors_test import (CHANNEL, FRED_1, FREE, LATENCY_PS, MESH_3X3, NPU, PACKET, UP, Pair, again, channel_asked, told)

REPETITIONS = 8


def ways_from_io0():
    """link -> rates from controller 0 of FRED to it, the channel first."""
    ways = {"io0->l1_0": (CHANNEL,), "l1_0->l2": (CHANNEL, UP)}
    for l1 in range(5):
        to_l1 = (CHANNEL,) if l1 == 0 else (CHANNEL, UP, UP)
        if l1 > 0:
            ways[f"l2->l1_{l1}"] = to_l1
        for npu in range(4 * l1, 4 * l1 + 4):
            ways[f"l1_{l1}->npu{npu}"] = to_l1 + (NPU,)
    return ways


WAYS = ways_from_io0()
ALONE = {name: math.ceil(channel_asked(way) / FREE) for name, way in WAYS.items()}


def tree_of_weights():
    links = {}
    for name, way in WAYS.items():
        above = [links[other] for length in range(1, len(way)) for other, shorter in WAYS.items()
                 if len(shorter) == length and shorter == way[:length] and
                 (other.split("->")[1] == name.split("->")[0] if length == len(way) - 1 else length < 3)]
        links[name] = overlap_law.Link(way[-1], LATENCY_PS, above)
    return list(links.values())


def tree_of_gradients():
    npus = lambda: [overlap_law.Sum(NPU, LATENCY_PS) for _ in range(4)]
    up = [overlap_law.Sum(UP, LATENCY_PS, npus()) for _ in range(4)]
    return overlap_law.Sum(CHANNEL, LATENCY_PS, npus() + [overlap_law.Sum(UP, LATENCY_PS, up)])


def ratio(pairs, base):
    """Of (value, base) pairs: (what the value of another `base` is expected to be, four standard deviations of it)."""
    values, bases = (sum(each[k] for each in pairs) for k in (0, 1))
    if not bases or not base:
        return base, 0
    mean = values / bases
    variance = sum((value - mean * each) ** 2 for value, each in pairs) / (len(pairs) - 1) / (bases / len(pairs))
    return mean * base, 4 * math.sqrt(variance * base * (1 + base / bases))


def spread_of(values):
    """(mean, four standard deviations of another value from it)"""
    return statistics.mean(values), 4 * statistics.stdev(values) * math.sqrt(1 + 1 / len(values))


def weights_on_fred(checks, pair, packets, q, what):
    """What the channel sends again, for the errors that there were on all links."""
    draws, tree = [], tree_of_weights()
    for seed in range(REPETITIONS):
        found, errors = overlap_law.load(tree, packets, q, random.Random(seed))
        draws.append((found, sum(n * each for n, each in zip(errors, ALONE.values()))))
    errors = sum(pair.links[name]["errors"] for name in WAYS)
    spread = 4 * math.sqrt(len(WAYS) * packets * q) / (1 - q) + 1
    checks.within(errors, len(WAYS) * packets * q / (1 - q) - spread, len(WAYS) * packets * q / (1 - q) + spread,
                  f"{what}: errors on all links")
    alone = sum(pair.links[name]["errors"] * each for name, each in ALONE.items())
    expected, deviation = ratio(draws, alone)
    resent = pair.links["io0->l1_0"]["resent_packets"]
    # Where hardly any meet, two that do are more than what was drawn.
    slack = max(ALONE.values())
    checks.within(resent, expected - deviation - slack, min(alone, expected + deviation + slack),
                  f"{what}: sent again by the channel, for {errors} errors")
    # Where many meet, how many errors there are matters less.
    mean, spread = spread_of([found for found, _ in draws])
    checks.within(resent, mean - spread - slack, mean + spread + slack, f"{what}: sent again by the channel")
    print(f"{what:52} {errors:6} {resent:8} {expected:10.1f} +- {min(deviation, spread):.1f}, if none met {alone}")


def gradients_on_fred(checks, pair, packets, q, what):
    """What the channel sends again, and by how much it ends later: its own errors, and in part those on links before it."""
    draws, tree, own = [], tree_of_gradients(), again(CHANNEL, (UP, UP, NPU))
    for seed in range(REPETITIONS):
        draws.append(overlap_law.store(tree, packets, FREE, q, random.Random(seed)))
    channel = pair.links["l1_0->io0"]
    errors, resent = channel["errors"], channel["resent_packets"]
    each = math.ceil(told(CHANNEL) / FREE)
    expected, deviation = ratio([(found, n * each) for found, n, _, _ in draws], errors * each)
    checks.within(resent, expected - deviation - each, errors * each, f"{what}: sent again by the channel, for {errors} errors")
    others = [later - own * n for _, n, _, later in draws]
    mean, spread = spread_of(others)
    # A seldom error on a link before the channel, which no draw need have: once as long as the longest way.
    spread += again(UP, (UP, NPU))
    checks.within(pair.later[0] - own * errors, mean - spread, mean + spread,
                  f"{what}: ps later, but for the {errors} errors of the channel")
    print(f"{what:52} {errors:6} {resent:8} {expected:10.1f} +- {deviation:.1f}; later {pair.later[0] / 1e6:.4f} us, "
          f"{(own * errors + mean) / 1e6:.4f} +- {spread / 1e6:.4f}")


def on_mesh(checks, pair, wafer, operation, rate, what):
    """Streams share the links of a mesh, and an error drops packets of all of them: only seldom errors are told apart."""
    one_way = "io{0}->" if operation == "load" else "->io{0}"
    channels = [next(each for name, each in pair.links.items() if name.startswith(word) or name.endswith(word))
                for word in (one_way.format(k) for k in range(wafer.controllers))]
    errors, resent = (sum(each[key] for each in channels) for key in ("errors", "resent_packets"))
    alone, each = rate <= 1e-8, math.ceil(told(CHANNEL) / FREE)
    print(f"{what:52} {errors:6} {resent:8} {each * errors:10}" +
          (" and what links behind them ask for" if operation == "load" else "" if alone else ", less where packets are late"))
    if operation == "store":
        checks.within(resent, (1 if alone else 0.95 if rate <= 1e-7 else 0.85) * each * errors, each * errors, f"{what}: sent again by I/O links")
        return
    checks.that(resent >= each * errors, f"{what}: {resent} sent again by I/O links, for their own {errors} errors {each} each")
    # The channel is the slowest, so that what it sends again is the time lost, but what comes after its end.
    checks.within(pair.later[0] / FREE, channels[0]["resent_packets"] - 30, channels[0]["resent_packets"] * (1 if alone else 1.01),
                  f"{what}: packet times by which the controller ends later")


def by_rate(checks, program, wafer, operation, rate, packets, grain):
    what = f"{wafer.name}, {operation}, {rate:g}, {grain}"
    pair = Pair(checks, program, wafer, operation, packets, grain, {"bit_error_rate": rate}, what)
    if not pair.fine:
        return
    q = -math.expm1(8 * PACKET * math.log1p(-rate))
    if wafer is not FRED_1:
        on_mesh(checks, pair, wafer, operation, rate, what)
    elif operation == "load":
        weights_on_fred(checks, pair, packets, q, what)
    else:
        gradients_on_fred(checks, pair, packets, q, what)


def main():
    arguments = product.parser().parse_args()
    checks = product.Checks()
    print(f"{'fabric, operation, bit error rate, grain':52} {'errors':>6} {'again':>8} {'formula':>10}")
    for operation in ("load", "store"):
        for rate in (1e-12, 1e-9, 1e-8, 1e-7, 1e-6):
            by_rate(checks, arguments.wafervp, FRED_1, operation, rate, 5_000, "auto")
            by_rate(checks, arguments.wafervp, FRED_1, operation, rate, 2_000, "packet")
            by_rate(checks, arguments.wafervp, MESH_3X3, operation, rate, 2_000, "auto")
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

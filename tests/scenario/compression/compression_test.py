# SPDX-License-Identifier: Apache-2.0
"""Compression units in runs: bytes on links and times against what the codecs and the units' law say, and what is
refused."""

import json
import math
import subprocess
import sys

from product import REPOSITORY, Checks, merge, parser, run

HIDDEN, SEQUENCE, STAGES, MICROBATCHES, K, ID = 128, 64, 4, 3, 8, 4
ROWS = SEQUENCE  # one sequence a microbatch
RATE, LATENCY = 10e9, 50e-9  # of a link, bytes/s and s


def compressed(codec, *classes, **parameters):
    return {"placement": "npu", "policy": {name: codec for name in classes}, "codec": parameters}


def forwarding(compression, word):
    return merge(compression, {"unit": {"forwarding": word}})


def chain(compression, grain="auto", fabric="switch", relay_chunks=1):
    """A pipeline of four stages, each NPU with a link to and from a switch."""
    return {
        "version": 1,
        "name": "chain",
        "wafer": {
            "npus": STAGES,
            "fabric": {"kind": fabric, "switch": {"link_bytes_per_s": int(RATE), "link_latency_ns": LATENCY * 1e9}},
            "firmware": {"relay_chunks": relay_chunks},
            "compression": compression,
        },
        "workload": {
            "kind": "transformer",
            "parallelism": {"mp": 1, "dp": 1, "pp": STAGES},
            "transformer": {"preset": "custom", "layers": STAGES, "hidden": HIDDEN, "sequence": SEQUENCE,
                            "parameters": 1e6, "attention_flops_factor": 4},
            "samples_per_replica": MICROBATCHES,
            "microbatches": MICROBATCHES,
        },
        "detail": {"grain": grain},
    }


def collective(compression, **more):
    return merge({
        "version": 1,
        "name": "collective",
        "wafer": {"npus": 4, "fabric": {"kind": "ring", "ring": {"link_bytes_per_s": int(RATE),
                                                                 "link_latency_ns": LATENCY * 1e9}},
                  "compression": compression},
        "workload": {"kind": "collective",
                     "collective": {"operation": "all_reduce", "algorithm": "ring", "bytes": 1 << 20, "type": "fp32"}},
    }, more)


def well(checks, program, scenario, what):
    done = run(program, scenario)
    checks.that(done.status == 0, f"{what}: status 0", done.output)
    return done.result if done.status == 0 else sys.exit(1)


def chain_bytes(checks, result, forward, backward, what):
    for link in result["links"]:
        npu = int((link["from"] if link["from"].startswith("npu") else link["to"])[3:])
        leaves = link["from"].startswith("npu")
        forwards = npu + 1 < STAGES if leaves else npu > 0
        backwards = npu > 0 if leaves else npu + 1 < STAGES
        expected = MICROBATCHES * (forward * forwards + backward * backwards)
        checks.that(link["bytes"] == expected, f"{what}: {link['name']} carries {link['bytes']}, expected {expected}")


def chain_case(checks, program):
    """Forward rows x (k e + id), backward rows x k e; other codecs by their definitions. e: 2 bytes, fp16."""
    values = ROWS * HIDDEN
    blocks = values // 32
    for what, compression, forward, backward in (
            ("none", {}, values * 2, values * 2),
            ("subspace", compressed("subspace", "pp", k=K, id_bytes=ID), ROWS * (K * 2 + ID), ROWS * K * 2),
            ("subspace of fp32", compressed("subspace", "pp", k=K, id_bytes=8, coefficients="fp32"),
             ROWS * (K * 4 + 8), ROWS * K * 4),
            ("int8", compressed("int8", "pp", block=32, scale="fp16"), values + 2 * blocks, values + 2 * blocks),
            ("int4", compressed("int4", "pp", block=32, scale="fp16"), values // 2 + 2 * blocks, values // 2 + 2 * blocks),
            ("low_rank", compressed("low_rank", "pp", rank=2), 2 * (ROWS + HIDDEN) * 2, 2 * (ROWS + HIDDEN) * 2)):
        for chunks in (1, 4):
            if what == "low_rank" and chunks > 1:
                continue  # each chunk has factors of its own
            result = well(checks, program, chain(compression, relay_chunks=chunks), what)
            chain_bytes(checks, result, forward, backward, f"{what}, {chunks} chunks")


PACKET = 4096


def unit_times(dense, elements, wire, fill, whole, link=RATE):
    """When the last byte of a message arrives, and when it is decompressed: 20 ns + max of values (64 GB/s) and
    arithmetic (32 elements a ns). Packets leave as they are made, evenly, or all at once where `whole`; the link may
    begin with one when it is there, and decompression begins when the first one has arrived."""
    busy = max(dense / 64e9, elements / 32e9)
    packets = [min(PACKET, wire - at) for at in range(0, wire, PACKET)]
    sent, made, first = 0, 0, None
    for number, size in enumerate(packets):
        made += busy * size / wire
        there = 20e-9 + fill[0] * 1e-9 + (busy if whole else made)
        sent = max(sent, there) + size / link
        first = sent if number == 0 else first
    first, last = (sent if whole else first) + LATENCY, sent + LATENCY
    done = max(first + 20e-9 + busy, last + busy * packets[-1] / wire) + fill[1] * 1e-9
    return last, done


def send(checks, program):
    """One message between neighbours. The subspace's first coefficient needs a whole row of 32 elements a cycle and 16
    cycles, decompression 16."""
    dense = 1024 * 1024 * 2
    scenario = collective({}, workload={"collective": None, "messages": [{"from": 0, "to": 1, "bytes": dense}]})
    plain = well(checks, program, scenario, "plain")["time_ps"] * 1e-12
    checks.within(plain / (dense / RATE + LATENCY), 0.99999, 1.00001, "plain: time over closed form")
    # The subspace's arithmetic is slower than the link, the others are faster.
    for what, compression, wire, fill, whole in (
            ("cast", compressed("cast", "pp", cast_to="bf16", values="fp32"), dense // 2, (1, 1), False),
            ("int8", compressed("int8", "pp", block=32, scale="fp16"), dense // 2 + dense // 32, (9, 8), False),
            ("subspace", compressed("subspace", "pp", k=40, width=1024), 1024 * 40 * 2, (1024 / 32 + 16, 16), False),
            ("bypass", compressed("bypass", "pp"), dense, (0, 0), False),
            ("cast in messages", forwarding(compressed("cast", "pp", cast_to="bf16", values="fp32"), "messages"),
             dense // 2, (1, 1), True)):
        elements = dense / 2 if what == "subspace" else 0
        _, expected = unit_times(dense, elements, wire, fill, whole)
        for grain in ("auto", "packet"):
            patch = {"wafer": {"compression": compression}, "detail": {"grain": grain}}
            result = well(checks, program, merge(scenario, patch), what)
            checks.within(result["time_ps"] * 1e-12 / expected, 0.999, 1.001, f"{what}, {grain}: time over closed form")
    # Two passes over the values, and one back: nothing leaves before the first is over.
    lossless = {"wafer": {"compression": compressed("lossless", "pp", assumed_ratio=2)}}
    busy = dense / 64e9
    expected = 20e-9 + 2 * busy + 16e-9 + dense / 2 / RATE + LATENCY + 20e-9 + busy + 16e-9
    checks.within(well(checks, program, merge(scenario, lossless), "lossless")["time_ps"] * 1e-12 / expected, 0.999, 1.001,
                  "lossless: time over closed form")
    # Five at once: the engine goes on without a gap, and the far end follows a packet behind. Each begins when its
    # first packet is there.
    many = merge(scenario, {"workload": {"messages": [{"from": 0, "to": 1, "bytes": dense}] * 5},
                            "wafer": {"compression": compressed("subspace", "pp", k=40, width=1024)}})
    _, alone = unit_times(dense, dense / 2, 1024 * 80, (48, 16), False)
    expected = alone + 4 * max(dense / 64e9, dense / 2 / 32e9)
    checks.within(well(checks, program, many, "five")["time_ps"] * 1e-12 / expected, 0.999, 1.001,
                  "five messages: time over closed form")


SLOW = {"unit": {"dense_bytes_per_s": 12000000000}}  # slower than its link once the values are half their bytes
MESH = {"wafer": {"npus": 16, "fabric": {"kind": "mesh2d", "mesh2d": {"columns": 4, "rows": 4}}}}
SIZES = (100, 1 << 20, 4096, 300000, 5000, 20, 1 << 19)


def grains(checks, program):
    # Short ones that are booked before and between long ones that come packet by packet.
    mixed = collective(merge(compressed("cast", "pp", cast_to="bf16", values="fp32"), SLOW),
                       workload={"collective": None, "messages": [{"from": 0, "to": to, "bytes": size}
                                                                  for to in (1, 2) for size in SIZES]})
    for what, scenario in (
            ("mixed sizes", mixed),
            ("slow unit", collective(merge(compressed("int8", "dp"), SLOW))),
            ("chain", chain(compressed("subspace", "pp", k=K))),
            ("all_reduce", collective(compressed("int8", "dp"))),
            ("windowed", collective(compressed("int8", "dp"), workload={"collective": {"chunks": 8}}))):
        times = [well(checks, program, merge(scenario, {"detail": {"grain": grain}}), what)["time_ps"]
                 for grain in ("auto", "packet")]
        checks.within(times[0] / times[1], 0.99, 1.01, f"{what}: grain auto over packet")


def packets(checks, program):
    """Going on packet by packet is never later than message by message, nor earlier than without units that take no
    time; and it keeps all bytes."""
    errors = {"retransmission": "go_back_n"}
    for what, patch in (
            ("ring", {}),
            ("ring, slow units", {"wafer": {"compression": SLOW}}),
            ("mesh", merge(MESH, {"workload": {"collective": {"algorithm": "hierarchical"}}})),
            ("mesh, slow units", merge(MESH, {"wafer": {"compression": SLOW},
                                              "workload": {"collective": {"algorithm": "hierarchical"}}})),
            ("FRED", {"wafer": {"npus": 20, "fabric": {"kind": "fred"}, "compression": SLOW}}),
            ("errors", {"wafer": {"compression": SLOW, "fabric": {"flow_control": errors,
                                                                  "errors": {"bit_error_rate": 1e-7}}}}),
            ("all at once", {"workload": {"collective": {"operation": "all_to_all", "algorithm": "direct"}}}),
            ("windows", {"workload": {"collective": {"chunks": 8}}, "wafer": {"compression": SLOW}})):
        scenario = merge(collective(compressed("int8", "dp")), patch)
        if "kind" in patch.get("wafer", {}).get("fabric", {}):
            scenario["wafer"]["fabric"].pop("ring")
        free = {"wafer": {"compression": {"unit": {"clock_hz": 10**15, "dense_bytes_per_s": 10**15, "setup_ns": 0}}}}
        by_packets, by_messages, no_time = (
            well(checks, program, merge(scenario, more), what)
            for more in ({}, {"wafer": {"compression": {"unit": {"forwarding": "messages"}}}}, free))
        checks.that(by_packets["time_ps"] <= by_messages["time_ps"],
                    f"{what}: {by_packets['time_ps']} ps, in messages {by_messages['time_ps']} ps")
        checks.that(by_packets["time_ps"] >= no_time["time_ps"],
                    f"{what}: {by_packets['time_ps']} ps, without the units' time {no_time['time_ps']} ps")
        carried = [[link["bytes"] for link in each["links"]] for each in (by_packets, by_messages)]
        checks.that(carried[0] == carried[1], f"{what}: the same bytes")


def off(checks, program):
    """Units that do nothing change nothing; bypass keeps the bytes."""
    plain = well(checks, program, collective({}), "plain")
    idle = well(checks, program, collective({"placement": "npu"}), "no codec")
    policy = well(checks, program, collective({"policy": {"dp": "int8"}}), "off")
    other = well(checks, program, collective(compressed("int8", "pp")), "another class")
    for what, found in (("no codec", idle), ("off", policy), ("another class", other)):
        checks.that(found["time_ps"] == plain["time_ps"] and found["links"] == plain["links"], f"{what}: as without units")
    bypass = well(checks, program, collective(compressed("bypass", "dp")), "bypass")
    checks.that([link["bytes"] for link in bypass["links"]] == [link["bytes"] for link in plain["links"]],
                "bypass: the same bytes")
    checks.that(bypass["time_ps"] > plain["time_ps"], "bypass: takes the unit's time")


FRED = {"kind": "fred", "fred": {"l1_switches": 1, "npus_per_l1": 4}}


def refusals(checks, program):
    fred = {"wafer": {"fabric": FRED}, "workload": {"collective": {"algorithm": "in_switch"}}}
    values = {"detail": {"data": "values"}}
    for what, scenario, status, words in (
            ("k beyond the width", chain(compressed("subspace", "pp", k=HIDDEN + 1)), 2,
             ("/wafer/compression/codec/k", "129", "at most the width of a row, 128")),
            ("no k", chain(compressed("subspace", "pp")), 2, ("/wafer/compression/codec/k", "1 up to the width")),
            ("ids of 3 bytes", chain(compressed("subspace", "pp", k=K, id_bytes=3)), 2,
             ("/wafer/compression/codec/id_bytes", "expected 0, 2, 4 or 8")),
            ("no width", collective(compressed("subspace", "dp", k=4)), 2,
             ("/wafer/compression/policy/dp", "codec/width is needed")),
            ("not whole rows", collective(compressed("subspace", "dp", k=4, width=1000)), 2,
             ("/wafer/compression/policy/dp", "whole rows of 1000 fp32 (4000 bytes)", "1048576")),
            ("chunks that are not whole rows", collective(compressed("subspace", "dp", k=4, width=131072)), 1,
             ("subspace", "whole rows of 131072 fp32 (524288 bytes)", "NPU")),
            ("values in a subspace", collective(compressed("subspace", "dp", k=4, width=64), **values), 2,
             ("/wafer/compression/policy/dp", "token ids")),
            ("int8 added up in switches", merge(collective(compressed("int8", "dp")), fred), 2,
             ("/wafer/compression/policy/dp", "in_switch", "int8", "scale")),
            ("top_k added up in switches", merge(collective(compressed("top_k", "dp")), fred), 2,
             ("/wafer/compression/policy/dp", "in_switch")),
            ("int8 values added up in switches", merge(merge(collective(compressed("int8", "dp")), fred), values), 2,
             ("/wafer/compression/policy/dp", "in_switch", "int8", "scale")),
            ("streams without units at controllers", collective(compressed("lossless", "streaming")), 2,
             ("/wafer/compression/policy/streaming", "npu_and_io")),
            ("integers", collective(compressed("int8", "dp"), workload={"collective": {"type": "int32"}}), 2,
             ("/wafer/compression/policy/dp", "int32")),
            ("bits of zfp", collective(compressed("zfp", "dp", width=64, bits_per_value=65)), 2, ("bits_per_value",)),
            ("no such codec", collective(compressed("int9", "dp")), 2, ("int9", "int8"))):
        done = run(program, scenario)
        checks.that(done.status == status, f"{what}: status {done.status}, expected {status}", done.output)
        for word in words:
            checks.that(word in done.output, f"{what}: says {word!r}", done.output)


def streams(checks, program):
    """Weights come in compressed by 1.3, and gradients go out as they are."""
    channels, size = 18, 1 << 20
    base = {
        "version": 1,
        "name": "streams",
        "wafer": {"npus": 20, "fabric": {"kind": "mesh2d", "mesh2d": {"columns": 5, "rows": 4}},
                  "io": {"controllers": channels}},
        "workload": {"kind": "collective", "collective": {"operation": "load_and_store", "bytes": channels * size,
                                                          "type": "fp16"}},
    }
    patch = {"wafer": {"compression": {"placement": "npu_and_io", "policy": {"streaming": "lossless"}}}}
    plain = well(checks, program, base, "plain")
    packed = well(checks, program, merge(base, patch), "lossless")
    before = {link["name"]: link["bytes"] for link in plain["links"]}
    io = [link for link in packed["links"] if "io" in link["from"]]
    checks.that(len(io) == channels, f"{channels} channels in, found {len(io)}")
    for link in io[:3]:
        checks.within(before[link["name"]] / link["bytes"], 1.299, 1.301, f"{link['name']}: bytes before over after")
    for link in packed["links"]:
        if "io" in link["to"]:
            checks.that(link["bytes"] == before[link["name"]], f"{link['name']}: stored as they are")
            break
    messages = packed["compression"][0]
    checks.that(messages["decompressed_messages"] == 20 * messages["compressed_messages"],
                "each of 20 NPUs decompresses its copy")


def gpt3(checks, program):
    """The shipped study with 4 of its 96 layers: a channel loads less by the ratio, the rest of its bytes are as before, and
    the step is no longer with the units' rate of the study. Units at the rate of an NPU's link make it longer, as they
    keep whole messages."""
    folder = REPOSITORY / "scenarios"
    study = json.loads((folder / "subspace/gpt3_lossless.json").read_text())
    base = json.loads((folder / "subspace" / study["base"]).read_text())
    layers = {"transformer": {"preset": "custom", "layers": 4, "hidden": 12288, "sequence": 2048,
                              "parameters": 175e9 * 4 / 96, "attention_flops_factor": 4}}
    found = {}
    for name in ("fred_d", "fred_d_lossless", "fred_d_lossless_3t"):
        scenario = merge(merge(base, study["scenario"]), study["variants"][name])
        scenario = merge(scenario, {"workload": layers, "memory": {"check": "off"}})
        found[name] = well(checks, program, scenario, name)
    before = {link["name"]: link["bytes"] for link in found["fred_d"]["links"]}
    for link in found["fred_d_lossless"]["links"]:
        if "io" in link["from"]:
            checks.within(before[link["name"]] / link["bytes"], 1.2999, 1.3001, f"{link['name']}: bytes before over after")
        elif "io" in link["to"]:
            checks.that(before[link["name"]] == link["bytes"], f"{link['name']}: gradients as they are")
    times = [found[name]["time_ps"] for name in ("fred_d", "fred_d_lossless", "fred_d_lossless_3t")]
    checks.that(times[1] <= times[0], f"{times[1]} ps with units, {times[0]} ps without")
    checks.that(times[2] > times[0], f"{times[2]} ps with units of 3 TB/s")


def sums(checks, program):
    """Half the bytes where values of 4 bytes are cast to 2 and added up in the switches."""
    base = collective({}, wafer={"fabric": FRED}, workload={"collective": {"algorithm": "in_switch"}})
    base["wafer"]["fabric"].pop("ring")
    plain = well(checks, program, base, "plain")
    cast = well(checks, program, merge(base, {"wafer": {"compression": compressed("cast", "dp")}}), "cast")
    checks.that(all(2 * b["bytes"] == a["bytes"] for a, b in zip(plain["links"], cast["links"])),
                "each link carries half the bytes")


def at_ports(codec, *classes, links="between_switches", unit=None, **parameters):
    made = {"placement": "fred_ports", "policy": {name: codec for name in classes}, "codec": parameters, "links": links}
    return {**made, "unit": {"dense_bytes_per_s": int(3e12), **(unit or {})}}


NPU_RATE, UPLINK = 20e9, 4e9
WIRE = 1024 + 1024 // 128 * 4  # of a packet of 1024 fp32: a byte each, and a scale of 4 bytes for 128


def fred_ports(checks, program):
    """Units at both ends of links between switches: a packet takes what it has on the wire, or what the unit needs, and
    each such link has the latency of two units more: twice 20 ns, a block and 8 cycles in, 8 cycles out."""
    base = collective({}, wafer={"fabric": {"kind": "fred", "fred": {
        "l1_switches": 2, "npus_per_l1": 2, "npu_bytes_per_s": int(NPU_RATE), "uplink_bytes_per_s": int(UPLINK),
        "link_latency_ns": LATENCY * 1e9}}})
    base["wafer"]["fabric"].pop("ring")
    size = 1 << 24
    message = merge(base, {"workload": {"collective": None, "messages": [{"from": 0, "to": 3, "bytes": size}]},
                           "wafer": {"compression": {"codec": {"values": "fp32"}}}})
    units = 2 * 20e-9 + (math.ceil(128 / 750) + 8 + 8) * 1e-9  # 3000 bytes, 750 elements a cycle of 1 GHz
    for what, compression, rate, links in (
            ("plain", {}, UPLINK, 0),
            ("the wire", at_ports("int8", "pp"), UPLINK * 4096 / WIRE, 2),
            ("the units", at_ports("int8", "pp", unit={"dense_bytes_per_s": int(2e9)}), 2e9, 2),
            ("bypass", at_ports("bypass", "pp"), UPLINK, 2),
            ("all links", at_ports("int8", "pp", links="all"), UPLINK * 4096 / WIRE, 4)):
        for grain in ("auto", "packet"):
            result = well(checks, program, merge(message, {"wafer": {"compression": compression}, "detail": {"grain": grain}}),
                          what)
            expected = 4 * LATENCY + links * units + size / rate
            checks.within(result["time_ps"] * 1e-12 / expected, 0.999, 1.001, f"{what}, {grain}: time over closed form")
    # A single packet shows the latency. Cast to half its bytes it takes half of 40.96 ns on the link up, which begins
    # with it so much later: a link ends a packet that comes slower, over 204.8 ns, when its last byte is there.
    one = merge(message, {"workload": {"messages": [{"from": 0, "to": 3, "bytes": 4096}]},
                          "wafer": {"fabric": {"fred": {"uplink_bytes_per_s": int(100e9)}}}})
    times = [well(checks, program, merge(one, {"wafer": {"compression": each}}), "a packet")["time_ps"]
             for each in ({}, at_ports("cast", "pp"))]
    checks.that(times[1] - times[0] == 2 * (40000 + 2 * 1000) + 40960 // 2, f"cast: two links of 42 ns more, found {times}")

    plain = well(checks, program, base, "plain")
    def carried(result, upper):
        return sum(link["bytes"] for link in result["links"] if ("npu" not in link["name"]) == upper)
    for what in ("ring", "in_switch"):
        patch = {"workload": {"collective": {"algorithm": what}}}
        dense = well(checks, program, merge(base, patch), what)
        packed = well(checks, program, merge(merge(base, patch), {"wafer": {"compression": at_ports("int8", "dp")}}), what)
        checks.that(carried(packed, False) == carried(dense, False), f"{what}: NPUs' links carry values")
        checks.that(carried(packed, True) == carried(dense, True) * WIRE // 4096, f"{what}: links between switches carry int8")
        checks.that(packed["time_ps"] < dense["time_ps"], f"{what}: {packed['time_ps']} ps, plain {dense['time_ps']} ps")
        total = packed["compression"][0]
        checks.that(total["compressed_wire_bytes"] == carried(packed, True), f"{what}: bytes of the units are those of links")
        checks.that(total["compressed_dense_bytes"] == carried(dense, True), f"{what}: as are their values")
    everywhere = well(checks, program, merge(base, {"wafer": {"compression": at_ports("int8", "dp", links="all")}}), "all")
    checks.that(carried(everywhere, False) == carried(plain, False) * WIRE // 4096, "all links carry int8")

    values = {"detail": {"data": "values"}}
    kept = well(checks, program, merge(merge(base, values), {"wafer": {"compression": at_ports("lossless", "dp")}}), "values")
    sizes = well(checks, program, merge(base, {"wafer": {"compression": at_ports("lossless", "dp")}}), "sizes")
    checks.that(kept["time_ps"] == sizes["time_ps"], "lossless: times do not depend on values")
    two = merge(at_ports("int8", "dp"), {"policy": {"pp": "cast"}})
    for what, scenario, words in (
            ("subspace", merge(base, {"wafer": {"compression": at_ports("subspace", "dp", k=4, width=64)}}),
             ("/wafer/compression/policy/dp", "whole message", "int8")),
            ("low_rank", merge(base, {"wafer": {"compression": at_ports("low_rank", "dp", width=64)}}),
             ("/wafer/compression/policy/dp", "whole message")),
            ("top_k", merge(base, {"wafer": {"compression": at_ports("top_k", "dp")}}),
             ("/wafer/compression/policy/dp", "whole message")),
            ("threshold", merge(base, {"wafer": {"compression": at_ports("threshold", "dp")}}),
             ("/wafer/compression/policy/dp", "keeps a threshold")),
            ("values", merge(merge(base, values), {"wafer": {"compression": at_ports("int8", "dp")}}),
             ("/wafer/compression/policy/dp", "/detail/data values")),
            ("a ring", collective(at_ports("int8", "dp")), ("/wafer/compression/placement", "kind fred")),
            ("two codecs", merge(base, {"wafer": {"compression": two}}),
             ("/wafer/compression/policy/dp", "int8", "cast", "one codec")),
            ("no codec", merge(base, {"wafer": {"compression": at_ports("int8", "pp")}}),
             ("/wafer/compression/policy/pp", "without a codec"))):
        done = run(program, scenario)
        checks.that(done.status == 2, f"{what}: status {done.status}, expected 2", done.output)
        for word in words:
            checks.that(word in done.output, f"{what}: says {word!r}", done.output)
    # Below one L1 switch anything goes.
    inside = merge(base, {"workload": {"collective": None, "messages": [{"from": 0, "to": 1, "bytes": 4096},
                                                                        {"from": 2, "to": 3, "bytes": 4096}]},
                          "wafer": {"compression": at_ports("int8", "dp")}})
    checks.that(run(program, inside).status == 0, "messages below one switch need no codec")


def results(checks, program):
    """Figures of units in result.json, and what describe says of them."""
    result = well(checks, program, chain(compressed("subspace", "pp", k=K, id_bytes=ID)), "chain")
    npu = result["npus"][1]
    forward, backward = ROWS * (K * 2 + ID), ROWS * K * 2
    checks.that(npu["compressed_messages"] == 2 * MICROBATCHES, "messages of a middle stage")
    checks.that(npu["compressed_dense_bytes"] == 2 * MICROBATCHES * ROWS * HIDDEN * 2, "dense bytes of a middle stage")
    checks.that(npu["compressed_wire_bytes"] == MICROBATCHES * (forward + backward), "wire bytes of a middle stage")
    total = result["compression"][0]
    checks.that(total["compressed_wire_bytes"] == total["decompressed_wire_bytes"], "what goes out comes in")
    checks.that(total["compressed_wire_bytes"] == sum(n["compressed_wire_bytes"] for n in result["npus"]), "totals")
    import pathlib
    import tempfile
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "chain.json")
        path.write_text(json.dumps(chain(compressed("subspace", "pp", k=K, id_bytes=ID))))
        text = subprocess.run([program, "describe", str(path)], capture_output=True, text=True, check=True).stdout
    for word in ("compression at NPUs, fp16 values", "subspace", "forward", f"{HIDDEN * 2 / (K * 2 + ID):.4g}",
                 f"{HIDDEN / K:.4g}"):
        checks.that(word in text, f"describe says {word!r}", text)
    assert math.isfinite(result["time_ps"])


CASES = {"chain": chain_case, "send": send, "grains": grains, "packets": packets, "off": off, "refusals": refusals, "streams": streams, "gpt3": gpt3,
         "sums": sums, "fred_ports": fred_ports, "results": results}


def main():
    options = parser()
    options.add_argument("case", choices=CASES)
    arguments = options.parse_args()
    checks = Checks()
    CASES[arguments.case](checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

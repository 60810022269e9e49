# SPDX-License-Identifier: Apache-2.0
"""Compression units in runs: bytes on links and times against what the codecs and the units' law say, and what is
refused."""

import math
import subprocess
import sys

from product import Checks, merge, parser, run

HIDDEN, SEQUENCE, STAGES, MICROBATCHES, K, ID = 128, 64, 4, 3, 8, 4
ROWS = SEQUENCE  # one sequence a microbatch
RATE, LATENCY = 10e9, 50e-9  # of a link, bytes/s and s


def compressed(codec, *classes, **parameters):
    return {"placement": "npu", "policy": {name: codec for name in classes}, "codec": parameters}


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


def law(dense, wire, elements, fill):
    """Compress, wire, decompress of one message: 20 ns + max of values (64 GB/s) and arithmetic (32 elements a ns)."""
    busy = max(dense / 64e9, elements / 32e9 if elements else 0)
    return [20e-9 + busy + fill[0] * 1e-9, wire / RATE + LATENCY, 20e-9 + busy + fill[1] * 1e-9]


def send(checks, program):
    """One message between neighbours. The subspace's first coefficient needs a whole row of 32 elements a cycle and 16
    cycles, decompression 16."""
    dense = 1024 * 1024 * 2
    scenario = collective({}, workload={"collective": None, "messages": [{"from": 0, "to": 1, "bytes": dense}]})
    plain = well(checks, program, scenario, "plain")["time_ps"] * 1e-12
    checks.within(plain / (dense / RATE + LATENCY), 0.99999, 1.00001, "plain: time over closed form")
    for what, compression, wire, fill in (
            ("cast", compressed("cast", "pp", cast_to="bf16", values="fp32"), dense // 2, (1, 1)),
            ("subspace", compressed("subspace", "pp", k=40, width=1024), 1024 * 40 * 2, (1024 / 32 + 16, 16))):
        patch = {"wafer": {"compression": compression}}
        result = well(checks, program, merge(scenario, patch), what)
        expected = sum(law(dense, wire, dense / 2 if what == "subspace" else 0, fill))
        checks.within(result["time_ps"] * 1e-12 / expected, 0.999, 1.001, f"{what}: time over closed form")
    # Forward and back: the fifth of the messages has to wait for four before it.
    many = merge(scenario, {"workload": {"messages": [{"from": 0, "to": 1, "bytes": dense}] * 5},
                            "wafer": {"compression": compressed("subspace", "pp", k=40, width=1024)}})
    busy = dense / 64e9
    expected = 20e-9 + 5 * busy + 48e-9 + 1024 * 80 / RATE + LATENCY + 20e-9 + busy + 16e-9
    checks.within(well(checks, program, many, "five")["time_ps"] * 1e-12 / expected, 0.999, 1.001,
                  "five messages: time over closed form")


def grains(checks, program):
    for what, scenario in (
            ("chain", chain(compressed("subspace", "pp", k=K))),
            ("all_reduce", collective(compressed("int8", "dp"))),
            ("windowed", collective(compressed("int8", "dp"), workload={"collective": {"chunks": 8}}))):
        times = [well(checks, program, merge(scenario, {"detail": {"grain": grain}}), what)["time_ps"]
                 for grain in ("auto", "packet")]
        checks.within(times[0] / times[1], 0.99, 1.01, f"{what}: grain auto over packet")


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
            ("cast values added up in switches", merge(merge(collective(compressed("cast", "dp")), fred), values), 2,
             ("/wafer/compression/policy/dp", "not there yet for values")),
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


def sums(checks, program):
    """Half the bytes where values of 4 bytes are cast to 2 and added up in the switches."""
    base = collective({}, wafer={"fabric": FRED}, workload={"collective": {"algorithm": "in_switch"}})
    base["wafer"]["fabric"].pop("ring")
    plain = well(checks, program, base, "plain")
    cast = well(checks, program, merge(base, {"wafer": {"compression": compressed("cast", "dp")}}), "cast")
    checks.that(all(2 * b["bytes"] == a["bytes"] for a, b in zip(plain["links"], cast["links"])),
                "each link carries half the bytes")


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
    import json
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


CASES = {"chain": chain_case, "send": send, "grains": grains, "off": off, "refusals": refusals, "streams": streams,
         "sums": sums, "results": results}


def main():
    options = parser()
    options.add_argument("case", choices=CASES)
    arguments = options.parse_args()
    checks = Checks()
    CASES[arguments.case](checks, arguments.wafervp)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())

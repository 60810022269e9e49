# SPDX-License-Identifier: Apache-2.0
"""What is measured for the rows of fred.json. Each function fills some of them from runs or from what the program
describes; nothing here is a result typed in."""

import itertools
import json
import math
import re

from .hidden_streams import HiddenStreams
from .lab import NotYet
from .table import built, fitted, predicted

MEASURES = []
FABRICS = ("fred_a", "fred_b", "fred_c", "fred_d")
COMMUNICATION = ("input_load", "mp", "dp", "pp", "weight_streaming")


def measures(cost, *ids):
    """Registers a function that returns {id: Measured} for the ids; `cost` says how long it takes: quick or minutes."""
    def register(function):
        MEASURES.append((ids, cost, function))
        return function
    return register


def seconds(row):
    return row["time_ps"] / 1e12


def exposed(row):
    return sum(row["breakdown_ps"][kind] for kind in COMMUNICATION) / 1e12


def bus_rate(result):
    """GB/s, as nccl-tests defines it."""
    return result["collectives"][0]["bus_bytes_per_s"] / 1e9


def sent_by_npu(result):
    return max(npu["sent_bytes"] for npu in result["npus"])


def rate_between(links, is_from, is_to):
    """TB/s of the links from one set of nodes to another."""
    return sum(link["bytes_per_s"] for link in links if is_from(link["from"]) and is_to(link["to"])) / 1e12


def npu_number(node):
    return int(node[3:]) if node.startswith("npu") else None


def need_study(lab, name):
    if not lab.has_study(name):
        raise NotYet("there is no study of its streamed steps yet")


# --- the wafer ---


@measures("quick", "wafer.npus", "wafer.mesh_link", "wafer.npu_send", "wafer.mesh_bisection", "wafer.wire_latency")
def mesh(lab):
    result, scenario = lab.result("mesh_bandwidth", "balanced"), lab.scenario("mesh_bandwidth", "balanced")
    shape = scenario["wafer"]["fabric"]["mesh2d"]
    columns, rows, links = shape["columns"], shape["rows"], result["links"]
    inner = columns + 1

    def upper_half(node):
        return npu_number(node) < columns * (rows // 2)

    return {
        "wafer.npus": built(len(result["npus"])),
        "wafer.mesh_link": built(links[0]["bytes_per_s"] / 1e9),
        "wafer.npu_send": built(rate_between(links, lambda node: npu_number(node) == inner, lambda node: True)),
        "wafer.mesh_bisection": built(rate_between(links, upper_half, lambda node: not upper_half(node))),
        "wafer.wire_latency": built(shape["link_latency_ns"]),
    }


@measures("quick", "mesh.wafer_wide", "convention.equal_halves", "convention.equal_halves_one_chunk", "best.wafer_wide",
          "best.wafer_wide_ring_both", "flow.buffers", "flow.buffers_24_kib")
def mesh_bandwidth(lab):
    names = {"mesh.wafer_wide": "balanced", "convention.equal_halves": "equal_halves",
             "convention.equal_halves_one_chunk": "equal_halves_one_chunk", "best.wafer_wide": "trees",
             "best.wafer_wide_ring_both": "ring_both_on_a_cycle", "flow.buffers": "two_hops",
             "flow.buffers_24_kib": "two_hops_24_kib_buffers"}
    return {row: predicted(bus_rate(lab.result("mesh_bandwidth", variant))) for row, variant in names.items()}


@measures("quick", "mesh.dp5", "mesh.mp2", "mesh.links_used")
def mesh_groups(lab):
    used = []
    for case in ("mp2", "dp5", "pp2"):
        links = lab.result(f"microbench_{case}", "mesh")["links"]
        for npu in {link["from"] for link in links}:
            own = [link["bytes"] > 0 for link in links if link["from"] == npu]
            used.append(sum(own) / len(own))
        if case == "pp2":
            break
    return {
        "mesh.dp5": predicted(bus_rate(lab.result("microbench_dp5", "mesh"))),
        "mesh.mp2": predicted(bus_rate(lab.result("microbench_mp2", "mesh"))),
        "mesh.links_used": predicted(sum(used) / len(used)),
    }


@measures("quick", "wafer.io_controllers", "wafer.io_rate",
          *(f"streaming.hotspot{way}_{mesh}" for mesh in ("4x4", "5x4", "8x8") for way in ("", "_write_back")),
          "streaming.factor", "streaming.factor_write_back", "streaming.fred")
def streaming(lab):
    def channels(result, way):
        return [link for link in result["links"] if link[way].startswith("io")]

    def most_loaded(result):
        """Bytes on the most loaded link of the mesh over those of a channel."""
        inner = max(link["bytes"] for link in result["links"] if link["from"].startswith("npu") and link["to"].startswith("npu"))
        return inner / max(link["bytes"] for link in channels(result, "from"))

    def of_line_rate(result):
        first = channels(result, "from")[0]
        return first["bytes"] / first["bytes_per_s"] / (result["time_ps"] / 1e12)

    found = {}
    for mesh in ("4x4", "5x4", "8x8"):
        found[f"streaming.hotspot_{mesh}"] = predicted(most_loaded(lab.result("streaming", f"weights_{mesh}")))
        found[f"streaming.hotspot_write_back_{mesh}"] = predicted(most_loaded(lab.result("streaming", f"both_{mesh}")))
    weights = lab.result("streaming", "weights_5x4")
    return found | {
        "wafer.io_controllers": built(len(channels(weights, "from"))),
        "wafer.io_rate": built(sum(link["bytes_per_s"] for link in channels(weights, "from")) / 1e12),
        "streaming.factor": predicted(of_line_rate(weights)),
        "streaming.factor_write_back": predicted(of_line_rate(lab.result("streaming", "both_5x4"))),
        "streaming.fred": predicted(of_line_rate(lab.result("streaming", "both_fred_c"))),
    }


@measures("quick", *(f"fred.bisection_{v}" for v in "abcd"), "fred.npu_share_a", "fred.npu_share_d")
def fred_bisection(lab):
    found = {}
    for fabric in FABRICS:
        result = lab.result("microbench_mp20", fabric)
        up = rate_between(result["links"], lambda node: node.startswith("l1"), lambda node: node == "l2")
        found[f"fred.bisection_{fabric[-1]}"] = built(up / 2)
        if fabric in ("fred_a", "fred_d"):
            found[f"fred.npu_share_{fabric[-1]}"] = built(1000 * up / len(result["npus"]))
    return found


CHIPS = {"chips.l1_full": "Fred3(12)", "chips.l1_less": "Fred3(11)", "chips.l2": "Fred3(10)"}
PAPER_WAFER = {"/wafer/fabric/kind": "fred", "/wafer/io/controllers": 18, "/wafer/fabric/fred/l2_chips": 2}


@measures("quick", "chips.number", *CHIPS, "chips.area", "chips.power")
def chips(lab):
    """From the table of `describe`: name, number, area of one and of all, power; the last line is all together."""
    (text,) = lab.describe_all("chips", [described(lab, PAPER_WAFER)])
    table = text[text.index("FRED chips"):].split("\n\n")[0]
    found = {row: built(int(re.search(rf"{re.escape(chip)} +(\d+)", table)[1])) for row, chip in CHIPS.items()}
    number, area, power = re.search(r"\n +all +(\d+) +([\d.]+) mm2 +([\d.]+) W", table).groups()
    return found | {"chips.number": built(int(number)), "chips.area": built(float(area)), "chips.power": built(float(power))}


@measures("quick", *(f"switch.{what}_{size}" for size in ("3_8", "3_10", "3_11", "3_12", "2_8")
                     for what in ("uswitches", "stages")))
def uswitches(lab):
    raise NotYet("the program does not print the uSwitches of a switch; tests/unit/fred_network holds these numbers")


# --- routing ---


def strategies(fewest, most):
    return [(mp, dp, pp) for mp in range(1, most + 1) for dp in range(1, most // mp + 1)
            for pp in range(1, most // (mp * dp) + 1) if mp * dp * pp >= fewest]


def described(lab, settings, *words):
    """Words of `describe` for the 20 NPUs of the paper with other settings."""
    return [str(lab.scenarios / "fred" / "wafer_20.json"), *words,
            *(word for pointer, value in settings.items() for word in ("--set", f"{pointer}={json.dumps(value)}"))]


FLAT = {"/wafer/fabric/fred/l1_switches": 1, "/wafer/fabric/fred/npus_per_l1": 20}
# Row: fabric, middle networks, L2 chips of a slice, policy of the up ports.
ROUTING = {
    "routing.flat_m3": (FLAT, 3, 1, "searched"),
    "routing.flat_m2": (FLAT, 2, 1, "searched"),
    "routing.one_l2_m3": ({}, 3, 1, "searched"),
    "routing.one_l2_m2": ({}, 2, 1, "in_order"),
    "routing.one_l2_m2_searched": ({}, 2, 1, "searched"),
    "routing.two_l2_m3": ({}, 3, 2, "searched"),
}


def surveyed(lab, fabric, middles, l2_chips, policy):
    """Phases of all 151 strategies that cannot be routed at once, as `describe --routes` counts them."""
    settings = {"/wafer/fabric/kind": "fred", "/wafer/fabric/fred/middles": middles, "/wafer/fabric/fred/l2_chips": l2_chips,
                **fabric}
    (text,) = lab.describe_all("routing", [described(lab, settings, "--routes")])
    if "all 151 (MP, DP, PP)" not in text:
        raise ValueError("describe --routes does not speak of 151 strategies")
    return int(re.search(rf"up ports {policy}: (\d+)", text)[1])


def register_routing(row):
    @measures("quick", row)
    def routing(lab):
        return {row: predicted(surveyed(lab, *ROUTING[row]))}


for one in ROUTING:
    register_routing(one)


@measures("quick", "flow.ack_overhead")
def acknowledgements(lab):
    setting = "/wafer/fabric/flow_control/retransmission"
    if not lab.knows(setting):
        raise NotYet("links do not retransmit and send no acknowledgements")
    lab.study("microbench_mp2", f'{setting}="go_back_n"', as_name="microbench_mp2_go_back_n")
    links = lab.result("microbench_mp2", "mesh", as_name="microbench_mp2_go_back_n")["links"]
    return {"flow.ack_overhead": predicted(sum(link["ack_bytes"] for link in links) / sum(link["bytes"] for link in links))}


# --- workloads ---


@measures("quick", "workload.resnet_gradients")
def resnet_gradients(lab):
    return {"workload.resnet_gradients": built(lab.result("resnet152_best_mesh", "mesh")["collectives"][0]["bytes"] / 1e6)}


@measures("minutes", "workload.npus_17b", "workload.mp_all_reduces")
def transformer_17b_work(lab):
    result, scenario = lab.result("transformer_17b", "mesh"), lab.scenario("transformer_17b", "mesh")
    workload = scenario["workload"]
    first = next(c for c in result["collectives"] if c["kind"] == "mp")
    layers = workload["transformer"]["layers"] / workload["parallelism"]["pp"]
    return {
        "workload.npus_17b": built(sum(npu["sent_bytes"] > 0 for npu in result["npus"])),
        "workload.mp_all_reduces": built(first["count"] / layers / workload["microbatches"]),
    }


# --- Fig. 9 and traffic ---


@measures("quick", *(f"fig9.{case}_{f[-1]}" for case in ("mp20", "dp5", "mp2", "pp2") for f in FABRICS))
def fig9(lab):
    found = {}
    for case in ("mp20", "dp5", "mp2", "pp2"):
        rows = lab.study(f"microbench_{case}")
        for fabric in FABRICS:
            found[f"fig9.{case}_{fabric[-1]}"] = predicted(seconds(rows[fabric]) / seconds(rows["mesh"]))
    return found


@measures("quick", *(f"fig9.rate_{fabric}" for fabric in ("mesh", *FABRICS)))
def fig9_rates(lab):
    found = {}
    for fabric in ("mesh", *FABRICS):
        result = lab.result("microbench_mp20", fabric)
        found[f"fig9.rate_{fabric}"] = predicted(sent_by_npu(result) / result["time_ps"] * 1000)
    return found


@measures("quick", *(f"traffic.saved_{n}" for n in (20, 5, 4, 3, 2)))
def traffic(lab):
    """Bytes that were counted on the links out of the NPUs."""
    found = {}
    for n in (20, 5, 4, 3, 2):
        sent = {}
        for where in ("end_points", "in_network"):
            links = lab.result("traffic_saved", f"{where}_{n}")["links"]
            sent[where] = sum(link["bytes"] for link in links if link["from"].startswith("npu"))
        found[f"traffic.saved_{n}"] = predicted(1 - sent["in_network"] / sent["end_points"])
    return found


# --- Fig. 10 ---


def fig10(lab, name):
    rows = lab.study(name)
    found = {f"fig10.{name}_{fabric[-1]}": predicted(rows[fabric]["speedup"]) for fabric in ("fred_a", "fred_b", "fred_d")}
    found[f"fig10.{name}_c"] = fitted(rows["fred_c"]["speedup"])
    found[f"fig10.{name}_physical"] = predicted(rows["fred_d"]["uncalibrated"]["speedup"])
    npu = lab.scenario(name, "mesh")["wafer"]["npu"]
    faster = rows["mesh"]["uncalibrated"]["breakdown_ps"]["compute"] / rows["mesh"]["breakdown_ps"]["compute"]
    found[f"fig10.{name}_speed"] = fitted(npu["peak_flops_per_s"] * npu["compute_efficiency"] * faster / 1e15)
    return found


def fig10_ids(name):
    return tuple(f"fig10.{name}_{what}" for what in (*"abcd", "physical", "speed"))


def communication(rows, what, kind):
    return {f"model.{what}_{fabric}": predicted(rows[fabric]["breakdown_ps"][kind] / 1e9)
            for fabric in ("mesh", "fred_c", "fred_d")}


def communication_ids(*whats):
    return tuple(f"model.{what}_{fabric}" for what in whats for fabric in ("mesh", "fred_c", "fred_d"))


@measures("quick", *fig10_ids("resnet152"), *communication_ids("resnet_dp"), "convention.resnet_d_rs_ag")
def resnet152(lab):
    rows = lab.study("resnet152")
    return {**fig10(lab, "resnet152"), **communication(rows, "resnet_dp", "dp"),
            "convention.resnet_d_rs_ag": predicted(rows["rs_ag in the switches"]["speedup"])}


@measures("minutes", *fig10_ids("transformer_17b"), *communication_ids("17b_mp", "17b_dp", "17b_pp"),
          "convention.17b_d_rs_ag", "convention.17b_d_row_major")
def transformer_17b(lab):
    rows = lab.study("transformer_17b")
    found = fig10(lab, "transformer_17b")
    for kind in ("mp", "dp", "pp"):
        found |= communication(rows, f"17b_{kind}", kind)
    found["convention.17b_d_rs_ag"] = predicted(rows["rs_ag in the switches"]["speedup"])
    found["convention.17b_d_row_major"] = predicted(rows["row-major mesh"]["speedup"])
    return found


def register_streamed(name):
    @measures("minutes", *fig10_ids(name))
    def streamed(lab):
        need_study(lab, name)
        return fig10(lab, name)


register_streamed("gpt3")
register_streamed("transformer_1t")


# --- Fig. 11 ---


def split_name(name):
    """"mesh_mp20_dp1_pp1" -> ("mesh", (20, 1, 1))."""
    fabric, *parts = name.rsplit("_", 3)
    return fabric, tuple(int(part[2:]) for part in parts)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by_strategy(rows, fabric):
    return {split_name(name)[1]: row for name, row in rows.items() if split_name(name)[0] == fabric}


def average_gain(base, better):
    return mean(seconds(base[strategy]) / seconds(better[strategy]) for strategy in better)


# How many strategies the paper plots; which ones is not known to us.
PLOTTED = 7


def middle_of_averages(gains):
    """The averages over any seven strategies of which 5 % lie below and 5 % above."""
    averages = sorted(sum(some) / PLOTTED for some in itertools.combinations(gains, PLOTTED))
    return averages[len(averages) // 20], averages[-1 - len(averages) // 20]


def fig11(lab, study, key):
    rows = lab.study(study)
    meshes, freds = by_strategy(rows, "mesh"), by_strategy(rows, "fred_d")
    of_20 = [s for s in freds if math.prod(s) == 20]

    def over_minibatch(values, strategy):
        return values / strategy[1]

    def total(times, of):
        return sum(over_minibatch(of(times[s]), s) for s in times)

    gains = [seconds(meshes[s]) / seconds(freds[s]) for s in freds]
    exposed_gains = [exposed(meshes[s]) / exposed(freds[s]) for s in freds]
    low, high = middle_of_averages(gains)
    exposed_low, exposed_high = middle_of_averages(exposed_gains)
    best = min(freds, key=lambda s: over_minibatch(seconds(freds[s]), s))
    return {
        f"fig11.{key}_speedup": predicted(mean(gains)),
        f"fig11.{key}_speedup_20": predicted(average_gain(meshes, {s: freds[s] for s in of_20})),
        f"fig11.{key}_sum": predicted(total(meshes, seconds) / total(freds, seconds)),
        f"fig11.{key}_exposed": predicted(mean(exposed_gains)),
        f"fig11.{key}_exposed_sum": predicted(total(meshes, exposed) / total(freds, exposed)),
        f"fig11.{key}_range": predicted(max(gains)),
        f"fig11.{key}_seven_low": predicted(low),
        f"fig11.{key}_seven_high": predicted(high),
        f"fig11.{key}_exposed_seven_low": predicted(exposed_low),
        f"fig11.{key}_exposed_seven_high": predicted(exposed_high),
        f"fig11.{key}_best": predicted(str(best)),
    }


def fig11_ids(key):
    return tuple(f"fig11.{key}_{what}" for what in
                 ("speedup", "speedup_20", "sum", "seven_low", "seven_high", "exposed", "exposed_sum", "exposed_seven_low",
                  "exposed_seven_high", "range", "best"))


@measures("minutes", *fig11_ids("17b"))
def fig11_17b(lab):
    return fig11(lab, "strategies_17b", "17b")


@measures("minutes", *fig11_ids("1t"))
def fig11_1t(lab):
    need_study(lab, "strategies_1t")
    return fig11(lab, "strategies_1t", "1t")


@measures("minutes", "fig11.1t_hidden_speedup", "fig11.1t_hidden_factor", "fig11.1t_hidden_exposed")
def fig11_1t_hidden(lab):
    need_study(lab, "strategies_1t")
    rows = lab.study("strategies_1t")
    hidden = HiddenStreams(by_strategy(rows, "mesh"), by_strategy(rows, "fred_d"))
    factor = hidden.fit()
    return {
        "fig11.1t_hidden_speedup": fitted(hidden.speedup(factor)),
        "fig11.1t_hidden_factor": fitted(factor),
        "fig11.1t_hidden_exposed": predicted(hidden.exposed(factor)),
    }


# --- a better baseline ---


def best_mesh(lab, name):
    rows = lab.study(f"{name}_best_mesh")
    best = min(("mesh", "mesh_ring_both", "mesh_best"), key=lambda variant: seconds(rows[variant]))
    return {
        f"best.{name}_over_best": predicted(seconds(rows[best]) / seconds(rows["fred_d"])),
        f"best.{name}_mesh": predicted(seconds(rows["mesh"]) / seconds(rows[best])),
    }


@measures("quick", "best.resnet152_over_best", "best.resnet152_mesh")
def best_resnet152(lab):
    return best_mesh(lab, "resnet152")


@measures("minutes", "best.transformer_17b_over_best", "best.transformer_17b_mesh")
def best_transformer_17b(lab):
    return best_mesh(lab, "transformer_17b")


@measures("minutes", "best.fig11_17b")
def best_fig11_17b(lab):
    freds = by_strategy(lab.study("strategies_17b"), "fred_d")
    usual = by_strategy(lab.study("strategies_17b"), "mesh")
    best = by_strategy(lab.study("strategies_17b_best_mesh"), "mesh")
    fastest = {s: min(usual[s], best[s], key=seconds) for s in usual}
    return {"best.fig11_17b": predicted(average_gain(fastest, freds))}


# --- conventions ---


@measures("quick", *(f"convention.fred_a_chunks_{c}" for c in (1, 16, 32, 64)),
          *(f"convention.relay_{c}" for c in (33, 64)))
def chunks(lab):
    rows = lab.study("chunks")
    found = {f"convention.fred_a_chunks_{c}": predicted(seconds(rows[f"fred_a_chunks_{c}"]) / seconds(rows["mesh"]))
             for c in (1, 16, 32, 64)}
    found |= {f"convention.relay_{c}": predicted(seconds(rows[f"fred_c_relay_{c}"]) / seconds(rows["mesh_pp"]))
              for c in (33, 64)}
    return found

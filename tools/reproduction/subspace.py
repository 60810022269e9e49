# SPDX-License-Identifier: Apache-2.0
"""What is measured for the rows of subspace.json. Each function fills some of them from runs; nothing here is a result typed
in."""

from .table import predicted

MEASURES = []
TOKENS = 32768


def measures(cost, *ids):
    """Registers a function that returns {id: Measured} for the ids; `cost` says how long it takes: quick or minutes."""
    def register(function):
        MEASURES.append((ids, cost, function))
        return function
    return register


def seconds(row):
    return row["time_ps"] / 1e12


# --- calibration ---


@measures("quick", "nanogpt.dense", "nanogpt.subspace", "nanogpt.gain", "nanogpt.bytes")
def nanogpt(lab):
    dense, subspace = lab.single("nanogpt_dense"), lab.single("nanogpt_subspace")
    return {
        "nanogpt.dense": predicted(seconds(dense)),
        "nanogpt.subspace": predicted(seconds(subspace)),
        "nanogpt.gain": predicted(seconds(dense) / seconds(subspace)),
        "nanogpt.bytes": predicted(dense["payload_bytes"] / subspace["payload_bytes"]),
    }


# --- a model of 2e9 parameters between 80 Mb/s and 100 Gb/s ---

SPEEDS = ((20, 8), (30, 8), (40, 8), (60, 8), (40, 32))
LINKS = ("dense_80m", "k40_80m", "dense_100g")


def sweep_ids():
    return tuple(f"sweep.tf{tf}_m{m}_{what}" for tf, m in SPEEDS for what in LINKS + ("over",))


@measures("quick", *sweep_ids())
def sweep(lab):
    rows = lab.study("sweep_2b")
    found = {}
    for tf, m in SPEEDS:
        rates = {link: TOKENS / seconds(rows[f"tf{tf}_m{m}_{link}"]) for link in LINKS}
        for link, rate in rates.items():
            found[f"sweep.tf{tf}_m{m}_{link}"] = predicted(rate)
        found[f"sweep.tf{tf}_m{m}_over"] = predicted(rates["k40_80m"] / rates["dense_100g"])
    return found


# --- a model of 8e9 parameters in four regions ---

RATES = (60, 80, 160, 200, 350)
OTHERS = ("drawn", "short_60m", "short_350m", "tf45_60m", "tf45_350m")


def gain(rows, dense, compressed):
    return predicted(seconds(rows[dense]) / seconds(rows[compressed]))


@measures("quick", *(f"regions.{rate}m" for rate in RATES), *(f"regions.{other}" for other in OTHERS))
def regions(lab):
    rows = lab.study("regions_8b")
    found = {f"regions.{rate}m": gain(rows, f"dense_{rate}m", f"k40_{rate}m") for rate in RATES}
    found["regions.drawn"] = gain(rows, "dense_drawn", "k40_drawn")
    for other in OTHERS[1:]:
        kind, rate = other.split("_")
        found[f"regions.{other}"] = gain(rows, f"{kind}_dense_{rate}", f"{kind}_k40_{rate}")
    return found


@measures("quick", "regions64.k40", "regions64.k40_int8", "regions64.k40_power_sgd")
def regions_of_64(lab):
    rows = lab.study("regions_8b_64")
    return {f"regions64.{name}": gain(rows, "dense", name) for name in ("k40", "k40_int8", "k40_power_sgd")}


# --- a small decoder, trained for real with each codec between its stages ---

CODECS = ("free", "subspace_model", "subspace", "subspace_bf16", "bf16", "int8", "int4", "projection", "plain_projection",
          "top_k", "low_rank", "threshold", "zfp", "lossless")
ORDER = ("free", "int4", "plain_projection", "top_k")


@measures("minutes", *(f"codecs.{codec}" for codec in CODECS), "codecs.order")
def codecs(lab):
    """The curves of all seeds, against step and simulated time, are in training_codecs/loss.csv."""
    rows = lab.study("training_codecs")
    loss = {codec: [rows[f"{codec}-seed={seed}"]["final_loss"] for seed in (1, 2, 3)] for codec in CODECS}
    found = {f"codecs.{codec}": predicted(sum(each) / len(each)) for codec, each in loss.items()}
    found["codecs.order"] = predicted(", ".join(sorted(ORDER, key=lambda codec: sum(loss[codec]))))
    return found

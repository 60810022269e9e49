#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the generated schemas against an independent validator (python3-jsonschema).

schema_test.py SCENARIOS_FOLDER ACCEPTS_STRUCTURE: every shipped file is valid; the schemas are schemas; and for
mutated scenarios the validator and the tool agree on what is accepted.
"""
import copy
import json
import pathlib
import random
import subprocess
import sys

import jsonschema


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, path + (key,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, path + (index,))


def mutate(document, words, rng):
    """One change: another value, a member less, or an unknown member."""
    mutant = copy.deepcopy(document)
    path = rng.choice([p for p in places(mutant) if p])
    parent = mutant
    for name in path[:-1]:
        parent = parent[name]
    kind = rng.randrange(5)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, dict):
        parent[rng.choice(["lateny_ns", "x", path[-1] + "s"])] = 1
    else:
        values = [None, True, -1, 0, 1, 2, 8.0, 8.5, 1e30, -1e30, 65536, 65537, 2**63, 2**64 - 1, 2**64, "", "8", [], {}, [0, 1],
                  [-1], ["a"], {"0": 1}, {"00": 1}, {"x": 1}, [{"from": 0, "to": 1, "bytes": 4}], [{"from": 0}],
                  [{"from": 0, "to": 1, "bytes": 4, "start_ns": None}], rng.choice(words), "x" * 201]
        parent[path[-1]] = rng.choice(values)
    return mutant


def main():
    folder, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    schemas = {name: json.loads((folder / "schema" / (name + ".schema.json")).read_text()) for name in ("scenario", "study")}
    validators = {}
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[name] = jsonschema.Draft202012Validator(schema)

    scenarios, failures = [], []
    for path in sorted(folder.rglob("*.json")):
        if path.parent.name == "schema":
            continue
        document = json.loads(path.read_text())
        kind = "study" if "variants" in document else "scenario"
        for error in validators[kind].iter_errors(document):
            failures.append(f"{path}: {error.message}")
        if kind == "scenario" and "base" not in document:
            scenarios.append(document)
    assert len(scenarios) >= 8, "shipped scenarios were not found"

    for broken in ({"version": 1, "variants": {}}, {"version": 1, "variants": {"a/b": {}}},
                   {"version": 1, "variants": {"a": {"wafer": {"npu": {"x": 1}}}}},
                   {"version": 1, "variants": {"a": {}}, "calibrate": {"low": 1}},
                   {"version": 1, "variants": {"a": {}}, "published": {"a": {"speedup": {"value": 1}}}},
                   {"version": 1, "variants": {"a": {"version": 1}}}):
        if validators["study"].is_valid(broken):
            failures.append(f"the study schema accepts {broken}")
    for good in ({"version": 1, "base": "x.json", "wafer": {"npus": None}}, {"version": 1, "base": "x.json"}):
        if not validators["scenario"].is_valid(good):
            failures.append(f"the scenario schema refuses {good}")

    # A scenario with every member, so that each is mutated.
    full = {"version": 1, "name": "n", "comment": "c", "seed": 3,
            "wafer": {"npus": 4, "npu": {"hbm_bytes": 5, "compute_efficiency": 0.5},
                      "fabric": {"kind": "ring", "ring": {"link_bytes_per_s": 5, "link_latency_ns": 1.5}, "buffer_packets": 3,
                                 "link_rates": {"npu0->npu1": 5}},
                      "firmware": {"step_ns": 1, "all_reduce": "ring", "x_first_share": 0.5}},
            "workload": {"kind": "collective", "placement": {"kind": "explicit", "npus": [0, 1, 2, 3], "seed": 9},
                         "transformer": {"preset": "custom", "layers": 3, "parameters": 5},
                         "collective": {"ranks": [0, 1], "start_ns": {"0": 1.5}, "bytes_of": {"1": 4}, "groups": "all"},
                         "messages": [{"from": 0, "to": 1, "bytes": 4, "start_ns": 1}]},
            "detail": {"data": "values", "control_processor": "host"}, "memory": {"check": "off"},
            "limits": {"time_ns": 5}, "outputs": {"trace": True}}
    rng = random.Random(1)
    words = ["ring", "mesh2d", "fp16", "auto", "in_switch", "explicit", "host", "off", "RING", "all"]
    mutants = [full]
    for _ in range(4000):
        mutant = mutate(rng.choice(scenarios + 6 * [full]), words, rng)
        mutants.append(mutate(mutant, words, rng) if rng.random() < 0.3 and len(list(places(mutant))) > 1 else mutant)
    mutants = [m for m in mutants if "variants" not in m]
    text = "".join(json.dumps(m) + "\n" for m in mutants)
    answers = subprocess.run([tool], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(mutants)
    accepted = 0
    for mutant, answer in zip(mutants, answers):
        valid = validators["scenario"].is_valid(mutant)
        accepted += valid
        if valid != answer.startswith("yes"):
            failures.append(f"validator {'accepts' if valid else 'refuses'}, tool says {answer!r}: {json.dumps(mutant)}")
    assert 0.1 < accepted / len(mutants) < 0.9, f"the mutants say little: {accepted} of {len(mutants)} accepted"
    for failure in failures[:20]:
        print(failure)
    print(f"{len(mutants)} mutants, {accepted} accepted by both; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

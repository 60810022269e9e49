# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: runs of the program and the files that they leave."""

import argparse
import json
import os
import subprocess


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wafervp", required=True, help="the program")
    parser.add_argument("--scenarios", required=True, help="folder of small scenarios")
    parser.add_argument("--other", help="the program of another build")
    return parser.parse_args()


def scenarios(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))


def run(program, *words, cwd):
    """Status and all output of `wafervp run WORDS...`."""
    answer = subprocess.run(
        [program, "run", *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    return answer.returncode, answer.stdout


def files(folder):
    """Path below `folder` -> bytes, of all files."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def differences(one, two):
    """In words: where two results of files() differ; empty when they are the same bytes."""
    lines = [f"only one side has {name}" for name in sorted(set(one) ^ set(two))]
    for name in sorted(set(one) & set(two)):
        for number, pair in enumerate(zip(one[name].splitlines(), two[name].splitlines()), 1):
            if pair[0] != pair[1]:
                lines.append(f"{name}:{number}:\n    {pair[0][:300]!r}\n    {pair[1][:300]!r}")
                break
        else:
            if one[name] != two[name]:
                lines.append(f"{name}: the lengths differ")
    return "\n".join(lines)


def write_study(folder, names):
    """A study whose variants are these scenario files; its path."""
    variants = {}
    for path in names:
        with open(path, encoding="utf-8") as file:
            scenario = json.load(file)
        name = scenario.pop("name")
        for key in ("version", "comment"):
            scenario.pop(key, None)
        variants[name] = scenario
    study = {
        "version": 1,
        "name": "all_examples",
        "scenario": {"outputs": {"trace": True}},
        "variants": variants,
        "compare_to": sorted(variants)[0],
    }
    path = os.path.join(folder, "study.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(study, file)
    return path


class Checks:
    """Collects what was not as expected, with what shows it."""

    def __init__(self):
        self.failures = 0

    def that(self, holds, what, shown=""):
        print(("ok      " if holds else "FAILED  ") + what)
        if not holds:
            self.failures += 1
            print(shown)

    def status(self):
        return 1 if self.failures else 0

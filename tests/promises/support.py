# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: runs of the program and the files that they leave."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import product
from product import REPOSITORY, Checks, differences, files


def arguments():
    parser = product.parser()
    parser.add_argument("--scenarios", required=True, help="folder of small scenarios")
    parser.add_argument("--studies", nargs="*", help="studies, instead of one of those scenarios")
    parser.add_argument("--other", help="the program of another build")
    parser.add_argument("--build", help="folder to build another program in")
    parser.add_argument("--flags", default="-O1", help="its optimisation")
    return parser.parse_args()


def studies(args, scratch):
    """Name and path of each study to run."""
    paths = args.studies or [write_study(scratch, scenarios(args.scenarios))]
    return {pathlib.Path(path).stem: path for path in paths}


def scenarios(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))


def run(program, *words, cwd):
    """Status and all output of `wafervp run WORDS...`."""
    answer = subprocess.run(
        [program, "run", *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    return answer.returncode, answer.stdout


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

# SPDX-License-Identifier: Apache-2.0
"""The same bytes in every file: a study again, with another number of jobs, and from a program that was built with
another optimisation level (--build and --flags)."""

import json
import pathlib
import subprocess
import sys
import tempfile

from product import REPOSITORY, Checks, parser

SKIPPED = 77
STUDIES = ("fred/resnet152", "fred/microbench_mp20", "fred/microbench_pp2", "collectives/mesh_all_reduce")


def files(program, study, jobs):
    with tempfile.TemporaryDirectory(prefix="wafervp-same-") as scratch:
        out = pathlib.Path(scratch, "out")
        path = REPOSITORY / "scenarios" / f"{study}.json"
        done = subprocess.run([program, "run", str(path), "--out", str(out), "--jobs", jobs, "--quiet"], timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{study}: status {done.returncode}\n{done.stdout}")
        return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def build(folder, flags):
    options = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", f"-DCMAKE_C_FLAGS_RELEASE={flags}"]
    subprocess.run(["cmake", "-S", str(REPOSITORY), "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "-j2", "--target", "wafervp"], check=True, stdout=subprocess.DEVNULL)
    return str(pathlib.Path(folder, "bin", "wafervp"))


def sources(found):
    """The hash of the program's sources that the result files hold."""
    return {json.loads(content)["program"]["sources"] for path, content in found.items() if path.endswith("result.json")}


def main():
    options = parser()
    options.add_argument("--build", help="folder for the other program")
    options.add_argument("--flags", default="-O1", help="optimisation of the other program")
    args = options.parse_args()
    checks = Checks()
    if args.build:
        others = {f"built with {args.flags}": (build(args.build, args.flags), "2")}
    else:
        others = {"again": (args.wafervp, "1"), "--jobs 2": (args.wafervp, "2")}
    for study in STUDIES:
        first = files(args.wafervp, study, "1")
        checks.that(len(first) > 10, f"{study}: {len(first)} files")
        for name, (program, jobs) in others.items():
            other = files(program, study, jobs)
            if sources(other) != sources(first):
                print(f"{name}: the two programs are of different sources")
                return SKIPPED
            different = sorted(path for path in set(first) | set(other) if first.get(path) != other.get(path))
            checks.that(not different, f"{study}, {name}: the same bytes in every file", "\n".join(different))
    return checks.status()


sys.exit(main())

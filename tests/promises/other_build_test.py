# SPDX-License-Identifier: Apache-2.0
"""A build with another optimisation level gives the same bytes in every file: the program --other (with assertions and
sanitizers), or one that is built in --build with --flags. Skipped (status 77) where the other program is not there or was
made from other sources."""

import json
import os
import subprocess
import sys
import tempfile

from support import REPOSITORY, Checks, arguments, differences, files, run, studies


def build(folder, flags):
    options = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", f"-DCMAKE_C_FLAGS_RELEASE={flags}"]
    subprocess.run(["cmake", "-S", str(REPOSITORY), "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "-j2", "--target", "wafervp"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "bin", "wafervp")


def sources(found):
    """The hash of the program's sources that the result files hold."""
    return {json.loads(content)["program"]["sources"] for path, content in found.items() if path.endswith("result.json")}


args = arguments()
other = build(args.build, args.flags) if args.build else args.other
if not os.path.exists(other):
    print(f"{other} is not there: tools/build --tests --preset asan --target wafervp")
    sys.exit(77)
checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    for study, path in studies(args, scratch).items():
        results = []
        for name, program in {"this": args.wafervp, "other": other}.items():
            out = os.path.join(scratch, study, name)
            status, output = run(program, path, "--out", out, "--jobs", "2", cwd=scratch)
            checks.that(status == 0, f"{study}, {name}: status 0", output)
            results.append(files(out))
        if sources(results[0]) != sources(results[1]):
            print("the two programs are of different sources")
            sys.exit(77)
        shown = differences(*results)
        checks.that(not shown, f"{study}: the same bytes in every file", shown)
sys.exit(checks.status())

# SPDX-License-Identifier: Apache-2.0
"""A build with another optimisation level, with assertions and sanitizers, gives the same bytes in every file. Skipped
(status 77) where that build is not there or was made from other sources."""

import json
import os
import sys
import tempfile

from support import Checks, arguments, differences, files, run, scenarios, write_study

args = arguments()
if not os.path.exists(args.other):
    print(f"{args.other} is not there: tools/build --tests --preset asan --target wafervp")
    sys.exit(77)
checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    study = write_study(scratch, scenarios(args.scenarios))
    results = []
    sources = set()
    for name, program in {"this": args.wafervp, "other": args.other}.items():
        out = os.path.join(scratch, name)
        status, output = run(program, study, "--out", out, "--jobs", "2", cwd=scratch)
        checks.that(status == 0, f"{name}: status 0", output)
        results.append(files(out))
        sources |= {
            json.loads(content)["program"]["sources"]
            for path, content in results[-1].items()
            if path.endswith("result.json")
        }
    if len(sources) > 1:
        print("the two programs are of different sources")
        sys.exit(77)
    shown = differences(*results)
    checks.that(not shown, "the same bytes in every file", shown)
sys.exit(checks.status())

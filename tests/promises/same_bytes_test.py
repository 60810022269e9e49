# SPDX-License-Identifier: Apache-2.0
"""The same program, study and seed give the same bytes in every file: again, with other numbers of jobs, and from another
folder."""

import os
import sys
import tempfile

from support import Checks, arguments, differences, files, run, studies

args = arguments()
checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    for study, path in studies(args, scratch).items():
        results = {}
        for name, jobs in {"first": "1", "again": "1", "two_jobs": "2", "many_jobs": "8"}.items():
            place = os.path.join(scratch, study, name)
            os.makedirs(place)
            status, output = run(args.wafervp, path, "--out", os.path.join(place, "out"), "--jobs", jobs, cwd=place)
            checks.that(status == 0, f"{study}, {name}: status 0", output)
            results[name] = files(os.path.join(place, "out"))
        checks.that(len(results["first"]) > 10, f"{study}: there are files to compare", list(results["first"]))
        for name in ("again", "two_jobs", "many_jobs"):
            shown = differences(results["first"], results[name])
            checks.that(not shown, f"{study}, {name}: the same bytes in every file", shown)
sys.exit(checks.status())

# SPDX-License-Identifier: Apache-2.0
"""A study that is killed leaves whole files or none, and goes on where it stopped when it is run again, to the same bytes
as a study that was never killed."""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from support import Checks, arguments, differences, files, run, scenarios, write_study

args = arguments()
checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    study = write_study(scratch, scenarios(args.scenarios))
    whole = os.path.join(scratch, "whole")
    status, output = run(args.wafervp, study, "--out", whole, "--jobs", "1", cwd=scratch)
    checks.that(status == 0, "the study runs", output)

    for sent in (signal.SIGKILL, signal.SIGINT):
        out = os.path.join(scratch, f"killed_{sent.name}")
        process = subprocess.Popen(
            [args.wafervp, "run", study, "--out", out, "--jobs", "1"], cwd=scratch, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not glob.glob(os.path.join(out, "*", "result.json")):
            time.sleep(0.001)
        process.send_signal(sent)
        ended = process.wait()
        expected = -signal.SIGKILL if sent == signal.SIGKILL else 130
        checks.that(ended == expected, f"{sent.name}: it comes before the study's end", f"status {ended}")
        time.sleep(0.5)  # a variant that was running then may write its last file
        left = files(out)
        for name, content in left.items():
            if name.endswith(".json"):
                try:
                    json.loads(content)
                    error = ""
                except ValueError as exception:
                    error = str(exception)
                checks.that(not error, f"{sent.name}: {name} is whole", error)
        status, output = run(args.wafervp, study, "--out", out, "--jobs", "1", cwd=scratch)
        checks.that(status == 0, f"{sent.name}: the study goes on", output)
        shown = differences(files(whole), files(out))
        checks.that(not shown, f"{sent.name}: the files are those of a study that was never killed", shown)
sys.exit(checks.status())

# SPDX-License-Identifier: Apache-2.0
"""One run of each example: all finished, bytes are conserved at every node, nothing is faster than its wafer, what ran is
written beside the results and gives them again, and the files name no date, path or build."""

import json
import os
import re
import sys
import tempfile

from support import Checks, arguments, differences, files, run, scenarios

args = arguments()
checks = Checks()


def unbalanced(result):
    """Nodes at which what comes in is not what goes out. A switch that reduces or copies is not asked."""
    flow = {}
    for link in result["links"]:
        flow[link["to"]] = flow.get(link["to"], 0) + link["bytes"]
        flow[link["from"]] = flow.get(link["from"], 0) - link["bytes"]
    for npu in result["npus"]:
        name = f"npu{npu['npu']}"
        flow[name] = flow.get(name, 0) + npu["sent_bytes"] - npu["received_bytes"]
    return {node: bytes_ for node, bytes_ in flow.items() if bytes_ and not node.startswith("l")}


def too_fast(result):
    found = []
    for link in result["links"]:
        needed = -(-link["bytes"] * 10**12 // link["bytes_per_s"])
        if needed > result["time_ps"] or link["busy_ps"] > result["time_ps"]:
            found.append(link)
    return found + [row for row in result["collectives"] if row["min_ps"] < row["bound_ps"]]


with tempfile.TemporaryDirectory(prefix="nowhere_else") as scratch:
    for path in scenarios(args.scenarios):
        name = os.path.basename(path)
        out = os.path.join(scratch, name)
        status, output = run(args.wafervp, path, "--out", out, "--trace", cwd=scratch)
        checks.that(status == 0, f"{name}: status 0", output)
        if status != 0:
            continue
        written = files(out)
        result = json.loads(written["result.json"])
        checks.that(result["status"] == "ok" and all(npu["finished"] for npu in result["npus"]), f"{name}: all finished")
        wrong = unbalanced(result)
        checks.that(not wrong, f"{name}: at each node as many bytes go out as come in", wrong)
        wrong = too_fast(result)
        checks.that(not wrong, f"{name}: no link and no collective is faster than its wafer", wrong)
        for npu in result["npus"]:
            parts = sum(value for key, value in npu.items() if key.endswith("_ps") and key != "end_ps")
            checks.that(parts == result["time_ps"], f"{name}: the parts of NPU {npu['npu']} add up to the whole", npu)

        shown = b"\n".join(written.values()).decode("utf-8")
        for what, pattern in {
            "date": r"\b20\d\d-\d\d-\d\d|\b\d\d:\d\d:\d\d\b",
            "path": re.escape(scratch) + "|" + re.escape(os.path.dirname(args.wafervp)) + "|" + re.escape(args.scenarios),
            "build type": r"\b(Release|Debug|RelWithDebInfo)\b",
        }.items():
            found = re.search(pattern, shown)
            checks.that(not found, f"{name}: the result files hold no {what}", found)

        effective = os.path.join(out, "effective-scenario.json")
        again = os.path.join(scratch, "again_" + name)
        status, output = run(args.wafervp, effective, "--out", again, "--trace", cwd=scratch)
        shown = differences(written, files(again)) if status == 0 else output
        checks.that(not shown, f"{name}: its effective scenario gives the same files", shown)
sys.exit(checks.status())

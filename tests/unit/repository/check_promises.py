# SPDX-License-Identifier: Apache-2.0
"""tests/README.md names for every promise tests that CTest knows."""

import json
import re
import subprocess
import sys

root, build = sys.argv[1:3]
known = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, check=True).stdout)
names = [test["name"] for test in known["tests"]]
errors = []
with open(f"{root}/tests/README.md", encoding="utf-8") as file:
    table = file.read().split("## Which promise is held by which test")[1]
rows = [line for line in table.splitlines() if line.startswith("|")][2:]
for row in rows:
    promise, tests = [cell.strip() for cell in row.strip("|").split("|")]
    named = [name for name in re.findall(r"`([a-z_0-9]+)`", tests)]
    if not named:
        errors.append(f"no test is named for: {promise}")
    errors += [f"CTest knows no {name}, named for: {promise}" for name in named
               if not any(test.startswith(name) for test in names)]
numbers = {int(match.group(1)) for row in rows if (match := re.match(r"\| (\d)\.", row))}
if numbers != set(range(1, 8)):
    errors.append(f"promises 1 to 7 have a row each, but found: {sorted(numbers)}")
print("\n".join(errors) or f"{len(rows)} promises have their tests")
sys.exit(bool(errors))

# SPDX-License-Identifier: Apache-2.0
"""Every tracked C and C++ file has the form of .clang-format and an SPDX line at its head."""

import os
import re
import subprocess
import sys

from tree import tracked_files

root = sys.argv[1]
sources = [name for name in tracked_files(root) if name.endswith((".h", ".hpp", ".c", ".cpp"))]
errors = []
for name in sources:
    with open(os.path.join(root, name), encoding="utf-8") as file:
        if "SPDX-License-Identifier: Apache-2.0" not in file.readline():
            errors.append(f"{name}:1: the first line names no licence (// SPDX-License-Identifier: Apache-2.0)")
answer = subprocess.run(
    ["clang-format", "--dry-run", *sources], cwd=root, capture_output=True, text=True, check=False
)
wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: \w+: code should be clang-formatted", answer.stderr, re.M)))
errors += [f"{name}: not in the project's form; run clang-format -i {name}" for name in wrong]
if answer.returncode != 0:
    errors.append(answer.stderr)
if not sources:
    errors.append("no C or C++ file was found")
print("\n".join(errors) or f"{len(sources)} files are in form")
sys.exit(bool(errors))

# SPDX-License-Identifier: Apache-2.0
"""Dependencies run one way: tools -> platform -> modules -> core, and firmware stands alone."""

import os
import re
import sys

from tree import tracked_files

root = sys.argv[1]
# What the files of a wing may include, besides the standard library and the dependencies of the project.
MAY_INCLUDE = {
    "modules/core": {"modules/core"},
    "modules": {"modules", "modules/core", "registers"},
    "firmware": {"firmware", "registers"},
    "platform": {"platform", "modules", "modules/core", "firmware", "registers"},
    "tools": {"tools", "platform", "modules", "modules/core", "firmware", "registers"},
}
REGISTERS = "firmware/include/wafervp/registers.h"
files = tracked_files(root)
known = set(files)


def wing_of(path):
    if path == REGISTERS:
        return "registers"
    if path.startswith("modules/core/"):
        return "modules/core"
    return path.split("/")[0]


def find(name, includer):
    """The repository's file that an #include "name" means, or None."""
    places = [os.path.dirname(includer), "modules", "platform", "firmware/include", "firmware", "tools", "tests", ""]
    for place in places:
        path = os.path.normpath(os.path.join(place, name))
        if path in known:
            return path
    return None


errors = []
checked = 0
for name in files:
    wing = wing_of(name)
    if not name.endswith((".h", ".c", ".cpp")) or wing == "tests":
        continue
    allowed = {"registers"} if wing == "registers" else MAY_INCLUDE.get(wing)
    if allowed is None or "/tests/" in name:
        continue
    with open(os.path.join(root, name), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            target = match and find(match.group(1), name)
            if not target:
                continue
            checked += 1
            if wing_of(target) not in allowed:
                errors.append(f"{name}:{number}: {wing} must not include {target}")

print("\n".join(errors) or f"{checked} includes run the right way")
sys.exit(bool(errors) or not checked)

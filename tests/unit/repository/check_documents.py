# SPDX-License-Identifier: Apache-2.0
"""Documents and tree say the same: rooms have a README, links resolve, no path of one machine is named."""

import os
import re
import sys

from tree import tracked_files

root = sys.argv[1]
files = tracked_files(root)
errors = []

# Every room of these wings that holds code or tests has a README.md.
rooms = set()
for name in files:
    parts = name.split("/")
    if parts[0] in ("modules", "platform", "tests", "firmware") and len(parts) > 1:
        rooms.add(parts[0])
    if parts[0] in ("modules", "platform") and len(parts) > 2:
        rooms.add("/".join(parts[:2]))
for room in sorted(rooms):
    if f"{room}/README.md" not in files:
        errors.append(f"{room}: has no README.md")

# Every relative link of a document leads to a file or folder of the repository.
folders = {os.path.dirname(name) for name in files}
for name in list(folders):
    while name:
        name = os.path.dirname(name)
        folders.add(name)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
for name in files:
    if not name.endswith(".md"):
        continue
    with open(os.path.join(root, name), encoding="utf-8") as file:
        text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:|#", target):
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(name), target.split("#")[0]))
        if path not in files and path not in folders:
            errors.append(f"{name}: the link {target} leads nowhere")

# A README's paths in `code` that look like paths of the repository exist too.
PATH = re.compile(r"`((?:modules|platform|firmware|tests|tools|scenarios)/[\w./-]*\w)/?`")
for name in files:
    if not name.endswith("README.md") and name != "CONTRIBUTING.md":
        continue
    with open(os.path.join(root, name), encoding="utf-8") as file:
        for path in PATH.findall(file.read()):
            if path not in files and path not in folders:
                errors.append(f"{name}: names {path}, which is not in the repository")

# No absolute path of somebody's machine in any tracked text.
MACHINE = re.compile(r"(?<![\w.~$}/-])/(?:home|root|work|Users|mnt)/\w[^\s\"'`)]*")
for name in files:
    with open(os.path.join(root, name), "rb") as file:
        content = file.read()
    if b"\0" in content:
        continue
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        for path in MACHINE.findall(line):
            errors.append(f"{name}:{number}: names a path of one machine: {path}")

print("\n".join(errors) or f"{len(files)} files agree")
sys.exit(bool(errors))

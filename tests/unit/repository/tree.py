# SPDX-License-Identifier: Apache-2.0
"""The files of the repository, for the checks beside this file."""

import os
import subprocess

NOT_SOURCE = {".git", "build", "results", "__pycache__"}


def tracked_files(root):
    """Paths relative to `root` of all tracked files; where there is no git repository, of all files."""
    answer = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"], capture_output=True, check=False
    )
    if answer.returncode == 0 and answer.stdout:
        names = answer.stdout.decode().rstrip("\0").split("\0")
        return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_SOURCE]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)

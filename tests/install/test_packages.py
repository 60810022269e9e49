# SPDX-License-Identifier: Apache-2.0
"""tools/build with nothing missing, with a package to be installed, and with one that cannot be had.

dpkg-query, apt-get, sudo and cmake are stand-ins that keep a list of installed packages in a file and write down
how they were called; nothing is installed or built.
"""

import os
import sys
import tempfile

from outside import Checks, arguments, run

STANDS_IN = {
    "dpkg-query": """#!/bin/bash
if grep -qxF "${@: -1}" "$STATE/installed"; then echo -n installed; else exit 1; fi
""",
    "apt-get": """#!/bin/bash
echo "apt-get $*" >>"$STATE/calls"
if [[ " $* " == *" update "* ]]; then exit "$(cat "$STATE/update_status")"; fi
for word in "$@"; do
  if grep -qxF "$word" "$STATE/not_available"; then echo "E: Unable to locate package $word"; exit 100; fi
done
for word in "$@"; do [[ $word == -* || $word == install ]] || echo "$word" >>"$STATE/installed"; done
""",
    "sudo": """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
exec "$@"
""",
    "cmake": """#!/bin/bash
echo "cmake $*" >>"$STATE/calls"
""",
}

args = arguments()
checks = Checks()
with open(os.path.join(args.source, "tools/packages.txt"), encoding="utf-8") as file:
    rows = [line.split(None, 2) for line in file if line.strip() and not line.startswith("#")]
packages = {name: set_ for set_, name, _ in rows}
checks.that(all(len(row) == 3 for row in rows), "each package of the list has a set and a reason")


def build(installed, *options, not_available=(), update_status=0):
    """tools/build on a machine with these packages: status, output, calls."""
    with tempfile.TemporaryDirectory() as state:
        for name, text in STANDS_IN.items():
            path = os.path.join(state, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)
        contents = {"installed": installed, "not_available": not_available, "update_status": [str(update_status)]}
        for name, lines in contents.items():
            with open(os.path.join(state, name), "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)
        environment = dict(os.environ, PATH=state + ":" + os.environ["PATH"], STATE=state)
        status, output = run(os.path.join(args.source, "tools/build"), *options, env=environment, cwd="/")
        calls = os.path.join(state, "calls")
        with open(calls, encoding="utf-8") if os.path.exists(calls) else open(os.devnull, encoding="utf-8") as file:
            return status, output, file.read()


everything = list(packages)
status, output, calls = build(everything)
checks.that(status == 0 and "apt-get" not in calls, "nothing missing: apt-get is not called", output + calls)
checks.that("cmake --preset release" in calls, "it configures the preset release", calls)

build_set = [name for name, set_ in packages.items() if set_ == "build"]
status, output, calls = build(build_set)
checks.that(status == 0 and "apt-get" not in calls, "the test set is not needed to build the program", output)
status, output, calls = build(build_set, "--tests")
wanted = [name for name, set_ in packages.items() if set_ == "test"]
checks.that(
    status == 0 and all(f" {name}" in calls for name in wanted), "--tests installs the whole test set", output + calls
)
checks.that(calls.count("apt-get") == 2 and "update" in calls, "with one update and one installation", calls)

missing = [name for name in everything if name != "libsystemc-dev"]
status, output, calls = build(missing, update_status=100)
checks.that(
    status == 0 and "libsystemc-dev" in calls and "could not be updated" in output,
    "a failed update does not keep it from a package that is there", output + calls,
)

status, output, calls = build([], not_available=["libsystemc-dev"])
checks.that(status != 0, "a package that cannot be had: the status is not 0", output)
checks.that(
    "cannot get these Debian packages: libsystemc-dev (" in output, "its name is told, and no other", output
)
checks.that("cmake --" not in calls, "nothing is built then", calls)

status, output, calls = build(everything, "--nonsense")
checks.that(status == 2 and "Usage:" in output, "an unknown option: status 2 and the usage", output)
sys.exit(checks.status())

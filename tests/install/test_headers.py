# SPDX-License-Identifier: Apache-2.0
"""Every header of the project compiles alone: it includes what it uses. The build does not show it, as its files of
SystemC users share a precompiled header."""

import concurrent.futures
import os
import sys

from outside import Checks, arguments, run

args = arguments()
checks = Checks()
INCLUDES = [os.path.join(args.source, wing) for wing in ("modules", "platform", "firmware/include")]
headers = []
for wing in INCLUDES:
    for folder, _, names in os.walk(wing):
        headers += [os.path.relpath(os.path.join(folder, name), wing) for name in names if name.endswith(".h")]
checks.that(bool(headers), "there are headers")


def compiles(header):
    flags = [word for wing in INCLUDES for word in ("-I", wing)]
    return run("g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", *flags, "-include", header,
               "-x", "c++", "/dev/null")


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for header, (status, output) in zip(headers, pool.map(compiles, headers)):
        checks.that(status == 0 and not output, header, output)
sys.exit(checks.status())

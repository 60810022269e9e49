# SPDX-License-Identifier: Apache-2.0
"""Installs the project, builds traffic_source/ against the package as a user would, and holds its arrivals against the
closed form: message k (from 0) of `bytes` each arrives at latency + ceil((k + 1) * bytes * 10^12 / rate) ps when all are
ready at the start, and at k * period + latency + ceil(bytes * 10^12 / rate) when the link is idle between them."""

import os
import re
import sys
import tempfile

from outside import Checks, arguments, run

args = arguments()
checks = Checks()
HERE = os.path.dirname(os.path.abspath(__file__))


def must(what, *command, **options):
    status, output = run(*command, **options)
    checks.that(status == 0, what, output)
    if status != 0:
        sys.exit(1)
    return output


def serialisation(size, rate):
    return -(-size * 10**12 // rate)


with tempfile.TemporaryDirectory() as scratch:
    prefix = os.path.join(scratch, "prefix")
    must("the project is installed", args.cmake, "--install", args.build, "--prefix", prefix, "--config", args.config)

    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    package = os.path.join(prefix, "lib", "cmake", "wafervp")
    texts = {name: read(os.path.join(package, name)) for name in os.listdir(package)}
    for name, text in texts.items():
        checks.that(args.source not in text and args.build not in text, f"{name} names no path of the checkout", text)
    program = os.path.join(prefix, "bin", "wafervp")
    if os.path.exists(os.path.join(args.build, "bin", "wafervp")):
        version = must("the installed program runs", program, "--version", cwd=scratch)
        checks.that("0.1.0" in version, "and tells its version", version)

    build = os.path.join(scratch, "build")
    configure = (args.cmake, "-S", os.path.join(HERE, "traffic_source"), "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_PREFIX_PATH=" + prefix)
    # Libraries that were built with sanitizers need their runtime in whatever links them.
    sanitizers = re.search(r"^WAFERVP_SANITIZE:\w+=(.+)$", read(os.path.join(args.build, "CMakeCache.txt")), re.M)
    if sanitizers:
        configure += ("-DCMAKE_EXE_LINKER_FLAGS=-fsanitize=" + sanitizers[1],)
    must("find_package(wafervp) works from outside", *configure, "-B", build)
    must("the example builds", args.cmake, "--build", build)

    latency, rate = 20_000, 750_000_000_000
    for size, messages, period in (
        (4096, 1, 0), (1, 1, 0), (4 * 2**20 + 123, 3, 0), (100_000, 5, 0), (100_000, 4, 1_000_000), (0, 1, 0)
    ):
        output = must(
            f"it runs with {messages} x {size} bytes", os.path.join(build, "traffic_source"),
            *map(str, (size, messages, period, rate, latency)),
        )
        arrivals = [int(word) for word in re.findall(r"^\d+$", output, re.M)]
        if period:
            expected = [k * period + latency + serialisation(size, rate) for k in range(messages)]
        else:
            expected = [latency + serialisation((k + 1) * size, rate) for k in range(messages)]
        checks.that(arrivals == expected, f"arrivals are the closed form {expected}", output)

    status, output = run(*configure, "-B", os.path.join(scratch, "wrong"), "-DCMAKE_CXX_STANDARD=20")
    output = re.sub(r"\s+", " ", output)
    checks.that(
        status != 0 and "CMAKE_CXX_STANDARD is 20, but wafervp and its SystemC library were built with C++17" in output,
        "a user with another C++ standard is told so", output,
    )
    status, output = run(args.cmake, "-S", os.path.join(HERE, "traffic_source"), "-B", os.path.join(scratch, "old"),
                         "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_DISABLE_FIND_PACKAGE_wafervp=TRUE")
    checks.that(status != 0, "without the package the example does not configure", output)
sys.exit(checks.status())

# SPDX-License-Identifier: Apache-2.0
"""A wrong C++ standard is told at configuration, in words, and not by the linker."""

import os
import re
import sys
import tempfile

from outside import Checks, arguments, run

args = arguments()
checks = Checks()
with tempfile.TemporaryDirectory() as scratch:

    def configure(name, *options, **environment):
        status, output = run(
            args.cmake, "-S", args.source, "-B", os.path.join(scratch, name), "-DWAFERVP_BUILD_TESTS=OFF", *options,
            env=dict(os.environ, **environment),
        )
        return status, re.sub(r"\s+", " ", output)

    status, output = configure("forced", "-DCMAKE_CXX_STANDARD=20")
    checks.that(
        status != 0 and "CMAKE_CXX_STANDARD is 20, but WaferVP is built with C++17" in output,
        "CMAKE_CXX_STANDARD=20 is refused with the reason", output,
    )
    status, output = configure("flags", "-DCMAKE_CXX_FLAGS=-std=c++20")
    checks.that(
        status != 0 and "names a C++ standard" in output, "-std in the flags is refused with the reason", output
    )

    # A library that does not have the symbol of C++17, as one has that was built for another standard.
    with open(os.path.join(scratch, "systemc.pc"), "w", encoding="utf-8") as file:
        file.write("Name: systemc\nDescription: stands in\nVersion: 9.9\nLibs: -lm\nCflags:\n")
    status, output = configure("library", PKG_CONFIG_PATH=scratch)
    checks.that(
        status != 0 and "The SystemC 9.9 library" in output and "does not link with C++17" in output,
        "a SystemC that does not link with C++17 is refused with the reason", output,
    )
    status, output = configure("library")
    checks.that(status == 0, "the same build directory configures when the right SystemC is there", output)

    status, output = configure("nothing", PKG_CONFIG_LIBDIR=scratch + "/none", PKG_CONFIG_PATH="")
    checks.that(
        status != 0 and "apt-get install libsystemc-dev" in output, "no SystemC: the package is named", output
    )
sys.exit(checks.status())

# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: their arguments and a way to run a command."""

import argparse
import subprocess


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True, help="top of the checkout")
    parser.add_argument("--build", required=True, help="build directory of the project")
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--config", default="Release")
    return parser.parse_args()


def run(*command, **options):
    """Status and all output of a command."""
    answer = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
        check=False, **options
    )
    return answer.returncode, answer.stdout


class Checks:
    """Collects what was not as expected, with the output that shows it."""

    def __init__(self):
        self.failures = []

    def that(self, holds, what, output=""):
        print(("ok      " if holds else "FAILED  ") + what)
        if not holds:
            self.failures.append(what)
            print(output)

    def status(self):
        return 1 if self.failures else 0

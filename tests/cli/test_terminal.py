# SPDX-License-Identifier: Apache-2.0
"""On a terminal: progress, an estimate of the time left, and Ctrl-C, of a long functional training and of a study of such."""

import os
import pty
import re
import select
import time

from support import BINARY, CliTest, main

TRAINING = {
    "version": 1,
    "name": "training",
    "wafer": {"npus": 4, "fabric": {"kind": "ring"}, "sites": {"count": 4}},
    "workload": {
        "kind": "training",
        "training": {"dimension": 32, "heads": 2, "hidden": 64, "vocabulary": 32, "sequence": 16, "blocks": 4},
        "parallelism": {"mp": 1, "dp": 1, "pp": 4},
        "samples_per_replica": 8,
        "microbatches": 4,
        "iterations": 10000,
    },
    "detail": {"data": "values"},
}
SCENARIO = {name: member for name, member in TRAINING.items() if name != "version"}
CTRL_C = b"\x03"


class Terminal(CliTest):
    def on_terminal(self, *words, until):
        """Presses Ctrl-C as soon as the pattern `until` is on the screen. Returns status and text."""
        pid, screen = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(BINARY, [BINARY, *words])
        text, pressed, end = "", False, time.monotonic() + 40
        while time.monotonic() < end:
            if not select.select([screen], [], [], 0.2)[0]:
                continue
            try:
                text += os.read(screen, 65536).decode()
            except OSError:  # the other side is closed
                break
            if not pressed and re.search(until, text):
                os.write(screen, CTRL_C)
                pressed = True
        self.assertTrue(pressed, text)
        _, status = os.waitpid(pid, 0)
        os.close(screen)
        return os.waitstatus_to_exitcode(status), text

    def losses(self, folder):
        lines = (self.folder / folder / "loss.csv").read_text().splitlines()
        self.assertEqual(lines[0], "step,time_ps,loss")
        return [line.split(",") for line in lines[1:]]

    def test_a_long_training(self):
        self.write("training.json", TRAINING)
        status, text = self.on_terminal(
            "run", "training.json", "--out", "o", until=r"step \d+ of 10000, loss \d\.\d+, \d+ % done, about .* left"
        )
        self.assertEqual(status, 130, text)
        told = re.search(r"interrupted, the losses of (\d+) of 10000 steps are in o", text)
        self.assertTrue(told, text)
        losses = self.losses("o")
        self.assertEqual(len(losses), int(told[1]))
        self.assertEqual([int(step) for step, _, _ in losses], list(range(1, len(losses) + 1)))
        result = self.json_of("o/result.json")
        self.assertEqual(result["status"], "interrupted")
        self.assertEqual(result["training"]["steps_done"], len(losses))
        self.assertEqual(result["training"]["last_loss"], float(losses[-1][2]))

    def test_a_study_of_trainings(self):
        self.write("study.json", {"version": 1, "name": "study", "scenario": SCENARIO, "variants": {
            "short": {"workload": {"iterations": 2}}, "one": {}, "two": {"seed": 2}}})
        status, text = self.on_terminal(
            "run", "study.json", "--out", "o", "--jobs", "2", until=r"1 of 3 runs one [1-9]\d* % two \d+ %, \d+ % done, about .* left"
        )
        self.assertEqual(status, 130, text)
        self.assertIn("run it again to go on where it stopped", text)
        for name in ("one", "two"):
            self.assertGreater(len(self.losses(f"o/{name}")), 0)
            self.assertEqual(self.json_of(f"o/{name}/result.json")["status"], "interrupted")
        self.assertEqual(len(self.losses("o/short")), 2)
        self.assertNotIn("summary.json", self.files_in("o"))
        # The variants that were stopped run again, the other one does not.
        done = self.expect(0, "run", "study.json", "--out", "o", "--set", "/workload/iterations=2")
        self.assertIn("1 of 3 runs are done already", done.stderr)
        self.assertIn("final loss", done.stdout)
        curves = (self.folder / "o/loss.csv").read_text().splitlines()
        self.assertEqual(curves[0], "variant,step,time_ps,loss")
        self.assertEqual([line.split(",")[:2] for line in curves[1:]],
                         [[name, str(step)] for name in ("short", "one", "two") for step in (1, 2)])


if __name__ == "__main__":
    main()

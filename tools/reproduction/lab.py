# SPDX-License-Identifier: Apache-2.0
"""Runs of the program. A study's results stay in the folder of the report, and the program itself reuses each of them
whose effective scenario and sources are the same, so that a report that was interrupted goes on where it stopped."""

import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class NotYet(Exception):
    """The program cannot do this yet; the text says what is missing."""


class Failed(Exception):
    """A run did not end well; the text says which and how."""


class Interrupted(Exception):
    """SIGINT or SIGTERM."""


class Lab:
    def __init__(self, program, out, jobs, say, theme):
        self.program, self.out, self.jobs, self.say = program, pathlib.Path(out), jobs, say
        self.scenarios = REPOSITORY / "scenarios" / theme
        self._summaries = {}
        self._children = set()
        self._stopped = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        self.version = self._call([program, "--version"]).stdout.strip()
        if not self.version.startswith("wafervp"):
            raise ValueError(f"--version says {self.version[:80]!r}")
        self._parameters = self._call([program, "schema", "parameters"]).stdout

    # Children get the terminal's Ctrl-C themselves; a SIGTERM is passed on. Both end with 130 and without files.
    def _stop(self, number, _frame):
        self._stopped = True
        for child in list(self._children):
            child.send_signal(number)

    def _run(self, command, **options):
        if self._stopped:
            raise Interrupted
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **options)
        self._children.add(child)
        try:
            output, errors = child.communicate()
        finally:
            self._children.discard(child)
        if self._stopped:
            raise Interrupted
        return subprocess.CompletedProcess(command, child.returncode, output, errors)

    def _call(self, command):
        done = self._run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        return done

    def knows(self, pointer):
        """Whether a scenario of this program has the member."""
        return f"`{pointer}`" in self._parameters

    def has_study(self, name):
        return (self.scenarios / f"{name}.json").exists()

    def study(self, name, *settings, as_name=None):
        """Rows of the study's summary by variant, those beside it by label. `settings`: POINTER=VALUE for all variants."""
        key = as_name or name
        if key not in self._summaries:
            self._summaries[key] = self._study(name, settings, key)
        summary = self._summaries[key]
        if isinstance(summary, Failed):
            raise summary
        return summary

    def _study(self, name, settings, key):
        folder = self.out / key
        log = self.out / "logs" / f"{key}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        self.say(f"study {name}")
        command = [self.program, "run", str(self.scenarios / f"{name}.json"), "--out", str(folder), "--jobs",
                   str(self.jobs)]
        for setting in settings:
            command += ["--set", setting]
        with open(log, "w", encoding="utf-8") as text:
            done = self._run(command, stdout=text, stderr=None if sys.stderr.isatty() else text)
        path = folder / "summary.json"
        if done.returncode not in (0, 1, 3) or not path.exists():
            return Failed(f"study {name}: status {done.returncode}; see {log.relative_to(self.out)}")
        summary = json.loads(path.read_text(encoding="utf-8"))
        rows = {row["name"]: row for row in summary["variants"]}
        rows |= {beside["label"]: beside["variant"] for beside in summary.get("beside", ())}
        for row in rows.values():
            if row["status"] != "ok":
                return Failed(f"study {name}, {row['name']}: {row['status']}: {row['message']}")
        return rows

    def single(self, name):
        """result.json of a scenario that is no study."""
        folder = self.out / name
        log = self.out / "logs" / f"{name}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        self.say(f"scenario {name}")
        with open(log, "w", encoding="utf-8") as text:
            done = self._run([self.program, "run", str(self.scenarios / f"{name}.json"), "--out", str(folder)], stdout=text,
                             stderr=text)
        if done.returncode != 0:
            raise Failed(f"scenario {name}: status {done.returncode}; see {log.relative_to(self.out)}")
        return json.loads((folder / "result.json").read_text(encoding="utf-8"))

    def result(self, name, variant, as_name=None):
        """result.json of a variant."""
        if as_name is None:
            self.study(name)
        return json.loads((self.out / (as_name or name) / variant / "result.json").read_text(encoding="utf-8"))

    def scenario(self, name, variant):
        """The effective scenario of a variant."""
        self.study(name)
        return json.loads((self.out / name / variant / "effective-scenario.json").read_text(encoding="utf-8"))

    def describe_all(self, what, lists):
        """Output of `wafervp describe WORDS...` for each list of words, several at a time."""
        self.say(f"{what}: {len(lists)} times describe")
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda words: self._call([self.program, "describe", *words]).stdout, lists))

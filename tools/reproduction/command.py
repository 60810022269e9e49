# SPDX-License-Identifier: Apache-2.0
"""tools/reproduce: the command line."""

import argparse
import json
import os
import pathlib
import shutil
import sys

from . import fred, subspace, table
from .lab import REPOSITORY, Failed, Interrupted, Lab, NotYet

PAPERS = {"fred": (fred.MEASURES, "FRED: the paper's figures and ours"),
          "subspace": (subspace.MEASURES, "Subspace networks: the reported figures and ours")}
EPILOG = """
The table goes to DIR/PAPER.md, .csv and .json, all three or none, and its summary to the standard output; runs stay under
DIR, and those whose scenario and program are the same are used again, so that an interrupted report goes on where it
stopped.

Exit status: 0 the table is written; 1 it is, and a run failed or a figure is not within its bound; 2 bad usage;
4 the files could not be written; 130 interrupted, nothing written.
"""


def find_program():
    built = REPOSITORY / "build" / "release" / "bin" / "wafervp"
    return str(built) if built.exists() else shutil.which("wafervp")


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="tools/reproduce", description="Runs what a paper reports and writes one table of its figures beside ours.",
        formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG)
    parser.add_argument("paper", choices=sorted(PAPERS))
    parser.add_argument("--only", metavar="ITEM", action="append", default=[],
                        help="only rows whose id is ITEM or begins with it (fig9, fig10.resnet152); may come again")
    parser.add_argument("--quick", action="store_true", help="only rows that take seconds")
    parser.add_argument("--list", action="store_true", help="print the rows and what they cost, and run nothing")
    parser.add_argument("--out", metavar="DIR", help="folder of the table and its runs [results/reproduce_PAPER]")
    parser.add_argument("-j", "--jobs", metavar="N", type=int, default=len(os.sched_getaffinity(0)),
                        help="runs at the same time [number of processors]")
    parser.add_argument("--wafervp", metavar="PATH", help="the program [build/release/bin/wafervp, or the one in PATH]")
    args = parser.parse_args(words)
    if args.jobs < 1:
        parser.error(f"--jobs: expected 1 or more, found {args.jobs}")
    if args.wafervp is None and not args.list:
        args.wafervp = find_program()
        if args.wafervp is None:
            parser.error("no program found; build it with tools/build, or give --wafervp PATH")
    if args.wafervp is not None and not os.access(args.wafervp, os.X_OK):
        parser.error(f"--wafervp: {args.wafervp} is no program")
    return parser, args


def chosen(parser, args, rows, measures):
    """Ids of the rows that are wanted."""
    cost = {row: cost for ids, cost, _ in measures for row in ids}
    for row in rows:
        if row["id"] not in cost:
            raise AssertionError(f"{row['id']} has no measure")
    for item in args.only:
        if not any(belongs(row["id"], item) for row in rows):
            parser.error(f"--only: no row is or begins with {item}; --list prints them")
    wanted = [row["id"] for row in rows if not args.only or any(belongs(row["id"], item) for item in args.only)]
    return [row for row in wanted if not args.quick or cost[row] == "quick"], cost


def belongs(row, item):
    return row == item or row.startswith(item)


def measure(lab, measures, wanted, say):
    """{id: Measured, or (kind, why there is none)} of the wanted rows."""
    outcomes = {}
    todo = [entry for entry in measures if set(entry[0]) & set(wanted)]
    for number, (ids, _, function) in enumerate(todo, 1):
        lab.say = lambda text, at=number: say(f"[{at}/{len(todo)}] {text}")
        try:
            outcomes |= function(lab)
        except NotYet as missing:
            outcomes |= dict.fromkeys(ids, ("not measured yet", str(missing)))
        except (Failed, KeyError, IndexError, ValueError, StopIteration) as failure:
            text = str(failure) if isinstance(failure, Failed) else f"results lack something: {failure!r}"
            say(f"failed: {text}")
            outcomes |= dict.fromkeys(ids, ("failed", text))
    return outcomes


def summary(rows):
    kinds = [row["kind"] for row in rows]
    unfit = [row for row in rows if row["fits"] is False]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    lines = [f"{len(rows)} rows: {counts}"]
    lines += [f"not within its bound of {row['within']:g}: {row['item']}: paper {table.paper_text(row)}, "
              f"ours {table.number(row['ours'])}" for row in unfit]
    return "\n".join(lines), bool(unfit) or "failed" in kinds


def main(words=None):
    parser, args = arguments(words)
    measures, title = PAPERS[args.paper]
    data = json.loads((pathlib.Path(__file__).parent / f"{args.paper}.json").read_text(encoding="utf-8"))
    wanted, cost = chosen(parser, args, data["rows"], measures)
    if args.list:
        for row in data["rows"]:
            if row["id"] in wanted:
                print(f"{row['id']:42} {cost[row['id']]:8} {row['item']}")
        return 0

    def say(text):
        print(text, file=sys.stderr, flush=True)

    out = pathlib.Path(args.out or REPOSITORY / "results" / f"reproduce_{args.paper}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        try:
            lab = Lab(args.wafervp, out, args.jobs, say, args.paper)
        except (Failed, ValueError) as wrong:
            parser.error(f"--wafervp: {args.wafervp} does not answer as the program: {wrong}")
        outcomes = measure(lab, measures, wanted, say)
        rows = [table.fill(row, outcomes[row["id"]]) for row in data["rows"] if row["id"] in wanted]
        head = {"title": title, "paper": data["paper"], "program": lab.version, "sure": data["sure"]}
        table.write(out, args.paper, head, rows)
    except Interrupted:
        say("interrupted; runs that are done will be used again")
        return 130
    except OSError as error:
        say(f"error: {error}")
        return 4
    text, is_bad = summary(rows)
    print(text)
    print(f"table in {out / args.paper}.md, .csv, .json")
    return 1 if is_bad else 0

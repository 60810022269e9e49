# SPDX-License-Identifier: Apache-2.0
"""The table: rows of the paper's data file with what was measured, as Markdown, CSV and JSON."""

import csv
import io
import json
import os
import pathlib

# Below this a difference needs no cause.
SMALL = 0.005
# Above this it is told as a factor.
MANY = 2
HEAD = ("item", "paper", "ours", "difference", "kind", "cause of a difference", "source")


class Measured:
    def __init__(self, value, kind):
        self.value, self.kind = value, kind


def built(value):
    """What the wafer is built of, as the scenario says."""
    return Measured(value, "built")


def fitted(value):
    """The figure that a free parameter was fitted to."""
    return Measured(value, "fitted")


def predicted(value):
    """What came out of a run, or of the routing, without a fit to this figure."""
    return Measured(value, "predicted")


def bounds(paper):
    """(low, high) of a figure that the paper gives as a range, else None."""
    if not isinstance(paper, dict):
        return None
    if "between" in paper:
        return paper["between"]
    return (paper["at_least"], float("inf")) if "at_least" in paper else (float("-inf"), paper["at_most"])


def difference(paper, ours):
    """Ours over the paper's figure less one (ours, where that is 0); 0 inside a range; None for words."""
    if paper is None or ours is None or isinstance(ours, str):
        return None
    limits = bounds(paper)
    if limits:
        low, high = limits
        return 0.0 if low <= ours <= high else ours / (high if ours > high else low) - 1
    return float(ours) if paper == 0 else ours / paper - 1


def fill(row, outcome):
    """The row with `ours`, `difference`, `kind`, `fits` and the reason where there is no figure."""
    filled = {key: row[key] for key in ("id", "section", "item", "unit", "paper", "source", "sure")}
    filled |= {"ours": None, "difference": None, "within": row.get("within"), "fits": None, "cause": ""}
    if isinstance(outcome, Measured):
        ours, paper = outcome.value, row["paper"]
        share = difference(paper, ours)
        filled |= {"ours": ours, "difference": share, "kind": outcome.kind}
        if isinstance(ours, str):
            differs = paper is not None and ours != paper
        else:
            differs = share is not None and abs(share) > SMALL
        if differs:
            filled["cause"] = row.get("cause", "")
        if row.get("within") is not None:
            filled["fits"] = ours == paper if share is None else abs(share) <= row["within"] + 1e-9
    else:
        filled |= {"kind": outcome[0], "cause": outcome[1]}
    return filled


def number(value):
    if isinstance(value, str) or value is None:
        return value or "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.4g}" if abs(value) < 10000 else f"{value:.0f}"


def paper_text(row):
    paper = row["paper"]
    if isinstance(paper, dict):
        if "between" in paper:
            return f"{number(paper['between'][0])} to {number(paper['between'][1])}"
        word, value = next(iter(paper.items()))
        return f"{word.replace('_', ' ')} {number(value)}"
    return number(paper)


def difference_text(row):
    if row["difference"] is None:
        return "" if row["ours"] is None or row["paper"] is None else "same" if row["ours"] == row["paper"] else "other"
    if bounds(row["paper"]) and row["difference"] == 0:
        return "within"
    if row["paper"] == 0:
        return "same" if row["difference"] == 0 else f"{number(row['difference'])} more"
    if row["difference"] > MANY:
        return f"{row['difference'] + 1:.1f} times"
    return f"{100 * row['difference']:+.1f} %".replace("+0.0", "0.0").replace("-0.0", "0.0")


def cells(row):
    unit = f" {row['unit']}" if row["unit"] else ""
    paper, ours = paper_text(row), number(row["ours"])
    return (row["item"], paper + (unit if paper != "-" else ""), ours + (unit if ours != "-" else ""), difference_text(row),
            row["kind"], row["cause"], f"{row['source']} ({row['sure']})" if row["sure"] else row["source"])


def markdown(head, rows):
    lines = [f"# {head['title']}", "", head["paper"], "", head["program"], ""]
    lines += ["fitted: a free parameter was fitted to this figure. predicted: it came out of runs or of the routing without that. "
              "built: the wafer is built so. How sure a figure of the paper is: " +
              "; ".join(f"{word}: {meaning}" for word, meaning in head["sure"].items()) + ".", ""]
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            lines += ["", f"## {section[0].upper()}{section[1:]}", "", "| " + " | ".join(HEAD) + " |",
                      "|" + " --- |" * len(HEAD)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row)) + " |")
    return "\n".join(lines) + "\n"


def as_csv(rows):
    text = io.StringIO()
    names = ("id", "section", "item", "paper", "ours", "unit", "difference", "kind", "fits", "cause", "source", "sure")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([paper_text(row) if name == "paper" else "" if row[name] is None else row[name] for name in names])
    return text.getvalue()


def write_whole(folder, texts):
    """All files or none: each is written beside its place and moved there when all are complete."""
    folder = pathlib.Path(folder)
    made = []
    try:
        for name, text in texts.items():
            path = folder / f".{name}.part"
            made.append(path)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for name in texts:
            os.replace(folder / f".{name}.part", folder / name)
    finally:
        for path in made:
            path.unlink(missing_ok=True)


def write(folder, name, head, rows):
    write_whole(folder, {
        f"{name}.md": markdown(head, rows),
        f"{name}.csv": as_csv(rows),
        f"{name}.json": json.dumps({**head, "rows": rows}, indent=1, ensure_ascii=False) + "\n",
    })

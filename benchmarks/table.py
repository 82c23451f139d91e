"""Results as text for a terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case, label
from benchmarks.meter import LIMIT, is_loud

Task = dict[str, Any]
Line = dict[str, Any]

DISTURBED = "†"

INTRODUCTION = """# Benchmarks

Made by `python -m benchmarks --write-docs FILE` from measured results; do not edit. `make bench` measures again.

Every measurement runs in a fresh process, ours and the peers' in the same run and with the same number of threads,
taking turns; times are medians. *Ratio* is the time divided by that of the first lowdim line: 8 means that lowdim is
eight times as fast. *Processor* seconds add up all threads. *Peak* is the memory of the whole process, *added* what the
call took on top of data and libraries. *Cold* times run from the start of the process to the answer, imports and
run-time compilation included, and are compared with each other; *warm* ones leave the first, compiling call out.
Calls shorter than a second are repeated for half a second; the time is the median of the repetitions. † marks times
during which other processes used more than 20 % of the machine. Quality stands beside speed: a fast wrong answer is a
loss.
"""


def cells(task: Task) -> list[list[str]]:
    """Heading and one line per contender."""
    measures = list(dict.fromkeys(name for line in task["results"] for name in line["quality"]))
    head = ["", "seconds", "ratio", "processor s", "peak MB", "added MB", *measures]
    return [head, *(_cells(line, measures) for line in task["results"])]


def _cells(line: dict[str, Any], measures: list[str]) -> list[str]:
    ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f}"
    quality = [f"{line['quality'][name]:.4g}" if name in line["quality"] else "" for name in measures]
    memory = [f"{line[key] / 1e6:.0f}" for key in ("peak_bytes", "added_bytes")]
    return [line["name"], time_of(line), ratio, f"{line['processor']:.3g}", *memory, *quality]


def time_of(line: Line) -> str:
    """The median time, marked where other processes disturbed a run."""
    return f"{line['median']:.3g}" + (f" {DISTURBED}" if is_loud(shares(line)) else "")


def shares(line: Line) -> list[float]:
    """What other processes used of the machine, before and during the runs of a line, where that is known."""
    known = [*line["others"], *line.get("others_before", ())]
    return [share for share in known if share is not None]


def plain(task: Task) -> str:
    """A table for the terminal."""
    rows = cells(task)
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [f"{task['case']} ({task['label']}), {circumstances(task)}"]
    lines += ["  " + "  ".join(_padded(row, widths)) for row in rows] if task["results"] else []
    return "\n".join(lines + ["  " + line for line in missing(task)])


def _padded(row: list[str], widths: list[int]) -> Iterable[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def circumstances(task: Task) -> str:
    """Threads, runs and how busy the machine was."""
    known = [share for line in task["results"] for share in shares(line)]
    busy = f", other processes up to {max(known):.0%} of the machine" if known else ""
    return f"{_count(task['threads'], 'thread')}, {_count(most_runs(task), 'run')}{busy}"


def most_runs(task: Task) -> int:
    """Runs of the contenders that were repeated in full."""
    return max((len(line["seconds"]) for line in task["results"]), default=0)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def missing(task: Task) -> list[str]:
    """Who was disturbed, who was measured less often than the others, and who was not measured at all."""
    loud = [f"{line['name']} (up to {max(shares(line)):.0%})" for line in task["results"] if is_loud(shares(line))]
    found = (
        [f"{DISTURBED} other processes used more than {LIMIT:.0%} of the machine: {', '.join(loud)}"] if loud else []
    )
    less = [line for line in task["results"] if len(line["seconds"]) < most_runs(task)]
    found += [f"{line['name']}: {_count(len(line['seconds']), 'run')} only" for line in less]
    words = {True: "failed", False: "skipped"}
    return found + [f"{line['name']}: {words[line['failed']]}, {line['reason']}" for line in task["skipped"]]


def listing(case: Case) -> str:
    """A case, its sizes and its contenders, for --list."""
    sizes = [f"    {label(size)}" for size in case.sizes(quick=False)]
    small = [f"    quick: {label(size)}" for size in case.sizes(quick=True)]
    return "\n".join([f"{case.name}: {case.title}", *sizes, *small, f"    {', '.join(case.contenders)}"])


def page(tasks: list[Task]) -> str:
    """The page of the documentation; quick runs say too little to be on it."""
    tasks = [task for task in tasks if not task["quick"]]
    parts = [INTRODUCTION]
    for name in dict.fromkeys(task["case"] for task in tasks):
        mine = [task for task in tasks if task["case"] == name]
        parts += [f"## {mine[-1]['title']}\n\n{mine[-1]['about']}\n", *(_section(task) for task in mine)]
    return "\n".join([*parts, _machines(tasks)])


def _section(task: Task) -> str:
    lines = [f"**{task['label']}** ({circumstances(task)}; {task['date'][:10]})\n"]
    if task["results"]:
        head, *rows = cells(task)
        lines += [_row(head), "|" + "---|" + "--:|" * (len(head) - 1), *map(_row, rows)]
    notes = missing(task)
    return "\n".join([*lines, *(["\nNotes: " + "; ".join(notes) + "."] if notes else []), ""])


def _row(row: list[str]) -> str:
    return "| " + " | ".join(row) + " |"


def _machines(tasks: list[Task]) -> str:
    """Every set of machine and versions, and what was measured with it."""
    found: dict[str, list[str]] = {}
    for task in tasks:
        found.setdefault(_setting(task), []).append(task["case"])
    lines = [f"- {text} ({', '.join(dict.fromkeys(names))})" for text, names in found.items()]
    return "\n".join(["## Machine and versions\n", *lines, ""])


def _setting(task: Task) -> str:
    machine, ours, peers = task["machine"], task["versions"]["ours"], task["versions"]["peers"]
    others = {name: version for name, version in peers.items() if ours.get(name) != version}
    where = f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
    beside = f"; peers: {_listed(others)}" if others else ""
    return f"{where}; {_listed(ours)}{beside}; lowdim at {task['commit']}"


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())

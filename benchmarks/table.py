"""Results as text for a terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.case import Case, label

Task = dict[str, Any]

INTRODUCTION = """# Benchmarks

Made by `python -m benchmarks --write-docs FILE` from measured results; do not edit. `make bench` measures again.

Every measurement runs in a fresh process, ours and the peers' in the same run and with the same number of threads,
taking turns; times are medians. *Ratio* is the time divided by that of the first lowdim line: 8 means that lowdim is
eight times as fast. *Processor* seconds add up all threads. *Peak* is the memory of the whole process, *added* what the
call took on top of data and libraries. *Cold* times run from the start of the process to the answer, imports and
run-time compilation included, and are compared with each other; *warm* ones leave the first, compiling call out.
Quality stands beside speed: a fast wrong answer is a loss.
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
    return [line["name"], f"{line['median']:.3g}", ratio, f"{line['processor']:.3g}", *memory, *quality]


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
    """Threads, repeats and how busy the machine was."""
    runs = most_runs(task)
    load = "" if task["load"][0] is None else f", load {task['load'][0]:.1f} before"
    shares = [share for line in task["results"] for share in line["others"] if share is not None]
    busy = f", other work up to {max(shares):.0%} of the machine" if shares else ""
    return f"{_count(task['threads'], 'thread')}, {_count(runs, 'run')}{load}{busy}"


def most_runs(task: Task) -> int:
    """Runs of the contenders that were repeated in full."""
    return max((len(line["seconds"]) for line in task["results"]), default=0)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def missing(task: Task) -> list[str]:
    """One line for each contender that was measured less often than the others, or not at all."""
    less = [line for line in task["results"] if len(line["seconds"]) < most_runs(task)]
    slow = [f"{line['name']}: {_count(len(line['seconds']), 'run')} only" for line in less]
    return slow + [
        f"{line['name']}: {'failed' if line['failed'] else 'skipped'}, {line['reason']}" for line in task["skipped"]
    ]


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

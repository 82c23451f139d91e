"""Results as text for a terminal, and the cells that the page of the documentation shares with it."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case, label
from benchmarks.meter import LIMIT, is_loud

Task = dict[str, Any]
Line = dict[str, Any]

HEAD = ["", "time (s)", "relative time", "CPU time (s)", "peak MB", "added MB"]
DISTURBED = "†"


def measures(task: Task) -> list[str]:
    """The names of the measures of quality."""
    return list(dict.fromkeys(name for line in task["results"] for name in line["quality"]))


def cells(task: Task) -> list[list[str]]:
    """Heading and one line per contender."""
    names = measures(task)
    return [[*HEAD, *names], *(_cells(line, names) for line in task["results"])]


def _cells(line: Line, names: list[str]) -> list[str]:
    ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f}"
    quality = [f"{line['quality'][name]:.4g}" if name in line["quality"] else "" for name in names]
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
    lines = [f"{task['case']} ({task['label']}), {circumstances(task)}"]
    lines += aligned(cells(task)) if task["results"] else []
    return "\n".join(lines + ["  " + line for line in notes(task)])


def aligned(rows: list[list[str]], text: tuple[int, ...] = (0,)) -> list[str]:
    """Lines with columns of equal width; numbers to the right, the columns of `text` to the left."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    pad = [str.ljust if j in text else str.rjust for j in range(len(widths))]
    padded = [[pad[j](cell, widths[j]) for j, cell in enumerate(row)] for row in rows]
    return ["  " + "  ".join(row).rstrip() for row in padded]


def circumstances(task: Task) -> str:
    """Threads, runs and how busy the machine was."""
    known = [share for line in task["results"] for share in shares(line)]
    busy = f", other processes up to {max(known):.0%} of the machine" if known else ""
    return f"{count(task['threads'], 'thread')}, {count(most_runs(task), 'run')}{busy}"


def most_runs(task: Task) -> int:
    """Runs of the contenders that were repeated in full."""
    return max((len(line["seconds"]) for line in task["results"]), default=0)


def count(number: int, what: str) -> str:
    """A number of things: ``1 run``, ``3 runs``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def notes(task: Task) -> list[str]:
    """Who was disturbed, who was measured less often than the others, and who was not measured at all."""
    loud = [f"{line['name']} (up to {max(shares(line)):.0%})" for line in task["results"] if is_loud(shares(line))]
    found = (
        [f"{DISTURBED} other processes used more than {LIMIT:.0%} of the machine: {', '.join(loud)}"] if loud else []
    )
    less = [line for line in task["results"] if len(line["seconds"]) < most_runs(task)]
    found += [f"{line['name']}: {count(len(line['seconds']), 'run')} only" for line in less]
    words = {True: "failed", False: "skipped"}
    return found + [f"{line['name']}: {words[line['failed']]}, {line['reason']}" for line in task["skipped"]]


def listing(case: Case) -> str:
    """A case, its sizes and its contenders, for --list."""
    sizes = [f"    {label(size)}" for size in case.sizes(quick=False)]
    small = [f"    quick: {label(size)}" for size in case.sizes(quick=True)]
    return "\n".join([f"{case.name}: {case.title}", *sizes, *small, f"    {', '.join(case.contenders)}"])

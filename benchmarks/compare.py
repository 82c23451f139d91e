"""The same tasks with two checkouts of lowdim, before and after a change.

Both take turns in the same run, each measurement in a fresh process; who goes first changes with every turn. Peers are
left out. A ratio is after / before: above 1 the change made lowdim slower, or the measure of quality larger.
"""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.case import Case, label
from benchmarks.meter import LIMIT
from benchmarks.runner import Entry, Runner, Work
from benchmarks.table import DISTURBED, aligned

SIDES = ("before", "after")
NOISE = 0.05  # a change is reported where the ratios of all turns are further than this from 1

# The largest task of each method that takes seconds, not minutes: case, size as --list shows it, contender. Largest
# first, by the number of cells. Ten of them take about 15 minutes for three turns on two cores.
LARGEST = (
    ("pca", "n 1,000,000, d 100, k 10", "lowdim"),
    ("neighbours", "set mnist, n 70,000, k 15", "lowdim approximate"),
    ("incomplete-pca", "n 100,000, d 200, k 5", "lowdim"),
    ("landmark-mds", "metric manhattan, n 1,000,000, d 10, landmarks 500", "lowdim"),
    ("kernel-pca-landmarks", "n 100,000, landmarks 2,000, task fit", "lowdim"),
    ("umap", "set mnist-50, n 70,000", "lowdim, cold"),
    ("tsne", "set mnist-50, n 70,000", "lowdim"),
    ("isomap", "set swiss-roll, n 100,000, landmarks 500", "lowdim"),
    ("laplacian-eigenmaps", "set swiss-roll, n 70,000", "lowdim"),
    ("lle", "method standard, n 50,000", "lowdim"),
)

LEGEND = f"""ratio: of the median times; lowest, highest: of single turns; memory: ratio of the peaks.
slower, faster: by more than {NOISE:.0%} in every turn; unclear: one turn only, or a disturbed one."""

Sources = dict[str, Path]
Record = dict[str, Any]


# What an interpreter imports: the folder of the package, and those of its compiled modules.
_WHERE = """
import json, sys, lowdim
lowdim.Isomap
names = [name for name in sys.modules if name.startswith("lowdim.")]
files = [str(getattr(sys.modules[name], "__file__", None)) for name in names]
print(json.dumps([lowdim.__file__, [file for file in files if file.endswith((".so", ".pyd"))]]))
"""


def sources(before: Path, after: Path) -> Sources:
    """The folders from which both sides import lowdim; an error where lowdim cannot be imported from one of them."""
    found = {side: _source(path) for side, path in zip(SIDES, (before, after), strict=True)}
    for side, source in found.items():
        _check_import(side, source)
        compileall.compile_dir(source / "lowdim", quiet=2)  # or the first turn would pay for it
    return found


def _source(path: Path) -> Path:
    inner = path / "src"
    return (inner if (inner / "lowdim").is_dir() else path).resolve()


def _check_import(side: str, source: Path) -> None:
    """An older checkout must bring its own compiled module: that of an installed lowdim would be taken silently."""
    command, environment = [sys.executable, "-c", _WHERE], machine.environment(1, source)
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
    else:
        package, compiled = json.loads(done.stdout)
        files = [package, *compiled] if side == "before" else [package]
        foreign = [file for file in files if source not in Path(file).resolve().parents]
        problem = f"got {foreign[0]}" if foreign else "" if compiled else "it has no compiled module"
    if problem:
        raise ValueError(
            f"benchmarks: lowdim ({side}) must be importable from {source}; {problem}. The folder must hold the "
            f"package and its compiled module for this Python; tools/dev_build.sh builds it there."
        )


@dataclass(frozen=True)
class Comparison:
    """Runs a task with both checkouts."""

    runner: Runner
    sources: Sources

    def task(self, case: Case, size: dict[str, Any], *, quick: bool) -> Record:
        """Times, memory and quality of each of our contenders, before and after."""
        self.runner.say(f"{case.name}: {label(size)}")
        entries = {side: self._entries(case) for side in SIDES}
        with tempfile.TemporaryDirectory(prefix="lowdim-bench-") as folder:
            works = {side: Work(self.runner, case, size, Path(folder), self.sources[side], side) for side in SIDES}
            if self.runner.made(works["after"], [entry for side in SIDES for entry in entries[side]]):
                self._measure(works, entries)
            judged = {side: self._judged(works[side], entries[side]) for side in SIDES}
        record = {"case": case.name, "title": case.title, "label": label(size), "quick": quick}
        commits = {side: machine.commit(self.sources[side].parent) for side in SIDES}
        lines = [
            _line(*pair, {side: judged[side].get(pair[0].name, {}) for side in SIDES})
            for pair in zip(*entries.values(), strict=True)
            if all(entry.reports for entry in pair)
        ]
        circumstances = self.runner.circumstances([])
        return {**record, **circumstances, "commits": commits, "results": lines, "skipped": _skipped(entries)}

    def _judged(self, work: Work, entries: list[Entry]) -> dict[str, dict[str, float]]:
        """Both sides are judged by the same code, the newer one."""
        judge = replace(work, source=self.sources["after"])
        return self.runner.judged(judge, [entry.name for entry in entries if entry.reports])

    def _entries(self, case: Case) -> list[Entry]:
        ours = case.module.ours
        return [Entry(name, True, ours[name].clock) for name in self.runner.chosen(ours)]

    def _measure(self, works: dict[str, Work], entries: dict[str, list[Entry]]) -> None:
        for turn in range(self.runner.repeats):
            for pair in zip(*entries.values(), strict=True):
                self._both(works, dict(zip(SIDES, pair, strict=True)), turn)

    def _both(self, works: dict[str, Work], pair: dict[str, Entry], turn: int) -> None:
        slow = any(entry.reports and entry.reports[0]["seconds"] > self.runner.patience for entry in pair.values())
        for side in SIDES if turn % 2 == 0 else SIDES[::-1]:
            # What one side cannot do is of no use on the other.
            if not slow and all(entry.problem is None for entry in pair.values()):
                self.runner.measure_once(works[side], pair[side], turn)


def _skipped(entries: dict[str, list[Entry]]) -> list[Record]:
    return [
        {"name": f"{entry.name}, {side}", "ours": True, "reason": entry.problem, "failed": entry.failed}
        for side in SIDES
        for entry in entries[side]
        if entry.problem is not None
    ]


def _line(before: Entry, after: Entry, quality: dict[str, dict[str, float]]) -> Record:
    pair, reports = {"before": before, "after": after}, [*before.reports, *after.reports]
    seconds = {side: [report["seconds"] for report in entry.reports] for side, entry in pair.items()}
    ratios = [new / old for old, new in zip(*seconds.values(), strict=False)]
    common = [name for name in quality["after"] if name in quality["before"]]
    disturbed = sum(report["disturbed"] for report in reports)
    return {
        "name": before.name,
        "seconds": seconds,
        "ratio": median(seconds["after"]) / median(seconds["before"]),
        "ratios": ratios,
        "verdict": verdict(ratios, disturbed),
        "peak_bytes": {side: median(report["peak"] for report in entry.reports) for side, entry in pair.items()},
        "others": [share for report in reports for share in (report["others_before"], report["others"])],
        "disturbed": disturbed,
        "quality": quality,
        "quality_ratio": {name: _ratio(quality["before"][name], quality["after"][name]) for name in common},
    }


def verdict(ratios: list[float], disturbed: int = 0) -> str:
    """Slower or faster where every turn says so, else the same; nothing is said after one turn or a disturbed one."""
    if disturbed or len(ratios) < 2:
        return "unclear"
    if min(ratios) > 1 + NOISE:
        return "slower"
    return "faster" if max(ratios) < 1 - NOISE else "same"


def _ratio(before: float, after: float) -> float | None:
    """After / before; 1 for equal numbers, and nothing where a number that was 0 is not."""
    return 1.0 if after == before else None if before == 0 else after / before


def report(records: list[Record]) -> str:
    """One table of all tasks: times and their ratio, then the measures of quality, and a summary."""
    head = ["case", "", "before (s)", "after (s)", "ratio", "lowest", "highest", "time", "memory", "quality"]
    rows = [_row(record, line) for record in records for line in record["results"]]
    notes = [
        f"{record['case']} ({record['label']}): {line['name']} {'failed' if line['failed'] else 'skipped'}, "
        f"{line['reason']}"
        for record in records
        for line in record["skipped"]
    ]
    found = [*aligned([head, *rows], text=(0, 1, 9)), "", *_summary(records)] if rows else []
    return "\n".join([*found, *notes])


def _row(record: Record, line: Record) -> list[str]:
    times = [f"{median(line['seconds'][side]):.3g}" for side in SIDES]
    ratios = [f"{value:.3f}" for value in (line["ratio"], min(line["ratios"]), max(line["ratios"]))]
    peak = line["peak_bytes"]["after"] / line["peak_bytes"]["before"]
    mark = DISTURBED if line["disturbed"] else ""
    quality = "; ".join(_measure(name, line) for name in line["quality"]["after"])
    where = f"{record['case']} ({record['label']})"
    return [where, line["name"] + mark, *times, *ratios, line["verdict"], f"{peak:.3f}", quality]


def _measure(name: str, line: Record) -> str:
    before, after = (line["quality"][side].get(name) for side in SIDES)
    ratio = line["quality_ratio"].get(name)
    numbers = f"{'none' if before is None else f'{before:.4g}'} -> {after:.4g}"
    return f"{name} {numbers}" + ("" if ratio is None else f" (ratio {ratio:.4f})")


def _summary(records: list[Record]) -> list[str]:
    lines = [line for record in records for line in record["results"]]
    mean = exp(sum(log(line["ratio"]) for line in lines) / len(lines))
    words = ("slower", "same", "faster", "unclear")
    counts = [f"{sum(line['verdict'] == word for line in lines)} {word}" for word in words]
    found = [f"Time after / before: geometric mean {mean:.3f} over {len(lines)} lines; {', '.join(counts)}.", LEGEND]
    if any(line["disturbed"] for line in lines):
        found.append(f"{DISTURBED} other processes used more than {LIMIT:.0%} of the machine in a run; measure again.")
    return found

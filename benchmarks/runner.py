"""The runner: fresh processes, taking turns, and what is made of their reports."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.case import Case, label
from benchmarks.meter import wait_until_quiet

Report = dict[str, Any]


class Failed(Exception):
    """A process ended without a report."""


@dataclass
class Entry:
    """What is known about one contender of a task so far."""

    name: str
    ours: bool
    clock: str
    reports: list[Report] = field(default_factory=list)
    problem: str | None = None
    failed: bool = False


@dataclass(frozen=True)
class Runner:
    """How tasks are run; see the options of the command line."""

    threads: int
    repeats: int = 3
    patience: float = 60
    timeout: float = 1800
    wait: float = 0
    peers_python: str = sys.executable
    only: tuple[str, ...] = ()
    say: Callable[[str], None] = lambda text: None

    def task(self, case: Case, size: dict[str, Any], *, quick: bool) -> dict[str, Any]:
        """Measure every contender on one task and judge the answers."""
        entries = [
            Entry(name, case.is_ours(name), contender.clock)
            for name, contender in case.contenders.items()
            if not self.only or any(text in name for text in self.only)
        ]
        self.say(f"{case.name}: {label(size)}")
        loads = [machine.load()]
        with tempfile.TemporaryDirectory(prefix="lowdim-bench-") as folder:
            work = _Work(self, case, size, Path(folder))
            if self._made(work, entries):
                self._measure(work, entries)
            judged = self._judged(work, [entry.name for entry in entries if entry.reports])
        loads.append(machine.load())
        facts = {
            "case": case.name,
            "title": case.title,
            "about": case.about,
            "size": size,
            "label": label(size),
            "quick": quick,
        }
        return {**facts, **self._circumstances(loads), **summary(entries, judged)}

    def _made(self, work: _Work, entries: list[Entry]) -> bool:
        """Whether there is data to measure on; where not, every entry says why."""
        try:
            note, failed = work.make_data(), False
        except Failed as reason:
            note, failed = f"no data: {reason}", True
        for entry in entries if note is not None else ():
            self._drop(entry, note, failed)
        return note is None

    def _drop(self, entry: Entry, note: str | None, failed: bool) -> None:
        entry.problem, entry.failed = note, failed
        self.say(f"  {entry.name}: {'failed' if failed else 'skipped'}, {note}")

    def _judged(self, work: _Work, names: list[str]) -> dict[str, dict[str, float]]:
        try:
            return work.judge(names) if names else {}
        except Failed as reason:
            self.say(f"  quality: failed, {reason}")
            return {}

    def _measure(self, work: _Work, entries: list[Entry]) -> None:
        """One run of each contender after the other, again and again: a busy spell hits all of them."""
        for turn in range(self.repeats):
            for entry in entries:
                slow = bool(entry.reports) and entry.reports[0]["seconds"] > self.patience
                if entry.problem is None and not slow:
                    self._measure_once(work, entry, turn)

    def _measure_once(self, work: _Work, entry: Entry, turn: int) -> None:
        try:
            report = work.measure(entry, turn)
        except Failed as reason:
            self._drop(entry, str(reason), True)
            return
        if "skip" in report:
            self._drop(entry, report["skip"], False)
        else:
            entry.reports.append(report)
            self.say(f"  {entry.name}: {report['seconds']:.3g} s")

    def _circumstances(self, loads: list[float | None]) -> dict[str, Any]:
        return {
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            "threads": self.threads,
            "load": loads,
            "machine": machine.facts(),
            "commit": machine.commit(),
            "versions": {"ours": machine.versions(sys.executable), "peers": machine.versions(self.peers_python)},
        }


@dataclass(frozen=True)
class _Work:
    """The processes of one task and the folder they share."""

    runner: Runner
    case: Case
    size: dict[str, Any]
    folder: Path

    def make_data(self) -> str | None:
        """Why there is no data, or None."""
        (self.folder / "data").mkdir()
        return self._process(sys.executable, {"step": "data"}).get("skip")

    def measure(self, entry: Entry, turn: int) -> Report:
        """One measurement in a fresh process."""
        python = self._python(entry)
        wait_until_quiet(self.runner.wait)
        load, start = machine.load(), time.monotonic()
        job = {"step": "measure", "contender": entry.name, "result": str(self._result(entry.name))}
        report = self._process(python, job)
        if "skip" in report:
            return report
        if entry.clock == "process":
            # The clock of the system is the same in both processes.
            report.update(seconds=report["finished"] - start, before=None)
        return {
            **{key: report[key] for key in ("seconds", "processor", "others", "peak", "before")},
            "load": load,
            "turn": turn,
        }

    def _python(self, entry: Entry) -> str:
        """Ours where it can be, so that both sides use the same builds of numpy and BLAS."""
        module = self.case.contenders[entry.name].needs.partition(".")[0]
        return sys.executable if entry.ours or find_spec(module) else self.runner.peers_python

    def judge(self, names: list[str]) -> dict[str, dict[str, float]]:
        """The quality of the last answer of each contender."""
        results = {name: str(self._result(name)) for name in names}
        return self._process(sys.executable, {"step": "quality", "results": results})

    def _result(self, name: str) -> Path:
        return self.folder / f"{list(self.case.contenders).index(name)}.npz"

    def _process(self, python: str, job: dict[str, Any]) -> Report:
        report, job_file = self.folder / "report.json", self.folder / "job.json"
        report.unlink(missing_ok=True)
        shared = {"case": str(self.case.path), "size": self.size, "threads": self.runner.threads}
        paths = {"data": str(self.folder / "data"), "report": str(report)}
        job_file.write_text(json.dumps({**shared, **paths, **job}))
        command = [python, "-m", "benchmarks.child", str(job_file)]
        environment = machine.environment(self.runner.threads)
        options: dict[str, Any] = {"cwd": self.folder, "env": environment, "timeout": self.runner.timeout}
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {self.runner.timeout:g} s") from None
        if not report.is_file():
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failed(lines[-1])
        return json.loads(report.read_text())


def summary(entries: list[Entry], judged: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Medians, memory, quality and ratios of all entries, and who is missing and why."""
    results = [_line(entry, judged.get(entry.name, {})) for entry in entries if entry.reports]
    for line in results:
        base = reference(line, results)
        line["ratio"] = None if base is None else line["median"] / base["median"]
    missing = [
        {"name": entry.name, "ours": entry.ours, "reason": entry.problem, "failed": entry.failed}
        for entry in entries
        if entry.problem is not None
    ]
    return {"results": results, "skipped": missing}


def _line(entry: Entry, quality: dict[str, float]) -> dict[str, Any]:
    seconds = [report["seconds"] for report in entry.reports]
    added = [report["peak"] - (report["before"] or 0) for report in entry.reports]
    return {
        "name": entry.name,
        "ours": entry.ours,
        "clock": entry.clock,
        "seconds": seconds,
        "loads": [report["load"] for report in entry.reports],
        "others": [report["others"] for report in entry.reports],
        "median": median(seconds),
        "processor": median(report["processor"] for report in entry.reports),
        "peak_bytes": median(report["peak"] for report in entry.reports),
        "added_bytes": max(0, median(added)),
        "quality": quality,
    }


def reference(line: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The line a ratio refers to: the first of ours, cold processes with cold processes."""
    cold = line["clock"] == "process"
    ours = [other for other in results if other["ours"]]
    alike = [other for other in ours if (other["clock"] == "process") == cold]
    return alike[0] if alike else (ours[0] if ours and not cold else None)

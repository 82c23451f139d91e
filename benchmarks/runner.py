"""The runner: fresh processes, taking turns, and what is made of their reports."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.case import Case, label
from benchmarks.meter import Guard, Share, is_loud

REPEATED = 0.5  # seconds for which a short call is repeated, at least once

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
    again: int = 2
    peers_python: str = sys.executable
    only: tuple[str, ...] = ()
    exact: bool = False
    say: Callable[[str], None] = lambda text: None
    guard: Guard = field(default_factory=Guard)

    def task(self, case: Case, size: dict[str, Any], *, quick: bool) -> dict[str, Any]:
        """Measure every contender on one task and judge the answers."""
        names = self.chosen(case.contenders)
        entries = [Entry(name, case.is_ours(name), case.contenders[name].clock) for name in names]
        self.say(f"{case.name}: {label(size)}")
        loads = [machine.load()]
        with tempfile.TemporaryDirectory(prefix="lowdim-bench-") as folder:
            work = Work(self, case, size, Path(folder))
            if self.made(work, entries):
                self._measure(work, entries)
            judged = self.judged(work, [entry.name for entry in entries if entry.reports])
        loads.append(machine.load())
        return {**_facts(case, size, quick), **self.circumstances(loads), **summary(entries, judged)}

    def chosen(self, names: Iterable[str]) -> list[str]:
        """The contenders that were asked for: by a part of their name, or by the whole of it where `exact`."""
        if self.exact:
            return [name for name in names if name in self.only]
        return [name for name in names if not self.only or any(text in name for text in self.only)]

    def made(self, work: Work, entries: list[Entry]) -> bool:
        """Whether there is data to measure on; where not, every entry says why."""
        try:
            note, failed = work.make_data(), False
        except Failed as reason:
            note, failed = f"no data: {reason}", True
        for entry in entries if note is not None else ():
            self.drop(entry, note, failed)
        return note is None

    def drop(self, entry: Entry, note: str | None, failed: bool) -> None:
        """Measure a contender no more, and say why."""
        entry.problem, entry.failed = note, failed
        self.say(f"  {entry.name}: {'failed' if failed else 'skipped'}, {note}")

    def judged(self, work: Work, names: list[str]) -> dict[str, dict[str, float]]:
        """The quality of the answers of some contenders; nothing where it cannot be computed."""
        try:
            return work.judge(names) if names else {}
        except Failed as reason:
            self.say(f"  quality: failed, {reason}")
            return {}

    def _measure(self, work: Work, entries: list[Entry]) -> None:
        """One run of each contender after the other, again and again: a busy spell hits all of them."""
        for turn in range(self.repeats):
            for entry in entries:
                slow = bool(entry.reports) and entry.reports[0]["seconds"] > self.patience
                if entry.problem is None and not slow:
                    self.measure_once(work, entry, turn)

    def measure_once(self, work: Work, entry: Entry, turn: int) -> None:
        """One run, repeated while other processes disturb it; the least disturbed attempt counts."""
        attempts: list[Report] = []
        while not attempts or (is_loud(_shares(attempts[-1])) and len(attempts) <= self.again):
            report = self._attempt(work, entry, turn)
            if report is None:
                return
            attempts.append(report)
        best = min(attempts, key=lambda report: max(_shares(report), default=0.0))
        entry.reports.append({**best, "attempts": len(attempts), "disturbed": is_loud(_shares(best))})

    def _attempt(self, work: Work, entry: Entry, turn: int) -> Report | None:
        try:
            report = work.measure(entry, turn)
        except Failed as reason:
            self.drop(entry, str(reason), True)
            return None
        if "skip" in report:
            self.drop(entry, report["skip"], False)
            return None
        shares = _shares(report)
        noise = f", other processes used {max(shares):.0%} of the machine" if is_loud(shares) else ""
        side = f", {work.side}" if work.side else ""
        self.say(f"  {entry.name}{side}: {report['seconds']:.3g} s{noise}")
        return report

    def circumstances(self, loads: list[float | None]) -> dict[str, Any]:
        """When, where and with what a task was measured."""
        return {
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            "threads": self.threads,
            "load": loads,
            "machine": machine.facts(),
            "commit": machine.commit(),
            "versions": {"ours": machine.versions(sys.executable), "peers": machine.versions(self.peers_python)},
        }


@dataclass(frozen=True)
class Work:
    """The processes of one task and the folder they share.

    Where a task is run with several checkouts of lowdim, `source` is the one that is imported and `side` its name.
    """

    runner: Runner
    case: Case
    size: dict[str, Any]
    folder: Path
    source: Path | None = None
    side: str = ""

    def make_data(self) -> str | None:
        """Why there is no data, or None."""
        (self.folder / "data").mkdir()
        return self._process(sys.executable, {"step": "data"}).get("skip")

    def measure(self, entry: Entry, turn: int) -> Report:
        """One measurement in a fresh process."""
        python, guard = self._python(entry), self.runner.guard
        quiet, load = guard.before(self.runner.wait), machine.load()
        guard.start()
        start = time.monotonic()
        job = {
            "step": "measure",
            "contender": entry.name,
            "result": str(self._result(entry.name)),
            "repeated": REPEATED,
        }
        report = self._process(python, job)
        if "skip" in report:
            return report
        if entry.clock == "process":
            # The clock of the system is the same in both processes.
            report.update(seconds=report["finished"] - start, before=None)
        inside = None if entry.clock == "process" else Share(report["others"], report["steal"])
        during = guard.during(inside)
        return {
            **{key: report[key] for key in ("seconds", "processor", "peak", "before")},
            "others": during.others,
            "steal": during.steal,
            "others_before": quiet.others,
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
        return self.folder / f"{self.side}{list(self.case.contenders).index(name)}.npz"

    def _process(self, python: str, job: dict[str, Any]) -> Report:
        report, job_file = self.folder / "report.json", self.folder / "job.json"
        report.unlink(missing_ok=True)
        shared = {"case": str(self.case.path), "size": self.size, "threads": self.runner.threads}
        paths = {"data": str(self.folder / "data"), "report": str(report)}
        job_file.write_text(json.dumps({**shared, **paths, **job}))
        command = [python, "-m", "benchmarks.child", str(job_file)]
        environment = machine.environment(self.runner.threads, self.source)
        options: dict[str, Any] = {"cwd": self.folder, "env": environment, "timeout": self.runner.timeout}
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {self.runner.timeout:g} s") from None
        if not report.is_file():
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failed(lines[-1])
        return json.loads(report.read_text())


def _facts(case: Case, size: dict[str, Any], quick: bool) -> dict[str, Any]:
    shown = {"case": case.name, "title": case.title, "about": case.about}
    return {**shown, "size": size, "label": label(size), "quick": quick}


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


def _shares(report: Report) -> list[float]:
    """What other processes used of the machine before and during a run, where that is known."""
    return [share for share in (report["others_before"], report["others"]) if share is not None]


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
        "others_before": [report["others_before"] for report in entry.reports],
        "steal": [report["steal"] for report in entry.reports],
        "attempts": [report["attempts"] for report in entry.reports],
        "disturbed": sum(report["disturbed"] for report in entry.reports),
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

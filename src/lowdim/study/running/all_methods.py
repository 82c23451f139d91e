"""The methods of a comparison, one after the other: found in a checkpoint, or run and kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lowdim._core.runtime.memory import config
from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.method_list import Entry
from lowdim.study.running.baselines import baselines_for
from lowdim.study.running.checkpoint import Checkpoint
from lowdim.study.running.isolated import Limits, Worker
from lowdim.study.running.one_method import Outcome, plain_parameters, run
from lowdim.study.settings import Settings

Progress = Callable[[str, float, int], None]
STOPPED = "stopped by the user before it was finished"
NO_VERDICT = "the verdict was stopped by the user before it was finished"
REUSED = ": finished by an earlier run"  # said of a step that only reads a map
EVERY = 0.1  # seconds between two reports from inside a method


class Steps:
    """Announces the steps of a run to `progress` and on stderr: `runs` of methods, and `others` around them."""

    def __init__(self, progress: Progress | None, verbose: int | bool, runs: int, others: int) -> None:
        self.progress, self.verbose, self.runs, self.total = progress, verbose, runs, runs + others
        self.done, self.name, self._last, self._share = 0, "", 0.0, 0.0

    def expect(self, runs: int) -> None:
        """There are so many runs, whatever was expected before; those that never come count as done."""
        self.total += max(0, runs - self.runs)
        self.done += max(0, self.runs - runs)
        self.runs = runs

    def announce(self, name: str) -> None:
        """A step begins."""
        self.name, self._share = name, 0.0
        if self.progress is not None:
            self.progress(name, self.done, max(self.total, self.done + 1))
        if self.verbose:
            sys.stderr.write(f"compare: {name}\n")
        self.done += 1

    def tell(self, share: float) -> None:
        """So much of the step is done; never less than before, though a step may find that it has more to do."""
        self._share = max(self._share, share)
        if self.progress is not None and time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            self.progress(self.name, self.done - 1 + self._share, max(self.total, self.done))


@dataclass(frozen=True, eq=False)
class Runner:
    """What all methods of a run have in common; see `compare`."""

    data: Data
    labels: Labels | None
    limits: Limits
    checkpoint: Checkpoint
    memory_limit: Any
    steps: Steps
    on_interrupt: str = "raise"

    def run_all(self, planned: list[Entry], settings: Settings) -> list[Outcome]:
        """The outcomes of the methods, then of the baselines."""
        if not self.limits.isolate:
            return self._run_each(planned, settings, None)
        with Worker(self.data, self.labels, self.limits, {"memory_limit": self.memory_limit}) as worker:
            return self._run_each(planned, settings, worker)

    def _run_each(self, planned: list[Entry], settings: Settings, worker: Worker | None) -> list[Outcome]:
        outcomes: list[Outcome] = []
        stopped = False
        for entry in self._with_baselines(planned, outcomes, settings):
            if stopped and not (entry.baseline or entry not in planned):
                outcomes.append(_not_run(entry))
                continue
            found = self.checkpoint.find(entry)
            self.steps.announce(entry.name if found is None else f"{entry.name}{REUSED}")
            try:
                outcomes.append(self._run_one(entry, worker) if found is None else found)
            except KeyboardInterrupt:
                if self.on_interrupt == "raise":
                    raise
                stopped = True
                outcomes.append(_not_run(entry))
        return outcomes

    def _with_baselines(self, planned: list[Entry], outcomes: list[Outcome], settings: Settings) -> Iterator[Entry]:
        """The methods, then the baselines, which depend on the outcomes of the methods."""
        before = self.steps.done
        yield from planned
        added = baselines_for(outcomes, self.data.rows.shape, settings)
        self.steps.expect(self.steps.done - before + len(added))
        yield from added

    def _run_one(self, entry: Entry, worker: Worker | None) -> Outcome:
        if worker is not None and not _is_light(entry):
            outcome = worker.run(entry, self.steps.tell)
        else:
            with config(memory_limit=self.memory_limit):
                outcome = run(entry, self.data, self.labels, self.steps.tell)
        self.checkpoint.keep(entry, outcome)
        return outcome


def _is_light(entry: Entry) -> bool:
    """Random coordinates and ready-made maps need no process of their own."""
    return type(entry.estimator).__name__ in ("RandomEmbedding", "ReadyMade", "Unprepared")


def _not_run(entry: Entry) -> Outcome:
    return Outcome(entry.name, entry.baseline, entry.estimator, plain_parameters(entry.estimator), 0.0, error=STOPPED)

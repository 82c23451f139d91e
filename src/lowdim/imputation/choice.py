"""The choice of a model: each fills observed cells that were left out, and the one with the lowest error is taken.

Tables of up to a thousand rows are compared whole. Of larger ones all models are tried on a few hundred rows first,
along their paths of settings, and those that come close to the best are compared again on more rows. The mean of the
models by stacked weights is a candidate of its own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lowdim._core.iterate import Progress
from lowdim._core.runtime import notices
from lowdim.imputation.candidates import Candidate, Choice, choice_of
from lowdim.imputation.cells import Cells
from lowdim.imputation.left_out import Errors, left_out
from lowdim.imputation.models.blend import Blend
from lowdim.imputation.models.means import Means
from lowdim.imputation.models.model import Array, Effort, Model
from lowdim.imputation.stacking import by_kind, cross_validated, gaps, mean_of

WHOLE_ROWS = 1000  # up to which there is one comparison
SCREEN_ROWS, SCREEN_TABLES = 400, 4
CLOSE = 1.25  # times the lowest error: what is further off is not compared again
PATIENCE = 3  # settings without improvement after which a path ends
BLEND_GAIN = 0.995  # share of the best model's error that a mean of models must reach to be worth fitting them all
CLOSE_TABLES = 10  # with cells left out, at most, to compare those that are close
SCREEN_CELLS, CLOSE_CELLS = 150, 1000  # left out in all tables together, in the first and the second comparison
COMPARED_ROWS = 2000


@dataclass(eq=False)
class Trial:
    """Tables with left-out cells, and the errors of the means, which others are measured by."""

    cells: Cells
    hidden: list[Array]
    base: Errors = field(init=False)

    def __post_init__(self) -> None:
        self.base = self.errors([Means(Effort()).fill(table, None) for table in self.tables])

    @property
    def tables(self) -> list[Cells]:
        return [self.cells.without(mask) for mask in self.hidden]

    def errors(self, filled: Sequence[Array]) -> Errors:
        return Errors.joined([Errors.of(self.cells, *pair) for pair in zip(self.hidden, filled, strict=True)])

    def first(self, count: int) -> Trial:
        """The same with no more than so many tables."""
        return self if count >= len(self.hidden) else Trial(self.cells, self.hidden[:count])

    @classmethod
    def of(cls, cells: Cells, rng: np.random.Generator, most_rows: int, enough: int, most: int) -> Trial:
        """Of a random sample of the rows; two tables, and up to `most` until enough cells are left out."""
        if len(cells.coded) > most_rows:
            cells = cells.rows(_sample(cells, most_rows, rng))
        first = left_out(cells, rng)
        count = int(np.clip(-(-enough // max(1, first.sum())), 2, most))
        return cls(cells, [first, *(left_out(cells, rng) for _ in range(count - 1))])


@dataclass(frozen=True, eq=False)
class Tried:
    """A model along its path: the best setting, its errors, and how long one table took."""

    model: Model
    setting: Any
    errors: Errors
    error: float
    standard_error: float
    seconds: float  # of processor time, for one table
    rows: int
    filled: Sequence[Array]
    note: str = ""
    cut: bool = False


def choose(
    cells: Cells, models: Sequence[Model], rng: np.random.Generator, *, budget: float, verbose: int | bool = 0
) -> Choice:
    """The model with the lowest error of left-out cells, and all that were tried.

    Parameters
    ----------
    cells : Cells
        The table.
    models : sequence of Model
        The candidates, the cheapest first.
    rng : Generator
        For the cells that are left out.
    budget : float
        Seconds of processor time after which no further model is begun; a warning names those that were cut. The clock
        would give another choice on a busy machine.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Choice
    """
    start = time.process_time()
    once = len(models) == 1 or len(cells.coded) <= WHOLE_ROWS
    sizes = (COMPARED_ROWS, CLOSE_CELLS, CLOSE_TABLES) if once else (SCREEN_ROWS, SCREEN_CELLS, SCREEN_TABLES)
    screen = Trial.of(cells, rng, *sizes)
    skipped: list[Candidate] = []
    found: list[Tried] = []
    with Progress("impute: models", len(models), verbose) as progress:
        for model in models:
            if reason := model.refusal(cells):
                skipped.append(Candidate.skipped(model, reason))
            elif found and time.process_time() - start > budget:
                reason = f"not tried: the budget of {budget:g} s was spent"
                skipped.append(Candidate.skipped(model, reason, cut=True))
            elif isinstance(
                tried := along_path(model, screen if once else screen.first(model.screen_tables), None, start + budget),
                str,
            ):
                skipped.append(Candidate.skipped(model, tried))
            else:
                found.append(tried)
            progress.advance(model.name)
    if not found:
        reasons = "; ".join(f"{one.method}: {one.note}" for one in skipped)
        raise ValueError(f"impute: X must be a table that a model can fill; none can ({reasons}).")
    if once:
        final = with_blend(_close(found), screen)
    else:
        final = compared_again(cells, found, rng, start + budget, screen)
    names = {one.model.name for one in final}
    rest = sorted((one for one in found if one.model.name not in names), key=lambda one: one.error)
    chosen = choice_of([*final, *rest], skipped, time.process_time() - start)
    _warn_of_cuts(chosen, budget)
    return chosen


def _warn_of_cuts(found: Choice, budget: float) -> None:
    if cut := [one.method for one in found.candidates if one.cut]:
        notices.warn(
            f"impute: the budget of {budget:g} s of processor time ended the comparison of {', '.join(cut)}, so that a "
            "better model may have been missed. Raise budget, or give fewer rows."
        )


def compared_again(
    cells: Cells, found: list[Tried], rng: np.random.Generator, deadline: float, screen: Trial
) -> list[Tried]:
    """Those close to the best, on more rows and with more cells left out; and means of them."""
    close = _close(found)
    if len(close) == 1:
        return close
    seen = len(screen.cells.coded)
    trial = Trial.of(cells, rng, COMPARED_ROWS, CLOSE_CELLS, CLOSE_TABLES)
    needed = 2 * sum(one.seconds for one in close) * len(trial.hidden) * len(trial.cells.coded) / seen
    if time.process_time() + needed > deadline:
        return [replace(one, note="the budget left no time to compare it again", cut=True) for one in close]
    again = [along_path(one.model, trial, one.setting, deadline) for one in close]
    kept = sorted((one for one in again if isinstance(one, Tried)), key=lambda one: one.error) or close
    return with_blend(kept, trial)


def with_blend(ranked: list[Tried], trial: Trial) -> list[Tried]:
    """The models and the mean of them, the best first."""
    return sorted([*ranked, *blend(ranked, trial)], key=lambda one: one.error)


def _close(found: list[Tried]) -> list[Tried]:
    lowest = min(one.error for one in found)
    return sorted((one for one in found if one.error <= CLOSE * lowest), key=lambda one: one.error)


def blend(ranked: list[Tried], trial: Trial) -> list[Tried]:
    """The mean of models by stacked weights, where its cross-validated error is below that of the best model."""
    if len(ranked) < 2 or len(trial.hidden) < 2:
        return []
    tables = list(zip(*(one.filled for one in ranked), strict=True))
    parts = [gaps(trial.cells, *pair) for pair in zip(trial.hidden, tables, strict=True)]
    mixed = [mean_of(filled, w, trial.cells) for w, filled in zip(cross_validated(parts), tables, strict=True)]
    errors = trial.errors(mixed)
    error, spread = errors.relative(trial.base)
    kept = [(one, tuple(w.tolist())) for one, w in zip(ranked, by_kind(parts).T, strict=True) if w.any()]
    if len(kept) < 2 or error >= BLEND_GAIN * ranked[0].error:
        return []
    model = Blend(ranked[0].model.effort, tuple((one.model, one.setting, w) for one, w in kept))
    seconds = sum(one.seconds for one, _ in kept)
    return [Tried(model, len(kept), errors, error, spread, seconds, ranked[0].rows, mixed)]


def along_path(model: Model, trial: Trial, known: Any, deadline: float) -> Tried | str:
    """The best setting of a model; from just before `known` where that is given. A reason where it fails."""
    path = model.path(trial.cells)
    if known is not None and known in path:
        path = path[max(0, path.index(known) - 1) :]
    tables, best, worse, cut = trial.tables, None, 0, False
    starts: Sequence[Array | None] = [None] * len(tables)
    for setting in path:
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                filled = [model.fill(t, setting, before) for t, before in zip(tables, starts, strict=True)]
        except (ValueError, np.linalg.LinAlgError) as problem:
            if best is None:
                return f"failed: {str(problem).split('.')[0]}"
            break
        seconds = (time.process_time() - start) / len(tables)
        starts, errors = filled, trial.errors(filled)
        error, spread = errors.relative(trial.base)
        if best is None or error < model.gain * best.error:
            best, worse = Tried(model, setting, errors, error, spread, seconds, len(trial.cells.coded), filled), 0
        else:
            worse += 1
        if worse >= PATIENCE or time.process_time() > deadline:
            cut = worse < PATIENCE and setting != path[-1]
            break
    if best is None or not np.isfinite(best.error):
        return "gave cells that are not numbers"
    return replace(best, note="the budget ended its path of settings" if cut else "", cut=cut)


def _sample(cells: Cells, most: int, rng: np.random.Generator) -> Array:
    """Rows at random, and one more for each column without a value and each category without a row among them."""
    rows = rng.choice(len(cells.coded), most, replace=False)
    there = np.isfinite(cells.spread) & (cells.layout.numeric | (cells.spread == 1))
    lacking = np.flatnonzero(~there[rows].any(axis=0) & there.any(axis=0))
    return np.unique(np.concatenate([rows, *(rng.choice(np.flatnonzero(there[:, j]), 1) for j in lacking)]))

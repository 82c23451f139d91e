"""The fixed-point iteration of iterative PCA: a low-rank model of completed rows that completes them to themselves.

Each update is the model of the rows as they are completed now; filling solves for all missing cells of a row at once,
so that only the model (d x r numbers) is iterated, and extrapolated (Varadhan and Roland, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.incomplete.cells import ObservedTable, fill_cells, filled, weights_of
from lowdim._core.incomplete.warm_pca import Leading, leading
from lowdim._core.iterate import Callback, Run, iterate
from lowdim._core.spectrum.noise_variance import shrinking_variance

Array = np.ndarray

AMPLE_FREE = 0.75  # share of the observed cells left after fitting from which EM has one optimum
APPROACH, APPROACH_STEPS = 1e-4, 100  # plain EM steps until one changes the criterion by no more than this part
SLACK = {"em": 0.0, "regularized": 1e-3}  # by how much an extrapolated step may raise the criterion


@dataclass(frozen=True)
class Settings:
    """What is iterated, and until when."""

    rank: int
    method: str  # "regularized" or "em"
    ridge: float
    floor: float  # least noise variance that shrinks
    tol: float
    max_iter: int
    owner: str
    callback: Callback | None = None  # sees the completed rows
    verbose: int | bool = 0

    @property
    def shrinks(self) -> bool:
        return self.method == "regularized" and self.ridge > 0

    def sigma2(self, found: Leading) -> float:
        """The noise variance that shrinks the components of a model."""
        if not self.shrinks:
            return 0.0
        sigma2 = shrinking_variance(found.values, found.total, found.weight, len(found.mean), self.ridge)
        return max(sigma2, self.floor)


@dataclass(frozen=True, eq=False)
class ModelState:
    """A model as a point that can be extrapolated; `found` is what it came from."""

    mean: Array
    scale: Array
    W: Array
    strength: float
    loss: float
    found: Leading
    longest: float = 4.0  # extrapolation
    converged: bool = False
    rate: float = 1.0  # of the last two updates
    last: float = np.inf  # criterion of the step before, and by how much it had changed
    change: float = np.inf
    moved: float = np.inf  # length of the last update
    part: float = np.inf  # the same, over the length of the model itself

    def vector(self, unit: Array) -> Array:
        return np.concatenate([self.mean / unit, self.scale / unit, self.W.ravel(), [np.sqrt(self.strength)]])

    def at(self, v: Array, unit: Array) -> ModelState:
        d, r = self.W.shape
        W = v[2 * d : 2 * d + d * r].reshape(d, r)
        return replace(self, mean=v[:d] * unit, scale=v[d : 2 * d] * unit, W=W, strength=float(v[-1]) ** 2)


class FixedPoint:
    """The iteration from the column means; `completed` holds the cells of the model last filled."""

    def __init__(self, table: ObservedTable, settings: Settings) -> None:
        self.table, self.settings = table, settings
        self.unit = table.deviation if table.scaled else np.ones(len(table.mean))
        self.completed = filled(table.X, table.mean, table.n_jobs)
        # A row with no more cells than components is fitted exactly by any model: plain EM, which moves the cells
        # least, is the one whose limit means something.
        self.plain = not settings.shrinks and 0 < table.fewest <= settings.rank
        ample = table.free(settings.rank) >= AMPLE_FREE * table.cells
        self.gentle = self.plain or not (settings.shrinks or ample)
        # Cells at the mean of their column attenuate the covariances; where enough is observed, the first model is
        # that of the covariances of the observed cells.
        self.share = table.share if ample and not self.plain else None
        self.basis: Array | None = None

    def run(self) -> Run:
        """Iterate; the state of the result is the last model (None for rank 0, which needs no steps)."""
        s = self.settings
        if s.rank == 0:
            return Run(None, np.array([self._variance()]), 0, True)
        first = self._updated(None)
        first = replace(first, loss=self._fill(first, whole=self.gentle))
        if self.gentle and not self.plain:
            first = self._approach(first)
        run = iterate(
            self._plain_step if self.plain else self._step,
            first,
            max_iter=s.max_iter,
            tol=0.0,
            owner=s.owner,
            warn=False,
            until=lambda i, state, loss: state.converged,
            callback=s.callback,
            show=lambda state: self.completed.copy(),
            verbose=s.verbose,
        )
        return replace(run, converged=not run.stopped and (run.state.converged or run.converged))

    def _approach(self, state: ModelState) -> ModelState:
        """Plain steps while they change much: with many parameters for its cells EM has several optima, and
        extrapolating from a poor model finds worse ones."""
        for _ in range(APPROACH_STEPS):
            now, loss = self._plain_step(state)
            small, state = abs(state.loss - loss) <= APPROACH * loss, now
            if small or state.converged:
                break
        return replace(state, loss=self._fill(state), converged=False)

    def _step(self, state: ModelState) -> tuple[ModelState, float]:
        """Two updates and, from them, an extrapolation forward (Varadhan and Roland, 2008).

        Only forward: Anderson mixing is faster near the end, but can stop at a saddle point.
        """
        one = self._updated(state)
        one = replace(one, loss=self._fill(one))
        if self._has_converged(state, one.loss, state.rate):
            return replace(one, converged=True), one.loss
        two = self._updated(one)
        v, first, second = (s.vector(self.unit) for s in (state, one, two))
        before, after = first - v, second - first
        size = float(np.linalg.norm(before))
        rate = float(np.linalg.norm(after)) / size if size > 0 else 0.0
        part = float(np.linalg.norm(after) / np.linalg.norm(v))
        if self._has_converged(state, one.loss, rate):
            return replace(two, loss=one.loss, converged=True), one.loss
        seen: dict[str, Any] = {"rate": rate, "part": part, "last": one.loss, "change": abs(state.last - one.loss)}
        bend = float(np.linalg.norm(after - before))
        length = min(size / bend if bend > 0 else 1.0, state.longest)
        longest = state.longest * 4 if length == state.longest else state.longest
        if length > 1.01:
            ahead = two.at(v + 2 * length * before + length**2 * (after - before), self.unit)
            if (ahead.scale > 0.1 * two.scale).all():
                loss = self._fill(ahead)
                if loss <= one.loss * (1.0 + SLACK[self.settings.method]):
                    return replace(ahead, loss=loss, longest=longest, **seen), one.loss
            longest = max(1.0, state.longest / 4)
        return replace(two, loss=self._fill(two), longest=longest, **seen), one.loss

    def _plain_step(self, state: ModelState) -> tuple[ModelState, float]:
        one = self._updated(state)
        one = replace(one, loss=self._fill(one, whole=True))
        before = state.vector(self.unit)
        moved = float(np.linalg.norm(before - one.vector(self.unit)))
        converged = self._has_converged(state, one.loss, moved / state.moved if state.moved > 0 else 0.0)
        change = abs(state.loss - one.loss)
        part = moved / float(np.linalg.norm(before))
        return replace(one, converged=converged, moved=moved, part=part, last=one.loss, change=change), one.loss

    def _has_converged(self, state: ModelState, now: float, rate: float) -> bool:
        """Little change, and little to come: a change that shrinks at a rate has rate / (1 - rate) of itself ahead.

        Both for the model and for the criterion from step to step: slow progress along a valley shows in the latter.
        """
        if now <= self.settings.tol * self.settings.tol * self._variance():  # a power of 1e300 would be an error
            return True
        here, step = abs(state.loss - now), abs(state.last - now) if np.isfinite(state.last) else 0.0
        trend = step / state.change if state.change > 0 else 0.0
        return max(here * max(1.0, _ahead(rate)), step * _ahead(trend)) <= self.settings.tol * now

    def _variance(self) -> float:
        deviation = self.table.deviation
        return float((deviation**2 / (self.unit**2)).sum())

    def _fill(self, state: ModelState, whole: bool = False) -> float:
        t = self.table
        loss = fill_cells(
            t.X, self.completed, state.mean, state.scale, state.W, state.strength, n_jobs=t.n_jobs, whole=whole
        )
        return float(loss.sum() if t.weights is None else loss @ t.weights) / t.weight

    def _updated(self, state: ModelState | None) -> ModelState:
        """The model of the rows as they are completed now, rotated towards the last one."""
        t, r = self.table, self.settings.rank
        options: dict[str, Any] = {"scale": t.scaled, "weights": t.weights, "n_jobs": t.n_jobs}
        enough = min(1e-6, max(1e-11, 0.1 * self.settings.tol))
        if state is not None:  # no better than the model is known
            enough = min(1e-4, max(enough, 1e-3 * state.part))
        share = self.share if state is None else None
        found = leading(self.completed, r, start=self.basis, tol=enough, share=share, **options)
        sigma2 = self.settings.sigma2(found)
        if not found.exact and 0 < found.values[r] == sigma2:  # only a bound: it may not bind
            found = leading(self.completed, r, exact=True, **options)
            sigma2 = self.settings.sigma2(found)
        self.basis = found.basis
        W, strength = weights_of(found.vectors, found.values[:r], sigma2)
        if state is not None:
            left, _, right = np.linalg.svd(W.T @ state.W)
            W = W @ (left @ right)
        now = ModelState(found.mean, found.scale, W, strength, np.inf, found)
        return now if state is None else replace(now, longest=state.longest, part=state.part)


def _ahead(rate: float) -> float:
    """What is left of a geometric series, in units of its last term; 100 where it does not shrink."""
    return rate / (1.0 - rate) if rate < 0.99 else 100.0

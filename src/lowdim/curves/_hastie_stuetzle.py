"""Hastie and Stuetzle's alternation: project the rows on the curve, then smooth them along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.iterate import Callback, iterate
from lowdim._core.runtime.notices import warn
from lowdim.curves._polyline import Fit, Polyline, Projection

Array = np.ndarray

STRETCH = 0.002  # of the length, added at both ends, so that rows beyond an end differ and the curve can grow
PATIENCE = 30  # passes without a lower D²; on a ring up to 26 are needed
RISE = 1.1  # times the lowest D²: a curve that converges above it was better before
NOTHING = 1e-20  # of the variance: a mean squared distance below is rounding


@dataclass(frozen=True, eq=False)
class _State:
    curve: Polyline
    found: Projection


@dataclass
class _Watch:
    """Stops where D² has not decreased for `PATIENCE` passes; remembers the state with the lowest."""

    best: Any = None
    lowest: float = np.inf
    waiting: int = 0

    def __call__(self, i: int, state: _State, loss: float) -> bool:
        self.waiting += 1
        if loss < self.lowest:
            self.lowest, self.best, self.waiting = loss, state, 0
        return self.waiting >= PATIENCE


@dataclass(frozen=True, eq=False)
class HastieStuetzle:
    """The two steps, on rows X of which cells may be missing."""

    X: Array
    smoother: Any
    closed: bool
    bias_correction: bool
    n_vertices: int
    n_jobs: int | None

    def fit(
        self,
        start: Polyline,
        *,
        tol: float,
        max_iter: int,
        owner: str,
        verbose: int | bool,
        callback: Callback | None = None,
    ) -> Fit:
        """Alternate from an initial curve until the mean squared distance D² converges."""
        nothing, watch = NOTHING * float(np.nanvar(self.X, axis=0).sum()), _Watch()

        def step(state: _State) -> tuple[_State, float]:
            state = self._corrected(self._smoothed(state)) if self.bias_correction else self._smoothed(state)
            loss = float(state.found.squared.mean())
            return state, loss if loss > nothing else 0.0

        settings: Any = {"max_iter": max_iter, "tol": tol, "owner": owner, "verbose": verbose, "callback": callback}
        run = iterate(step, self._projected(start), until=watch, show=lambda state: state.curve.vertices, **settings)
        if run.stopped:
            return Fit(self._trimmed(run.state), run.losses, run.n_iter, False)
        rose = run.losses[-1] > RISE * watch.lowest or watch.waiting >= PATIENCE
        if rose:
            warn(
                f"{owner}: the mean squared distance rose from {watch.lowest:.6g} to {run.losses[-1]:.6g}, and the "
                "curve with the lowest is returned. Smooth more (a smaller df, a larger span), or give another init.",
                ConvergenceWarning,
            )
        state = run.state if run.converged and not rose else watch.best
        return Fit(self._trimmed(state), run.losses, run.n_iter, run.converged and not rose)

    def _projected(self, curve: Polyline) -> _State:
        return _State(curve, curve.project(self.X, self.n_jobs))

    def _smoothed(self, state: _State) -> _State:
        """Each column as a smooth function of the length along the curve."""
        t = state.found.parameters
        if self.closed:
            period = float(state.curve.lengths[-1])
            at = np.arange(self.n_vertices) * (period / self.n_vertices)
            return self._projected(Polyline(self.smoother(t, self.X, at, period), True))
        low, high = float(t.min()), float(t.max())
        beyond = STRETCH * (high - low)
        at = np.concatenate([[low - beyond], np.linspace(low, high, self.n_vertices - 2), [high + beyond]])
        return self._projected(Polyline(self.smoother(t, self.X, at, None)))

    def _corrected(self, state: _State) -> _State:
        """Add the smoothed residuals to the curve, to correct the bias of smoothing (Banfield and Raftery)."""
        residuals = self.X - state.curve.points(state.found)
        lengths = state.curve.lengths
        period = float(lengths[-1]) if self.closed else None
        at = lengths[:-1] if self.closed else lengths
        move = self.smoother(state.found.parameters, residuals, at, period)
        return self._projected(Polyline(state.curve.vertices + move, self.closed))

    def _trimmed(self, state: _State) -> Polyline:
        """Without the ends on which no row projects."""
        t = state.found.parameters
        return state.curve if self.closed else state.curve.between(float(t.min()), float(t.max()))

"""Maximum variance unfolding in low-rank form, without an n x n matrix: an augmented Lagrangian method.

The variance of centred coordinates R (n, p) is maximised subject to low_e <= |r_i - r_j|² <= high_e on every edge e =
(i, j). With K = RR' this is a semidefinite program restricted to rank p (Burer and Monteiro 2003); with a few columns
more than the rank of the solution it has the same optimum. An augmented Lagrangian turns it into a sequence of smooth
problems

    minimise  -1/2 |R|² + 1/4 sum_e s excess_e²,   excess = what c + y/s leaves the interval by,

in the squared lengths c, y being the Lagrange multipliers of the constraints. At the solution L_y R = R with L_y the
Laplacian of the graph weighted by y. Each problem is solved by a quasi-Newton method whose metric is such a Laplacian,
L_(|y| + s) + I: the problem is then equally well conditioned however many edges lie between two rows, and the number of
steps hardly depends on n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.iterate import Callback, Progress, wants_stop
from lowdim._core.runtime import notices, threads

Array = np.ndarray

SHORT = 1e-4  # of the median: errors of squared lengths below it are measured relative to it
PENALTY = 10.0  # first s over the largest variance of an axis: multipliers are about an eighth of a squared extent
STEPS = 200  # of the quasi-Newton method between two updates of the multipliers
PAIRS = 15  # of steps and gradient changes that it keeps
FLAT = 1e-7  # its stopping rule: the expected gain of a step over the variance
STEADY = 1e-4  # relative change of the variance between two updates at convergence
FAR, STALLED, LOST = 0.01, 6, 0.8  # an excess that large which loses less than a fifth in so many updates stays
# Without an interior (slack 0) the multipliers have no bound; a larger penalty than this (over the first) would lose
# the masses in rounding, and the metric would be singular.
MOST = 1e12


@dataclass(frozen=True, eq=False)
class DistanceConstraints:
    """Pairs of rows, and the least and greatest squared distance that each may have."""

    first: Array
    second: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, first: Array, second: Array, lengths: Array, slack: float) -> DistanceConstraints:
        """Distances that may be shorter or longer by this share."""
        d = lengths.astype(np.float64)
        return cls(first, second, ((1 - slack) * d) ** 2, ((1 + slack) * d) ** 2)

    def incidence(self, n: int) -> sparse.csr_array:
        """The matrix that maps coordinates to differences, one row for each constraint."""
        m = len(self.first)
        values = np.tile([1.0, -1.0], m)
        ends = np.column_stack([self.first, self.second]).ravel()
        return sparse.csr_array((values, ends, 2 * np.arange(m + 1)), shape=(m, n))

    def largest_error(self, R: Array) -> float:
        """The largest relative difference of a length from the middle of its interval."""
        found = np.sqrt(np.square(R[self.first] - R[self.second]).sum(axis=1))
        middle = (np.sqrt(self.low) + np.sqrt(self.high)) / 2
        least = np.sqrt(SHORT * np.median(middle**2)) or 1.0
        return float((np.abs(found - middle) / np.maximum(middle, least)).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Unfolded:
    """Coordinates and how the method ended.

    Attributes
    ----------
    coordinates : ndarray of shape (n, p)
        Centred.
    multipliers : ndarray of shape (m,)
        One for each constraint; positive at the upper end of its interval, negative at the lower end.
    n_iter : int
        Updates of the multipliers.
    converged : bool
    stopped : bool
        By the callback.
    gap : float
        By what share of itself a squared length is outside its interval.
    change : float
        Of the variance in the last update, as a share of it.
    """

    coordinates: Array
    multipliers: Array
    n_iter: int
    converged: bool
    stopped: bool
    gap: float
    change: float


def unfold(
    constraints: DistanceConstraints,
    start: Array,
    mass: Array,
    *,
    tol: float,
    max_iter: int,
    owner: str,
    callback: Callback | None = None,
    verbose: int | bool = 0,
) -> Unfolded:
    """Coordinates of the largest variance sum_i mass_i |r_i - mean|² under distance constraints.

    Parameters
    ----------
    constraints : DistanceConstraints
        They connect all rows; otherwise the variance has no bound.
    start : ndarray of shape (n, p)
        Initial coordinates; p is the rank.
    mass : ndarray of shape (n,)
        How many rows each one stands for.
    tol : float
        By what share of itself a squared length may leave its interval.
    max_iter : int
        Updates of the multipliers.
    owner : str
        The estimator, for messages.
    callback : callable or None
        Called as callback(step, -variance, coordinates) after each update; True stops.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Unfolded
    """
    unit = float(np.sqrt(constraints.high.mean())) or 1.0
    problem = _Problem.of(constraints, unit, mass)
    R = problem.centred(start / unit)
    penalty = PENALTY * max(1.0, float((mass @ R**2).max() / mass.sum()))
    state, stopped, converged = _State(R, np.zeros(len(constraints.first)), penalty), False, False
    gaps, before, change = [np.inf], np.inf, np.inf
    with threads.single_blas(), Progress(owner, max_iter, verbose) as progress:
        for _ in range(max_iter):
            state = problem.minimize(state)
            variance = problem.variance(state.R)
            gaps.append(problem.largest_excess(state.R))
            state = problem.with_new_multipliers(state)
            progress.advance(f"variance {variance * unit**2:.6g}, constraints off by {gaps[-1]:.1e}")
            if callback is not None:
                stopped = wants_stop(callback(progress.done, -variance * unit**2, state.R * unit))
            change = abs(variance - before) / variance if variance > 0 else 0.0
            converged = not stopped and gaps[-1] <= tol and change <= STEADY
            if converged or stopped or _has_stalled(gaps):
                break
            before = variance
            if gaps[-1] > 0.3 * gaps[-2] and state.penalty < MOST * penalty:
                state = replace(state, penalty=2 * state.penalty)
    multipliers, gap = state.multipliers * problem.scales, problem.largest_excess(state.R)
    return Unfolded(state.R * unit, multipliers, progress.done, converged, stopped, gap, change)


def _has_stalled(gaps: list[float]) -> bool:
    return len(gaps) > STALLED + 2 and gaps[-1] > max(FAR, LOST * gaps[-1 - STALLED])


def warn_unmet(found: Unfolded, owner: str, tol: float, max_iter: int, *, hard: bool) -> None:
    """Say by how much the constraints are missed, and whether more steps would help; `hard`: there is no slack."""
    left = "after" if found.n_iter >= max_iter else "and more steps do not help, before"
    if found.gap <= tol:
        ways = "slack (0.0005, say): slack=0 leaves the problem no room to settle in" if hard else "max_iter"
        why = (
            f"the squared lengths are met to {found.gap:.1e} of themselves, but the variance still changes by "
            f"{found.change:.1e} of itself in an update. Raise {ways}."
        )
    else:
        why = (
            f"a squared length is off by {found.gap:.1e} of itself beyond the slack, tol={tol:g}. Raise max_iter, "
            f"slack (here by {found.gap / 2:.1g}) or tol; slack=0 leaves the problem no room, and distances that are "
            "not Euclidean need slack."
        )
    notices.warn(f"{owner}: not converged {left} max_iter={max_iter} updates: {why}", ConvergenceWarning)


@dataclass(frozen=True, eq=False)
class _State:
    R: Array
    multipliers: Array
    penalty: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """The program in units of a usual length, each squared length scaled to about 1."""

    B: sparse.csr_array
    Bt: sparse.csr_array
    scales: Array  # of the squared lengths
    low: Array
    high: Array
    mass: Array

    @classmethod
    def of(cls, constraints: DistanceConstraints, unit: float, mass: Array) -> _Problem:
        squares = (constraints.low + constraints.high) / (2 * unit**2)
        scales = 1 / np.maximum(squares, SHORT * np.median(squares) or 1.0)
        B = constraints.incidence(len(mass))
        low, high = constraints.low * scales / unit**2, constraints.high * scales / unit**2
        return cls(B, B.T.tocsr(), scales, low, high, mass.astype(np.float64))

    def centred(self, R: Array) -> Array:
        return R - self.mass @ R / self.mass.sum()

    def variance(self, R: Array) -> float:
        return float(self.mass @ np.square(R).sum(axis=1))

    def lengths(self, R: Array) -> Array:
        """Scaled squared lengths of the constrained pairs."""
        return self.scales * np.square(self.B @ R).sum(axis=1)

    def excess(self, c: Array) -> Array:
        """By how much values are above or (negative) below their intervals."""
        return c - np.clip(c, self.low, self.high)

    def largest_excess(self, R: Array) -> float:
        return float(np.abs(self.excess(self.lengths(R))).max(initial=0.0))

    def with_new_multipliers(self, state: _State) -> _State:
        s = state.penalty
        return replace(state, multipliers=s * self.excess(self.lengths(state.R) + state.multipliers / s))

    def metric(self, state: _State) -> Any:
        """The factors of L_(|y| + s) + mass, at which steps are scaled."""
        weights = self.scales * (np.abs(state.multipliers) + state.penalty)
        L = self.Bt @ (sparse.diags_array(weights) @ self.B) + sparse.diags_array(self.mass)
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        try:
            return threads.aside(lambda: splu(sparse.csc_matrix(L), **options))
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise ValueError(
                "MVU: the lengths of the edges must be of comparable size; the equations of a step are singular in "
                "float64. Drop rows that are far from all others, or change n_neighbors or slack."
            ) from error

    def gradient(self, R: Array, BR: Array, forces: Array) -> Array:
        G = self.Bt @ ((self.scales * forces)[:, None] * BR) - self.mass[:, None] * R
        return G - np.outer(self.mass / self.mass.sum(), G.sum(axis=0))

    def minimize(self, state: _State) -> _State:
        """Minimise the augmented Lagrangian by limited-memory quasi-Newton steps with a line search along each."""
        R, s, y = state.R, state.penalty, state.multipliers / state.penalty
        inverse, memory, BR = self.metric(state), _Memory([]), self.B @ state.R
        enough = FLAT * self.variance(R)
        G = self.gradient(R, BR, s * self.excess(self._squares(BR, BR) + y))
        for _ in range(STEPS):
            D = -memory.times(G, inverse)
            D = self.centred(D)
            if -np.vdot(G, D) <= enough:
                break
            line = _Line.of(self, R, BR, D, y, s)
            t = line.lowest()
            R, BR = R + t * D, BR + t * line.BD
            after = self.gradient(R, BR, s * self.excess(self._squares(BR, BR) + y))
            memory = memory.with_pair(t * D, after - G)
            G = after
        return replace(state, R=self.centred(R))

    def _squares(self, U: Array, V: Array) -> Array:
        return self.scales * np.einsum("ij,ij->i", U, V)


@dataclass(frozen=True, eq=False)
class _Memory:
    """The last steps and gradient changes: the two-loop recursion around a known inverse."""

    pairs: list[tuple[Array, Array, float]]

    def with_pair(self, step: Array, change: Array) -> _Memory:
        curvature = float(np.vdot(step, change))
        if not curvature > 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):
            return self if curvature > 0 else _Memory([])
        return _Memory([*self.pairs, (step, change, 1 / curvature)][-PAIRS:])

    def times(self, G: Array, inverse: Any) -> Array:
        Q, shares = G.copy(), []
        for step, change, rho in reversed(self.pairs):
            shares.append(rho * float(np.vdot(step, Q)))
            Q -= shares[-1] * change
        Z = inverse.solve(Q)
        for (step, change, rho), share in zip(self.pairs, reversed(shares), strict=True):
            Z += (share - rho * float(np.vdot(change, Z))) * step
        return Z


@dataclass(frozen=True, eq=False)
class _Line:
    """The augmented Lagrangian along R + tD: squared lengths are quadratic in t, so a trial is one pass over them."""

    problem: _Problem
    BD: Array
    c: tuple[Array, Array, Array]
    q: tuple[float, float]
    s: float

    @classmethod
    def of(cls, problem: _Problem, R: Array, BR: Array, D: Array, y: Array, s: float) -> _Line:
        BD = problem.B @ D
        squares = problem._squares
        moved = problem.mass[:, None] * D
        q = float(np.vdot(R, moved)), float(np.vdot(D, moved))
        return cls(problem, BD, (squares(BR, BR) + y, 2 * squares(BR, BD), squares(BD, BD)), q, s)

    def slopes(self, t: float) -> tuple[float, float]:
        """First and second derivative."""
        c0, c1, c2 = self.c
        excess, d = self.problem.excess(c0 + t * (c1 + t * c2)), c1 + 2 * t * c2
        first = 0.5 * self.s * float(excess @ d) - self.q[0] - t * self.q[1]
        second = 0.5 * self.s * float((excess != 0) * d @ d + 2 * (excess @ c2)) - self.q[1]
        return first, second

    def lowest(self) -> float:
        """A t > 0 where the slope is a tenth of that at 0, by Newton's steps; halves where these leave the bracket."""
        goal, low, high, t = 0.1 * abs(self.slopes(0.0)[0]), 0.0, np.inf, 1.0
        for _ in range(60):
            first, second = self.slopes(t)
            if abs(first) <= goal:
                break
            low, high = (t, high) if first < 0 else (low, t)
            t = t - first / second if second > 0 else np.inf
            if not low < t < min(high, 10 * max(low, 1.0)):
                t = (low + high) / 2 if np.isfinite(high) else 4 * max(low, 1.0)
        return t

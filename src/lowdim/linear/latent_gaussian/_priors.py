"""Priors on the loadings of a latent-variable model that determine how many columns it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.accelerate import History, Point, accelerated
from lowdim._core.incomplete.em import Frame, expectations, maximized
from lowdim._core.incomplete.gaussian import FLOOR, Gaussian
from lowdim._core.iterate import Run, iterate
from lowdim._core.runtime.notices import warn

Array = np.ndarray
M = TypeVar("M")

_SPARE = 0.1  # of the rows' degrees of freedom that must be left for the noise
_LOST = 1e-2  # a column shorter than this part of the noise that n rows leave in it is removed

_NEAR = 1e-3  # length of a step (in units of the data) from which the variational iteration is accelerated


def shortest(noise: float, n: float, d: int) -> float:
    """Squared length below which a column of loadings counts as none."""
    return _LOST * noise * min(1.0, d / n)


# ---- Bishop: precision alpha_k = d / ||w_k||² for each column -------------------------------------------------


@dataclass(frozen=True, eq=False)
class ArdSolution:
    """Variances of the model along the principal axes it keeps, and the noise."""

    variances: Array  # c_k = ||w_k||² + s²
    noise: float
    evidence: float


def ard_closed(values: Array, total: float, n: float, d: int, q: int) -> ArdSolution:
    """The most probable model for eigenvalues of a covariance (divisor n), of which `total` is the sum.

    The condition on a column, n (lambda - c)(c - s²) = d c², has a root only where lambda is well above the noise.
    Each number of columns from 0 to q has its own noise. Of those whose conditions hold, the one of largest evidence
    (Laplace's approximation) is taken. In units of `total`, as squares of variances may be out of range.
    """
    unit, values, total = total, values / total, 1.0
    found = [_with_columns(values, total, n, d, k) for k in range(q + 1) if _is_honest(values, total, n, d, k)]
    best = max((choice for choice in found if choice is not None), key=lambda choice: choice.evidence)
    evidence = best.evidence - 0.5 * n * d * float(np.log(unit))
    return ArdSolution(best.variances * unit, best.noise * unit, evidence)


def _is_honest(values: Array, total: float, n: float, d: int, k: int) -> bool:
    """Whether k columns are above the noise that is left when their degrees of freedom are counted.

    With fewer rows than columns, almost as many columns of W as rows explain nearly everything: what is left, spread
    over d - k directions, is then no noise to speak of, and every column is above it. But k columns have used up k of
    the n - 1 deviations of every direction. A tenth of these must be left to know the noise by.
    """
    spare = n - 1 - k
    if k == 0 or spare < _SPARE * (n - 1):
        return k == 0
    rest = max(total - float(values[:k].sum()), 0.0)
    return bool(_variances(values[:k], rest * n / (spare * (d - k)), d / n)[1].all())


def _with_columns(values: Array, total: float, n: float, d: int, k: int) -> ArdSolution | None:
    """The fixed point with k columns; None where one of them is not above the noise."""
    ratio, least = d / n, FLOOR * total / d
    kept, rest = values[:k], max(total - float(values[:k].sum()), 0.0)
    noise = max(rest / (d - k), least)
    for _ in range(100):
        c, real = _variances(kept, noise, ratio)
        if not real.all():
            return None
        before, pull = noise, noise * (ratio / (c - noise)).sum()
        noise = max(rest / max(d - k - pull, 0.5), least)
        if abs(noise - before) <= 1e-15 * noise:
            break
    squares = c - noise
    misfit = np.log(c).sum() + (kept / c).sum() + (d - k) * np.log(noise) + rest / noise
    occam = d * (1.0 + np.log(np.maximum(squares / (ratio * noise), 1.0))).sum()
    return ArdSolution(c, noise, -0.5 * float(n * misfit + occam))


def _variances(values: Array, noise: float, ratio: float) -> tuple[Array, Array]:
    """The larger root c of (1 + ratio) c² - (lambda + s²) c + lambda s², and where it is real and above the noise."""
    half = values + noise
    root = half**2 - 4 * (1 + ratio) * values * noise
    c = (half + np.sqrt(np.maximum(root, 0.0))) / (2 * (1 + ratio))
    return c, (root >= 0) & (c > noise)


def ard_em(X: Array, start: Gaussian, unit: float, floor: float = 0.0, **settings: Any) -> tuple[Gaussian, Run]:
    """The same for rows with missing cells: penalised EM, columns dropped as they vanish; at least one stays.

    The loss, minus ln p(observed cells) + (d / 2) sum ln ||w_k||² a cell, never rises while no column is dropped.
    `floor` is the least noise variance.
    """
    d, cells, least = X.shape[1], X.size - int(np.isnan(X).sum()), max(floor, FLOOR * unit**2)

    def problem(model: Gaussian) -> _Problem[Gaussian]:
        frame = Frame(model, np.full(d, unit), least)

        def evaluate(place: Array) -> Point:
            now = frame.model(place)
            sums, squares = expectations(X, now), np.maximum((now.loadings**2).sum(axis=0), 1e-30 * unit**2)
            found = _unmixed(maximized(now, sums, least, penalty=d / squares))
            loss = -sums.log_likelihood + 0.5 * d * np.log(squares).sum()
            return Point(place, frame.place(found), loss / cells)

        return _Problem(evaluate, frame.place(model), frame.model, lambda now: now.principal()[0].loadings)

    def lost(model: Gaussian) -> Array:
        return (model.loadings**2).sum(axis=0) < shortest(float(model.noise), *X.shape)

    def without(model: Gaussian, columns: Array) -> Gaussian:
        return replace(model, loadings=model.loadings[:, ~columns])

    return _pruned(problem, lost, without, start, monotone=True, **settings)


@dataclass(frozen=True, eq=False)
class _Problem(Generic[M]):
    """A fixed-point map in coordinates, where it starts, the model at a point and its loadings."""

    evaluate: Callable[[Array], Point]
    start: Array
    model: Callable[[Array], M]
    loadings: Callable[[M], Array]


def _pruned(
    problem: Callable[[M], _Problem[M]],
    lost: Callable[[M], Array],
    without: Callable[[M, Array], M],
    model: M,
    *,
    max_iter: int,
    tol: float,
    owner: str,
    below: float = np.inf,
    quiet: bool = False,
    **settings: Any,
) -> tuple[M, Run]:
    """Run an accelerated iteration; where columns vanish, leave them out and continue. A callback sees the loadings."""
    steps = 0
    while True:
        now = problem(model)

        def gone(_: int, history: tuple[Point, ...], __: float, now: _Problem[M] = now) -> bool:
            columns = lost(now.model(history[-1].place))
            return len(columns) > 1 and bool(columns.any())

        step = accelerated(now.evaluate, below=below)
        first: History = (now.evaluate(now.start),)
        left = max(1, max_iter - steps)
        limits: dict[str, Any] = {"max_iter": left, "tol": tol, "criterion": "absolute", "warn": False}
        run = iterate(step, first, owner=owner, until=gone, show=partial(_shown, now), **limits, **settings)
        model, steps = now.model(run.state[-1].place), steps + run.n_iter
        columns = lost(model)
        if columns.all():
            columns[0] = False
        if not columns.any() or steps >= max_iter or run.stopped:
            if steps >= max_iter and not (run.converged or run.stopped or quiet):
                warn(
                    f"{owner}: not converged after max_iter={max_iter} steps (loss {run.losses[-1]:.6g}, tol={tol:g}). "
                    "Raise max_iter or tol.",
                    ConvergenceWarning,
                )
            return model, replace(run, n_iter=steps)
        model = without(model, columns)


def _shown(problem: _Problem[M], history: History) -> Array:
    return problem.loadings(problem.model(history[-1].place))


def _unmixed(model: Gaussian) -> Gaussian:
    """Orthogonal columns: no other rotation is more probable. Order and signs stay near those before."""
    return replace(model, loadings=model.loadings @ _turn(model.loadings.T @ model.loadings))


def _turn(M: Array) -> Array:
    """Eigenvectors of a matrix, as near to the unit vectors as order and signs allow."""
    turn = np.linalg.eigh(M)[1]
    turn = turn[:, linear_sum_assignment(-np.abs(turn))[1]]
    return turn * np.where(np.diag(turn) < 0, -1.0, 1.0)


# ---- Oba and others: a posterior for the loadings too ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Variational:
    """Expected loadings, the precision of the noise, and the covariance of a row of loadings in units of that noise."""

    W: Array  # (d, r)
    tau: float
    spread: Array  # (r, r)

    @property
    def root(self) -> Array:
        """Of the prior precision of z: uncertain loadings raise it from I to I + spread."""
        return np.linalg.cholesky(np.eye(len(self.spread)) + 0.5 * (self.spread + self.spread.T))

    def gaussian(self, mean: Array, n_jobs: int | None) -> Gaussian:
        """The model with z ~ N(0, I) that predicts as this one does."""
        return Gaussian(mean, np.linalg.solve(self.root, self.W.T).T, 1.0 / self.tau, n_jobs)

    def canonical(self, S: Array) -> Variational:
        """In the coordinates of z in which its mean square S is I and expected products of columns vanish.

        Of all equivalent coordinates these are the most probable under the priors (Luttinen and Ilin, 2010); without
        the change, the updates need hundreds of steps to get there.
        """
        A = np.linalg.cholesky(S)
        W, spread = self.W @ A, A.T @ self.spread @ A
        turn = _turn(self.tau * W.T @ W + 0.5 * (spread + spread.T))
        return Variational(W @ turn, self.tau, turn.T @ spread @ turn)

    def place(self, unit: float) -> Array:
        return np.concatenate([(self.W / unit).ravel(), self.spread.ravel(), [np.log10(self.tau * unit**2)]])

    def at(self, place: Array, unit: float) -> Variational:
        W, spread = place[: self.W.size], place[self.W.size : -1]
        tau = 10.0 ** np.clip(place[-1], -10.0, -np.log10(FLOOR)) / unit**2
        return Variational(W.reshape(self.W.shape) * unit, float(tau), spread.reshape(self.spread.shape))


def oba(X: Array, start: Gaussian, unit: float, **settings: Any) -> tuple[Variational, Run]:
    """Variational Bayes with vague gamma priors on the noise and on the columns; the mean stays as it starts.

    The loss is the length of a step in loadings (in units of the data), their spread and log10 of the noise. A column
    that is not needed would take ever smaller steps to 0; it is left out once it is short.
    """

    def problem(first: Variational) -> _Problem[Variational]:
        def evaluate(place: Array) -> Point:
            now = first.at(place, unit)
            if np.linalg.eigvalsh(now.spread + now.spread.T)[0] <= -1.0:  # extrapolated out of the model's domain
                return Point(place, place, np.inf)
            image = _oba_step(X, now, start.mean, unit, start.n_jobs).place(unit)
            return Point(place, image, float(np.linalg.norm(image - place)))

        def loadings(now: Variational) -> Array:
            return now.gaussian(start.mean, start.n_jobs).principal()[0].loadings

        return _Problem(evaluate, first.place(unit), lambda place: first.at(place, unit), loadings)

    def lost(now: Variational) -> Array:
        return (now.W**2).sum(axis=0) < shortest(1.0 / now.tau, *X.shape)

    def without(now: Variational, columns: Array) -> Variational:
        return Variational(now.W[:, ~columns], now.tau, now.spread[np.ix_(~columns, ~columns)])

    first = Variational(start.loadings, 1.0 / float(start.noise), np.eye(start.rank))
    return _pruned(problem, lost, without, first, below=_NEAR, **settings)


def _oba_step(X: Array, now: Variational, mean: Array, unit: float, n_jobs: int | None) -> Variational:
    """One round of the updates, with Oba's constants; products of missing cells are expected ones."""
    (n, d), r, vague = X.shape, len(now.spread), 1e-10
    alpha = (2 * vague + d) / (now.tau * (now.W**2).sum(axis=0) + np.diag(now.spread) + 2 * vague)
    model = now.gaussian(mean, n_jobs)
    sums = expectations(X, model)
    holes = n * d - sums.counts.sum()
    filled = np.einsum("jk,jkl->jl", model.loadings, sums.moments_all[:r, :r] - sums.moments[:, :r, :r])
    T = np.linalg.solve(now.root.T, (sums.yv[:, :r] / np.sqrt(now.tau) + filled).T).T / n
    squares = (sums.yy.sum() / now.tau + (filled * model.loadings).sum() + holes / now.tau) / n
    C = np.linalg.inv(np.eye(r) + now.tau * now.W.T @ now.W + now.spread)
    D = np.linalg.inv(C + now.tau * T.T @ now.W @ C + np.diag(alpha) / n)
    W = T @ D
    left = max(squares - (T * W).sum() + 2 * vague * unit**2 / n, d * FLOOR * unit**2)
    back = np.linalg.inv(now.root)
    S = back.T @ (sums.moments_all[:r, :r] / n) @ back
    return Variational(W, (d + 2 * vague / n) / left, D * (d / n)).canonical(S)

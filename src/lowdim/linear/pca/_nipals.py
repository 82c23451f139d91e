"""NIPALS: one component after the other, by regressions over the observed cells alone (Wold, 1966).

With scores t and loadings p, p_j is the slope of column j on t over the rows where j is observed, t_i the slope of row
i on p over the columns observed in it; both denominators run over the same cells as the numerators, else missing cells
would count as zeros. On complete rows this is the power method, and the components are the singular vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.callbacks import Relay
from lowdim._core.incomplete.cells import refuse_weightless
from lowdim._core.iterate import Callback, Run, iterate
from lowdim._core.runtime import threads
from lowdim._core.tables.deviations import deviations

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Nipals:
    """Components of incomplete rows.

    Attributes
    ----------
    mean, scale : ndarray of shape (d,)
        Of the observed cells; `scale` is None without scaling.
    loadings : ndarray of shape (d, k)
        P, columns of length one; orthogonal with `orthogonalize`, or of complete rows.
    scores : ndarray of shape (n, k)
        T; not of length one.
    mixing : ndarray of shape (k, k)
        What of the earlier scores was taken off each: t_h = raw_h - sum over g < h of t_g mixing[g, h].
    errors : ndarray of shape (k + 1,)
        Sum of squares of the observed cells left before and after each component.
    n_iter, converged : ndarray of shape (k,)
        For each component.
    stopped : bool
        Whether the callback ended it.
    """

    mean: Array
    scale: Array | None
    loadings: Array
    scores: Array
    mixing: Array
    errors: Array
    n_iter: Array
    converged: Array
    stopped: bool = False


@dataclass(frozen=True, eq=False)
class _Step:
    t: Array
    p: Array
    mix: Array
    converged: bool


def nipals(
    X: Array,
    k: int,
    *,
    scale: bool = False,
    ddof: int = 1,
    orthogonalize: bool = True,
    tol: float = 1e-8,
    max_iter: int = 1000,
    weights: Array | None = None,
    owner: str = "NIPALS",
    callback: Callback | None = None,
    verbose: int | bool = 0,
) -> Nipals:
    """The first k components of X; fewer where nothing is left to explain.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        NaN is missing; not changed.
    k : int
        Components.
    scale : bool
        Divide columns by the standard deviation of their observed cells.
    ddof : {0, 1}
        Of that deviation.
    orthogonalize : bool
        Keep loadings and scores orthogonal to the earlier ones (Gram-Schmidt); those of incomplete rows would not be.
    tol : float
        Stop when the scores move by less than this part of their length.
    max_iter : int
        For each component.
    weights : ndarray of shape (n,), optional
        Of rows.
    owner : str
        Who asks, for messages.
    callback : callable, optional
        callback(step, change of the scores, completed rows) after each step, counted over all components; returning
        True stops.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Nipals

    Examples
    --------
    >>> import numpy as np
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 2.0])
    >>> nipals(X, 1).loadings[:, 0].round(6)
    array([0.666667, 0.333333, 0.666667])
    """
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    seen = X == X
    refuse_weightless(w @ seen, owner)
    Z, mean, divide = _standardised(X, seen, w, scale, ddof)
    mask = None if seen.all() else seen.astype(np.float64)
    P, T, mixing = np.zeros((X.shape[1], k)), np.zeros((len(X), k)), np.zeros((k, k))
    errors, runs = [float(w @ (Z**2).sum(axis=1))], list[Run[_Step]]()
    # Scores are known to `tol`: what they leave at that level is no component (a coarse `tol` must not end it early).
    nothing = errors[0] * max(min(tol, 1e-7), max(X.shape) * float(np.finfo(np.float64).eps)) ** 2

    def completed(now: _Step) -> Array:
        fit = T @ P.T + np.outer(now.t, now.p)
        return np.where(seen, X, mean + fit * divide).astype(X.dtype, copy=False)

    loop: dict[str, Any] = {"max_iter": max_iter, "tol": 0.0, "owner": owner, "warn": False, "verbose": verbose}
    loop |= {"callback": Relay(callback).showing(completed), "until": lambda i, state, loss: state.converged}
    with threads.single_blas():
        for h in range(k):
            if errors[-1] <= nothing or (runs and runs[-1].stopped):
                break
            step, first = _component(Z, mask, w, P[:, :h], T[:, :h], orthogonalize, tol, owner)
            run = iterate(step, first, **loop)
            found = run.state
            sign = 1.0 if found.p[np.abs(found.p).argmax()] > 0 else -1.0
            P[:, h], T[:, h], mixing[:h, h] = sign * found.p, sign * found.t, sign * found.mix
            Z -= np.outer(T[:, h], P[:, h]) if mask is None else np.outer(T[:, h], P[:, h]) * mask
            errors.append(float(w @ (Z**2).sum(axis=1)))
            runs.append(run)
    h = len(runs)
    kept = P[:, :h], T[:, :h], mixing[:h, :h], np.array(errors)
    return Nipals(mean, divide if scale else None, *kept, *_ends(runs))


def _ends(runs: list[Run[_Step]]) -> tuple[Array, Array, bool]:
    """Steps and convergence of each component, and whether the callback stopped."""
    steps = np.array([run.n_iter for run in runs], dtype=np.int64)
    converged = np.array([run.state.converged and not run.stopped for run in runs], dtype=bool)
    return steps, converged, any(run.stopped for run in runs)


def place(X: Array, mean: Array, scale: Array | None, loadings: Array, mixing: Array, owner: str = "NIPALS") -> Array:
    """Scores of rows, each on its own: the same regressions and deflations as at the fit."""
    seen = X == X
    Z = np.where(seen, (X - mean) / (1.0 if scale is None else scale), 0.0)
    T = np.zeros((len(X), loadings.shape[1]))
    mask = None if seen.all() else seen.astype(np.float64)
    for h, p in enumerate(loadings.T):
        T[:, h] = _slopes(Z, mask, p, owner) - T[:, :h] @ mixing[:h, h]
        Z -= np.outer(T[:, h], p) if mask is None else np.outer(T[:, h], p) * mask
    return T


def _standardised(X: Array, seen: Array, w: Array, scale: bool, ddof: int) -> tuple[Array, Array, Array]:
    """Centred (and scaled) rows with 0 where missing; means and deviations of the observed cells."""
    count = w @ seen
    mean = w @ np.where(seen, X, 0.0) / count
    Z = np.where(seen, X - mean, 0.0)
    divide = np.ones(X.shape[1])
    if scale:
        variance = w @ Z**2 / np.maximum(count - ddof, 1e-300)
        divide = deviations(variance, mean, float(w.sum()))
        Z /= divide
    return Z, mean, divide


def _component(
    Z: Array, mask: Array | None, w: Array, P: Array, T: Array, orthogonalize: bool, tol: float, owner: str
) -> tuple[Callable[[_Step], tuple[_Step, float]], _Step]:
    """The iteration for the next component of the deflated rows Z, from the column with the largest absolute sum."""
    lengths = (w[:, None] * T * T).sum(axis=0)

    def step(now: _Step) -> tuple[_Step, float]:
        p = _columns(Z, mask, w, now.t, owner)
        p = p - P @ (P.T @ p) if orthogonalize else p
        p = p / np.linalg.norm(p)
        t = _slopes(Z, mask, p, owner)
        mix = (T.T @ (w * t)) / lengths if orthogonalize else np.zeros(T.shape[1])
        t = t - T @ mix
        size = float(np.linalg.norm(t))
        change = min(float(np.linalg.norm(t - now.t)), float(np.linalg.norm(t + now.t))) / max(size, 1e-300)
        return _Step(t, p, mix, change <= max(tol, 1e-14)), change

    start = Z[:, int(np.argmax(w @ np.abs(Z)))]
    return step, _Step(start, np.zeros(Z.shape[1]), np.zeros(T.shape[1]), False)


def _columns(Z: Array, mask: Array | None, w: Array, t: Array, owner: str) -> Array:
    """Slopes of the columns on t over their observed rows."""
    along = (w * t) @ Z
    if mask is None:
        return along / max(float(w @ (t * t)), 1e-300)
    below = (w * t * t) @ mask
    if not (below > 0).all():
        j = int(np.argmin(below))
        raise ValueError(
            f"{owner}: NIPALS cannot continue, as every row in which column {j} is observed "
            f"({int(mask[:, j].sum())} rows) has score 0. Use missing='regularized'."
        )
    return along / below


def _slopes(Z: Array, mask: Array | None, p: Array, owner: str) -> Array:
    """Slopes of the rows on p over their observed columns."""
    if mask is None:
        return Z @ p / float(p @ p)
    below = mask @ (p * p)
    if not (below > 0).all():
        i = int(np.argmin(below))
        columns = ", ".join(map(str, np.flatnonzero(mask[i])[:8]))
        raise ValueError(
            f"{owner}: NIPALS cannot compute the score of row {i}, as the component has loading 0 in all the columns "
            f"observed there ({columns}). Use missing='regularized'."
        )
    return Z @ p / below

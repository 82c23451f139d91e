"""The rank of a low-rank model by cross-validation: how well it predicts cells, for complete and incomplete rows.

Each function returns its criterion for 0, 1, 2, ... components and the number it chooses. Criteria are in the units of
X and equal those of missMDA (Josse and Husson, 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.incomplete.completion import complete
from lowdim._core.incomplete.rank_search import EARLY_TOL, Effort, few
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.deviations import deviations

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class RankChoice:
    """A criterion for 0, 1, 2, ... components, and the number it chooses."""

    n_components: int
    criterion: Array


def most_components(X: Array, weights: Array | None = None) -> int:
    """The largest rank with a residual: min(n - 2, d - 1); weights count as copies of rows."""
    n = X.shape[0] if weights is None else int(weights.sum())
    return max(0, min(n - 2, X.shape[1] - 1))


def free_cells(cells: float, n: float, d: int, q: int) -> float:
    """Observed cells less the parameters of a model of q components: d means and q (n + d - q - 1) of the axes."""
    return cells - d - q * (n + d - q - 1)


def in_own_units(X: Array) -> Array:
    """Columns over the standard deviations of their observed cells, so that criteria do not depend on their units."""
    mean = np.asarray(np.nanmean(X, axis=0, dtype=np.float64))
    deviation = deviations(np.nanvar(X, axis=0, dtype=np.float64), mean, len(X))
    return (X / deviation).astype(X.dtype, copy=False)


def gcv(
    X: Array,
    most: int | None = None,
    *,
    method: str = "regularized",
    scale: bool = False,
    ridge: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
    early: bool = False,
    first: bool = False,
    weights: Array | None = None,
    n_jobs: int | None = None,
) -> RankChoice:
    """Generalised cross-validation: the mean squared error of the observed cells, as if each were predicted.

    GCV(q) = mean over N observed cells of (N (x - fit_q) / (N - d - q (n + d - q - 1)))². The lowest value is taken of
    those tried, or with `first` the first local minimum, as missMDA does it. Complete rows are not shrunk and need one
    spectrum; with `scale`, their criterion is that of the scaled columns (as in FactoMineR), that of incomplete rows is
    in the units of X (as in missMDA).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        NaN is missing.
    most : int, optional
        Largest number of components to try; at most min(n - 2, d - 1).
    method, scale, ridge, tol, max_iter, n_jobs
        As in `completion.complete`.
    early : bool
        Try few numbers (`rank_search.few`); the criterion of the others is NaN. It ends before the numbers that would
        take minutes each (`rank_search.Effort`).
    first : bool
        Take the first local minimum.
    weights : ndarray of shape (n,), optional
        Of incomplete rows; a whole number counts as so many copies.

    Returns
    -------
    RankChoice

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(60, 8))
    >>> X[rng.random(X.shape) < 0.1] = np.nan
    >>> gcv(X, 4).n_components
    2
    """
    d, observed = X.shape[1], X.shape[1] - np.count_nonzero(np.isnan(X), axis=1)
    n = len(X) if weights is None else float(weights.sum())
    cells = int(observed.sum()) if weights is None else float(weights @ observed)
    limit = most_components(X, weights) if most is None else min(most, most_components(X, weights))
    free = [free_cells(cells, n, d, q) for q in range(limit + 1)]
    limit = max((q for q in range(limit + 1) if free[q] > 0), default=0)
    # Without components there is nothing to correct for: missMDA divides by N alone there.
    factor = [1.0] + [(cells / free[q]) ** 2 for q in range(1, limit + 1)]
    choose = _first_minimum if first else _lowest
    if (observed == d).all():
        return choose(_residuals(X, limit, scale) / cells * factor)
    settings: dict[str, Any] = {"method": method, "scale": scale, "ridge": ridge, "tol": tol, "max_iter": max_iter}
    effort = Effort.of(X)
    if early:  # a search: models of many components converge slowly, and their criterion is known long before
        settings["tol"], limit = max(tol, EARLY_TOL), effort.most(limit)

    def criterion(q: int) -> float:
        steps = min(max_iter, effort.steps(q)) if early else max_iter
        found = complete(X, q, weights=weights, n_jobs=n_jobs, quiet=True, **settings | {"max_iter": steps})
        return _error(X, found, weights) / cells * factor[q]

    return choose(few(criterion, limit) if early else np.array([criterion(q) for q in range(limit + 1)]))


def k_fold(
    X: Array,
    most: int = 5,
    *,
    n_repeats: int = 100,
    share: float = 0.05,
    method: str = "regularized",
    scale: bool = False,
    ridge: float = 1.0,
    tol: float = 1e-5,
    max_iter: int = 200,
    early: bool = False,
    announce: Callable[[float], None] | None = None,
    rng: Any = None,
    n_jobs: int | None = None,
) -> RankChoice:
    """A share of the cells removed at random and predicted, again and again; the smallest error is taken.

    The criterion is the sum of squared errors over the removed cells, averaged over the repeats. Parameters as in
    `gcv`; `share` is that of all cells, of which only the observed ones count. With `early`, `announce` is called with
    the seconds of processor time that the search takes at most, before it begins.
    """
    limit, random = min(most, most_components(X)), generator(rng)
    settings: dict[str, Any] = {"method": method, "scale": scale, "ridge": ridge, "tol": tol, "max_iter": max_iter}
    tables = [without_cells(X, share, random) for _ in range(n_repeats)]
    effort = Effort.of(tables[0])

    def criterion(q: int) -> float:
        steps = min(max_iter, effort.steps(q)) if early else max_iter

        def of_table(place: slice) -> float:
            table = tables[place.start]
            found = complete(table, q, n_jobs=1, quiet=True, **settings | {"max_iter": steps}).completed
            return float(((found - X)[np.isnan(table) & ~np.isnan(X)] ** 2).sum())

        return float(np.sum(threads.map_rows(of_table, n_repeats, 1, n_jobs))) / n_repeats

    if early:
        limit = effort.most(limit)
        if announce is not None:
            announce(n_repeats * effort.seconds(limit))
        return _lowest(few(criterion, limit))
    return _lowest(np.array([criterion(q) for q in range(limit + 1)]))


def _lowest(criterion: Array) -> RankChoice:
    return RankChoice(int(np.nanargmin(criterion)), criterion)


def _first_minimum(criterion: Array) -> RankChoice:
    rises = np.flatnonzero(np.diff(criterion) > 0)
    return RankChoice(int(rises[0]) if len(rises) else int(np.argmin(criterion)), criterion)


def _residuals(X: Array, most: int, scale: bool) -> Array:
    """Sums of squares that 0, 1, 2, ... components of complete rows leave."""
    Z = X - X.mean(axis=0, dtype=np.float64)
    if scale:
        Z /= deviations((Z**2).mean(axis=0), X.mean(axis=0, dtype=np.float64), len(X))
    small = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    values = np.maximum(np.linalg.eigvalsh(small)[::-1], 0.0)
    return np.array([values[q:].sum() for q in range(most + 1)])


def _error(X: Array, found: Any, weights: Array | None) -> float:
    """Squared error of the observed cells by the shrunken model, in the units of X."""
    W = found.loadings * found.shrinkage
    W = (W if found.scale is None else W * found.scale[:, None]).T
    total = 0.0
    for rows in threads.blocks(len(X), max(1, 2**18 // X.shape[1])):
        gaps = X[rows] - found.mean - found.scores[rows] @ W
        squares = np.nansum(np.square(gaps, out=gaps), axis=1)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
    return total


def without_cells(X: Array, share: float, rng: np.random.Generator) -> Array:
    """A copy with a share of the cells removed, but never the last one of a row or column."""
    table = X.copy()
    chosen = rng.choice(X.size, size=round(share * X.size), replace=False)
    left_rows, left_columns = (~np.isnan(X)).sum(axis=1), (~np.isnan(X)).sum(axis=0)
    for i, j in zip(*np.unravel_index(chosen, X.shape), strict=True):
        if not np.isnan(table[i, j]) and left_rows[i] > 1 and left_columns[j] > 1:
            table[i, j] = np.nan
            left_rows[i] -= 1
            left_columns[j] -= 1
    return table

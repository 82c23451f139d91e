"""The weighted table behind FAMD and MCA, its axes, and its completion.

A column of numbers stays one column, a column of categories becomes one 0/1 (indicator) column for each of them.
Numbers are centred and divided by their standard deviation (divisor n); an indicator column with proportion p is
centred and divided by sqrt(p), so that a rare category weighs more. The rest is principal component analysis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.iterate import Callback, Run, iterate
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import Moments, eigenpairs, fix_signs, svd
from lowdim._core.spectrum.noise_variance import shrinking_variance
from lowdim._core.tables.deviations import deviations
from lowdim._core.tables.indicators import Layout
from lowdim.linear._decompose import rank_tolerance

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Axes:
    """Eigenvalues and axes of the weighted table."""

    values: np.ndarray  # largest first, as many as can be above 0
    V: np.ndarray  # (J, len(values))
    mean: np.ndarray
    scale: np.ndarray
    total: float  # sum of all eigenvalues

    def table(self, D: np.ndarray) -> np.ndarray:
        return (D - self.mean) / self.scale


def weigh(D: np.ndarray, numeric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is subtracted and divided by. A constant column of numbers is divided by 1."""
    n, mean = len(D), D.mean(axis=0)
    deviation = deviations(((D - mean) ** 2).mean(axis=0), mean, n)
    # Filled cells need not be between 0 and 1, so that a proportion could come near 0.
    root = np.sqrt(np.maximum(mean, 0.5 / n))
    return mean, np.where(numeric, deviation, root)


def find_axes(D: np.ndarray, layout: Layout, k: int | None, owner: str, n_jobs: int | None = None) -> Axes:
    """The k leading axes (all, where k is None) of the weighted table."""
    mean, scale = weigh(D, layout.numeric)
    T = (D - mean) / scale
    n, J = T.shape
    most = max(1, min(n - 1, J - layout.n_questions))
    k = most if k is None else min(k, most)
    if n >= J:
        pairs = eigenpairs(Moments.of(T, n_jobs=n_jobs).about(np.zeros(J)) / n, k, owner=owner)
        values, V = pairs.values, pairs.vectors
    else:
        found = svd(T, k, owner=owner)
        values, V = found.values**2 / n, found.Vt.T
    total = float((T**2).sum()) / n
    return Axes(np.maximum(values, 0.0), fix_signs(V), mean, scale, total)


def axes_of(sums: Moments, layout: Layout, owner: str) -> Axes:
    """All axes, from the sums of complete rows."""
    n, mean = int(sums.weight), sums.mean
    variance = np.diag(sums.scatter) / n
    scale = np.where(layout.numeric, deviations(variance, mean, n), np.sqrt(np.maximum(mean, 0.5 / n)))
    C = sums.scatter / n / np.multiply.outer(scale, scale)
    pairs = eigenpairs(C, max(1, min(n - 1, len(mean) - layout.n_questions)), owner=owner)
    return Axes(np.maximum(pairs.values, 0.0), fix_signs(pairs.vectors), mean, scale, float(np.trace(C)))


def count_axes(axes: Axes, n: int, wanted: int, owner: str) -> int:
    """How many axes to keep: those asked for, as far as the table varies."""
    first = axes.values[0]
    rank = int((axes.values > rank_tolerance(n, len(axes.mean), np.float64) * first).sum()) if first > 0 else 0
    if not rank or axes.total <= _EPS * len(axes.mean):
        raise ValueError(f"{owner}: X must have rows that differ; all {n} are equal.")
    if wanted > rank:
        warn(f"{owner}: n_components={wanted} is more than the rank of the table; keeping {rank}.")
    return min(wanted, rank)


def noise(axes: Axes, n: int, k: int, layout: Layout, ridge: float) -> float:
    """Variance of the noise, from the axes left out (Josse and Husson, 2016): what fitted values are shrunk by."""
    if k >= len(axes.values):
        return 0.0
    return shrinking_variance(axes.values[: k + 1], axes.total, n, len(axes.mean) - layout.n_questions, ridge)


@dataclass(frozen=True)
class FillSettings:
    """How missing cells are filled, and until when."""

    ridge: float
    max_iter: int
    tol: float
    owner: str
    n_jobs: int | None
    callback: Callback | None = None
    verbose: int | bool = 0
    warn: bool = True


def fill(
    D: np.ndarray,
    layout: Layout,
    k: int,
    settings: FillSettings,
    show: Callable[[np.ndarray], Any],
    start: np.ndarray | None = None,
) -> Run[np.ndarray]:
    """The weighted table completed by its own (shrunk) first k axes, which are those of the completed table.

    The callback sees `show` of the columns so far; `start` is a completed table to begin with (means by default).
    """
    holes = np.isnan(D)
    first = np.where(holes, np.nanmean(D, axis=0) if start is None else start, D)

    def step(filled: np.ndarray) -> tuple[np.ndarray, float]:
        axes = find_axes(filled, layout, k + 1, settings.owner, settings.n_jobs)
        T, V = axes.table(filled), axes.V[:, :k]
        shrink = shrinkage(axes, len(D), k, layout, settings.ridge)
        fitted = (T @ V * shrink) @ V.T
        loss = float(((T - fitted)[~holes] ** 2).mean())
        return np.where(holes, axes.mean + fitted * axes.scale, D), loss

    return iterate(
        step,
        first,
        max_iter=settings.max_iter,
        tol=settings.tol,
        owner=settings.owner,
        callback=settings.callback,
        show=show,
        verbose=settings.verbose,
        warn=settings.warn,
    )


def shrinkage(axes: Axes, n: int, k: int, layout: Layout, ridge: float) -> np.ndarray:
    """The part of each axis that is not noise."""
    values = axes.values[:k]
    sigma2 = noise(axes, n, k, layout, ridge)
    return np.maximum(values - sigma2, 0.0) / np.where(values > 0, values, 1.0)


def place(T: np.ndarray, V: np.ndarray, shrink: np.ndarray) -> np.ndarray:
    """Coordinates of weighted rows; of an incomplete row those that its completion by them reproduces.

    z = V_o't_o + V_m'V_m S z with o the observed cells, m the missing ones and S the shrinkage; without shrinkage these
    are the normal equations of least squares on the observed cells.
    """
    holes = np.isnan(T)
    Z = np.where(holes, 0.0, T) @ V
    rows = np.flatnonzero(holes.any(axis=1))
    if len(rows):
        k = V.shape[1]
        products = (V[:, :, None] * V[:, None, :]).reshape(len(V), k * k)
        A = np.eye(k) - (holes[rows].astype(np.float64) @ products).reshape(-1, k, k) * shrink
        Z[rows] = (np.linalg.pinv(A, rcond=1e-10) @ Z[rows, :, None])[:, :, 0]
    return Z

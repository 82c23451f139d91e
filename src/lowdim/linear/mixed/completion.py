"""Weighted tables of numbers and categories, completed by axes of their own rows or of a resample of them."""

from __future__ import annotations

import numpy as np

from lowdim._core.tables.indicators import Layout
from lowdim.linear.mixed._weighted import FillSettings, fill, find_axes, place, shrinkage

Array = np.ndarray


def most_axes(D: Array, layout: Layout) -> int:
    """The largest number of axes that leaves missing cells determined; at least 1."""
    return max(1, min(len(D) - 1, D.shape[1] - layout.n_questions) - 1)


def completed(
    D: Array,
    layout: Layout,
    k: int,
    *,
    ridge: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    owner: str = "FAMD",
    start: Array | None = None,
) -> Array:
    """Numbers and indicator columns (NaN where missing) completed by k axes, as FAMD and MCA do it.

    Filled indicators are degrees of membership; those of a question sum to one.
    """
    settings = FillSettings(ridge, max_iter, tol, owner, n_jobs, warn=False)
    return fill(D, layout, k, settings, lambda state: state, start).state


def completed_by(
    D: Array, layout: Layout, k: int, whole: Array, rows: Array, *, ridge: float = 1.0, n_jobs: int | None = None
) -> Array:
    """The missing cells of D filled by k axes of other rows: rows `rows` of `whole`, a completed D."""
    axes = find_axes(whole[rows], layout, k + 1, "FAMD", n_jobs)
    V, shrink = axes.V[:, :k], shrinkage(axes, len(rows), k, layout, ridge)
    fitted = (place(axes.table(D), V, shrink) * shrink) @ V.T
    return np.where(np.isnan(D), axes.mean + fitted * axes.scale, D)

"""The number of axes of FAMD and MCA: how well they predict cells that were removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime import memory
from lowdim._core.tables import missing
from lowdim._core.tables.columns import categories_of, raw_columns
from lowdim._core.tables.indicators import Layout
from lowdim._core.tables.mixed import code_column, mixed_cells
from lowdim.linear.mixed.completion import completed, most_axes
from lowdim.select._component_rules import Verdict

Array = np.ndarray

PATIENCE = 3  # numbers of axes in a row that are no better than the best, after which the search ends


def coded_table(X: Any, owner: str) -> tuple[Array, Layout]:
    """Numbers and codes of categories (NaN where missing), and which columns are which."""
    columns = raw_columns(mixed_cells(X, owner))
    categories = [categories_of(column) if column.dtype.kind == "O" else None for column in columns]
    parts = [code_column(c, found, str(j), owner) for j, (c, found) in enumerate(zip(columns, categories, strict=True))]
    coded = np.column_stack(parts)
    missing.admit(coded, owner)
    return coded, Layout.of(categories)


def kfold_axes(coded: Array, layout: Layout, n_folds: int, rng: np.random.Generator) -> Verdict:
    """One observed cell in `n_folds` removed at random, `n_folds` times, and predicted by 0, 1, 2, ... axes.

    The criterion is the mean squared error in the weighted table: numbers in units of their deviation, indicators of a
    category with proportion p in units of its root, so that neither kind weighs more.
    """
    _check_memory(coded, layout, n_folds)
    D = layout.spread(coded)
    mean = np.nanmean(D, axis=0)
    unit = np.where(layout.numeric, np.nanstd(D, axis=0), np.sqrt(mean))
    unit = np.where(unit > 0, unit, 1.0)
    tables = [np.where(_removed(coded, layout, 1 / n_folds, rng), np.nan, coded) for _ in range(n_folds)]
    spread = [layout.spread(table) for table in tables]
    filled = [np.where(np.isnan(part), np.nanmean(part, axis=0), part) for part in spread]
    curve = [_error(D, spread, filled, unit)]
    for k in range(1, most_axes(D, layout) + 1):
        filled = [
            completed(part, layout, k, tol=1e-4, owner="n_components", start=start)
            for part, start in zip(spread, filled, strict=True)
        ]
        curve.append(_error(D, spread, filled, unit))
        if k - int(np.argmin(curve)) >= PATIENCE:
            break
    note = f"one observed cell in {n_folds} removed at random, {n_folds} times: axes of FAMD or MCA that predict best"
    return Verdict(int(np.argmin(curve)), note, np.array(curve), "criterion")


def _check_memory(coded: Array, layout: Layout, n_folds: int) -> None:
    """An error before tables are made that do not fit: each fold has its cells, their indicators and these filled."""
    wide = coded.shape[0] * len(layout.numeric) * 8
    memory.check(
        "n_components",
        {f"tables of {n_folds} folds": n_folds * (coded.nbytes + 2 * wide), "one completion": 4 * wide},
        "Take fewer folds (n_folds), or a sample of the rows.",
    )


def _error(D: Array, spread: list[Array], filled: list[Array], unit: Array) -> float:
    squares = [
        (((D - now) / unit) ** 2)[np.isnan(part) & ~np.isnan(D)] for part, now in zip(spread, filled, strict=True)
    ]
    return float(np.mean(np.concatenate(squares)))


def _removed(coded: Array, layout: Layout, share: float, rng: np.random.Generator) -> Array:
    """Observed cells to remove; never the last of a row, nor one of a category's last two."""
    removed = ~np.isnan(coded) & (rng.random(coded.shape) < share)
    removed[(~np.isnan(coded) & ~removed).sum(axis=1) == 0] = False
    for j, found in enumerate(layout.categories):
        left = coded[~np.isnan(coded[:, j]) & ~removed[:, j], j]
        if found is None:
            removed[:, j] &= len(np.unique(left)) > 1
        else:
            gone = np.flatnonzero(np.bincount(left.astype(int), minlength=len(found)) == 0)
            removed[:, j] &= ~np.isin(coded[:, j], gone)
    return removed

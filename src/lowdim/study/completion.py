"""The missing cells of a table of numbers and categories, filled, each with its uncertainty.

Numbers alone: multiple imputation by regularised PCA of the standardised columns. With categories: regularised FAMD;
its uncertainty comes from FAMD of resampled rows and, for numbers, from the error in the observed cells.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import lowdim
from lowdim._core.runtime.rng import generator
from lowdim.study.columns import Column, Table

MOST_AXES = 5  # of FAMD


@dataclass(frozen=True)
class FilledCell:
    """A cell that was missing: its value, and how sure it is.

    `spread` is the standard deviation of a number; `agreement` the share of the draws that give the same category.
    """

    row: int
    column: str
    value: Any
    spread: float | None = None
    agreement: float | None = None


@dataclass(frozen=True, eq=False)
class Completed:
    """Completed columns of the map (name -> values), the cells that were filled, and how."""

    columns: dict[str, np.ndarray]
    cells: list[FilledCell]
    how: str
    notes: tuple[str, ...] = ()


def fill(table: Table, *, draws: int = 20, seed: int = 0, n_jobs: int | None = None) -> Completed:
    """Fill the missing cells of the columns that methods would see.

    Parameters
    ----------
    table : Table
        The columns.
    draws : int
        Completed tables behind the uncertainty of each cell.
    seed : int
        Seed; the same one gives the same result.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    Completed
    """
    used = table.used
    if not any(column.missing.any() for column in used):
        return Completed({column.name: column.values for column in used}, [], "no cell is missing")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work = _mixed if table.categories else _numbers
        values, spread, agreement, how = work(used, draws, seed, n_jobs)
    cells = [
        FilledCell(int(table.rows[i]) + 1, column.name, _plain(values[column.name][i]), _at(spread, column, i),
                   _at(agreement, column, i))
        for column in used
        for i in np.flatnonzero(column.missing).tolist()
    ]  # fmt: skip
    return Completed(values, cells, how, tuple(dict.fromkeys(str(w.message) for w in caught)))


def _at(found: dict[str, np.ndarray], column: Column, i: int) -> float | None:
    return float(found[column.name][i]) if column.name in found else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _numbers(used: list[Column], draws: int, seed: int, n_jobs: int | None) -> tuple[Any, ...]:
    X = np.column_stack([column.values for column in used])
    found = lowdim.impute(X, n_imputations=draws, scale=True, random_state=seed, n_jobs=n_jobs)
    values = {column.name: found.mean[:, j] for j, column in enumerate(used)}
    spread = {column.name: found.std[:, j] for j, column in enumerate(used)}
    return values, spread, {}, f"regularised PCA with {found.n_components} components, mean of {draws} draws"


def _mixed(used: list[Column], draws: int, seed: int, n_jobs: int | None) -> tuple[Any, ...]:
    cells = np.empty((len(used[0].values), len(used)), dtype=object)
    for j, column in enumerate(used):
        cells[:, j] = [None if lost else v for v, lost in zip(column.values.tolist(), column.missing, strict=True)]
    k = max(1, min(MOST_AXES, len(used) - 1, len(cells) - 2))
    model = lowdim.FAMD(k, n_jobs=n_jobs).fit(cells)
    filled = cells if model.completed_ is None else model.completed_
    again = _redrawn(cells, k, draws, seed, n_jobs)
    fitted = model.inverse_transform(model.row_coordinates_)
    values, spread, agreement = {}, {}, {}
    for j, column in enumerate(used):
        if column.kind == "number":
            values[column.name] = filled[:, j].astype(np.float64)
            error = np.nanvar(column.values - fitted[:, j].astype(np.float64))
            drawn = np.array([table[:, j] for table in again], dtype=np.float64)
            spread[column.name] = np.sqrt(drawn.var(axis=0, ddof=1) + error)
        else:
            values[column.name] = filled[:, j]
            agreement[column.name] = np.mean([table[:, j] == filled[:, j] for table in again], axis=0)
    return values, spread, agreement, f"regularised FAMD with {k} axes; uncertainty from {draws} resamples of the rows"


def _redrawn(cells: np.ndarray, k: int, draws: int, seed: int, n_jobs: int | None) -> list[np.ndarray]:
    """The table rebuilt by models of resampled rows."""
    rng, found = generator(seed), []
    for _ in range(draws):
        rows = rng.integers(len(cells), size=len(cells))
        model = lowdim.FAMD(k, unknown="ignore", n_jobs=n_jobs).fit(cells[rows])
        found.append(model.inverse_transform(model.transform(cells)))
    return found

"""The missing cells of a table of numbers and categories, filled, each with its uncertainty."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import lowdim
from lowdim._core.tables.brief import brief
from lowdim.imputation.result import Imputation
from lowdim.study.columns import Column, Table


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
    """Completed columns of the map (name -> values), the cells that were filled, how, and the models compared."""

    columns: dict[str, np.ndarray]
    cells: list[FilledCell]
    how: str
    notes: tuple[str, ...] = ()
    models: tuple[dict[str, Any], ...] = ()

    __repr__ = brief


def fill(
    table: Table,
    *,
    method: str = "auto",
    draws: int = 20,
    budget: float = 60.0,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Completed:
    """Fill the missing cells of the columns that methods would see.

    Parameters
    ----------
    table : Table
        The columns.
    method : str
        As in `lowdim.impute`.
    draws : int
        Completed tables behind the uncertainty of each cell.
    budget : float
        Seconds of processor time after which no further model is tried.
    seed : int
        Seed; the same one gives the same result.
    n_jobs : int or None
        Number of threads.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Completed
    """
    used, left = table.used, _left_as_they_are(table)
    if not any(column.missing.any() for column in used):
        return Completed({column.name: column.values for column in used}, [], "no cell is missing", left)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = lowdim.impute(
            _table(used), draws, method=method, budget=budget, random_state=seed, n_jobs=n_jobs, verbose=verbose
        )
    values = {column.name: _values(found.mean[:, j], column) for j, column in enumerate(used)}
    cells = [
        _cell(found, column, values[column.name], int(table.rows[i]) + 1, i, j)
        for j, column in enumerate(used)
        for i in np.flatnonzero(column.missing).tolist()
    ]
    how = found.method if found.choice is None else found.choice.why
    models = () if found.choice is None else tuple(vars(one) for one in found.choice.candidates)
    return Completed(values, cells, how, (*dict.fromkeys(str(w.message) for w in caught), *left), models)


def draws_of(
    table: Table, draws: int, *, scale: bool, seed: int = 0, n_jobs: int | None = None, verbose: int | bool = 0
) -> Imputation | None:
    """Completed tables of what the linear method of a comparison saw; None where no cell is missing.

    Parameters
    ----------
    table : Table
        The columns.
    draws : int
        Completed tables.
    scale : bool
        Numbers were divided by their standard deviations.
    seed : int
        Seed; the same one gives the same result.
    n_jobs : int or None
        Number of threads.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Imputation or None
    """
    if not any(column.missing.any() for column in table.used):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same were said of the table when it was mapped
        return lowdim.impute(
            _table(table.used), draws, scale=scale or bool(table.categories), random_state=seed, n_jobs=n_jobs,
            verbose=verbose,
        )  # fmt: skip


def _left_as_they_are(table: Table) -> tuple[str, ...]:
    """What is said of a label with missing cells, which models do not see."""
    label = table.label
    if label is None or label.kind == "number" or not label.missing.any():
        return ()
    return (
        f"{int(label.missing.sum())} missing cells of {label.name}, taken for the label of the rows, are left as they "
        f"are; --as category:{label.name} fills them too.",
    )


def _table(used: list[Column]) -> np.ndarray:
    """Numbers, or cells of numbers and categories with None where missing."""
    if all(column.kind == "number" for column in used):
        return np.column_stack([column.values for column in used])
    cells = np.empty((len(used[0].values), len(used)), dtype=object)
    for j, column in enumerate(used):
        plain = column.values.tolist() if column.kind == "number" else [_text(value) for value in column.values]
        cells[:, j] = [None if lost else v for v, lost in zip(plain, column.missing, strict=True)]
    return cells


def _text(value: Any) -> Any:
    """Numbers that are categories as text, which imputation takes for categories."""
    return value if isinstance(value, (str, bool)) or value is None else str(value)


def _values(filled: np.ndarray, column: Column) -> np.ndarray:
    """Numbers as floats; categories as the values that the column has."""
    if column.kind == "number":
        return filled.astype(np.float64)
    known = {_text(value): value for value, lost in zip(column.values, column.missing, strict=True) if not lost}
    found = np.empty(len(filled), dtype=object)
    found[:] = [known[value] for value in filled]
    return found


def _cell(found: Any, column: Column, values: np.ndarray, row: int, i: int, j: int) -> FilledCell:
    value = values[i].item() if isinstance(values[i], np.generic) else values[i]
    if column.kind == "number":
        return FilledCell(row, column.name, value, spread=float(found.std[i, j]))
    return FilledCell(row, column.name, value, agreement=float(found.agreement[i, j]))

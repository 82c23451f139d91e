"""Data like the data of a comparison, whose columns know nothing of each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core.manifold.neighborhood import unwatched
from lowdim.study.columns.scales import deviations
from lowdim.study.data import Data, coded
from lowdim.study.labels import Labels
from lowdim.study.method_list import Entry
from lowdim.study.running.one_method import Outcome, run
from lowdim.trust.null import column_orders, null_table


def sample_of(data: Data, rows: np.ndarray) -> Data:
    """These rows of the data."""
    if data.distances:
        return replace(data, rows=data.rows[np.ix_(rows, rows)], names=None, frame=None)
    if data.mixed is None:
        unscaled = None if data.unscaled is None else data.unscaled[rows]
        return replace(data, rows=data.rows[rows], table=None, unscaled=unscaled)
    assert data.table is not None
    return _with_columns(data, data.table.take(rows))


def noise_of(data: Data, rng: np.random.Generator, kind: str = "permuted") -> Data:
    """Every column shuffled by itself (of distances: their values), so that marginals stay and structure goes.

    With kind "gaussian" Gaussian rows with the same covariance, of a table of complete numbers.
    """
    if data.mixed is None:
        if data.unscaled is None:
            rows = null_table(data.rows, kind, rng, "compare", given=data.distances)
            return replace(data, rows=rows, table=None)
        noise, unit = null_table(data.unscaled, kind, rng, "compare"), _units(data)
        return replace(data, rows=noise / unit, table=None, unscaled=noise)
    assert data.table is not None
    columns, used = data.table.columns, data.table.used
    orders = column_orders(np.column_stack([column.missing for column in used]), rng)
    order = {column.name: orders[:, at] for at, column in enumerate(used)}
    shuffled = tuple(column.take(order[column.name]) if column.name in order else column for column in columns)
    return _with_columns(data, replace(data.table, columns=shuffled))


def _units(data: Data) -> np.ndarray:
    """What each column was divided by."""
    assert data.unscaled is not None
    of_rows, given = deviations(data.rows), deviations(data.unscaled)
    return np.where(of_rows > 0, given / np.where(of_rows > 0, of_rows, 1.0), 1.0).astype(data.rows.dtype)


def _with_columns(data: Data, table: Any) -> Data:
    return replace(data, rows=coded(table.used), mixed=table.frame(), table=table, ranked=table.frame(ranks=True))


def mapped_again(outcome: Outcome, data: Data, labels: Labels | None, target: str, seed: int) -> np.ndarray | str:
    """The map of other data by the same method with the same settings; the reason as text where it fails."""
    estimator = clone(outcome.estimator)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    with unwatched():
        found = run(Entry(outcome.name, estimator, outcome.baseline, target), data, labels)
    if found.embedding is None:
        return found.error or "it failed"
    return found.embedding if np.isfinite(found.embedding).all() else "it leaves rows out"

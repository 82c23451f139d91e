"""Neighbours under metrics that no engine knows: blocks of measured distances, and the best of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lowdim import _native
from lowdim._core.distances import (
    OWN,
    Table,
    called_by,
    pairwise,
)
from lowdim._core.neighbors.exact_radius import Pairs
from lowdim._core.neighbors.prepared import NOBODY, Found, Search
from lowdim._core.runtime import threads

MEASURED_ROWS, MEASURED_COLUMNS = 256, 4096  # a block of measured distances: 8 MB in float64


@dataclass(frozen=True, eq=False)
class Measured:
    """A table of distances that need not exist as a whole."""

    read: Callable[[slice, slice], np.ndarray]
    shape: tuple[int, int]
    skip: np.ndarray
    dtype: np.dtype


def measured_blocks(search: Search, owner: str) -> Callable[[slice, slice], np.ndarray]:
    """Blocks of a metric that has no engine of its own."""
    if search.table is not None:
        return search.table.block
    own = search.metric in OWN
    Q, X = (rows if own else rows.astype(np.float64, copy=False) for rows in (search.Q, search.X))

    def read(rows: slice, columns: slice) -> np.ndarray:
        block = pairwise(Q[rows], X[columns], search.metric, owner=owner, undefined=True)
        if np.isnan(block).any():
            i, j = (int(found[0]) for found in np.nonzero(np.isnan(block)))
            raise ValueError(
                f"{owner}: metric {called_by(search.metric)} must be defined for every pair of rows; got NaN for "
                f"query {rows.start + i} and row {columns.start + j}. Drop such rows or use another metric."
            )
        return block

    return read


def refined(table: Table, indices: np.ndarray, n_jobs: int | None) -> Found:
    """The distances of the rows that are listed for each row, and the lists in their order."""
    values, ordered = np.empty(indices.shape), np.empty_like(indices)

    def measure(rows: slice) -> None:
        found = table.listed(rows, indices[rows])
        order = np.lexsort((indices[rows], found), axis=1)
        values[rows] = np.take_along_axis(found, order, axis=1)
        ordered[rows] = np.take_along_axis(indices[rows], order, axis=1)

    threads.map_rows(measure, len(indices), MEASURED_ROWS, n_jobs)
    return values, ordered


def nearest_listed(table: Measured, k: int, n_jobs: int | None) -> Found:
    m, n = table.shape

    def find(rows: slice) -> Found:
        values = np.full((rows.stop - rows.start, k), np.inf, table.dtype)
        indices = np.full(values.shape, NOBODY, np.int32)
        for columns in threads.blocks(n, MEASURED_COLUMNS):
            block = np.ascontiguousarray(table.read(rows, columns))
            _native.top_distances(block, columns.start, table.skip[rows], values, indices)
        _native.sort_top(values, indices)
        return values, indices

    values, indices = zip(*threads.map_rows(find, m, min(MEASURED_ROWS, max(8, 2**21 // k)), n_jobs), strict=True)
    return np.concatenate(values), np.concatenate(indices)


def listed_within(table: Measured, radius: float, n_jobs: int | None) -> list[Pairs]:
    m, n = table.shape

    def find(rows: slice) -> Pairs:
        found = []
        for columns in threads.blocks(n, MEASURED_COLUMNS):
            block = table.read(rows, columns)
            i, j = np.nonzero(block <= block.dtype.type(radius))
            found.append((i + rows.start, j + columns.start, block[i, j]))
        i, j, values = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
        kept = j != table.skip[i]
        return i[kept], j[kept], values[kept]

    return threads.map_rows(find, m, MEASURED_ROWS, n_jobs)

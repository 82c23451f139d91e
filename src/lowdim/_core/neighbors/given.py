"""Neighbours in distances that the user gives: dense, condensed, or a sparse graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import (
    condensed_rows,
    real_array,
    real_sparse,
)
from lowdim._core.neighbors.exact_radius import Pairs
from lowdim._core.neighbors.measured import Measured, listed_within, nearest_listed
from lowdim._core.neighbors.prepared import own_index
from lowdim._core.neighbors.record import Neighbors, check_k, graph_of_pairs


@dataclass(frozen=True, eq=False)
class _Known:
    """Precomputed distances: a table, a condensed vector or a sparse graph."""

    values: Any
    shape: tuple[int, int]
    skip: np.ndarray
    owner: str

    @property
    def table(self) -> Measured:
        return Measured(self.read, self.shape, self.skip, self.values.dtype)

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        if self.values.ndim == 2:
            block = self.values[rows, columns]
        else:
            i, j = np.ogrid[rows, columns]
            low, high = np.minimum(i, j), np.maximum(i, j)
            place = self.shape[0] * low - low * (low + 1) // 2 + high - low - 1
            block = np.where(i == j, 0, self.values[np.where(i == j, 0, place)])
        if not block.min() >= 0 or not block.max() < np.inf:
            raise ValueError(
                f"{self.owner}: precomputed distances must be finite and not negative; got otherwise in rows "
                f"{rows.start} to {rows.stop - 1}."
            )
        return block


def _known(X: Any, queries: Any, owner: str) -> _Known:
    """The distances to read from (those of `queries` where given) and the shape of their table."""
    n = np.shape(queries)[1] if X is None else _known_rows(X, owner)
    values = X if queries is None else queries
    what = f"{owner}: the table of precomputed distances"
    values = (real_sparse if sparse.issparse(values) else real_array)(values, what)
    shape = (n, n) if queries is None else values.shape
    if len(shape) != 2 or shape[1] != n or not shape[0]:
        raise ValueError(
            f"{owner}: precomputed queries must hold the distances to the {n} rows, one column each; got shape {shape}."
        )
    return _Known(values, shape, own_index(shape[0], queries), owner)


def _known_rows(X: Any, owner: str) -> int:
    shape = X.shape if sparse.issparse(X) else np.shape(X)
    if len(shape) == 1:
        return condensed_rows(np.asarray(X), owner)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"{owner}: precomputed distances must be a square table, a condensed vector or a sparse graph; "
            f"got shape {shape}."
        )
    return int(shape[0])


def nearest_known(X: Any, k: int, queries: Any, n_jobs: int | None, owner: str, name: str) -> Neighbors:
    known = _known(X, queries, owner)
    check_k(k, known.shape[1], queries is None, owner, name)
    if sparse.issparse(known.values):
        return _stored_nearest(known, k, name)
    values, indices = nearest_listed(known.table, k, n_jobs)
    return Neighbors(indices, values)


def within_known(X: Any, radius: float, queries: Any, n_jobs: int | None, owner: str) -> sparse.csr_array:
    known = _known(X, queries, owner)
    if not sparse.issparse(known.values):
        return graph_of_pairs(listed_within(known.table, radius, n_jobs), known.shape, known.values.dtype)
    rows, columns, values = _stored(known)
    near = values <= values.dtype.type(radius)
    return graph_of_pairs([(rows[near], columns[near], values[near])], known.shape, values.dtype)


def _stored(known: _Known) -> Pairs:
    """(row, column, distance) of the stored entries, without the diagonal."""
    entries = known.values.tocoo()
    values = entries.data
    if values.size and (not values.min() >= 0 or not values.max() < np.inf):
        raise ValueError(f"{known.owner}: precomputed distances must be finite and not negative.")
    kept = entries.col != known.skip[entries.row]
    return entries.row[kept], entries.col[kept], values[kept]


def _stored_nearest(known: _Known, k: int, name: str) -> Neighbors:
    rows, columns, values = _stored(known)
    counts = np.bincount(rows, minlength=known.shape[0])
    if (counts < k).any():
        row = int(np.argmax(counts < k))
        raise ValueError(
            f"{known.owner}: a sparse graph must store at least {k} distances per row, diagonal not counted; "
            f"row {row} has {counts[row]}. Store more distances or lower {name}."
        )
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    chosen = order[starts[:, None] + np.arange(k)]
    return Neighbors(columns[chosen].astype(np.int32), values[chosen])

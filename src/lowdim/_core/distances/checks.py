"""Tables of dissimilarities: square or condensed, dense or sparse, symmetric, non-negative, with a zero diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform

from lowdim._core.distances.rows import real_array, real_sparse
from lowdim._core.runtime import threads


def check_dissimilarities(D: Any, owner: str, *, sparse_ok: bool = False, unknown: bool = False) -> Any:
    """A table of dissimilarities fit for use: square, non-negative, finite, zero diagonal, symmetric.

    A condensed vector (as `scipy.spatial.distance.pdist` makes it) is expanded; integers become float64.
    Differences between the two halves of up to 1e-6 of the largest entry are taken for rounding and averaged
    away, on a copy; what is larger is refused. In a sparse graph the stored entries are the known distances,
    explicit zeros among them; it may hold a pair in one direction only.

    With `unknown`, NaN stands for a dissimilarity nobody knows; a pair is known where one of its halves is.
    """
    if sparse.issparse(D):
        if not sparse_ok:
            raise TypeError(f"{owner}: the dissimilarities must be dense; got a sparse matrix. Pass D.toarray().")
        return _check_graph(D, owner)
    table = real_array(D, f"{owner}: the table of dissimilarities")
    if table.ndim == 1:
        condensed_rows(table, owner)
        _check_entries(table[None], owner, unknown)
        return _each_known(squareform(table, checks=False), owner) if unknown else squareform(table, checks=False)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"{owner}: the dissimilarities must be a square table or a condensed vector; got shape {table.shape}."
        )
    largest = _check_entries(table, owner, unknown)
    return _symmetric(_each_known(table, owner) if unknown else table, largest, owner)


def condensed_rows(vector: np.ndarray, owner: str) -> int:
    """How many rows a condensed vector of n (n - 1) / 2 distances is about."""
    n = int(np.ceil(np.sqrt(2 * len(vector))))
    if len(vector) == 0 or n * (n - 1) // 2 != len(vector):
        raise ValueError(f"{owner}: a condensed vector must have n (n - 1) / 2 entries for some n; got {len(vector)}.")
    return n


def _check_entries(table: np.ndarray, owner: str, unknown: bool = False) -> float:
    """The largest entry; ValueError where one is NaN (unless that means unknown), infinite or negative."""
    low, high = (float(f.reduce(table, axis=None, initial=0.0)) for f in (np.fmin, np.fmax))
    if np.isinf(low) or np.isinf(high):
        raise ValueError(f"{owner}: the dissimilarities must be finite; got infinity.")
    if not unknown and (holes := int(np.isnan(table).sum())):
        raise ValueError(
            f"{owner}: the dissimilarities must be finite; got {holes} NaN. If they are unknown, lowdim.MDS takes "
            "them as they are (pairs of weight 0); or leave out items until all are known."
        )
    if low < 0:
        raise ValueError(
            f"{owner}: the dissimilarities must not be negative; got {low:g}. If these are similarities, "
            "lowdim.dissimilarities(S, conversion=...) converts them."
        )
    return high


def _each_known(table: np.ndarray, owner: str) -> np.ndarray:
    """Unknown entries taken from the other half where that is known; ValueError for an item nothing is known about."""
    holes = np.isnan(table)
    if not holes.any():
        return table
    filled = np.where(holes, table.T, table)
    np.fill_diagonal(filled, np.where(np.isnan(np.diagonal(table)), 0.0, np.diagonal(table)))
    known = (~np.isnan(filled)).sum(axis=1) - 1
    if len(table) > 1 and not known.all():
        alone = np.flatnonzero(known == 0)
        raise ValueError(
            f"{owner}: {len(alone)} items have no known dissimilarity (the first is item {alone[0]}), so they cannot "
            "be embedded. Leave them out."
        )
    return filled


def _symmetric(table: np.ndarray, largest: float, owner: str) -> np.ndarray:
    """`table` itself when it is exactly symmetric with a zero diagonal, else the average of its halves."""
    allowed = 1e-6 * largest
    diagonal = float(np.abs(np.diagonal(table)).max(initial=0.0))
    if diagonal > allowed:
        raise ValueError(
            f"{owner}: the dissimilarities must be 0 on the diagonal; got {diagonal:g}. If these are similarities, "
            "lowdim.dissimilarities(S, conversion=...) converts them; if the diagonal means nothing, "
            "np.fill_diagonal(D, 0)."
        )
    parts = threads.blocks(len(table), max(1, 2**20 // max(1, len(table))))
    gap = max((float(np.fmax.reduce(g, axis=None, initial=0.0)) for g in _gaps(table, parts)), default=0.0)
    if gap > allowed:
        pairs = sum(int((g > allowed).sum()) for g in _gaps(table, parts)) // 2
        half = not np.triu(table, 1).any() or not np.tril(table, -1).any()
        raise ValueError(
            f"{owner}: the dissimilarities must be symmetric; got entries that differ by {gap:g} ({gap / largest:.2g} "
            f"of the largest), in {pairs} of {len(table) * (len(table) - 1) // 2} pairs. "
            + ("Half of it is empty: pass D + D.T." if half else "Pass (D + D.T) / 2 if the two halves mean the same.")
        )
    if gap == 0 and diagonal == 0:
        return table
    average = table + table.T
    average *= 0.5
    np.fill_diagonal(average, 0.0)
    return average


def _gaps(table: np.ndarray, parts: list[slice]) -> Iterator[np.ndarray]:
    """How far the two halves are apart, some rows at a time."""
    return (np.abs(table[part] - table[:, part].T) for part in parts)


def _check_graph(D: Any, owner: str) -> Any:
    graph = real_sparse(D, f"{owner}: the graph of distances")
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"{owner}: a sparse graph of distances must be square; got shape {graph.shape}.")
    largest = _check_entries(graph.data[None], owner)
    if np.abs(graph.diagonal()).max(initial=0.0) > 1e-6 * largest:
        raise ValueError(f"{owner}: a sparse graph of distances must be 0 on the diagonal.")
    return graph

"""Rows with the same cells, found by a hash and then compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks

_ODD = np.uint64(0xBF58476D1CE4E5B9)  # a multiplier that spreads bits well (Stafford, 2011)


def placed_like(Z: np.ndarray, X: np.ndarray, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Coordinates Z of the rows X, with those of `places` where X has the cells of one of `rows`.

    Where rows are compared by the cells that both have, a distance of 0 does not say that they are the same.
    """
    known = equal_row(rows, X)
    return np.where((known >= 0)[:, None], places[known], Z)


def equal_row(rows: np.ndarray, X: np.ndarray) -> np.ndarray:
    """For each row of X the number of a row of `rows` with the same cells, -1 where there is none."""
    keys = hashes(rows)
    order = np.argsort(keys, kind="stable")
    wanted = hashes(X)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(rows) - 1)
    found = order[at]
    likely = np.flatnonzero(keys[found] == wanted)
    equal = np.full(len(X), -1)
    for part in blocks(len(likely), max(1, 2**20 // max(1, X.shape[1]))):
        i = likely[part]
        equal[i] = np.where((rows[found[i]] == X[i]).all(axis=1), found[i], -1)
    return equal


def hashes(X: Any) -> np.ndarray:
    """A hash of each row: the mixed bits of its cells times fixed odd numbers, added up modulo 2**64."""
    factors = 2 * generator(0).integers(2**62, size=X.shape[1], dtype=np.int64).astype(np.uint64) + np.uint64(1)
    if sparse.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        keys = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(keys, rows, _mixed_bits(X.data) * factors[X.indices])
        return keys
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for part in blocks(X.shape[0], max(1, 2**18 // max(1, X.shape[1]))):
        keys[part] = (_mixed_bits(X[part]) * factors).sum(axis=1, dtype=np.uint64)
    return keys


def _mixed_bits(values: np.ndarray) -> np.ndarray:
    """The bits of floats as whole numbers in which every bit depends on all; 0 stays 0, and -0 becomes 0.

    Of small whole numbers only the highest bits are set: without mixing, products of them would often be equal.
    """
    values = np.ascontiguousarray(values + values.dtype.type(0))
    bits = values.view(f"u{values.dtype.itemsize}").astype(np.uint64, copy=False)
    bits ^= bits >> np.uint64(32)
    bits *= _ODD
    bits ^= bits >> np.uint64(32)
    return bits


def same_rows(X: Any, other: np.ndarray) -> bool:
    """Whether each row equals the other one given for it: different rows may have the same hash, if hardly ever."""
    moved = np.flatnonzero(other != np.arange(len(other)))
    for part in blocks(len(moved), max(1, 2**20 // max(1, X.shape[1]))):
        a, b = X[moved[part]], X[other[moved[part]]]
        if (a != b).nnz if sparse.issparse(X) else (a != b).any():
            return False
    return True

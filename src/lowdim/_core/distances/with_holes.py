"""Distances between rows with missing cells, from the finite tables that `incomplete.holes` makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray

# `missing` -> the metric under which such tables are measured: cells beside their mask, or means beside a variance.
METRICS = {"pairwise": "rows with their mask", "expected": "rows with their variance"}


def expected_block(Q: Array, R: Array, squares: Callable[[Any, Any], Array]) -> Array:
    """Root of the expected squared distances; `squares` gives those of complete rows."""
    block = squares(Q[:, :-1], None if Q is R else R[:, :-1])
    block += Q[:, -1:] + R[:, -1]
    return np.sqrt(block, out=block)


def pairwise_block(Q: Array, R: Array) -> Array:
    """Distances over shared columns, scaled up."""
    width = Q.shape[1] // 2
    (A, M), (B, N) = ((rows[:, :width].astype(np.float64), rows[:, width:-1].astype(np.float64)) for rows in (Q, R))
    block = (A * A) @ N.T + M @ (B * B).T - 2 * (A @ B.T)
    near = block < 1e-3 * ((A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1))
    i, j = np.nonzero(near)  # where the products cancel, by differences
    for part in range(0, len(i), 2**16):
        a, b = i[part : part + 2**16], j[part : part + 2**16]
        block[a, b] = ((A[a] - B[b]) ** 2 * (M[a] * N[b])).sum(axis=1)
    shared = M @ N.T
    squares = np.where(shared > 0, np.maximum(block, 0.0) * (width / np.maximum(shared, 1.0)), Q[:, -1:])
    return np.sqrt(squares).astype(Q.dtype)

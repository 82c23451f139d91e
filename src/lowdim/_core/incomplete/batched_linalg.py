"""Many small symmetric matrices at once, one for each row of a block; the last axis runs over rows.

A packed one is its upper triangle, row by row: r (r + 1) / 2 numbers.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

SWEEP = 24  # up to this size all inverses of a block together beat LAPACK one by one


def inverses(M: Array) -> tuple[Array, Array]:
    """Inverses and log determinants of m positive definite matrices, stored (r, r, m).

    Small ones by the sweep operator, every row of the block at once.
    """
    r = len(M)
    if r > SWEEP:
        stacked = np.moveaxis(M, -1, 0)
        logdet = 2 * np.log(np.diagonal(np.linalg.cholesky(stacked), axis1=1, axis2=2)).sum(axis=1)
        return np.moveaxis(np.linalg.inv(stacked), 0, -1), logdet
    A, logdet = M.copy(), np.zeros(M.shape[-1])
    for k in range(r):
        pivot = A[k, k].copy()
        logdet += np.log(pivot)
        row = A[k] / pivot
        column = A[:, k].copy()
        A -= column[:, None] * row
        A[k] = row
        A[:, k] = -column / pivot
        A[k, k] = 1.0 / pivot
    return A, logdet


def times(C: Array, t: Array) -> Array:
    """C t for each row: (r, r, m) or (r, r, 1) times (r, m)."""
    if C.shape[-1] == 1:
        return C[:, :, 0] @ t
    return np.einsum("klm,lm->km", C, t)


def outer(W: Array) -> Array:
    """w_j w_j' of each row of W, packed: (d, r (r + 1) / 2)."""
    i, j = np.triu_indices(W.shape[1])
    return W[:, i] * W[:, j]


def unpacked(packed: Array, r: int) -> Array:
    """(q, m) upper triangles -> (r, r, m)."""
    full = np.empty((r, r, packed.shape[1]))
    i, j = np.triu_indices(r)
    full[i, j] = full[j, i] = packed
    return full

"""Many small symmetric matrices at once, one for each row of a block; the last axis runs over rows.

A packed one is its upper triangle, row by row: r (r + 1) / 2 numbers.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

Array = np.ndarray

SWEEP = 24  # up to this size all inverses of a block together beat LAPACK one by one


def inverses(M: Array) -> tuple[Array, Array]:
    """Inverses and log determinants of m positive definite matrices, stored (r, r, m).

    Small ones by the sweep operator, every row of the block at once.
    """
    r = len(M)
    if r > SWEEP:
        return _by_cholesky(np.moveaxis(M, -1, 0).copy())
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


def _by_cholesky(A: Array) -> tuple[Array, Array]:
    """The same one by one, A being (m, r, r): a third of the work of a general inverse."""
    logdet, below = np.empty(len(A)), np.tri(A.shape[1], k=-1, dtype=bool)
    for i, matrix in enumerate(A):
        factor, failed = lapack.dpotrf(matrix.T, lower=True, overwrite_a=True)
        if failed:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        logdet[i] = 2 * np.log(np.diagonal(factor)).sum()
        lapack.dpotri(factor, lower=True, overwrite_c=True)  # of the transpose: half of it, in the upper triangle of A
        np.copyto(matrix, matrix.T, where=below)
    return np.moveaxis(A, 0, -1), logdet


def patterns(hole: Array) -> tuple[Array | slice, Array | None]:
    """A row of each pattern of missing cells, and the pattern of each row; all rows and None where few are shared."""
    _, first, which = np.unique(np.packbits(hole, axis=1), axis=0, return_index=True, return_inverse=True)
    return (first, which.reshape(-1)) if 2 * len(first) <= len(hole) else (slice(None), None)


def times(C: Array, t: Array, which: Array | None = None) -> Array:
    """C t for each row: (r, r, m) or (r, r, 1) times (r, m), or one of (r, r, p) for each row."""
    if which is not None:
        product = np.empty_like(t)
        for p in range(C.shape[-1]):
            product[:, which == p] = C[:, :, p] @ t[:, which == p]
        return product
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

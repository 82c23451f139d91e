"""Laplacians of weighted graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def laplacian(W: Any, *, normalization: str = "none") -> tuple[sparse.csr_array, np.ndarray]:
    """The Laplacian of a graph with weights W, and the degrees d = W 1 (the diagonal of W counts).

    none:         L = diag(d) - W                      f'Lf = 1/2 sum_ij W_ij (f_i - f_j)²
    symmetric:    L = I - diag(d)^-1/2 W diag(d)^-1/2  eigenvalues in [0, 2]
    random-walk:  L = I - diag(d)^-1 W                 the same eigenvalues; L 1 = 0

    A row of degree 0 has an empty row in L, so that the multiplicity of the eigenvalue 0 is the number of
    components, isolated rows included. All in float64: what follows works near a null space.

    Parameters
    ----------
    W : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    normalization : {"none", "symmetric", "random-walk"}
        Which of the three.

    Returns
    -------
    L : csr_array of shape (n, n)
    degrees : ndarray of shape (n,)

    Examples
    --------
    >>> L, degrees = laplacian([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> L.toarray().tolist(), degrees.tolist()
    ([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0], [0.0, 0.0, 0.0]], [2.0, 2.0, 0.0])
    """
    weights = sparse.csr_array(W, dtype=np.float64)
    if weights.shape[0] != weights.shape[1]:
        raise ValueError(f"laplacian: W must be square; got shape {weights.shape}.")
    if weights.nnz and not (np.isfinite(weights.data).all() and weights.data.min() >= 0):
        raise ValueError(f"laplacian: W must be finite and >= 0; got {weights.data.min()} as the smallest entry.")
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    if normalization == "none":
        return (_diagonal(degrees) - weights).tocsr(), degrees
    linked = degrees > 0
    if normalization == "symmetric":
        half = _diagonal(np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=linked))
        return (_diagonal(linked) - half @ weights @ half).tocsr(), degrees
    if normalization == "random-walk":
        inverse = _diagonal(np.divide(1.0, degrees, out=np.zeros_like(degrees), where=linked))
        return (_diagonal(linked) - inverse @ weights).tocsr(), degrees
    raise ValueError(f"laplacian: normalization must be none, symmetric or random-walk; got {normalization!r}.")


def _diagonal(values: np.ndarray) -> sparse.csr_array:
    at = np.arange(len(values) + 1, dtype=np.int32)
    return sparse.csr_array((values.astype(np.float64), at[:-1], at), shape=(len(values), len(values)))

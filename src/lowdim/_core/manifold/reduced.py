"""Smallest eigenvectors when the coordinates of every row are a weighted mean of those of landmarks.

Locally linear landmarks (Vladymyrov and Carreira-Perpinan 2013): with Z = W Z_m, the rows of W being the weights that
reconstruct a row from the landmarks near it, the problem A z = l M z of n rows becomes (W'AW) z = l (W'MW) z of m. No
matrix of n rows is factorised, and memory is O(n b + m²) for blocks of b columns. A row of W sums to 1, so that the
constant stays the null vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla
from scipy import sparse

from lowdim._core.extend import NeighborWeights
from lowdim._core.landmarks.policy import LandmarkChoice
from lowdim._core.manifold.neighborhood import Neighborhood
from lowdim._core.runtime import memory, threads
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.null_axes import NullAxes

Array = np.ndarray

SPARE = 3  # landmarks for a row beyond the dimension of the map: an affine combination needs one, a fit one or two more
_BLOCK = 256  # columns of W at a time


def reduced_bytes(n: int, m: int) -> int:
    """Memory of the reduced problem, with blocks of columns of n rows."""
    return 32 * n * _BLOCK + 40 * min(n, m) ** 2


def landmark_choice(n_landmarks: Any, n: int, largest: int, *, policy: str, owner: str) -> LandmarkChoice:
    """Whether n rows are embedded through landmarks: only in connected graphs, where all rows are embedded together.

    `largest` is the size of the largest component, `policy` the parameter `disconnected`.
    """
    asked, several = n_landmarks not in (None, "auto"), largest < n
    if asked and several:
        raise ValueError(
            f"{owner}: n_landmarks must be None where disconnected={policy!r} leaves several connected components; "
            f"got {n_landmarks}. Use disconnected='bridge' with landmarks."
        )
    return LandmarkChoice.of(None if asked and n_landmarks >= n else n_landmarks, n, not several)


@dataclass(frozen=True, eq=False)
class LandmarkWeights:
    """The landmarks, the weights that reconstruct every row from them, and the extension to new rows.

    The embedding of the landmarks, which the extension needs, is still 0.
    """

    rows: Any
    extension: NeighborWeights
    weights: sparse.csr_array


def landmark_weights(
    X: Any, chosen: Array, around: Neighborhood, r: int, *, holes: Any, completed: Any, ridge: Any
) -> LandmarkWeights:
    """Reconstruct the rows of X from the chosen ones, for an embedding of r dimensions.

    `completed` are the chosen rows with their missing cells filled, where `holes` is given.
    """
    rows, component_of = X[chosen].copy(), np.zeros(len(chosen), dtype=int)
    extension = NeighborWeights(np.zeros((len(chosen), r)), component_of, completed, ridge, r)
    new, known, near = around.for_weights(rows, X, holes, completed)
    return LandmarkWeights(rows, extension, extension.matrix(new, known, near, around.n_jobs))


def reduced_pairs(A: sparse.csr_array, W: sparse.csr_array, mass: Array, k: int, *, rng: Any, owner: str) -> Any:
    """The k smallest pairs of A z = l M z with z = W y and A 1 = 0, the constant left out.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Positive semi-definite.
    W : csr_array of shape (n, m)
        Weights of the landmarks in each row; rows sum to 1.
    mass : ndarray of shape (n,)
        Diagonal of M.
    k : int
        How many, at most m - 1.
    rng : generator or None
        Start of the solver.
    owner : str
        Name of the caller, for messages.

    Returns
    -------
    values : ndarray of shape (k,)
        Ascending.
    Y : ndarray of shape (m, k)
        Values on the landmarks; (WY)'M(WY) = I.
    """
    m = W.shape[1]
    memory.check(owner, {"blocks of columns": 32 * W.shape[0] * _BLOCK, "reduced matrices": 40 * m * m})
    with threads.single_blas():
        B = (W.T @ (sparse.diags_array(mass) @ W)).toarray()
        # The ridge is for landmarks that equal each other; each has a weight of 1 on its own row.
        R = sla.cholesky(B + 1e-12 * np.trace(B) / m * np.eye(m), lower=False)
        C = sla.solve_triangular(R, _reduced(A, W), trans="T")
        C = sla.solve_triangular(R, C.T, trans="T")
    constant = R @ np.ones((m, 1))
    pairs = eigenpairs((C + C.T) / 2, k, which="smallest", skip=constant, rng=rng, owner=owner)
    return pairs.values, sla.solve_triangular(R, pairs.vectors)


def _reduced(A: sparse.csr_array, W: sparse.csr_array) -> Array:
    """W'AW, a block of columns at a time."""
    columns, Wt = sparse.csc_array(W), sparse.csr_array(W.T)
    blocks = [Wt @ (A @ columns[:, part].toarray()) for part in threads.blocks(W.shape[1], _BLOCK)]
    reduced = np.hstack(blocks)
    return (reduced + reduced.T) / 2


def reduced_axes(M: sparse.csr_array, W: sparse.csr_array, r: int, *, counts: Any, rng: Any, owner: str) -> NullAxes:
    """`null_axes` through landmarks: the embedding Z of the landmarks, such that W Z has unit covariance."""
    n, m = W.shape
    if m < r + 2:
        raise ValueError(f"{owner}: n_landmarks must be at least n_components + 2 = {r + 2}; got {m}.")
    mass = np.ones(n) if counts is None else counts.astype(np.float64)
    norm = float(abs(M).sum(axis=1).max()) or 1.0
    values, Y = reduced_pairs(M, W, mass, r + 1, rng=rng, owner=owner)
    Z = Y[:, :r] * np.sqrt(mass.sum())
    Z = Z - mass @ (W @ Z) / mass.sum()
    return NullAxes(np.concatenate([[0.0], values]), Z, norm)

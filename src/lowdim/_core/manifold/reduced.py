"""Axes from the small end of a spectrum when every row is a mixture of few landmarks.

Locally linear landmarks (Vladymyrov and Carreira-Perpinan 2013): with Z = W Z_m, the rows of W being the weights that
rebuild a row from the landmarks near it, the problem A z = l M z of n rows becomes (W'AW) z = l (W'MW) z of m. Nothing
is factorised that has n rows, and memory is O(n b + m²) for blocks of b columns. A row of W sums to 1, so that the
constant stays the null vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla
from scipy import sparse

from lowdim._core.extend import Rebuilt
from lowdim._core.landmarks.policy import Route
from lowdim._core.manifold.neighborhood import Neighborhood
from lowdim._core.runtime import memory, threads
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.null_axes import Bottom

Array = np.ndarray

MIXED = 3  # landmarks in a row beyond the dimension of the map: one more than an affine mixture needs, and one to spare
_BLOCK = 256  # columns of W at a time


def mixture_bytes(n: int, m: int) -> int:
    """What the reduced problem takes, with blocks of columns as long as there are rows."""
    return 32 * n * _BLOCK + 40 * min(n, m) ** 2


def route_of(wanted: Any, n: int, largest: int, *, policy: str, owner: str) -> Route:
    """Whether the places of n rows are looked for as mixtures of landmarks: in graphs of one part only.

    Landmarks know nothing of rows that were left out or put aside. `largest` is the size of the largest part.
    """
    asked, apart = wanted not in (None, "auto"), largest < n
    if asked and apart:
        raise ValueError(
            f"{owner}: n_landmarks must be None where disconnected={policy!r} leaves several parts; got {wanted}. "
            "disconnected='bridge' goes with landmarks."
        )
    return Route.asked(None if asked and wanted >= n else wanted, n, not apart)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Every row as a mixture of landmarks: their rows, the formula for new rows (places still 0), and the weights."""

    rows: Any
    formula: Rebuilt
    weights: sparse.csr_array


def mixed(X: Any, chosen: Array, around: Neighborhood, r: int, *, holes: Any, completed: Any, ridge: Any) -> Mixture:
    """Mix the rows of X of the chosen ones, for a map of r dimensions.

    `completed` are the chosen rows without their missing cells, where `holes` says that there are any.
    """
    rows, home = X[chosen].copy(), np.zeros(len(chosen), dtype=int)
    formula = Rebuilt(np.zeros((len(chosen), r)), home, completed, ridge, r)
    new, known, near = around.meeting(rows, X, holes, completed)
    return Mixture(rows, formula, formula.mixture(new, known, near, around.n_jobs))


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
        # A landmark that only its own row uses has a weight of 1 there; the ridge is for those that copy each other.
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


def reduced_axes(M: sparse.csr_array, W: sparse.csr_array, r: int, *, counts: Any, rng: Any, owner: str) -> Bottom:
    """`bottom.bottom_axes` through landmarks: places of the landmarks, W times which has unit covariance."""
    n, m = W.shape
    if m < r + 2:
        raise ValueError(f"{owner}: n_landmarks must be at least n_components + 2 = {r + 2}; got {m}.")
    mass = np.ones(n) if counts is None else counts.astype(np.float64)
    norm = float(abs(M).sum(axis=1).max()) or 1.0
    values, Y = reduced_pairs(M, W, mass, r + 1, rng=rng, owner=owner)
    places = Y[:, :r] * np.sqrt(mass.sum())
    places = places - mass @ (W @ places) / mass.sum()
    return Bottom(np.concatenate([[0.0], values]), places, norm)

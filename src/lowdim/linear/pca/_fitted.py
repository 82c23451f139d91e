"""What PCA keeps of a fit, whichever way its components were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.runtime.threads import blocks

Array = np.ndarray

BLOCK = 2**15  # cells at a time: what is computed from them stays in the cache


@dataclass(frozen=True, eq=False)
class FittedPCA:
    """The fitted attributes of `PCA`, under their names without the underscore."""

    components: Array
    mean: Array
    scale: Array | None
    explained_variance: Array
    explained_variance_ratio: Array
    singular_values: Array
    reconstruction_error: float
    noise_variance: float
    missing_share: float
    solver: str
    resolution: float
    n_iter: int
    converged: bool
    completed: Array | None = None
    completed_variance: Array | None = None
    shrinkage: Array | None = None
    agreement: dict[str, Any] | None = None
    mixing: Array | None = None  # of NIPALS, for new rows


def divisor_of(X: Array, weights: Array | None, ddof: int) -> float:
    """n - ddof, n being the number of rows or the sum of their weights."""
    return float(len(X) if weights is None else weights.sum()) - ddof


def observed_error(X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None) -> float:
    """Mean squared error of the observed cells of X under mean + scale V z."""
    total, cells, W = 0.0, 0.0, V.T if scale is None else V.T * scale
    for rows in blocks(len(X), BLOCK // X.shape[1]):
        gaps = X[rows] - mean
        gaps -= Z[rows] @ W
        observed = gaps == gaps
        np.copyto(gaps, 0.0, where=~observed)
        squares, counts = np.einsum("ij,ij->i", gaps, gaps), observed.sum(axis=1)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
        cells += float(counts.sum() if weights is None else counts @ weights[rows])
    return total / cells


def cell_variances(X: Array, leverage: Array | None, noise: float, scale: Array | None) -> Array:
    """noise (1 + leverage) in the units of X for missing cells, 0 for observed ones; changes `leverage`."""
    assert leverage is not None
    for rows in blocks(len(X), BLOCK // X.shape[1]):
        part, cells = leverage[rows], X[rows]
        part += 1.0
        part *= noise if scale is None else noise * scale**2
        np.copyto(part, 0.0, where=cells == cells)
    return leverage


def resolution_of(X: Array) -> float:
    """Of fits to the cells themselves: the root of their rounding."""
    return float(np.sqrt(max(X.shape) * np.finfo(X.dtype).eps))

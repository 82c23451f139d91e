"""Fitted attributes that every route through missing cells sets alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime.threads import blocks

Array = np.ndarray

BLOCK = 2**15  # cells at a time: what is computed from them stays in the cache


def common(
    model: Any, X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None
) -> dict[str, Any]:
    r = V.shape[1]
    return {
        "n_components_": r,
        "_n_features_out": r,
        "components_": np.ascontiguousarray(V.T),
        "mean_": mean,
        "scale_": scale,
        "reconstruction_error_": _error(X, mean, scale, V, Z, weights),
        "missing_share_": float(np.count_nonzero(np.isnan(X))) / X.size,
        "completed_": None,
        "completed_variance_": None,
        "shrinkage_": None,
        "agreement_": None,
        "solver_": model.missing,
        "resolution_": float(np.sqrt(max(X.shape) * np.finfo(X.dtype).eps)),
    }


def _error(X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None) -> float:
    """Squared error of the observed cells of mean + scale V z, in scaled units."""
    total, W = 0.0, V.T if scale is None else V.T * scale
    for rows in blocks(len(X), BLOCK // X.shape[1]):
        gaps = X[rows] - mean
        gaps -= Z[rows] @ W
        if scale is not None:
            gaps /= scale
        np.copyto(gaps, 0.0, where=gaps != gaps)
        squares = np.einsum("ij,ij->i", gaps, gaps)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
    return total


def variances(X: Array, leverage: Array | None, noise: float, scale: Array | None) -> Array:
    """noise (1 + leverage) in the units of X for missing cells, 0 for observed ones; changes `leverage`."""
    assert leverage is not None
    for rows in blocks(len(X), BLOCK // X.shape[1]):
        part, cells = leverage[rows], X[rows]
        part += 1.0
        part *= noise if scale is None else noise * scale**2
        np.copyto(part, 0.0, where=cells == cells)
    return leverage


def divisor_of(model: Any, X: Array, weights: Array | None) -> float:
    return float(len(X) if weights is None else weights.sum()) - model.ddof

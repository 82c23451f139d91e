"""Fitted attributes that every route through missing cells sets alike."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


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
    }


def _error(X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None) -> float:
    """Squared error of the observed cells of mean + scale V z, in scaled units."""
    total = 0.0
    for start in range(0, len(X), 4096):
        rows = slice(start, start + 4096)
        gaps = X[rows] - mean
        gaps -= Z[rows] @ (V.T if scale is None else V.T * scale)
        if scale is not None:
            gaps /= scale
        gaps *= gaps
        squares = np.nansum(gaps, axis=1)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
    return total


def variances(X: Array, leverage: Array | None, noise: float, scale: Array | None) -> Array:
    """noise (1 + leverage) in the units of X for missing cells, 0 for observed ones; changes `leverage`."""
    assert leverage is not None
    for start in range(0, len(X), 4096):
        part, holes = leverage[start : start + 4096], np.isnan(X[start : start + 4096])
        part += 1.0
        part *= noise if scale is None else noise * scale**2
        part[~holes] = 0.0
    return leverage


def divisor_of(model: Any, X: Array, weights: Array | None) -> float:
    return float(len(X) if weights is None else weights.sum()) - model.ddof

"""How PCA of incomplete rows compares with PCA of the complete ones among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from lowdim._core.spectrum import Moments
from lowdim.linear._decompose import decompose_moments
from lowdim.linear.pca._fitted import FittedPCA

ENOUGH_ROWS = 5  # complete rows per component, for a PCA of them alone to be worth comparing with

Array = np.ndarray


def agreement(X: Array, weights: Array | None, found: FittedPCA, n_jobs: int | None) -> dict[str, Any] | None:
    """How a fit compares with PCA of the complete rows alone, where there are enough of them."""
    whole = ~np.isnan(X).any(axis=1)
    if weights is not None:
        whole &= weights > 0
    r, n = len(found.components), int(whole.sum())
    if r < 1 or n < max(ENOUGH_ROWS * r, r + 3):
        return None
    rows = X[whole] if found.scale is None else X[whole] / found.scale
    moments = Moments.of(rows, None if weights is None else weights[whole], n_jobs=n_jobs)
    alone = decompose_moments(moments, r, scale=False, ddof=0, dtype=X.dtype)
    V, W = found.components.T, alone.loadings.T
    Z, ours = (rows - rows.mean(axis=0)) @ W, (rows - rows.mean(axis=0)) @ V
    spread = Z.std(axis=0) * ours.std(axis=0)
    matched = np.abs((Z * ours).mean(axis=0))
    return {
        "n_rows": n,
        "angle": float(np.degrees(subspace_angles(W, V).max())),
        "correlation": np.divide(matched, spread, out=np.zeros(r), where=spread > 0),
    }

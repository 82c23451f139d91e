"""A quick estimate of the dimension that rows fill, for estimates of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.distances import pairwise

ROWS = 100  # whose neighbours are looked at


def neighbor_dimension(X: Any, k: int) -> int:
    """How fast the number of neighbours grows with distance (Levina and Bickel 2004), from the k nearest of some rows.

    1 where it cannot be told: incomplete rows, tables that are not dense, fewer than three different neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_dimension(np.random.default_rng(0).random((2000, 2)), 12)
    2
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or len(X) < 4 or not np.isfinite(X.sum()):
        return 1
    some = X[np.linspace(0, len(X) - 1, min(len(X), ROWS)).astype(int)]
    k = min(k, len(X) - 1)
    near = np.empty((len(some), k + 1))
    for i, row in enumerate(some):
        near[i] = np.sort(np.partition(pairwise(row[None], X)[0], k)[: k + 1])
    near = near[np.isfinite(near).all(axis=1) & (near[:, 1] > 0), 1:]
    growth = float(np.log(near[:, -1:] / near[:, :-1]).mean()) if near.size and k > 2 else 0.0
    return max(1, round(1.0 / growth)) if growth > 0 else 1

"""All values of a kernel on a table, block by block, and checked where theory does not vouch for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core import threads
from lowdim._core.kernels import Kernel

_BLOCK = 512  # rows computed at a time


def kernel_matrix(kernel: Kernel, X: Any, *, n_jobs: int | None = None, owner: str) -> np.ndarray:
    """K_ij = k(x_i, x_j), blocks of rows side by side; of a precomputed kernel a copy of X."""
    if not kernel.is_psd:
        return _symmetric(kernel(X), owner)
    return kernel_rows(kernel, X, X, n_jobs=n_jobs)


def kernel_rows(kernel: Kernel, X: Any, Y: Any, *, n_jobs: int | None = None) -> np.ndarray:
    """k(x_i, y_j), blocks of rows side by side."""
    if X.shape[0] <= _BLOCK:
        return kernel(X, Y)
    K = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))

    def fill(rows: slice) -> None:
        K[rows] = kernel(X[rows], Y)

    threads.map_rows(fill, X.shape[0], _BLOCK, n_jobs)
    return K


def _symmetric(K: np.ndarray, owner: str) -> np.ndarray:
    """The matrix itself: one that is not symmetric has no eigenvectors to speak of."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{owner}: the kernel matrix must be square; got shape {K.shape}.")
    if not np.isfinite(K.sum(dtype=np.float64)):
        raise ValueError(
            f"{owner}: the kernel gives NaN or infinity on these rows; rescale the rows, or use a smaller gamma or "
            "degree."
        )
    parts = threads.blocks(len(K), _BLOCK)  # tile by tile: a transposed matrix read by rows would crawl
    worst = max(float(np.abs(K[a, b] - K[b, a].T).max()) for i, a in enumerate(parts) for b in parts[: i + 1])
    if worst > 1e-4 * max(float(np.abs(K).max()), np.finfo(K.dtype).tiny):
        raise ValueError(f"{owner}: the kernel must be symmetric; k(x, y) and k(y, x) differ by up to {worst:.3g}.")
    return K

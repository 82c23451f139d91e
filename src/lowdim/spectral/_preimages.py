"""What kernel PCA asks of pre-images: which kernels have which, and the feature space of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core import preimage
from lowdim._core.kernels import Kernel
from lowdim._core.preimage import Span

WAYS = ("ridge", "fixed_point", "distance")


def check_way(way: str, kernel: Kernel, owner: str) -> None:
    """Refuse a way back that the kernel does not have, before anything is computed."""
    if way == "ridge" or (preimage.is_linear(kernel) and not kernel.pairwise):
        return
    if kernel.pairwise:
        raise ValueError(f"{owner}: preimage={way!r} needs rows; with a precomputed kernel there are none.")
    if way == "fixed_point" and not preimage.is_smooth(kernel):
        also = ", 'distance'" if preimage.has_distances(kernel) else ""
        raise ValueError(
            f"{owner}: preimage='fixed_point' must go with a kernel whose gradient is known (RBF, Polynomial, Linear "
            f"and their combinations); got {kernel!r}. Use preimage='ridge'{also}."
        )
    if way == "distance" and not preimage.has_distances(kernel):
        also = ", 'fixed_point'" if preimage.is_smooth(kernel) else ""
        raise ValueError(
            f"{owner}: preimage='distance' must go with a kernel that tells Euclidean distances (RBF, Laplace with "
            f"norm='l2', Polynomial of odd degree); got {kernel!r}. Use preimage='ridge'{also}."
        )


def span_of(model: Any) -> Span:
    """The axes of a fitted kernel PCA as sums of images of the rows it keeps: all fitted ones, or landmarks."""
    rows, extension = model._rows, model._extension
    places, axes = model.embedding_, np.asarray(extension.projection, dtype=np.float64)
    if len(places) == rows.shape[0]:
        mean = np.full(rows.shape[0], 1 / rows.shape[0])
        axes = axes - axes.mean(axis=0)  # 0 but for rounding, which small eigenvalues magnify
    else:
        K = np.asarray(model.kernel_(rows), dtype=np.float64)
        places = extension(K)
        mean = np.linalg.lstsq(K, extension.offset, rcond=1e-12)[0]
    return Span(
        kernel=model.kernel_,
        rows=rows.astype(np.float64),
        axes=axes,
        mean=mean,
        offset=np.asarray(extension.offset, dtype=np.float64),
        places=np.asarray(places, dtype=np.float64),
        size=model._mean_kernel,
    )


def usual_error(model: Any, quantile: float) -> float:
    """A quantile of the errors in feature space of the fitted rows (of the landmarks, where only those are kept)."""
    own = np.asarray(model.kernel_.diag(model._rows), dtype=np.float64)
    if len(model.embedding_) == len(own):
        scores = np.asarray(model.embedding_, dtype=np.float64)
        errors = own - 2 * model._extension.offset + model._mean_kernel - (scores**2).sum(axis=1)
    else:
        errors = model.row_error(model._rows)
    # With every component kept the errors are rounding, and any new row is far beyond them.
    return max(float(np.quantile(errors, quantile)), 1e-9 * max(float(own.mean()) - model._mean_kernel, 0.0), 1e-300)


def preimages(model: Any, Z: np.ndarray) -> np.ndarray:
    """Rows for places Z, by the way that `model.preimage` names."""
    span, Z = span_of(model), np.asarray(Z, dtype=np.float64)
    if preimage.is_linear(span.kernel):
        return np.asarray(span.weights(Z) @ span.rows)
    if model.preimage == "distance":
        return preimage.by_distances(span, Z, model.n_neighbors, model.n_jobs)
    return preimage.fixed_point(span, Z, [], n_jobs=model.n_jobs, owner="KernelPCA").rows

"""What kernel PCA asks of pre-images: the feature space of a fitted model, and how far its rows are from the axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.kernels import preimage
from lowdim._core.kernels.preimage import Span


def span_of(model: Any) -> Span:
    """The axes of a fitted kernel PCA as sums of images of the rows it keeps: all fitted ones, or few."""
    return Span(
        kernel=model.kernel_,
        rows=model._rows.astype(np.float64),
        axes=np.asarray(model.dual_coef_, dtype=np.float64),
        mean=np.asarray(model._mean_coef, dtype=np.float64),
        offset=np.asarray(model._extension.offset, dtype=np.float64),
        places=np.asarray(model._fitted_places(), dtype=np.float64),
        size=model._mean_kernel,
    )


def usual_error(model: Any, quantile: float) -> float:
    """A quantile of the errors in feature space of the fitted rows."""
    whole = model.eigenvalues_.sum() + model.reconstruction_error_
    # With every component kept the errors are rounding, and any new row is far beyond them.
    return max(float(np.quantile(model._errors, quantile)), 1e-9 * whole / len(model._errors), 1e-300)


def preimages(model: Any, Z: np.ndarray) -> np.ndarray:
    """Rows for places Z, by the way that `model.preimage` names."""
    found = preimage.lead_back(
        span_of(model),
        np.asarray(Z, dtype=np.float64),
        model.preimage,
        n_neighbors=model.n_neighbors,
        n_jobs=model.n_jobs,
        owner="KernelPCA",
    )
    return found if model._shift is None else found + model._shift

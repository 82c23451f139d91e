"""The covariance within classes by an estimator of the user's own, and rules of parameters of LDA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core import params

SHARES = params.Rule(
    "one positive number per class, adding up to 1",
    lambda v: (
        np.ndim(v) == 1 and all(params.real(0, 1, open_low=True).accepts(p) for p in v) and abs(sum(v) - 1) < 1e-6
    ),
)

ESTIMATOR = params.Rule(
    "an estimator with fit, such as sklearn.covariance.OAS()", lambda v: hasattr(v, "fit") and not isinstance(v, type)
)


def refuse_estimator(estimator: Any, shrinkage: Any, there: Mapping[str, Any]) -> None:
    """ValueError where an estimator, which sees the rows of each class as they are, has no use for what is there."""
    if estimator is None:
        return
    if shrinkage is not None:
        raise ValueError(
            f"LDA: shrinkage must be None with a covariance_estimator; got {shrinkage!r}. Only one of the two can be "
            "set."
        )
    for what, found in there.items():
        if found:
            raise ValueError(f"LDA: covariance_estimator must be None for {what}; use shrinkage instead.")


def estimated_scatters(X: np.ndarray, codes: np.ndarray, counts: np.ndarray, estimator: Any) -> Iterator[np.ndarray]:
    """For each class, its count times the covariance that a copy of the estimator finds in its rows."""
    d = X.shape[1]
    for code, count in enumerate(counts):
        own = clone(estimator, safe=False)
        own.fit(X[codes == code].astype(np.float64))
        found = np.asarray(getattr(own, "covariance_", np.nan), dtype=np.float64)
        if found.shape != (d, d) or not np.isfinite(found).all():
            raise ValueError(
                f"LDA: covariance_estimator must have a finite covariance_ of shape ({d}, {d}) after fit; "
                f"{type(own).__name__} has {'none' if not hasattr(own, 'covariance_') else f'one of {found.shape}'}."
            )
        yield count * (found + found.T) / 2

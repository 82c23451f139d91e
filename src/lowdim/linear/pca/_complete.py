"""PCA of complete rows: how many components of a spectrum stay, and what is kept of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum.noise_variance import not_zero, shrinking_variance
from lowdim.linear._decompose import Spectrum
from lowdim.linear.pca._component_rule import choose_r, whitenable
from lowdim.linear.pca._fitted import FittedPCA


def fitted(
    found: Spectrum, *, n_components: Any, max_error: float | None, whiten: bool, ridge: float | None
) -> FittedPCA:
    """The components that the rule keeps; `ridge` times the noise shrinks the scores of incomplete new rows."""
    values, total = found.variances, found.total_variance
    rows = found.divisor + found.ddof
    if n_components == "mle" and rows < len(found.mean):
        values = np.append(values, np.zeros(len(found.mean) - len(values)))
    r = choose_r(values, total, n_components, max_error, min(found.most, found.varying), rows)
    if max_error is None and isinstance(n_components, (int, np.integer)) and r > found.most:
        warn(f"PCA: the rows vary in at most {found.most} directions; the components after that have no variance.")
    if whiten:
        r = whitenable(values, r, found.rank_tolerance)
    return FittedPCA(
        components=found.loadings[:r],
        mean=found.mean,
        scale=found.scale,
        explained_variance=values[:r],
        explained_variance_ratio=values[:r] / total if total > 0 else np.zeros(r),
        singular_values=np.sqrt(values[:r] * found.divisor),
        reconstruction_error=found.error(r),
        noise_variance=_noise_variance(found, r, ridge),
        missing_share=0.0,
        solver=found.solver,
        resolution=found.resolution,
        n_iter=found.run[0],
        converged=found.run[1],
    )


def _noise_variance(found: Spectrum, r: int, ridge: float | None) -> float:
    """By which the scores of incomplete new rows are shrunk."""
    if ridge is None or r < 1:
        return 0.0
    values, total = found.variances, found.total_variance
    bound = values[r] if len(values) > r else min(values[r - 1], max(total - float(values.sum()), 0.0))
    kept = np.append(values[:r], bound)
    return not_zero(shrinking_variance(kept, total, found.divisor + found.ddof, len(found.mean), ridge), values)

"""The noise variance seen in the eigenvalues left out: what low-rank models of noisy cells are shrunk by."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

LEAST_FREE = 0.05  # share of the observed cells that must be left after fitting, for the noise to be estimated


def shrinking_variance(values: Array, total: float, n: float, d: int, ridge: float) -> float:
    """missMDA's noise variance: the mean of the dropped eigenvalues, corrected for the parameters of the others.

    `values` are the kept eigenvalues and the next one, which bounds it.
    """
    r = len(values) - 1
    dropped = max(total - float(values[:r].sum()), 0.0)
    free = (n - 1 - r) * (d - r)
    sigma2 = ridge * n * d / min(d, n - 1) * dropped / free if free > 0 else 0.0
    return float(min(sigma2, values[r]))


def observed_ridge(X: Array, r: int, weights: Array | None = None) -> float:
    """The `ridge` that turns the noise variance over all cells into that of an observed cell.

    Filled cells lie on the model, so that the noise over all cells is too small: by the residual degrees of freedom of
    all cells over those of the observed cells.
    """
    observed = X.shape[1] - np.count_nonzero(np.isnan(X), axis=1)
    n, d = (len(X) if weights is None else float(weights.sum())), X.shape[1]
    cells = float(observed.sum() if weights is None else weights @ observed)
    taken = r * (n - 1 + d - r)
    return max(1.0, ((n - 1) * d - taken) / max(cells - d - taken, LEAST_FREE * cells))


def not_zero(sigma2: float, values: Array) -> float:
    """At least a trace of noise: of all scores that fit a row with few cells, the likeliest is then taken."""
    return max(sigma2, 1e-12 * float(values[0]))

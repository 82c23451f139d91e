"""Rules for the number of components to keep of a spectrum."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum.evidence import minka_evidence, numerical_rank


def choose_r(values: np.ndarray, total: float, n_components: Any, max_error: float | None, most: int, n: float) -> int:
    """Number of components by the rule asked for; `values` in decreasing order, of which `most` can be above 0.

    `n` is the number of rows, or the sum of their weights.

    For "drop" a value of 0 among those means exact low rank, so `most` must leave out constant columns.
    """
    if max_error is not None:
        n_components = 1.0 - max_error
    if n_components is None or isinstance(n_components, (int, np.integer)):
        return len(values)
    if total <= 0:
        return 1
    if n_components == "drop":
        return _largest_drop(values[:most])
    if n_components == "mle":
        return _most_evident(values, n)
    shares = np.cumsum(values) / total
    return min(int(np.searchsorted(shares, n_components, side="right")) + 1, len(values))


def _largest_drop(values: np.ndarray) -> int:
    """k that maximises log lambda_k - log lambda_k+1 among the eigenvalues above rounding."""
    above = values[values > len(values) * np.finfo(float).eps * values[0]]
    if len(above) < len(values):  # the spectrum ends here: exact low rank
        return len(above)
    drops = -np.diff(np.log(above))
    if len(drops) == 0 or drops.max() < np.log(2):
        raise ValueError(
            "PCA: n_components='drop' finds no drop: no eigenvalue is twice the next. Look at explained_variance_ of "
            "PCA() and give a number or a share such as 0.85."
        )
    return int(np.argmax(drops)) + 1


def _most_evident(values: np.ndarray, n: float) -> int:
    """Minka's rule; where columns are linearly dependent the rank, at which the evidence grows without bound."""
    d = len(values)
    if n < d or d < 2:
        raise ValueError(
            "PCA: n_components='mle' must have at least as many rows as columns, and two columns or more. Give a "
            "number or a share such as 0.85."
        )
    evidence = minka_evidence(values, n, d)
    return numerical_rank(values, n, d) if evidence is None else int(np.argmax(evidence)) + 1


def whitenable(values: np.ndarray, r: int, tolerance: float) -> int:
    """How many components can be scaled to unit variance: those without variance cannot."""
    rank = max(1, int((values[:r] > tolerance * max(values[0], 0.0)).sum())) if r else 0
    if values[0] <= 0:
        raise ValueError("PCA: whiten=True needs rows that vary; all rows are equal.")
    if rank < r:
        warn(f"PCA: whiten=True keeps {rank} of {r} components; the others have no variance to scale.")
    return rank

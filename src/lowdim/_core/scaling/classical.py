"""Classical scaling: coordinates of fitted and new rows from squared distances, or from Euclidean rows directly."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from lowdim._core.extend import Linear, Nystrom
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import Eigenpairs, eigenpairs, mean_and_variance, svd
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim._core.spectrum.trace_sums import EXACT, signed_sums

Array = np.ndarray

ALONE = 1000  # rows up to which a second BLAS thread gains nothing, and waits for seconds where others use the machine


@dataclass(frozen=True, eq=False)
class Scaled:
    """What classical scaling found.

    `values` are the eigenvalues of the axes, `places` the rows on them (None where `place` gives them from the rows),
    `place` puts down new rows: from the row itself (Linear) or from -1/2 of its squared distances (Nystrom).
    `goodness` is the sum of the kept eigenvalues over that of all magnitudes and over that of the positive ones;
    `negative_share` that of the negative magnitudes over all.
    """

    values: Array
    places: Array | None
    place: Linear | Nystrom
    goodness: tuple[float, float]
    negative_share: float


def scale_rows(
    X: Any, k: int, *, weights: Array | None = None, rng: np.random.Generator, owner: str, quiet: bool = False
) -> Scaled:
    """Euclidean distances: B = Xc Xc', so the singular vectors of the rows give everything, without B."""
    mean, variance = mean_and_variance(X, weights)
    total = float(variance.sum()) * (X.shape[0] if weights is None else float(weights.sum()))
    center, rows = _table(X, mean, weights)
    found = svd(rows, min(k, *X.shape), center=center, rng=rng, owner=owner)
    pairs = Eigenpairs(found.values**2, found.Vt.T, found.residuals, found.solver)
    pairs = positive_part(pairs, k, total=total, owner=owner, quiet=quiet)
    return Scaled(pairs.values, None, Linear(mean, None, pairs.vectors), *fit_of(pairs.values, total, 0.0))


def _table(X: Any, mean: Array, weights: Array | None) -> tuple[Array | None, Any]:
    """What to decompose: (X - 1 mean') times the roots of the weights, with a centre taken off on the way or not."""
    if not sparse.issparse(X):
        rows = X - mean.astype(X.dtype)
        if weights is not None:
            rows *= np.sqrt(weights)[:, None].astype(X.dtype)
        return None, rows
    if weights is None:
        return mean, X
    root = np.sqrt(weights)
    rows = sparse.csr_array(sparse.diags_array(root) @ X, dtype=np.float64)

    def times(V: Array) -> Array:
        return rows @ V - np.multiply.outer(root, mean @ V)

    def back(U: Array) -> Array:
        return rows.T @ U - np.multiply.outer(mean, root @ U)

    return None, LinearOperator(X.shape, matvec=times, rmatvec=back, matmat=times, rmatmat=back, dtype=np.float64)


def scale_distances(
    D: Array, k: int, *, weights: Array | None = None, rng: np.random.Generator, owner: str, quiet: bool = False
) -> Scaled:
    """The k largest eigenpairs of B = -1/2 H D² H, and the places they give.

    With weights w, H = I - 1w'/sum(w) and the pairs are those of W^1/2 B W^1/2: a row counts as w copies of itself
    would. A row of weight 0 takes no part, and is placed as a new one is.
    """
    part = slice(None) if weights is None or (weights > 0).all() else np.flatnonzero(weights > 0)
    inner, w = (D, weights) if isinstance(part, slice) or weights is None else (D[np.ix_(part, part)], weights[part])
    B, means = inner_products(inner, w)
    root = None if w is None else np.sqrt(w)
    if root is not None:
        B *= root
        B *= root[:, None]
    with threads.single_blas() if len(B) <= ALONE else nullcontext():
        pairs = eigenpairs(B, min(k, len(B)), rng=rng, owner=owner)
        sums = signed_sums(B, owner=owner)
    pairs = positive_part(pairs, k, owner=owner, quiet=quiet)
    vectors, offset = np.zeros((len(D), k)), np.zeros(len(D))
    vectors[part] = pairs.vectors if root is None else pairs.vectors * root[:, None]
    offset[part] = -0.5 * means
    place = Nystrom.of(pairs.values, vectors, offset)
    places = vectors * np.sqrt(pairs.values)
    if weights is not None:
        places[part] /= weights[part][:, None]
        out = np.flatnonzero(weights == 0)
        places[out] = place(-0.5 * np.square(D[out], dtype=np.float64))
    return Scaled(pairs.values, places, place, *fit_of(pairs.values, *sums))


def scaling_bytes(n: int, k: int) -> int:
    """Bytes that `scale_distances` takes beside the distances: B, a copy where all its eigenvalues are computed."""
    copies = 1 + (n <= EXACT) + 2 * (k > n // 8)
    return copies * n * n * 8


def fit_of(kept: Array, positive: float, negative: float) -> tuple[tuple[float, float], float]:
    """Both measures of fit, and the share of the negative eigenvalues, from the sums over both signs."""
    magnitude, mine = positive + negative, float(kept.sum())
    fit = (mine / magnitude if magnitude > 0 else 1.0, mine / positive if positive > 0 else 1.0)
    return fit, negative / magnitude if magnitude > 0 else 0.0


def warn_of_negative(share: float, owner: str) -> None:
    """Warn of negative eigenvalues where they matter."""
    if share > 1e-6:
        warn(
            f"{owner}: the distances are not Euclidean; negative eigenvalues make up {share:.2g} of the spectrum and "
            "are left out. correction='cailliez' or 'lingoes' makes them Euclidean.",
        )

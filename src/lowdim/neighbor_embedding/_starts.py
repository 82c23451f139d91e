"""Where the points of a map start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.graph import components, laplacian
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import eigenpairs, svd

ROUGH = (1e-3, 1e-6)  # residuals of a start, relative to the norm; the second where eigenvalues are as small
SHARE = 0.1  # of the least eigenvalue that a residual may be
LEAST_WIDTH, MOST_WIDTH = 1e-3, 100.0  # of a start, in units of the reach of forces
SPREAD = 1e-4  # standard deviation of the first axis: small, so that the forces and not the start decide what is far


def principal_start(X: Any, k: int, owner: str) -> np.ndarray:
    """The first k principal coordinates; axes the rows do not fill are bent from the first."""
    dense = not sparse.issparse(X)
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    with threads.single_blas():
        found = svd(X.astype(np.float64) if dense else X, min(k, *X.shape), center=center, owner=owner)
    Z = found.U * found.values
    kept = found.values > 1e-10 * max(float(np.abs(center).max(initial=0.0)) * np.sqrt(X.shape[0]), found.values[0])
    if 0 < kept.sum() < k:
        warn(
            f"{owner}: n_components={k} is more than the {kept.sum()} dimensions that the rows of X fill; the map "
            "starts as a curved sheet in the others."
        )
    return scaled(bent(Z[:, kept], k))


def spectral_start(P: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """The smoothest functions on the graph of the affinities: eigenvectors L y = l D y of its Laplacian."""
    L, degrees = laplacian(P)
    count, label = components(P)
    null = np.zeros((P.shape[0], count))
    null[np.arange(P.shape[0]), label] = 1.0
    most = min(k, P.shape[0] - count)
    if most < 1:
        return scaled(bent(null, k))
    found = _smoothest(L, most, degrees, null, rng, owner)
    # Between parts the eigenvectors say nothing: the null space itself keeps them apart.
    Z = found if count == 1 else np.hstack([null[:, 1:] * np.abs(found).max(), found])[:, :k]
    return scaled(bent(Z, k))


def _smoothest(
    L: Any, k: int, degrees: np.ndarray, null: np.ndarray, rng: np.random.Generator, owner: str
) -> np.ndarray:
    """Eigenvectors to a few digits: forces soon change them."""
    for tol in ROUGH:
        found = eigenpairs(L, k, which="smallest", mass=degrees, skip=null, rng=rng, tol=tol, rough=True, owner=owner)
        if found.residuals.max() <= SHARE * found.values.min():
            break
    return found.vectors


def checked_start(start: Any, n: int, k: int, owner: str) -> np.ndarray:
    """A start that was given."""
    Z = np.asarray(start, dtype=np.float64)
    if Z.shape != (n, k) or not np.isfinite(Z).all():
        raise ValueError(f"{owner}: the start must be {n} rows of {k} finite numbers; got shape {Z.shape}.")
    return Z


def of_fair_width(Z: np.ndarray, size: float, owner: str) -> np.ndarray:
    """A start that was given, about 0; of the usual size where forces would hardly change what is far or near in it."""
    Z = Z - Z.mean(axis=0)
    width = float(np.ptp(Z, axis=0).max())
    if width == 0 or LEAST_WIDTH <= width <= MOST_WIDTH:
        return Z
    warn(
        f"{owner}: init is {width:.2g} times as wide as the spread, and forces do not reach that far or would hardly "
        f"part the points; it was scaled to {2 * size:g}."
    )
    return Z * (2 * size / width)


def apart(Z: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Z, shaken a little where rows have one place, between which no force would ever act; its size if it has none."""
    if len(np.unique(Z, axis=0)) == len(Z):
        return Z
    return Z + 1e-4 * (float(np.ptp(Z, axis=0).max()) or size) * rng.standard_normal(Z.shape)


def random_start(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    return SPREAD * rng.standard_normal((n, k))


def scaled(Z: np.ndarray) -> np.ndarray:
    """Centred, with a first axis of standard deviation `SPREAD`."""
    Z = Z - Z.mean(axis=0)
    deviation = Z[:, 0].std()
    return Z * (SPREAD / deviation) if deviation > 0 else np.zeros_like(Z)


def bent(Z: np.ndarray, k: int) -> np.ndarray:
    """Z with k columns: those it lacks are powers of the first, a tenth as wide, so that equal rows stay equal."""
    if not Z.shape[1]:
        return np.zeros((Z.shape[0], k))
    first = Z[:, 0] / max(float(np.abs(Z[:, 0]).max()), 1e-300)
    more = np.stack([first ** (2 + j) for j in range(k)], axis=1)
    more = (more - more.mean(axis=0)) * (0.1 * Z[:, 0].std() / np.maximum(more.std(axis=0), 1e-300))
    return np.hstack([Z, more])[:, :k]

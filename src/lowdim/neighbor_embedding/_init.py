"""Initialisation of a map: principal components, eigenvectors of the neighbour graph, random, or given coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.graph import components, laplacian
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import eigenpairs, svd

ROUGH = (1e-3, 1e-6)  # residuals of the eigenvectors, relative to the norm; the second where eigenvalues are as small
SHARE = 0.1  # of the smallest eigenvalue that a residual may be
LEAST_WIDTH, MOST_WIDTH = 1e-3, 100.0  # of given coordinates, in units of the range of the forces
SPREAD = 1e-4  # standard deviation of the first axis: so small that distances in the map are set by the forces alone
WIDE = 10.0  # square roots of n: digits (600 rows, divergence .45) end at .68 from an `init` 24 of them wide
INITS = ("pca", "spectral", "random")


def rule() -> params.Rule:
    """What `init` may be."""
    return params.one_of(*INITS) | params.Rule("an array", lambda v: np.ndim(v) == 2)


def computed(init: str, rows: Any, graph: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """Coordinates for "pca" or "spectral", of standard deviation `SPREAD`.

    Parameters
    ----------
    init : {"pca", "spectral"}
        Where only distances are known, "pca" is "spectral".
    rows : array, sparse matrix or None
        The rows, complete; None where only distances are known.
    graph : csr_array of shape (n, n)
        Affinities between rows.
    k : int
        Number of components.
    rng : Generator
        For the eigensolver.
    owner : str
        Who asks, for messages.

    Returns
    -------
    ndarray of shape (n, k)
    """
    return spectral(graph, k, rng, owner) if init == "spectral" or rows is None else principal(rows, k, owner)


def principal(X: Any, k: int, owner: str) -> np.ndarray:
    """The first k principal components; where the rank is smaller, further axes are powers of the first."""
    dense = not sparse.issparse(X)
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    with threads.single_blas():
        found = svd(X.astype(np.float64) if dense else X, min(k, *X.shape), center=center, owner=owner)
    Z = found.U * found.values
    kept = found.values > 1e-10 * max(float(np.abs(center).max(initial=0.0)) * np.sqrt(X.shape[0]), found.values[0])
    if 0 < kept.sum() < k:
        warn(
            f"{owner}: n_components={k} is more than the rank {kept.sum()} of the rows of X; the other axes of the map "
            "are initialised with powers of the first."
        )
    return scaled(with_powers(Z[:, kept], k))


def spectral(P: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """The eigenvectors L y = l D y of the Laplacian of the affinities with the smallest eigenvalues above 0."""
    L, degrees = laplacian(P)
    count, label = components(P)
    null = np.zeros((P.shape[0], count))
    null[np.arange(P.shape[0]), label] = 1.0
    most = min(k, P.shape[0] - count)
    if most < 1:
        return scaled(with_powers(null, k))
    found = _smallest(L, most, degrees, null, rng, owner)
    # Eigenvectors do not relate connected components to each other: the null space keeps them apart.
    Z = found if count == 1 else np.hstack([null[:, 1:] * np.abs(found).max(), found])[:, :k]
    return scaled(with_powers(Z, k))


def _smallest(L: Any, k: int, degrees: np.ndarray, null: np.ndarray, rng: Any, owner: str) -> np.ndarray:
    """Eigenvectors to a few digits: that is enough for an initialisation."""
    for tol in ROUGH:
        found = eigenpairs(L, k, which="smallest", mass=degrees, skip=null, rng=rng, tol=tol, rough=True, owner=owner)
        if found.residuals.max() <= SHARE * found.values.min():
            break
    return found.vectors


def given(init: Any, n: int, k: int, owner: str, name: str = "init") -> np.ndarray:
    """Coordinates from the user, checked."""
    Z = np.asarray(init, dtype=np.float64)
    if Z.shape != (n, k) or not np.isfinite(Z).all():
        raise ValueError(f"{owner}: {name} must be {n} rows of {k} finite numbers; got shape {Z.shape}.")
    return Z


def warn_width(start: np.ndarray, owner: str) -> None:
    """Maps are some square roots of n wide; in a far wider one forces vanish, and it would count as converged."""
    width = float(np.ptp(start, axis=0).max())
    if width > 100 + WIDE * np.sqrt(len(start)):
        warn(
            f"{owner}: init is {width:.2g} wide, far more than maps of {len(start)} rows are. Points this far apart "
            "exert no force on each other. Rescale it, such as init * (1e-4 / init[:, 0].std())."
        )


def within_reach(Z: np.ndarray, size: float, owner: str) -> np.ndarray:
    """Given coordinates, centred; rescaled where they are so wide or narrow that forces would hardly change them."""
    Z = Z - Z.mean(axis=0)
    width = float(np.ptp(Z, axis=0).max())
    if width == 0 or LEAST_WIDTH <= width <= MOST_WIDTH:
        return Z
    warn(
        f"{owner}: init is {width:.2g} times as wide as the spread, too wide or too narrow for the forces between "
        f"points; it was scaled to {2 * size:g}."
    )
    return Z * (2 * size / width)


def separated(Z: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Z, with a little noise where points coincide, since no force acts between them; `size` where all coincide."""
    if len(np.unique(Z[:, 0])) == len(Z) or len(np.unique(Z, axis=0)) == len(Z):
        return Z
    return Z + 1e-4 * (float(np.ptp(Z, axis=0).max()) or size) * rng.standard_normal(Z.shape)


def scaled(Z: np.ndarray) -> np.ndarray:
    """Centred, with a first axis of standard deviation `SPREAD`."""
    Z = Z - Z.mean(axis=0)
    deviation = Z[:, 0].std()
    return Z * (SPREAD / deviation) if deviation > 0 else np.zeros_like(Z)


def with_powers(Z: np.ndarray, k: int) -> np.ndarray:
    """Z with k columns: further ones are powers of the first, a tenth as wide, so that equal rows stay equal."""
    if not Z.shape[1]:
        return np.zeros((Z.shape[0], k))
    first = Z[:, 0] / max(float(np.abs(Z[:, 0]).max()), 1e-300)
    more = np.stack([first ** (2 + j) for j in range(k)], axis=1)
    more = (more - more.mean(axis=0)) * (0.1 * Z[:, 0].std() / np.maximum(more.std(axis=0), 1e-300))
    return np.hstack([Z, more])[:, :k]

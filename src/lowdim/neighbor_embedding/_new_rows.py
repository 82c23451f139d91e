"""New rows in a map that stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime import threads
from lowdim.neighbor_embedding._affinity import as_graph, weights

compiled: Any = _native  # a compiled module has no types to check

PERPLEXITY = 5.0  # a new row is held by few fitted ones, so that it goes to one of their groups and not between them
EXAGGERATION = 1.5
STEPS = 100
EXACT = 1000  # fitted rows up to which all of them push
TREE_DIMS = 3
ON = 0.1  # of the distance to the last neighbour: nearer to a fitted row than that, a new row is drawn to its place


def n_near(n: int) -> int:
    """How many fitted rows a new one is compared with."""
    return min(n, int(3 * PERPLEXITY))


def by_stored(G: Any, k: int, owner: str, placed: Callable[[Any, int], np.ndarray]) -> np.ndarray:
    """Places of rows of a sparse graph by as many neighbours as each stores, up to k."""
    counts = np.minimum(np.diff(G.indptr), k)
    if not counts.all():
        lost = int(np.argmin(counts))
        raise ValueError(f"{owner}: row {lost} of X stores no distance to a fitted row, so it has no place.")
    groups = [np.flatnonzero(counts == count) for count in np.unique(counts)]
    Z = np.concatenate([placed(G[rows], int(counts[rows[0]])) for rows in groups])
    return Z[np.argsort(np.concatenate(groups))]


def place(found: Neighbors, fitted: np.ndarray, *, theta: float, dof: float, n_jobs: int | None) -> np.ndarray:
    """Where the affinities of each new row to its neighbours want it, the fitted rows fixed.

    It starts at the mean of their places and minimises its own divergence. A row that equals a fitted one is that row,
    and lies on its place: within a tenth of the distance to the last neighbour, the place goes over continuously from
    what the affinities say to an interpolation of the fitted places.
    """
    k = found.indices.shape[1]
    P = weights(as_graph(found, len(fitted)), perplexity=min(PERPLEXITY, max(1.0, k - 1.0)), n_jobs=n_jobs)
    p, places = P.data.reshape(-1, k), fitted[found.indices]
    Z = np.einsum("ij,ijc->ic", p, places)
    if fitted.shape[1] <= TREE_DIMS:
        settings = (0.0 if len(fitted) <= EXACT else theta, dof, EXAGGERATION, STEPS, threads.n_threads(n_jobs))
        compiled.place_rows(np.ascontiguousarray(fitted), found.indices, p, *settings, Z)
    else:
        with threads.single_blas():
            Z = np.stack([_settled(*row, fitted, dof) for row in zip(Z, p, places, strict=True)])
    on, share = on_fitted(found.distances.astype(np.float64), places)
    return Z + share[:, None] * (on - Z)


def _settled(z: np.ndarray, p: np.ndarray, near: np.ndarray, fitted: np.ndarray, dof: float) -> np.ndarray:
    """One row in more dimensions than the compiled loop has: the same steps."""
    for _ in range(STEPS):
        pull = EXAGGERATION * p / (1 + np.square(near - z).sum(axis=1) / dof)
        q = 1 / (1 + np.square(z - fitted).sum(axis=1) / dof)
        w = q ** ((dof + 1) / 2)
        move = (pull @ (near - z) + (w * q) @ (z - fitted) / w.sum()) / max(pull.sum(), 1e-300)
        length = float(np.linalg.norm(move))
        z = z + move / max(length, 1.0)
        if length < 1e-5:
            break
    return z


def on_fitted(distances: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shepard's interpolation of the places within reach, and how much it counts."""
    reach = np.maximum(ON * distances[:, -1:], 1e-300)
    closeness = np.maximum(0.0, 1.0 - distances / reach)
    with np.errstate(divide="ignore"):
        weight = np.square(closeness * (reach / distances))
    equal = distances <= 1e-9 * reach
    weight = np.where(equal.any(axis=1, keepdims=True), equal, weight)
    sums = weight.sum(axis=1)
    on = np.einsum("ij,ijc->ic", weight / np.maximum(sums, 1e-300)[:, None], places)
    return on, np.square(closeness[:, 0])

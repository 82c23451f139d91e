"""Coordinates of new rows in a map that stays as it is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core import params
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.places.on_fields import by_affinities, by_memberships
from lowdim._core.manifold.neighborhood import Neighborhood
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding._affinity import as_graph, weights
from lowdim.neighbor_embedding._umap_descent import Forces

PERPLEXITY = 7.0  # of a new row in t-SNE: few neighbours, so that it joins one of their groups and is not between them
NEAR = 15  # fitted rows that a new one is compared with, or three times another perplexity
EXAGGERATION = 1.5
STEPS, UMAP_STEPS = 100, 50
EXACT = 1000  # fitted rows up to which t-SNE sums the repulsion over all of them
TREE_DIMS, GRID_DIMS = 3, 2
ROWS_AT_ONCE = (2048, 2**18)  # on the CPU and on a GPU
REPELLING = 2000  # fitted rows that repel a new one in UMAP
ON = 0.1  # of the distance to the last neighbour: nearer to a fitted row than that, a new row is drawn to its point

NO_ROWS = (
    "TSNE: transform needs the rows of X, or distances; this model was fitted on p_ij alone (affinity='precomputed'). "
    "Fit on rows, or with metric='precomputed', instead."
)


class PlacesRows:
    """A part of estimators that place new rows on a GPU: many at once, as the push of the fitted ones is found once."""

    _stays: tuple[str, ...] = ("fit", "fit_transform", "transform")
    device: str

    @property
    def _block_rows(self) -> int:
        return ROWS_AT_ONCE[devices.find(self.device, type(self).__name__) is not None]


Groups = list[tuple[np.ndarray, Neighbors]]


def n_near(n: int, perplexity: tuple[float, ...] = (PERPLEXITY,)) -> int:
    """How many fitted rows a new one is compared with in t-SNE."""
    return min(n, NEAR if perplexity == (PERPLEXITY,) else max(NEAR, int(np.ceil(3 * max(perplexity)))))


def check_perplexity(perplexity: Any, n: int, owner: str) -> tuple[float, ...]:
    """The perplexities of new rows among n fitted ones; None is the default."""
    if perplexity is None:
        return (PERPLEXITY,)
    values = tuple(perplexity) if isinstance(perplexity, (list, tuple)) else (perplexity,)
    if not values or not all(params.real(1).accepts(value) and value <= n - 1 for value in values):
        raise ValueError(
            f"{owner}: perplexity must be None, a number from 1 to the number of fitted rows less 1, {n - 1}, or a "
            f"list of such; got {perplexity!r}."
        )
    return tuple(float(value) for value in values)


def neighbors_of_new(neighborhood: Neighborhood, rows: Any, X: Any, k: int) -> Groups:
    """The k nearest fitted rows of each new row: (numbers of new rows, their neighbours), in one group.

    In a sparse graph each row has as many neighbours as it stores, up to k; rows with equally many are a group.
    """
    if not (sparse.issparse(X) and rows is None):
        return [(np.arange(X.shape[0]), neighborhood.nearest(rows, k, X))]
    counts = np.minimum(np.diff(X.indptr), k)
    if not counts.all():
        raise ValueError(
            f"{neighborhood.owner}: row {int(np.argmin(counts))} of X stores no distance to a fitted row, so it cannot "
            "be transformed."
        )
    groups = [np.flatnonzero(counts == count) for count in np.unique(counts)]
    return [(new, neighborhood.nearest(None, int(counts[new[0]]), X[new])) for new in groups]


def place_by_affinities(
    groups: Groups,
    fitted: np.ndarray,
    *,
    theta: float,
    dof: float,
    n_jobs: int | None,
    perplexity: tuple[float, ...] = (PERPLEXITY,),
    device: Device | None = None,
) -> np.ndarray:
    """New rows in t-SNE: each minimises its own divergence from the median of its neighbours' points, these fixed.

    The mean lies between groups where a neighbour or two are elsewhere, and the descent ends in the wrong one: on four
    tables, rows keep 0.002 to 0.006 fewer of their ten neighbours.

    A row that equals a fitted one has its point: within a tenth of the distance to the last neighbour, the coordinates
    change continuously from this minimum to an interpolation of the fitted points.
    """
    out = np.empty((sum(len(new) for new, _ in groups), fitted.shape[1]))
    for new, found in groups:
        k = found.indices.shape[1]
        most = [min(value, max(1.0, k - 1.0)) for value in perplexity]
        if device is not None and fitted.shape[1] <= GRID_DIMS and len(fitted) > EXACT:
            how: dict[str, Any] = {"perplexity": most, "dof": dof, "exaggeration": EXAGGERATION, "steps": STEPS}
            placed = partial(by_affinities, fitted=fitted, near=found.indices, distances=found.distances, **how)
            out[new] = _drawn_to_fitted(devices.run(device, placed, "TSNE"), found, fitted[found.indices])
            continue
        P = weights(as_graph(found, len(fitted)), perplexity=most, n_jobs=n_jobs)
        p, near = P.data.reshape(-1, k), fitted[found.indices]
        Z = _weighted_median(near, p)
        if fitted.shape[1] <= TREE_DIMS:
            settings = (0.0 if len(fitted) <= EXACT else theta, dof, EXAGGERATION, STEPS, threads.n_threads(n_jobs))
            _native.place_rows(np.ascontiguousarray(fitted), found.indices, p, *settings, Z)
        else:
            with threads.single_blas():
                Z = np.stack([_minimised(*row, fitted, dof) for row in zip(Z, p, near, strict=True)])
        out[new] = _drawn_to_fitted(Z, found, near)
    return out


def _weighted_median(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of each coordinate: the least value below which half of the weight is. Points are (m, k, dims)."""
    order = np.argsort(points, axis=1, kind="stable")
    below = np.take_along_axis(np.broadcast_to(weights[:, :, None], points.shape), order, axis=1).cumsum(axis=1)
    middle = (below >= 0.5 * below[:, -1:]).argmax(axis=1)[:, None]
    return np.ascontiguousarray(np.take_along_axis(np.take_along_axis(points, order, axis=1), middle, axis=1)[:, 0])


def _minimised(z: np.ndarray, p: np.ndarray, near: np.ndarray, fitted: np.ndarray, dof: float) -> np.ndarray:
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


def place_by_memberships(
    groups: Groups, memberships: list[np.ndarray], fitted: np.ndarray, forces: Forces, n_jobs: int | None,
    device: Device | None = None,
) -> np.ndarray:  # fmt: skip
    """New rows in UMAP: attraction to the neighbours and repulsion from the fitted rows balance, these fixed.

    The iteration starts at the mean of the neighbours' points. A row that equals a fitted one has its point.
    """
    n, out = len(fitted), np.empty((sum(len(new) for new, _ in groups), fitted.shape[1]))
    repelling = fitted if n <= REPELLING else fitted[np.sort(generator(0).permutation(n)[:REPELLING])]
    settings = (*forces.arguments, UMAP_STEPS, threads.n_threads(n_jobs))
    for (new, found), w in zip(groups, memberships, strict=True):
        near = fitted[found.indices]
        Z = np.einsum("ij,ijc->ic", w / w.sum(axis=1, keepdims=True), near)
        if device is not None:
            settled = partial(by_memberships, start=Z, places=(fitted, repelling), near=found.indices, weights=w)
            Z = devices.run(device, partial(settled, forces=forces.arguments, steps=UMAP_STEPS), "UMAP")
            out[new] = _drawn_to_fitted(Z, found, near)
            continue
        _native.settle_rows(fitted, np.ascontiguousarray(repelling), found.indices, w, *settings, Z)
        out[new] = _drawn_to_fitted(Z, found, near)
    return out


def _drawn_to_fitted(Z: np.ndarray, found: Neighbors, near: np.ndarray) -> np.ndarray:
    """Z, mixed with Shepard's interpolation of the fitted points where a new row is close to a fitted one."""
    distances = found.distances.astype(np.float64)
    reach = np.maximum(ON * distances[:, -1:], 1e-300)
    closeness = np.maximum(0.0, 1.0 - distances / reach)
    with np.errstate(divide="ignore"):
        weight = np.square(closeness * (reach / distances))
    equal = distances <= 1e-9 * reach
    weight = np.where(equal.any(axis=1, keepdims=True), equal, weight)
    sums = weight.sum(axis=1)
    interpolated = np.einsum("ij,ijc->ic", weight / np.maximum(sums, 1e-300)[:, None], near)
    return Z + np.square(closeness[:, 0])[:, None] * (interpolated - Z)

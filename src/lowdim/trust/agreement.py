"""How far the neighbourhoods of each row in the map agree with those in the data, and which neighbours are false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim._core.distances import check_metric, comparable, real_array
from lowdim._core.distances.labelled import labelled
from lowdim._core.neighbors import Neighbors, nearest
from lowdim._core.ranks.reference import Reference, reference_of
from lowdim._core.runtime.threads import blocks
from lowdim.quality.row_curves import RowCurves, row_curves

Array = NDArray[Any]

SAMPLED = 1000  # rows whose distances give the radius of a row's surroundings
FAR = 0.1  # a neighbour is false where it is not even among this share of the rows that are nearest in the data
_ROWS = 64


@dataclass(frozen=True)
class Compared:
    """How rows of data are compared with those of a map: the metric, the reference and the threads."""

    metric: Any = "euclidean"
    reference: str = "ambient"
    graph_neighbors: int = 10
    n_jobs: int | None = None
    owner: str = "trust"

    def source(self, X: Any) -> Reference:
        """The distances of the data."""
        return reference_of(
            X, metric=self.metric, reference=self.reference, graph_neighbors=self.graph_neighbors, n_jobs=self.n_jobs,
            owner=self.owner,
        )  # fmt: skip

    def table(self, X: Any) -> Any:
        """X as an array, whatever held it, so that rows can be taken; sparse rows and tables of categories stay."""
        named = self.metric if isinstance(self.metric, str) else None
        if sparse.issparse(X) or named == "gower":
            return X
        return real_array(labelled(X, self.owner)[0] if named == "precomputed" else X, f"{self.owner}: X")

    def curves(self, X: Any, maps: dict[str, Array], rng: np.random.Generator) -> dict[str, RowCurves]:
        """The R_NX curve of every row, for several maps of the same rows."""
        rows, inside = comparable(X, check_metric(self.metric, self.owner), self.owner)
        return row_curves(rows, self.source(X), maps, metric=inside, rng=rng, n_jobs=self.n_jobs, owner=self.owner)

    def neighbours(self, X: Any, k: int) -> Neighbors:
        """The k nearest rows of every row in the data, and how far they are."""
        if self.reference == "geodesic":
            return _nearest_by_blocks(self.source(X), k)
        rows, inside = comparable(X, check_metric(self.metric, self.owner), self.owner)
        return nearest(rows, k, metric=inside, n_jobs=self.n_jobs, approximate=None, owner=self.owner)


def isolation(near: Neighbors) -> Array:
    """How far a row is from its nearest rows, beside how far these are from theirs: about 1, more for a row apart."""
    distance = np.asarray(near.distances, float).mean(axis=1)
    usual = np.median(distance[near.indices], axis=1)
    return np.where(usual > 0, distance / np.where(usual > 0, usual, 1.0), np.where(distance > 0, np.inf, 1.0))


def less_apart(near_data: Neighbors, near_map: Neighbors) -> Array:
    """By how much a row is more isolated in the data than in the map; 1 where it lies on others in both."""
    high, low = isolation(near_data), isolation(near_map)
    alike = (high == low) | ~np.isfinite(low)
    return np.where(alike, 1.0, high / np.where(alike | (low <= 0), np.finfo(float).tiny, low))


def far_pairs(space: Reference, near: Array, rng: np.random.Generator) -> Array:
    """Which of the rows listed in `near` are far in `space`: not among the nearest tenth of all rows."""
    n = space.n
    sample = np.sort(rng.choice(n, size=min(n, SAMPLED), replace=False))
    far = np.empty(near.shape, bool)
    for part in blocks(n, _ROWS):
        rows = np.arange(n)[part]
        listed, places = np.unique(near[part], return_inverse=True)
        found = _distances(space, rows, np.union1d(sample, listed))
        all_columns = np.union1d(sample, listed)
        reach = _reach(found[:, np.searchsorted(all_columns, sample)], rows, sample)
        at = np.searchsorted(all_columns, listed)[places.reshape(near[part].shape)]
        far[part] = np.take_along_axis(found, at, axis=1) > reach[:, None]
    return far


def _distances(space: Reference, rows: Array, columns: Array) -> Array:
    if space.columns is not None:
        return np.asarray(space.columns(rows, columns))
    return np.asarray(space.block(rows, True))[:, columns]


def _reach(distances: Array, rows: Array, sample: Array) -> Array:
    """The distance within which a tenth of the sampled rows lie, the row itself left out."""
    distances = np.where(rows[:, None] == sample, np.inf, distances)
    at = max(0, round(FAR * (len(sample) - 1)) - 1)
    return np.partition(distances, at, axis=1)[:, at]


def _nearest_by_blocks(space: Reference, k: int) -> Neighbors:
    found, distances = np.empty((space.n, k), np.int64), np.empty((space.n, k))
    for part in blocks(space.n, _ROWS):
        rows = np.arange(space.n)[part]
        D = np.array(space.block(rows, True), dtype=float)
        D[np.arange(len(rows)), rows] = np.inf
        found[part] = np.argsort(D, axis=1, kind="stable")[:, :k]
        distances[part] = np.take_along_axis(D, found[part], axis=1)
    return Neighbors(found, distances)

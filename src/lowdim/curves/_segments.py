"""k segments (Verbeek, Vlassis and Kröse): principal axes of clusters of rows, joined to one path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim import _native
from lowdim._core.iterate import Callback, wants_stop
from lowdim._core.runtime import threads
from lowdim._core.spectrum.singular import svd
from lowdim.curves._polyline import Polyline

Array = np.ndarray

REACH = 1.5  # standard deviations of a segment to both sides of its middle
LEAST = 3  # rows that a new segment must be nearest to
MOST = 40  # segments, where their number is not given
PATIENCE = 4  # further segments tried without a better path
CANDIDATES = 300  # rows that a new segment may start from
REFITS = 20
SMALL = 100  # columns, up to which the covariance of a cluster is decomposed
ANGLE = 0.3  # of the mean segment's length: the cost of a turn of one radian between two segments


@dataclass(frozen=True, eq=False)
class Path:
    """A curve of joined segments and its objective: ln length + (d - 1)/2 ln D² (smaller is better)."""

    curve: Polyline
    objective: float
    squared: float  # mean squared distance


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths of 1, 2, ... segments, and whether the callback stopped before the last."""

    found: list[Path]
    stopped: bool = False

    def best(self, n_segments: int | None) -> Path:
        """The last path where a number was asked for, else the one of the smallest objective."""
        return self.found[-1] if n_segments is not None else min(self.found, key=lambda path: path.objective)


def k_segments(
    X: Array, n_segments: int | None, closed: bool, n_jobs: int | None, callback: Callback | None = None
) -> Paths:
    """Paths of 1, 2, ... segments; up to `n_segments`, or until the objective has not decreased for some numbers.

    The objective is minus the mean log-likelihood of rows distributed uniformly along the curve with Gaussian noise
    across it, at the best noise variance.
    """
    most = max(1, min(n_segments or MOST, len(X) // LEAST))
    paths: list[Path] = []
    with threads.single_blas():
        segments = _Segments.of(np.ascontiguousarray(X), n_jobs)
        for k in range(1, most + 1):
            if k > 1 and not segments.grown():
                break
            paths.append(_path(X, segments.ends, closed and k > 1, n_jobs))
            if callback is not None and wants_stop(callback(k, paths[-1].squared, paths[-1].curve.vertices)):
                return Paths(paths, stopped=True)
            if n_segments is None and (_is_stale(paths) or paths[-1].squared == 0):
                break
    return Paths(paths)


def _is_stale(paths: list[Path]) -> bool:
    objectives = [path.objective for path in paths]
    return len(paths) - 1 - int(np.argmin(objectives)) >= PATIENCE


@dataclass(eq=False)
class _Segments:
    """Segments, the nearest one of each row with its squared distance, and the clusters they are the axes of."""

    X: Array
    ends: Array  # (k, 2, d)
    home: Array
    squared: Array
    fitted: Array
    n_jobs: int | None

    @classmethod
    def of(cls, X: Array, n_jobs: int | None) -> _Segments:
        """One segment for all rows."""
        none = np.full(len(X), -1, dtype=np.int64)
        found = cls(X, _axes([X]), none, np.empty(len(X)), np.zeros_like(none), n_jobs)
        found._assign(np.ones(1, dtype=bool))
        return found

    def grown(self) -> bool:
        """Add a segment and refit all of them; False where no cluster of rows justifies one."""
        rows = self._new_cluster()
        if rows is None:
            return False
        self.ends = np.concatenate([self.ends, _axes([self.X[rows]])])
        moved = np.zeros(len(self.ends), dtype=bool)
        moved[-1] = True
        for _ in range(REFITS):
            self._assign(moved)
            strangers = self.home != self.fitted
            if strangers.sum() <= len(self.X) // 2000:
                break
            moved = np.isin(np.arange(len(self.ends)), [self.home[strangers], self.fitted[strangers]])
            moved[moved] = np.isin(np.flatnonzero(moved), self.home)
            self.ends[moved] = _axes([self.X[self.home == j] for j in np.flatnonzero(moved)])
            self.fitted = self.home.copy()
        return True

    def _assign(self, moved: Array) -> None:
        ends = self.ends.reshape(-1, self.X.shape[1])
        flags, cores = moved.astype(np.uint8), threads.n_threads(self.n_jobs)
        _native.nearest_segments(self.X, ends, flags, self.home, self.squared, cores)

    def _new_cluster(self) -> Array | None:
        """The rows nearer to one of the rows than to the curve, for the row that lowers the distances most."""
        X, squared = self.X, self.squared
        order = np.argsort(squared, kind="stable")
        candidates = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), CANDIDATES)).astype(int))]
        gains, counts = np.empty(len(candidates)), np.empty(len(candidates), dtype=np.int64)
        _native.segment_gains(X, squared, candidates, gains, counts, threads.n_threads(self.n_jobs))
        gains[counts < LEAST] = -np.inf
        if not np.isfinite(gains).any():
            return None
        return np.square(X - X[candidates[gains.argmax()]]).sum(axis=1) < squared


def _axes(clusters: list[Array]) -> Array:
    """The principal axes of clusters of rows, REACH standard deviations to both sides: (clusters, 2, d)."""
    means = np.stack([rows.mean(axis=0) for rows in clusters])
    if means.shape[1] <= SMALL:
        centred = [rows - mean for rows, mean in zip(clusters, means, strict=True)]
        values, vectors = np.linalg.eigh(np.stack([rows.T @ rows / len(rows) for rows in centred]))
        half = np.sqrt(np.maximum(values[:, -1], 0.0))[:, None] * vectors[:, :, -1]
    else:
        half = np.stack([_long_axis(rows, mean) for rows, mean in zip(clusters, means, strict=True)])
    return np.stack([means - REACH * half, means + REACH * half], axis=1)


def _long_axis(rows: Array, mean: Array) -> Array:
    if len(rows) < 2:
        return np.zeros_like(mean)
    found = svd(rows, 1, center=mean, owner="PrincipalCurve")
    return found.values[0] / np.sqrt(len(rows)) * found.Vt[0]


def _path(X: Array, ends: Array, closed: bool, n_jobs: int | None) -> Path:
    order = _improved(_joined(_costs(ends)), _costs(ends), closed)
    curve = Polyline(np.concatenate([ends[j][::-1] if turned else ends[j] for j, turned in order]), closed)
    squared = float(curve.project(X, n_jobs).squared.mean())
    length, total = float(curve.lengths[-1]), float(X.var(axis=0).sum())
    if not squared > 1e-20 * total or not length > 0:
        return Path(curve, -np.inf, 0.0)
    return Path(curve, np.log(length) + 0.5 * max(X.shape[1] - 1, 1) * np.log(squared), squared)


def _costs(ends: Array) -> Array:
    """Cost of a link between ends: its length and the turns at both; end 2j + 1 is the last of segment j."""
    points = ends.reshape(-1, ends.shape[2])
    out = np.stack([ends[:, 0] - ends[:, 1], ends[:, 1] - ends[:, 0]], axis=1).reshape(points.shape)
    size = np.sqrt(np.square(out).sum(axis=1))
    out = out / np.where(size > 0, size, 1.0)[:, None]
    link = points[None] - points[:, None]
    length = np.sqrt(np.square(link).sum(axis=2))
    way = link / np.where(length > 0, length, 1.0)[..., None]
    leave = np.arccos(np.clip(np.einsum("ik,ijk->ij", out, way), -1.0, 1.0))
    return length + ANGLE * size.mean() * (leave + leave.T)


def _joined(costs: Array) -> list[tuple[int, bool]]:
    """Segments in order, each with whether it is reversed: greedily, the cheapest links that form one path."""
    n = len(costs)
    other, path, links = np.arange(n) ^ 1, np.arange(n) // 2, np.full(n, -1)
    first, second = np.triu_indices(n, 1)
    for i in np.argsort(costs[first, second], kind="stable"):
        a, b = int(first[i]), int(second[i])
        if links[a] < 0 and links[b] < 0 and path[a] != path[b]:
            links[a], links[b] = b, a
            path[path == path[b]] = path[a]
    end = int(np.flatnonzero(links < 0)[0])
    order = []
    while True:
        order.append((end // 2, bool(end % 2)))
        leaving = links[other[end]]
        if leaving < 0:
            return order
        end = int(leaving)


def _improved(order: list[tuple[int, bool]], costs: Array, closed: bool) -> list[tuple[int, bool]]:
    """Sub-paths are reversed as long as that lowers the cost (2-opt)."""
    arrive = np.array([2 * j + turned for j, turned in order])
    if not closed:  # an extra segment with links of cost 0 closes the path
        n = len(costs)
        costs = np.pad(costs, (0, 2))
        arrive = np.append(arrive, n)
    for _ in range(10 * len(arrive)):
        leave = arrive ^ 1
        before, after = np.roll(leave, 1), np.roll(arrive, -1)
        gain = costs[before, arrive][:, None] + costs[leave, after] - costs[before][:, leave] - costs[arrive][:, after]
        gain = np.triu(gain[:-1, :-1])  # the last stays where it is
        i, j = np.unravel_index(gain.argmax(), gain.shape) if gain.size else (0, 0)
        if not gain.size or gain[i, j] <= 1e-9 * costs.max():
            break
        arrive[i : j + 1] = leave[i : j + 1][::-1]
    return [(int(a) // 2, bool(a % 2)) for a in (arrive if closed else arrive[:-1])]

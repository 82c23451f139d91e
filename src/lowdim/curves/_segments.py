"""k segments (Verbeek, Vlassis and Kröse): short principal axes of parts of the rows, joined to one path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core import threads
from lowdim._core.polyline import Polyline
from lowdim._core.singular import svd

Array = np.ndarray

REACH = 1.5  # standard deviations of a segment to both sides of its middle
LEAST = 3  # rows a new segment must win
MOST = 40  # segments, where their number is not given
PATIENCE = 4  # further segments tried without a better path
CANDIDATES = 300  # rows that a new segment may start from
REFITS = 20
SMALL = 100  # columns, up to which the covariance of a part is decomposed
ANGLE = 0.3  # of the mean segment's length: what a turn of one radian between two segments costs


@dataclass(frozen=True, eq=False)
class Path:
    """A curve of joined segments and what the model says of it: ln length + (d - 1)/2 ln D² (smaller is better)."""

    curve: Polyline
    objective: float
    squared: float  # mean squared distance


def k_segments(X: Array, n_segments: int | None, closed: bool, n_jobs: int | None) -> list[Path]:
    """Paths of 1, 2, ... segments; up to `n_segments`, or until no better one has come for a while.

    The objective is minus the mean log-likelihood of rows spread evenly along the curve with Gaussian noise across it,
    at the noise that fits best.
    """
    most = max(1, min(n_segments or MOST, len(X) // LEAST))
    ends = _axis(X)[None]
    paths: list[Path] = []
    with threads.single_blas():
        for k in range(1, most + 1):
            if k > 1:
                new = _insert(X, _squared(X, ends).min(axis=1))
                if new is None:
                    break
                ends = _settled(X, np.concatenate([ends, new[None]]))
            paths.append(_path(X, ends, closed and len(ends) > 1, n_jobs))
            if n_segments is None and (_is_stale(paths) or paths[-1].squared == 0):
                break
    return paths


def best(paths: list[Path], n_segments: int | None) -> Path:
    """The last path where a number was asked for, else the one of the smallest objective."""
    return paths[-1] if n_segments is not None else min(paths, key=lambda path: path.objective)


def _is_stale(paths: list[Path]) -> bool:
    objectives = [path.objective for path in paths]
    return len(paths) - 1 - int(np.argmin(objectives)) >= PATIENCE


def _axis(rows: Array) -> Array:
    """The principal axis of some rows, REACH standard deviations to both sides: (2, d)."""
    mean = rows.mean(axis=0)
    if len(rows) < 2:
        return np.stack([mean, mean])
    if rows.shape[1] <= SMALL:
        values, vectors = np.linalg.eigh((rows - mean).T @ (rows - mean))
        half = REACH * np.sqrt(max(values[-1], 0.0) / len(rows)) * vectors[:, -1]
    else:
        found = svd(rows, 1, center=mean, owner="PrincipalCurve")
        half = REACH * found.values[0] / np.sqrt(len(rows)) * found.Vt[0]
    return np.stack([mean - half, mean + half])


def _squared(X: Array, ends: Array) -> Array:
    """Squared distances of rows to segments."""
    out = np.empty((len(X), len(ends)))
    for j, (a, b) in enumerate(ends):
        u = b - a
        length = float(u @ u)
        t = np.clip((X - a) @ u / length, 0.0, 1.0) if length > 0 else np.zeros(len(X))
        out[:, j] = np.square(X - a - t[:, None] * u).sum(axis=1)
    return out


def _insert(X: Array, squared: Array) -> Array | None:
    """A segment through the rows that are nearer to some row than to the curve: that row which gains most."""
    order = np.argsort(squared, kind="stable")
    candidates = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), CANDIDATES)).astype(int))]
    norms = np.square(X).sum(axis=1)
    gains = np.empty(len(candidates))
    for block in threads.blocks(len(candidates), max(1, 2**20 // len(X))):
        q = candidates[block]
        saved = (squared - norms)[:, None] - norms[q] + 2.0 * (X @ X[q].T)
        np.maximum(saved, 0.0, out=saved)
        gains[block] = np.where((saved > 0).sum(axis=0) >= LEAST, saved.sum(axis=0), -np.inf)
    if not np.isfinite(gains).any():
        return None
    return _axis(X[np.square(X - X[candidates[gains.argmax()]]).sum(axis=1) < squared])


def _settled(X: Array, ends: Array) -> Array:
    """Each segment the axis of the rows nearest to it, until hardly a row changes."""
    before = None
    for _ in range(REFITS):
        home = _squared(X, ends).argmin(axis=1)
        if before is not None and (home != before).sum() <= len(X) // 2000:
            break
        before = home
        ends = np.stack([_axis(X[home == j]) if (home == j).any() else ends[j] for j in range(len(ends))])
    return ends


def _path(X: Array, ends: Array, closed: bool, n_jobs: int | None) -> Path:
    order = _improved(_joined(_costs(ends)), _costs(ends), closed)
    curve = Polyline(np.concatenate([ends[j][::-1] if turned else ends[j] for j, turned in order]), closed)
    squared = float(curve.project(X, n_jobs).squared.mean())
    length, total = float(curve.lengths[-1]), float(X.var(axis=0).sum())
    if not squared > 1e-20 * total or not length > 0:
        return Path(curve, -np.inf, 0.0)
    return Path(curve, np.log(length) + 0.5 * max(X.shape[1] - 1, 1) * np.log(squared), squared)


def _costs(ends: Array) -> Array:
    """Cost of a link between ends: its length and the turns at both; end 2j + 1 is where segment j leads to."""
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
    """Segments in order, each with whether it is run through backwards: the cheapest links that leave one path."""
    n = len(costs)
    other, part, links = np.arange(n) ^ 1, np.arange(n) // 2, np.full(n, -1)
    first, second = np.triu_indices(n, 1)
    for i in np.argsort(costs[first, second], kind="stable"):
        a, b = int(first[i]), int(second[i])
        if links[a] < 0 and links[b] < 0 and part[a] != part[b]:
            links[a], links[b] = b, a
            part[part == part[b]] = part[a]
    end = int(np.flatnonzero(links < 0)[0])
    order = []
    while True:
        order.append((end // 2, bool(end % 2)))
        leaving = links[other[end]]
        if leaving < 0:
            return order
        end = int(leaving)


def _improved(order: list[tuple[int, bool]], costs: Array, closed: bool) -> list[tuple[int, bool]]:
    """Runs turned round as long as that is cheaper (2-opt)."""
    arrive = np.array([2 * j + turned for j, turned in order])
    if not closed:  # a last segment that costs nothing to reach: a path is a ring through it
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

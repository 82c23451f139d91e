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
CANDIDATES = 1000  # rows that a new segment may start from
REFITS = 20
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
    gain, won = -np.inf, None
    for q in candidates:
        saved = squared - np.square(X - X[q]).sum(axis=1)
        mine = saved > 0
        total = float(saved[mine].sum())
        if total > gain and mine.sum() >= LEAST:
            gain, won = total, mine
    return None if won is None else _axis(X[won])


def _settled(X: Array, ends: Array) -> Array:
    """Each segment the axis of the rows nearest to it, until no row changes."""
    before = None
    for _ in range(REFITS):
        home = _squared(X, ends).argmin(axis=1)
        if before is not None and (home == before).all():
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

    def total(path: list[tuple[int, bool]]) -> float:
        arrive = [2 * j + turned for j, turned in path]
        leave = [a ^ 1 for a in arrive]
        links = float(costs[leave[:-1], arrive[1:]].sum())
        return links + float(costs[leave[-1], arrive[0]]) if closed else links

    now, better = total(order), True
    while better:
        better = False
        for i in range(len(order)):
            for j in range(i + 1, len(order) + 1):
                turned = [(s, not t) for s, t in reversed(order[i:j])]
                trial = order[:i] + turned + order[j:]
                cost = total(trial)
                if cost < now * (1 - 1e-9):
                    order, now, better = trial, cost, True
    return order

"""Polygonal lines (Kégl, Krzyżak, Linder and Zeger): few vertices, moved to lower distances and sharp turns together."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lowdim._core import threads
from lowdim._core.iterate import Progress
from lowdim._core.polyline import Polyline

Array = np.ndarray

TURNS = 0.13  # weight of the penalty on turns, and
VERTICES = 0.3  # number of segments, both in units that grow with n^(1/3) r / sqrt(D²)
MOST = 60  # segments, where their number is not given
STEPS = 60  # of the optimiser after each new vertex


def polygonal_line(
    X: Array, start: Polyline, n_segments: int | None, n_jobs: int | None, verbose: int | bool
) -> tuple[Polyline, list[float]]:
    """The curve, and D² after each number of segments.

    Minimises D² + w/m (sum over inner vertices of r² (1 + cos of the angle) + squared lengths of the end segments); a
    new vertex goes to the middle of the segment that most rows are nearest to.
    """
    center = start.vertices.mean(axis=0)
    radius = float(np.sqrt(np.nanmax(np.nansum(np.square(X - center), axis=1))))
    rows, curve = (X - center) / radius, Polyline((start.vertices - center) / radius, start.closed)
    losses: list[float] = []
    with threads.single_blas(), Progress("PrincipalCurve: vertices", None, verbose) as progress:
        while True:
            curve, squared = _settled(rows, curve, n_jobs)
            losses.append(squared * radius**2)
            progress.advance()
            k = len(curve.chain) - 1
            if k >= _most(len(X), squared, n_segments):
                break
            curve = _split(rows, curve, n_jobs)
    return Polyline(curve.vertices * radius + center, curve.closed), losses


def _most(n: int, squared: float, n_segments: int | None) -> int:
    """How many segments n rows at this distance can tell apart."""
    if n_segments is not None:
        return n_segments
    return int(min(MOST, max(n - 1, 1), VERTICES * n ** (1 / 3) / np.sqrt(max(squared, 1e-12))))


def _settled(X: Array, curve: Polyline, n_jobs: int | None) -> tuple[Polyline, float]:
    squared = float(curve.project(X, n_jobs).squared.mean())
    if squared < 1e-20:
        return curve, 0.0
    shape, closed = curve.vertices.shape, curve.closed
    weight = TURNS * (len(curve.chain) - 1) * len(X) ** (-1 / 3) * np.sqrt(squared)

    def criterion(flat: Array) -> tuple[float, Array]:
        V = flat.reshape(shape)
        distance, first = _distance(X, Polyline(V, closed), n_jobs)
        turns, second = _turns(V, closed)
        return distance + weight * turns, (first + weight * second).ravel()

    found = minimize(criterion, curve.vertices.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    curve = Polyline(found.x.reshape(shape), closed)
    return curve, float(curve.project(X, n_jobs).squared.mean())


def _distance(X: Array, curve: Polyline, n_jobs: int | None) -> tuple[float, Array]:
    """D² and its gradient: a row pulls both ends of its segment, and where it projects does not matter to first order."""
    found, m, n = curve.project(X, n_jobs), len(curve.vertices), len(X)
    gaps = X - curve.points(found)
    gaps[np.isnan(gaps)] = 0.0
    places = np.concatenate([found.segments, (found.segments + 1) % m])
    shares = np.concatenate([1.0 - found.shares, found.shares])
    pull = csr_array((shares, (places, np.tile(np.arange(n), 2))), shape=(m, n))
    return float(found.squared.mean()), (-2.0 / n) * (pull @ gaps)


def _turns(V: Array, closed: bool) -> tuple[float, Array]:
    """The penalty for rows within a unit ball, and its gradient."""
    m = len(V)
    gradient, total = np.zeros_like(V), 0.0
    inner = np.arange(m) if closed else np.arange(1, m - 1)
    left, right = (inner - 1) % m, (inner + 1) % m
    a, b = V[left] - V[inner], V[right] - V[inner]
    aa, bb = (np.maximum((p * p).sum(axis=1), 1e-30) for p in (a, b))
    ab = (a * b).sum(axis=1)
    product = np.sqrt(aa * bb)
    cosine = ab / product
    da = b / product[:, None] - (cosine / aa)[:, None] * a
    db = a / product[:, None] - (cosine / bb)[:, None] * b
    total += float((1.0 + cosine).sum())
    np.add.at(gradient, left, da)
    np.add.at(gradient, right, db)
    np.add.at(gradient, inner, -(da + db))
    if not closed:
        for i, j in ((0, 1), (m - 1, m - 2)):
            gap = V[i] - V[j]
            total += float(gap @ gap)
            gradient[i] += 2.0 * gap
            gradient[j] -= 2.0 * gap
    return total / m, gradient / m


def _split(X: Array, curve: Polyline, n_jobs: int | None) -> Polyline:
    """A vertex in the middle of the busiest segment; the longest of them where several are."""
    chain, lengths = curve.chain, curve.lengths
    rows = np.bincount(curve.project(X, n_jobs).segments, minlength=len(chain) - 1)
    busiest = np.lexsort((np.diff(lengths), rows))[-1]
    middle = 0.5 * (chain[busiest] + chain[busiest + 1])
    return Polyline(np.insert(curve.vertices, busiest + 1, middle, axis=0), curve.closed)

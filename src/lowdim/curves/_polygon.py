"""Polygonal lines (Kégl, Krzyżak, Linder and Zeger): few vertices that minimise distances and a penalty on turns."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lowdim._core.iterate import Callback, Progress, wants_stop
from lowdim._core.runtime import threads
from lowdim.curves._polyline import Fit, Polyline, Projection

Array = np.ndarray

TURNS = 0.13  # weight of the penalty on turns, and
VERTICES = 0.3  # number of segments, both in units that grow with n^(1/3) r / sqrt(D²)
MOST = 60  # segments, where their number is not given
STEPS = 30  # of the optimiser in a pass
PASSES = 50
ROUGH, FINE = 1e-3, 1e-6  # changes of the criterion to stop at, while vertices are added and at the end


def polygonal_line(
    X: Array,
    start: Polyline,
    n_segments: int | None,
    *,
    callback: Callback | None,
    n_jobs: int | None,
    verbose: int | bool,
) -> Fit:
    """The curve, with D² after each number of segments.

    Minimises D² + w/m (sum over inner vertices of r² (1 + cos of the angle) + squared lengths of the end segments); a
    new vertex is the middle of the segment that most rows are nearest to.
    """
    center = start.vertices.mean(axis=0)
    radius = float(np.sqrt(np.nanmax(np.nansum(np.square(X - center), axis=1))))
    rows, curve = (X - center) / radius, Polyline((start.vertices - center) / radius, start.closed)
    losses: list[float] = []
    with threads.single_blas(), Progress("PrincipalCurve: vertices", None, verbose) as progress:
        while True:
            curve, squared = _minimised(rows, curve, n_jobs, ROUGH)
            losses.append(squared * radius**2)
            progress.advance()
            vertices = curve.vertices * radius + center
            if callback is not None and wants_stop(callback(len(losses), losses[-1], vertices)):
                return Fit(Polyline(vertices, curve.closed), np.array(losses), len(losses), False)
            if len(curve.chain) - 1 >= _most(len(X), squared, n_segments):
                break
            curve = _split(rows, curve, n_jobs)
        curve, squared = _minimised(rows, curve, n_jobs, FINE)
        losses.append(squared * radius**2)
    return Fit(Polyline(curve.vertices * radius + center, curve.closed), np.array(losses), len(losses), True)


def _most(n: int, squared: float, n_segments: int | None) -> int:
    """How many segments n rows at this distance from the curve justify."""
    if n_segments is not None:
        return n_segments
    return int(min(MOST, max(n - 1, 1), VERTICES * n ** (1 / 3) / np.sqrt(max(squared, 1e-12))))


def _minimised(X: Array, curve: Polyline, n_jobs: int | None, tol: float) -> tuple[Polyline, float]:
    """Alternate: the best vertices for fixed projections of the rows, then new projections, until little changes.

    A new projection is never farther from its row than the old one, so the criterion never rises.
    """
    squared = float(curve.project(X, n_jobs).squared.mean())
    weight = TURNS * (len(curve.chain) - 1) * len(X) ** (-1 / 3) * np.sqrt(squared)
    before = np.inf
    for _ in range(PASSES):
        found = curve.project(X, n_jobs)
        squared = float(found.squared.mean())
        now = squared + weight * _turns(curve.vertices, curve.closed)[0]
        if squared < 1e-20 or before - now <= tol * now:
            break
        before = now
        curve = _moved(X, curve, found, weight)
    return curve, squared


def _moved(X: Array, curve: Polyline, found: Projection, weight: float) -> Polyline:
    """The minimum over the vertices for fixed projections; distances are a quadratic form, computed once."""
    shape, closed, n = curve.vertices.shape, curve.closed, len(X)
    gaps = X - curve.points(found)
    gaps[np.isnan(gaps)] = 0.0  # a missing cell has no residual
    ends = np.stack([found.segments, (found.segments + 1) % len(curve.vertices)])
    shares = np.stack([1.0 - found.shares, found.shares])
    W = csr_array((shares.ravel(), (np.tile(np.arange(n), 2), ends.ravel())), shape=(n, shape[0]))
    A, pull = (W.T @ W).toarray() / n, (W.T @ gaps) / n

    def criterion(flat: Array) -> tuple[float, Array]:
        step = flat.reshape(shape)
        turns, slope = _turns(curve.vertices + step, closed)
        push = A @ step
        value = float((step * (push - 2.0 * pull)).sum()) + weight * turns
        return value, (2.0 * (push - pull) + weight * slope).ravel()

    options = {"maxiter": STEPS, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-10}
    best = minimize(criterion, np.zeros(curve.vertices.size), jac=True, method="L-BFGS-B", options=options)
    return Polyline(curve.vertices + best.x.reshape(shape), closed)


def _turns(V: Array, closed: bool) -> tuple[float, Array]:
    """The penalty for rows within a unit ball, and its gradient."""
    m = len(V)
    gradient = np.zeros_like(V)
    inner = np.arange(m) if closed else np.arange(1, m - 1)
    left, right = (inner - 1) % m, (inner + 1) % m
    a, b = V[left] - V[inner], V[right] - V[inner]
    aa, bb = (np.maximum((p * p).sum(axis=1), 1e-30) for p in (a, b))
    ab = (a * b).sum(axis=1)
    product = np.sqrt(aa * bb)
    cosine = ab / product
    da = b / product[:, None] - (cosine / aa)[:, None] * a
    db = a / product[:, None] - (cosine / bb)[:, None] * b
    total = float((1.0 + cosine).sum())
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
    """A new vertex in the middle of the segment with most rows; of the longest one where several have as many."""
    chain, lengths = curve.chain, curve.lengths
    rows = np.bincount(curve.project(X, n_jobs).segments, minlength=len(chain) - 1)
    fullest = np.lexsort((np.diff(lengths), rows))[-1]
    middle = 0.5 * (chain[fullest] + chain[fullest + 1])
    return Polyline(np.insert(curve.vertices, fullest + 1, middle, axis=0), curve.closed)

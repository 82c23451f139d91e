"""Stress of a configuration and the step that lowers it: majorisation (SMACOF), in one pass over the pairs.

The stress sum w (delta - d)^2 lies below a quadratic function that touches it at the present configuration; its
minimum is the Guttman transform Z + V^+ F, with the forces F_i = sum_j w (delta / d - 1)(z_i - z_j), minus half the
gradient, and V the Laplacian of the weights. Pairs i < j are in one vector, in the order of scipy's `pdist`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lowdim import _native
from lowdim._core.runtime import threads

Array = np.ndarray

DENSE_UP_TO = 2000  # rows for which the Laplacian of the weights is factorised; beyond, conjugate gradients


def n_pairs(n: int) -> int:
    """How many pairs n rows make."""
    return n * (n - 1) // 2


def pair_start(i: int, n: int) -> int:
    """Index of the first pair of row i with later rows."""
    return i * (2 * n - i - 1) // 2


def condensed(block: Callable[[slice], Array], n: int, dtype: Any, n_jobs: int | None = None) -> Array:
    """All pairs from ``block(rows)``, which gives some rows against themselves and all later ones."""
    out = np.empty(n_pairs(n), dtype)

    def fill(rows: slice) -> None:
        part = block(rows)
        for i in range(rows.start, rows.stop):
            at = pair_start(i, n)
            out[at : at + n - 1 - i] = part[i - rows.start, i - rows.start + 1 :]

    threads.map_rows(fill, n, max(1, min(256, 2**22 // n)), n_jobs)
    return out


@dataclass(frozen=True, eq=False)
class Pairs:
    """Dissimilarities of all pairs i < j, and their weights (None: all 1; 0: the pair is unknown)."""

    n: int
    delta: Array
    weights: Array | None

    @property
    def no_weights(self) -> Array:
        """What the compiled code takes for weights that are all 1."""
        return np.empty(0, self.delta.dtype)

    def total(self, values: Array | None = None) -> float:
        """The weighted sum of squares of values; the sum of the weights where no values are given."""
        w = self.weights
        if values is None:
            return float(len(self.delta)) if w is None else float(w.sum(dtype=np.float64))
        if w is None:
            return float(np.einsum("i,i->", values, values, dtype=np.float64))
        return float(np.einsum("i,i,i->", values, values, w, dtype=np.float64))

    def stress(self, Z: Array, delta: Array | None = None, n_jobs: int | None = None) -> tuple[float, Array]:
        """sum w (delta - d)^2 and the forces F on the points; other dissimilarities may be given."""
        force = np.empty(Z.shape)
        delta = self.delta if delta is None else delta
        w = self.no_weights if self.weights is None else self.weights
        return _native.stress_pass(delta, w, Z, force, threads.n_threads(n_jobs)), force

    def spread(self, Z: Array, n_jobs: int | None = None) -> float:
        """sum w d^2."""
        if self.weights is None:
            return max(self.n * float(np.square(Z).sum()) - float(np.square(Z.sum(axis=0)).sum()), 0.0)
        nothing = np.zeros(self.delta.shape, self.delta.dtype)  # unlike zeros_like, takes no memory until written
        return self.stress(Z, nothing, n_jobs)[0]

    def distances(self, Z: Array, n_jobs: int | None = None, out: Array | None = None) -> Array:
        """Distances of all pairs."""
        out = np.empty_like(self.delta) if out is None else out
        _native.pair_distances(Z, out, threads.n_threads(n_jobs))
        return out

    def detail(self, Z: Array, delta: Array | None = None, n_jobs: int | None = None) -> tuple[Array, Array]:
        """The stress of each point's pairs, and the diagonal of half the Hessian."""
        stress, curvature = np.empty(self.n), np.empty(Z.shape)
        w = self.no_weights if self.weights is None else self.weights
        delta = self.delta if delta is None else delta
        _native.stress_detail(delta, w, Z, stress, curvature, threads.n_threads(n_jobs))
        return stress, curvature

    def row(self, vector: Array, i: int) -> Array:
        """The values of row i with every other row, from a vector of pairs; 0 for itself."""
        out = np.zeros(self.n, vector.dtype)
        before = np.arange(i)
        out[:i] = vector[before * (2 * self.n - before - 1) // 2 + i - before - 1]
        at = pair_start(i, self.n)
        out[i + 1 :] = vector[at : at + self.n - 1 - i]
        return out


def apart(delta: Array, power: float) -> Array:
    """Whether the weight 1 / delta**power is in range; if not, delta counts as 0.

    The largest delta is around 1, and so is its weight; next to a weight beyond 2**53 it is lost in rounding.
    """
    return np.asarray(delta > 2.0 ** (-53 / power))


def reached(n: int, linked: Callable[[int], Array]) -> Array:
    """Which of n rows are connected to the first one; ``linked(i)`` marks the rows that row i is joined to."""
    seen = np.zeros(n, bool)
    seen[0] = True
    queue = [0]
    while queue and not seen.all():
        fresh = linked(queue.pop()) & ~seen
        seen |= fresh
        queue.extend(np.flatnonzero(fresh))
    return seen


def laplacian_solver(pairs: Pairs, n_jobs: int | None = None) -> Callable[[Array], Array]:
    """F -> V^+ F for forces, which add up to 0; V is the Laplacian of the weights."""
    n, w = pairs.n, pairs.weights
    if w is None:
        return lambda F: F / n
    if n <= DENSE_UP_TO:
        V = np.array([-pairs.row(w, i) for i in range(n)], dtype=np.float64)
        np.fill_diagonal(V, -V.sum(axis=1))
        V += np.trace(V) / n**2  # along the constant vector, where V is 0 and forces are too
        with suppress(LinAlgError):  # weights of very different size; conjugate gradients then
            factors = cho_factor(V, overwrite_a=True, check_finite=False)
            return lambda F: cho_solve(factors, F, check_finite=False)
    nothing = np.zeros(pairs.delta.shape, pairs.delta.dtype)
    degree = sum_of_weights(pairs)[:, None]

    def product(x: Array) -> Array:
        return -pairs.stress(x, nothing, n_jobs)[1]

    return lambda F: _conjugate_gradients(product, F, degree)


def sum_of_weights(pairs: Pairs) -> Array:
    """The sum of the weights of each row's pairs."""
    if pairs.weights is None:
        return np.full(pairs.n, pairs.n - 1.0)
    return np.array([pairs.row(pairs.weights, i).sum(dtype=np.float64) for i in range(pairs.n)])


def _conjugate_gradients(product: Callable[[Array], Array], F: Array, degree: Array, steps: int = 50) -> Array:
    """V^+ F to 1e-6 of |F|, all columns at once, preconditioned by the degrees."""
    x, residual = np.zeros_like(F), F.copy()
    direction = fine = residual / degree
    size = np.einsum("ij,ij->j", residual, fine)
    enough = 1e-12 * size
    for _ in range(steps):
        if (size <= enough).all():
            break
        bent = product(np.ascontiguousarray(direction))
        along = np.einsum("ij,ij->j", direction, bent)
        step = np.divide(size, along, out=np.zeros_like(size), where=along > 0)
        x += step * direction
        residual -= step * bent
        fine = residual / degree
        before, size = size, np.einsum("ij,ij->j", residual, fine)
        direction = fine + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    return x - x.mean(axis=0)

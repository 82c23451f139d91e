"""Monotone functions fitted by least squares: isotonic regression, lines and splines that never decrease.

A fitted function is a record that is called with new values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import _native

Array = np.ndarray

TIES = ("primary", "secondary", "tertiary")


@dataclass(frozen=True, eq=False)
class StepFunction:
    """Linear between nodes, constant beyond the last one and linear to 0 before the first."""

    nodes: Array
    values: Array

    def __call__(self, x: Array) -> Array:
        return np.interp(x, np.append(0.0, self.nodes), np.append(0.0, self.values))


@dataclass(frozen=True, eq=False)
class Line:
    """value = intercept + slope x."""

    intercept: float
    slope: float

    def __call__(self, x: Array) -> Array:
        return self.intercept + self.slope * x


@dataclass(frozen=True, eq=False)
class MonotoneSpline:
    """A sum of integrated splines with non-negative weights; constant beyond its knots, linear to 0 before."""

    knots: Array
    coefficients: Array
    degree: int

    def __call__(self, x: Array) -> Array:
        from scipy.interpolate import BSpline  # slow to import, and only for splines

        low, high = float(self.knots[0]), float(self.knots[-1])
        # Integrated splines are sums of B-splines from one index on, so their weights are sums up to it.
        curve = BSpline(self.knots, np.cumsum(self.coefficients), self.degree)
        return curve(np.clip(x, low, high)) * (np.minimum(x / low, 1.0) if low > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Order:
    """Positions sorted by a value, and the runs of positions whose values tie."""

    order: Array
    ties: Array

    @classmethod
    def of(cls, values: Array, weights: Array | None = None) -> Order:
        """The positions of positive weight, sorted by their values; ties keep their order."""
        order = np.argsort(values, kind="stable")
        order = order if weights is None else order[weights[order] > 0]
        same = np.diff(values[order]) == 0
        edges = np.diff(np.concatenate([[False], same, [False]]).astype(np.int8))
        ties = np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) + 1])
        places = np.uint32 if len(values) <= 2**32 else np.uint64
        return cls(order.astype(places), np.ascontiguousarray(ties, dtype=np.int64))

    def ranks(self, dtype: Any) -> Array:
        """1, 2, ... along the order; ties get their mean rank."""
        ranks = np.arange(1, len(self.order) + 1, dtype=dtype)
        first, end = self.ties.T
        count = end - first
        tied = np.repeat(end - np.cumsum(count), count) + np.arange(count.sum())
        ranks[tied] = np.repeat((first + 1 + end) / 2, count)
        return ranks

    def regress(
        self, y: Array, weights: Array | None = None, ties: str = "primary", *, overwrite: bool = False
    ) -> Array:
        """The monotone values nearest to `y`, written over it if allowed; positions not in the order keep their values.

        Ties: under "primary" tied values may become different, under "secondary" they stay equal, under "tertiary" only
        their means are monotone.
        """
        fit = y if overwrite else y.copy()
        w = np.empty(0, y.dtype) if weights is None else weights
        _native.monotone(y, w, self.order, self.ties, TIES.index(ties), fit)
        return fit

    def function(self, values: Array, fit: Array) -> StepFunction:
        """The fit as a function of the values, the mean for ties. Of constant stretches only the ends are kept."""
        x, y = values[self.order].astype(np.float64), fit[self.order].astype(np.float64)
        first = np.flatnonzero(np.append(True, np.diff(x) > 0))
        count = np.diff(np.append(first, len(x)))
        x, y = x[first], np.maximum.accumulate(np.add.reduceat(y, first) / count)
        bends = (
            np.append(True, np.append((y[1:-1] != y[:-2]) | (y[1:-1] != y[2:]), True)) if len(x) > 2 else slice(None)
        )
        return StepFunction(x[bends], y[bends])


def regression_line(x: Array, y: Array, weights: Array | None) -> Line:
    """Weighted least squares with a non-negative slope."""
    w = np.ones(len(x)) if weights is None else weights.astype(np.float64)
    total = float(w.sum())
    middle, level = float(w @ x) / total, float(w @ y) / total
    gap = x.astype(np.float64) - middle
    spread = float((w * gap) @ gap)
    slope = max(float((w * gap) @ (y - level)) / spread, 0.0) if spread > 0 else 0.0
    return Line(level - slope * middle, slope)


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """B-splines at fixed values; their sums from one index on are the integrated splines, which rise from 0 to 1."""

    knots: Array
    degree: int
    design: Any  # sparse (m, k)
    gram: Array
    weights: Array | None

    @classmethod
    def of(cls, x: Array, weights: Array | None, *, n_knots: int = 2, degree: int = 2) -> SplineBasis:
        """Inner knots at quantiles of the different values."""
        from scipy.interpolate import BSpline

        x = x.astype(np.float64)
        seen = np.unique(x if weights is None else x[weights > 0])
        low, high = float(seen[0]), float(seen[-1])
        if low == high:  # a single value, but a spline needs an interval
            high = low + max(abs(low), 1.0)
        inner = np.quantile(seen, np.arange(1, n_knots + 1) / (n_knots + 1))
        inner = inner[(inner > low) & (inner < high)]
        knots = np.concatenate([[low] * (degree + 1), inner, [high] * (degree + 1)])
        design = BSpline.design_matrix(np.clip(x, low, high), knots, degree)
        heavy = design if weights is None else design.multiply(weights[:, None].astype(np.float64)).tocsr()
        gram = np.asarray((heavy.T @ design).todense())
        return cls(knots, degree, design, _tails(_tails(gram).T), weights)

    def regress(self, y: Array) -> MonotoneSpline:
        """The nearest sum with non-negative weights."""
        y = y.astype(np.float64) if self.weights is None else y.astype(np.float64) * self.weights
        return MonotoneSpline(self.knots, _nonnegative(self.gram, _tails(self.design.T @ y)), self.degree)

    def values(self, curve: MonotoneSpline) -> Array:
        """The curve at the values of the basis."""
        return self.design @ np.cumsum(curve.coefficients)


def _tails(A: Array) -> Array:
    """Sums from each row on."""
    return np.cumsum(A[::-1], axis=0)[::-1]


def _nonnegative(gram: Array, moments: Array) -> Array:
    """Minimise b'Gb - 2 c'b over b >= 0."""
    from scipy.optimize import nnls

    scale = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    good = values > 1e-13 * values[-1]
    root = np.sqrt(values[good])[:, None] * vectors[:, good].T
    target = (vectors[:, good].T @ (moments / scale)) / np.sqrt(values[good])
    return nnls(root, target)[0] / scale

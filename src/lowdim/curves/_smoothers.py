"""Smooth functions of a parameter through the columns of a table, with cells missing here and there.

A smoother is called with parameters t, values Y and the places `at` where it is wanted; `period` joins both ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.interpolate import BSpline
from scipy.optimize import brentq

Array = np.ndarray

MOST_KNOTS = 100  # a smooth curve needs far fewer; their number bounds the cost of a step
RIDGE = 1e-9  # of the mean diagonal: where no row is, the penalty alone decides
PLACES = 200  # where local lines are fitted; straight pieces join them


@dataclass(frozen=True)
class Spline:
    """Cubic smoothing spline with `df` degrees of freedom: the trace of the matrix that leads values to fits.

    Minimises |y - f(t)|² + penalty times the integral of f''², over splines with a hundred knots or so at quantiles of t.
    Two degrees of freedom are a straight line.
    """

    df: float

    def __call__(self, t: Array, Y: Array, at: Array, period: float | None = None) -> Array:
        low, high = (t.min(), t.max()) if period is None else (0.0, period)
        if not high > low:
            return np.broadcast_to(np.nanmean(Y, axis=0), (len(at), Y.shape[1])).copy()
        u, v = (t - low) / (high - low), (at - low) / (high - low)
        distinct = np.unique(np.round(u, 6))
        if period is None and (self.df <= 2 or len(distinct) < 5):
            return _lines(u, Y, v)
        n_knots = int(min(len(distinct) - 2, max(MOST_KNOTS, 4 * self.df)))
        basis = _Basis.periodic(max(4, n_knots)) if period is not None else _Basis.at_quantiles(distinct, n_knots)
        return basis.values(self._coefficients(basis, u, Y), v)

    def _coefficients(self, basis: _Basis, u: Array, Y: Array) -> Array:
        B, bending = basis.design(u), basis.bending()
        G = (B.T @ B).toarray()
        G[np.diag_indices(len(G))] += RIDGE * np.trace(G) / len(G)
        roughness, vectors = sla.eigh(bending, G)
        roughness = np.maximum(roughness, 0.0)
        penalty = _penalty(roughness, self.df)
        if not np.isnan(Y).any():
            return (vectors / (1.0 + penalty * roughness)) @ (vectors.T @ (B.T @ Y))
        return np.column_stack([_column(B, y, penalty * bending, G) for y in Y.T])


def _column(B: Array, y: Array, penalty: Array, G: Array) -> Array:
    """Coefficients of a column from the rows that have it."""
    seen = ~np.isnan(y)
    own = B[seen]
    A = (own.T @ own).toarray() + penalty
    A[np.diag_indices(len(A))] += RIDGE * np.trace(G) / len(G)
    return sla.solve(A, own.T @ y[seen], assume_a="pos")


def _penalty(roughness: Array, df: float) -> float:
    """The weight of the bending energy that leaves `df` degrees of freedom."""
    scale = 1.0 / max(roughness[-1], np.finfo(float).tiny)

    def excess(log_penalty: float) -> float:
        return float((1.0 / (1.0 + np.exp(log_penalty) * scale * roughness)).sum()) - df

    lowest, highest = -30.0, 90.0
    if excess(lowest) <= 0:
        return 0.0
    if excess(highest) >= 0:
        return float(np.exp(highest) * scale)
    return float(np.exp(brentq(excess, lowest, highest, xtol=1e-10)) * scale)


def _lines(u: Array, Y: Array, v: Array) -> Array:
    """Least-squares lines, column by column."""
    out = np.empty((len(v), Y.shape[1]))
    for j, y in enumerate(Y.T):
        seen = ~np.isnan(y)
        x, z = u[seen], y[seen]
        spread = float(np.square(x - x.mean()).sum())
        slope = float((x - x.mean()) @ (z - z.mean())) / spread if spread > 0 else 0.0
        out[:, j] = z.mean() + slope * (v - x.mean())
    return out


@dataclass(frozen=True, eq=False)
class _Basis:
    """Cubic B-splines on [0, 1]; `fold` joins those that are one function on a circle."""

    knots: Array
    fold: Array  # B-splines x coefficients
    closed: bool

    @classmethod
    def at_quantiles(cls, places: Array, n_knots: int) -> _Basis:
        inner = np.quantile(places, np.linspace(0.0, 1.0, max(2, n_knots)))
        inner[0], inner[-1] = 0.0, 1.0
        knots = np.concatenate([np.zeros(3), inner, np.ones(3)])
        return cls(knots, np.eye(len(knots) - 4), False)

    @classmethod
    def periodic(cls, n_knots: int) -> _Basis:
        knots = np.arange(-3, n_knots + 4) / n_knots
        return cls(knots, np.eye(n_knots)[np.arange(n_knots + 3) % n_knots], True)

    def design(self, u: Array) -> Array:
        """Rows of basis functions at u, sparse."""
        from scipy.sparse import csr_array

        B = BSpline.design_matrix(np.clip(u, 0.0, 1.0), self.knots, 3)
        return csr_array(B) @ csr_array(self.fold) if self.closed else csr_array(B)

    def bending(self) -> Array:
        """Integrals of products of second derivatives, exact by two Gauss points between knots."""
        breaks = self.knots[3:-3]
        half, middle = np.diff(breaks) / 2, (breaks[1:] + breaks[:-1]) / 2
        points = np.concatenate([middle - half / np.sqrt(3.0), middle + half / np.sqrt(3.0)])
        second = BSpline(self.knots, self.fold, 3).derivative(2)(points)
        return second.T @ (np.concatenate([half, half])[:, None] * second)

    def values(self, coefficients: Array, v: Array) -> Array:
        """The spline at v; beyond the ends of an open one the straight lines it leaves with."""
        spline = BSpline(self.knots, self.fold @ coefficients, 3)
        if self.closed:
            return spline(np.mod(v, 1.0))
        inside = np.clip(v, 0.0, 1.0)
        out, beyond = spline(inside), v != inside
        if beyond.any():
            out[beyond] += (v - inside)[beyond, None] * spline.derivative()(inside[beyond])
        return out


@dataclass(frozen=True)
class Lowess:
    """Local lines over the nearest `span` of the rows, with weights (1 - (distance / reach)³)³.

    No row is weighted down for being far off: a principal curve runs through means.
    """

    span: float

    def __call__(self, t: Array, Y: Array, at: Array, period: float | None = None) -> Array:
        order = np.argsort(t, kind="stable")
        t, Y = t[order], Y[order]
        if period is not None:
            t, Y = np.concatenate([t - period, t, t + period]), np.concatenate([Y, Y, Y])
        n = len(order)
        places = np.unique(at if len(at) <= PLACES else np.quantile(at, np.linspace(0, 1, PLACES)))
        k = min(len(t), max(2, int(np.ceil(self.span * n))))
        fits = np.array([_local_line(t, Y, place, k) for place in places])
        return np.column_stack([np.interp(at, places, column) for column in fits.T])


def _local_line(t: Array, Y: Array, place: float, k: int) -> Array:
    """The value at `place` of the line through the k nearest rows."""
    left = _window(t, place, k)
    x, y = t[left : left + k] - place, Y[left : left + k]
    reach = max(-x[0], x[-1])
    w = (1.0 - np.minimum(np.abs(x) / (reach * (1 + 1e-9)), 1.0) ** 3) ** 3 if reach > 0 else np.ones(k)
    seen = ~np.isnan(y)
    W, y = w[:, None] * seen, np.where(seen, y, 0.0)
    total, first, second = W.sum(axis=0), x @ W, (x * x) @ W
    mean = (W * y).sum(axis=0) / np.where(total > 0, total, 1.0)
    at = first / np.where(total > 0, total, 1.0)
    spread = second - total * at * at
    slope = ((x[:, None] - at) * W * y).sum(axis=0) / np.where(spread > 0, spread, 1.0)
    usable = spread > 1e-9 * reach * reach * total  # else all rows are at one place, and the line has any slope
    return np.where(usable, mean - slope * at, mean)


def _window(t: Array, place: float, k: int) -> int:
    """Where the k nearest of sorted t begin."""
    low, high = 0, len(t) - k
    while low < high:
        middle = (low + high) // 2
        if place - t[middle] > t[middle + k] - place:
            low = middle + 1
        else:
            high = middle
    return low


Smoother = Callable[[Array, Array, Array, float | None], Array]

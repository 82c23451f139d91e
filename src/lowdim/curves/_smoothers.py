"""Smooth functions of a parameter fitted to the columns of a table, of which cells may be missing.

A smoother is called with parameters t, values Y and the parameters `at` at which it is evaluated; with `period` the
function is periodic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.interpolate import BSpline
from scipy.optimize import brentq

Array = np.ndarray

KNOTS = 40  # at least: the penalty determines smoothness, not their number (100 changed a fit by < 1e-3 of its spread)
LEAST = 1e-10  # penalty so small that it only decides between curves that fit equally well
TRIED = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 18.0, 22.0, 27.0, 33.0)  # degrees of freedom
GROUPS = 2000  # of consecutive rows; far narrower than the span of a local line
EVALUATED = 200  # parameters at which local lines are fitted, with linear interpolation between


@dataclass(frozen=True)
class Spline:
    """Cubic smoothing spline with `df` degrees of freedom: the trace of the smoother matrix.

    Minimises |y - f(t)|² + penalty times the integral of f''², over splines with many even knots. Two degrees of
    freedom are a straight line.
    """

    df: float

    def __call__(self, t: Array, Y: Array, at: Array, period: float | None = None) -> Array:
        low, high = (t.min(), t.max()) if period is None else (0.0, period)
        if not high > low:
            return np.broadcast_to(np.nanmean(Y, axis=0), (len(at), Y.shape[1])).copy()
        u, v = (t - low) / (high - low), (at - low) / (high - low)
        n_distinct = len(np.unique(u))
        if period is None and (self.df <= 2 or n_distinct < 4):
            return _lines(u, Y, v)
        basis = _Basis.of(max(KNOTS, int(4 * self.df)), period is not None)
        return basis.values(self._coefficients(basis, u, Y, n_distinct), v)

    def _coefficients(self, basis: _Basis, u: Array, Y: Array, n_distinct: int) -> Array:
        """Penalised least squares with `df` degrees of freedom, in the generalised eigenvectors of fit and bending.

        G v = m (G + s bending) v: m is 1 along straight lines, and 0 where no row is.
        """
        B, bending = basis.design(u), basis.bending()
        G = (B.T @ B).toarray()
        s = np.trace(G) / np.trace(bending)
        m, axes = sla.eigh(G, G + s * bending)
        m = np.clip(m, 0.0, 1.0)
        penalty = s * _penalty(m, min(self.df, n_distinct))
        if not np.isnan(Y).any():
            return (axes / (m + (penalty / s) * (1.0 - m))) @ (axes.T @ (B.T @ Y))
        return np.column_stack([_column(B, y, penalty * bending, LEAST * s * bending) for y in Y.T])


def df_by_gcv(t: Array, Y: Array, period: float | None = None) -> float:
    """Degrees of freedom with the least generalised cross-validation, mean square / (1 - df / n)², for given t."""
    tried = [df for df in TRIED if df <= len(t) / 3] or [TRIED[0]]
    squares = [float(np.nanmean((Y - Spline(df)(t, Y, t, period)) ** 2)) / (1 - df / len(t)) ** 2 for df in tried]
    return tried[int(np.argmin(squares))]


def _column(B: Array, y: Array, penalty: Array, least: Array) -> Array:
    """Coefficients of a column from its observed cells."""
    observed = ~np.isnan(y)
    own = B[observed]
    A = (own.T @ own).toarray() + penalty
    if len(np.unique(own.indices)) < 5:  # all rows at one parameter: the penalty does not determine the slope
        A += np.trace(least) / len(least) * np.eye(len(A))
    return sla.solve(A, own.T @ y[observed], assume_a="pos")


def _penalty(m: Array, df: float) -> float:
    """The weight of the bending energy, in units of s, that gives `df` degrees of freedom."""

    def excess(log_penalty: float) -> float:
        return float((m / (m + np.exp(log_penalty) * (1.0 - m))).sum()) - df

    lowest, highest = np.log(LEAST), 60.0
    if excess(lowest) <= 0 or excess(highest) >= 0:
        return float(np.exp(lowest if excess(lowest) <= 0 else highest))
    return float(np.exp(brentq(excess, lowest, highest, xtol=1e-12)))


def _lines(u: Array, Y: Array, v: Array) -> Array:
    """Least-squares lines, column by column."""
    out = np.empty((len(v), Y.shape[1]))
    for j, y in enumerate(Y.T):
        observed = ~np.isnan(y)
        x, z = u[observed], y[observed]
        spread = float(np.square(x - x.mean()).sum())
        slope = float((x - x.mean()) @ (z - z.mean())) / spread if spread > 0 else 0.0
        out[:, j] = z.mean() + slope * (v - x.mean())
    return out


@dataclass(frozen=True, eq=False)
class _Basis:
    """Cubic B-splines on [0, 1]; `fold` adds those that are the same function on a circle."""

    knots: Array
    fold: Array  # B-splines x coefficients
    closed: bool

    @classmethod
    def of(cls, n_knots: int, closed: bool) -> _Basis:
        """Even knots, those of an open spline repeated at its ends."""
        knots = np.arange(-3, n_knots + 4) / n_knots
        if closed:
            return cls(knots, np.eye(n_knots)[np.arange(n_knots + 3) % n_knots], True)
        return cls(np.clip(knots, 0.0, 1.0), np.eye(n_knots + 3), False)

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
        """The spline at v; an open one is continued by straight lines beyond its ends."""
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

    There are no robustness weights: a principal curve passes through means.
    """

    span: float

    def __call__(self, t: Array, Y: Array, at: Array, period: float | None = None) -> Array:
        t, sums, counts = _grouped(t, Y)
        k = max(2, int(np.ceil(self.span * len(t))))
        if period is not None:
            t = np.concatenate([t - period, t, t + period])
            sums, counts = np.tile(sums, (3, 1)), np.tile(counts, (3, 1))
        some = np.unique(at if len(at) <= EVALUATED else np.quantile(at, np.linspace(0, 1, EVALUATED)))
        fits = np.array([_local_line(t, sums, counts, u, min(k, len(t))) for u in some])
        return np.column_stack([np.interp(at, some, column) for column in fits.T])


def _grouped(t: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Rows in the order of t, consecutive ones summed where there are very many: mean t, sums and numbers of cells."""
    order = np.argsort(t, kind="stable")
    t, Y = t[order], Y[order]
    observed = ~np.isnan(Y)
    Y, observed = np.where(observed, Y, 0.0), observed.astype(np.float64)
    if len(t) <= GROUPS:
        return t, Y, observed
    starts = np.linspace(0, len(t), GROUPS, endpoint=False).astype(int)
    size = np.diff(np.append(starts, len(t)))
    return np.add.reduceat(t, starts) / size, np.add.reduceat(Y, starts), np.add.reduceat(observed, starts)


def _local_line(t: Array, sums: Array, counts: Array, u: float, k: int) -> Array:
    """The value at u of the weighted line through the k nearest rows."""
    left = _window(t, u, k)
    near = slice(left, left + k)
    x = t[near] - u
    reach = max(-x[0], x[-1], 0.0)
    w = (1.0 - np.minimum(np.abs(x) / (reach * (1 + 1e-9)), 1.0) ** 3) ** 3 if reach > 0 else np.ones(k)
    total, first, second = (weights @ counts[near] for weights in (w, w * x, w * x * x))
    some = np.where(total > 0, total, 1.0)
    mean, middle = (w @ sums[near]) / some, first / some
    spread = second - total * middle * middle
    usable = (
        spread > 1e-9 * reach * reach * total
    )  # else all rows are at one parameter, and the slope is not determined
    slope = ((w * x) @ sums[near] - middle * (w @ sums[near])) / np.where(usable, spread, 1.0)
    return np.where(usable, mean - slope * middle, mean)


def _window(t: Array, u: float, k: int) -> int:
    """The first of the k values of sorted t nearest to u."""
    low, high = 0, len(t) - k
    while low < high:
        middle = (low + high) // 2
        if u - t[middle] > t[middle + k] - u:
            low = middle + 1
        else:
            high = middle
    return low


Smoother = Callable[[Array, Array, Array, float | None], Array]

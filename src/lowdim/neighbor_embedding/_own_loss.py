"""What one row of a neighbour embedding minimises while all others stay: its value, gradient and Hessian.

t-SNE: L(z) = sum_j 2 p_j c log(1 + s_j / dof) + log(R + 2 F(z)), with s_j = |z - z_j|², c = (dof + 1) / 2 (the factor 2
because each pair counts twice in KL(P || Q)), F the sum of the map's kernel over the other rows, and R that part of the
partition in which the row does not occur. UMAP: L(z) = sum_j w_j log(1 + a s_j^b) - r sum_j log(1 - q_j), with r how
often the row draws each other one as a negative sample: what its descent minimises (Damrich and Hamprecht, 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import fft
from scipy.interpolate import RectBivariateSpline

Array = np.ndarray
Derivatives = tuple[Array, Array, Array]

SOFT = 1e-3  # added to squared distances in UMAP, as its descent does: the push of two points that meet is finite
CHUNK = 2**18  # pairs of points at once
NODES = 700  # of the grid along the longer side of the map, at most
SPACING = 1 / 4  # of the nodes, in widths of the kernel
REACH = 4  # nodes around the map


@dataclass(frozen=True)
class StudentKernel:
    """Of t-SNE, as functions of the squared distance: value, first and second derivative."""

    dof: float
    shared = True  # the repulsion is the log of one partition of all rows

    @property
    def width(self) -> float:
        return float(np.sqrt(self.dof))

    def attract(self, s: Array) -> Derivatives:
        c, q = 0.5 * (self.dof + 1), 1.0 / (self.dof + s)
        return 2 * c * np.log1p(s / self.dof), 2 * c * q, -2 * c * q * q

    def repel(self, s: Array) -> Derivatives:
        c, q = 0.5 * (self.dof + 1), 1.0 / (self.dof + s)
        w = (self.dof * q) ** c
        return w, -c * w * q, c * (c + 1) * w * q * q


@dataclass(frozen=True)
class FuzzyKernel:
    """Of UMAP: log(1 + a s^b) and -log(1 - q) = log(1 + 1 / (a s^b)), with `soft` added to s."""

    a: float
    b: float
    soft: float = SOFT
    shared = False

    @property
    def width(self) -> float:
        return float(self.a ** (-0.5 / self.b))

    def attract(self, s: Array) -> Derivatives:
        t = s + SOFT
        u = self.a * t**self.b
        first = self.b * u / (t * (1 + u))
        return np.log1p(u), first, first * (self.b / (1 + u) - 1) / t

    def repel(self, s: Array) -> Derivatives:
        t = s + self.soft
        u = self.a * t**self.b
        first = -self.b / (t * (1 + u))
        return np.log1p(1 / u), first, -first * (1 + self.b * u / (1 + u)) / t


Kernel = StudentKernel | FuzzyKernel


class ExactField:
    """The sum of the repulsion over all fitted rows, pair by pair; time grows with their number."""

    def __init__(self, kernel: Kernel, Z: Array):
        self.kernel, self.Z = kernel, Z

    def __call__(self, at: Array) -> Derivatives:
        m, r = at.shape
        value, gradient, hessian = np.empty(m), np.empty((m, r)), np.empty((m, r, r))
        step = max(1, CHUNK // len(self.Z))
        for low in range(0, m, step):
            part = slice(low, low + step)
            d = [at[part, c, None] - self.Z[:, c] for c in range(r)]
            f, f1, f2 = self.kernel.repel(sum(x * x for x in d))
            value[part], total = f.sum(axis=1), f1.sum(axis=1)
            for i in range(r):
                gradient[part, i] = 2 * np.einsum("mn,mn->m", f1, d[i])
                scaled = f2 * d[i]
                for j in range(i + 1):
                    entry = 4 * np.einsum("mn,mn->m", scaled, d[j]) + (2 * total if i == j else 0)
                    hessian[part, i, j] = hessian[part, j, i] = entry
        return value, gradient, hessian


class PlaneField:
    """The same sum on the nodes of a grid in the plane, by a convolution, and between them by cubic splines.

    Each row becomes charges on 4 x 4 nodes by cubic interpolation (Linderman et al., 2019); derivatives are those of
    the splines, so that they belong to the values. Errors are below 0.1 % of the sum for t-SNE. UMAP's kernel has a
    peak that nodes do not resolve, which is rounded off: single rows push little where there are thousands.
    """

    def __init__(self, kernel: Kernel, Z: Array):
        span = float(np.ptp(Z, axis=0).max())
        self.h = h = max(SPACING * kernel.width, span / NODES)
        if isinstance(kernel, FuzzyKernel):
            kernel = FuzzyKernel(kernel.a, kernel.b, max(SOFT, h * h))
        self.kernel = kernel
        low = Z.min(axis=0) - REACH * h
        cells = [int(extent / h) + 2 * REACH + 1 for extent in np.ptp(Z, axis=0)]
        charges = _charges((Z - low) / h, cells)
        sizes = [fft.next_fast_len(2 * count, real=True) for count in cells]
        offsets = np.meshgrid(*(h * np.fft.fftfreq(size, 1 / size) for size in sizes), indexing="ij")
        kernel_hat = fft.rfftn(kernel.repel(offsets[0] ** 2 + offsets[1] ** 2)[0])
        values = fft.irfftn(fft.rfftn(charges, s=sizes) * kernel_hat, s=sizes)[: cells[0], : cells[1]]
        self.low, self.high = low, low + h * (np.array(cells) - 1)
        nodes = [low[c] + h * np.arange(cells[c]) for c in range(2)]
        self.spline = RectBivariateSpline(*nodes, values)

    def __call__(self, at: Array) -> Derivatives:
        x, y = np.clip(at, self.low, self.high).T
        value, dx, dy, xx, xy, yy = (
            self.spline.ev(x, y, dx=i, dy=j) for i, j in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        )
        hessian = np.stack([xx, xy, xy, yy], axis=1).reshape(-1, 2, 2)
        return value, np.stack([dx, dy], axis=1), hessian


def _charges(at: Array, cells: list[int]) -> Array:
    """Points in units of the grid as charges on the 16 nodes around each, by cubic interpolation."""
    base = np.floor(at).astype(int)
    t = at - base
    weights = np.stack(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )
    found = np.zeros(cells[0] * cells[1])
    for i in range(4):
        for j in range(4):
            flat = (base[:, 0] + i - 1) * cells[1] + base[:, 1] + j - 1
            found += np.bincount(flat, weights[i, :, 0] * weights[j, :, 1], len(found))
    return found.reshape(cells)


@dataclass(frozen=True, eq=False)
class Problems:
    """Rows that look for their places: which fitted row each is, its weights, and the level of its repulsion.

    `level` is the rest of the partition in t-SNE, and the rate of negative samples in UMAP.
    """

    own: Array
    weights: Any
    level: Array

    def take(self, rows: Array) -> Problems:
        return Problems(self.own[rows], self.weights[rows], self.level[rows])


@dataclass(frozen=True, eq=False)
class OwnLoss:
    """The loss of one row as a function of its place, for many rows at once."""

    kernel: Kernel
    Z: Array
    field: ExactField | PlaneField

    def __call__(self, at: Array, problems: Problems) -> Derivatives:
        value, gradient, hessian = self._attraction(at, problems.weights)
        pushed = self.without_own(at, problems.own)
        level = problems.level
        if not self.kernel.shared:
            parts = (level * pushed[0], level[:, None] * pushed[1], level[:, None, None] * pushed[2])
        else:
            total = np.maximum(level + 2 * pushed[0], np.finfo(float).tiny)
            slope = 2 * pushed[1] / total[:, None]
            parts = (np.log(total), slope, 2 * pushed[2] / total[:, None, None] - slope[:, :, None] * slope[:, None, :])
        return value + parts[0], gradient + parts[1], hessian + parts[2]

    def without_own(self, at: Array, own: Array) -> Derivatives:
        """The sum of the repulsion over the rows except the own one, with derivatives."""
        value, gradient, hessian = self.field(at)
        d = at - self.Z[own]
        f, f1, f2 = self.field.kernel.repel(np.square(d).sum(axis=1))
        gradient = gradient - 2 * f1[:, None] * d
        outer = 4 * f2[:, None, None] * d[:, :, None] * d[:, None, :] + 2 * f1[:, None, None] * np.eye(d.shape[1])
        return value - f, gradient, hessian - outer

    def _attraction(self, at: Array, weights: Any) -> Derivatives:
        m, r = at.shape
        row = np.repeat(np.arange(m), np.diff(weights.indptr))
        d = at[row] - self.Z[weights.indices]
        f, f1, f2 = (weights.data * each for each in self.kernel.attract(np.square(d).sum(axis=1)))
        value, total = np.bincount(row, f, m), np.bincount(row, f1, m)
        gradient = np.stack([2 * np.bincount(row, f1 * d[:, c], m) for c in range(r)], axis=1)
        hessian = np.empty((m, r, r))
        for i in range(r):
            scaled = f2 * d[:, i]
            for j in range(i + 1):
                entry = 4 * np.bincount(row, scaled * d[:, j], m) + (2 * total if i == j else 0)
                hessian[:, i, j] = hessian[:, j, i] = entry
        return value, gradient, hessian


STEPS, STILL = 60, 1e-5  # of the descent; a step shorter than that, in widths of the kernel, is its end
LONGEST = 4.0  # step, in widths of the kernel


def minimised(loss: OwnLoss, start: Array, problems: Problems) -> tuple[Array, Array]:
    """The minimum of each loss that is reached from its start, and its value.

    Newton's method within a radius that shrinks where the loss does not fall; negative curvatures are taken as positive
    ones, so that every step goes down.
    """
    width = loss.kernel.width
    at, (value, gradient, hessian) = start.copy(), loss(start, problems)
    best, radius, active = value.copy(), np.full(len(at), width), np.arange(len(at))
    now, here = problems, at.copy()
    for _ in range(STEPS):
        step = _newton(gradient, hessian)
        length = np.linalg.norm(step, axis=1)
        step *= np.minimum(1, radius / np.maximum(length, 1e-300))[:, None]
        length = np.minimum(length, radius)
        tried = loss(here + step, now)
        lower = tried[0] < value
        here = np.where(lower[:, None], here + step, here)
        value = np.where(lower, tried[0], value)
        gradient = np.where(lower[:, None], tried[1], gradient)
        hessian = np.where(lower[:, None, None], tried[2], hessian)
        radius = np.where(lower, np.minimum(np.maximum(radius, 2 * length), LONGEST * width), length / 4)
        at[active], best[active] = here, value
        left = np.flatnonzero(length > STILL * width)
        if not len(left):
            break
        if len(left) < len(active):
            active, now, here = active[left], now.take(left), here[left]
            value, gradient, hessian, radius = value[left], gradient[left], hessian[left], radius[left]
    return at, best


def _newton(gradient: Array, hessian: Array) -> Array:
    values, vectors = np.linalg.eigh(hessian)
    size = np.abs(values)
    size = np.maximum(size, np.maximum(1e-8 * size.max(axis=1, keepdims=True), 1e-300))
    along = np.einsum("icd,ic->id", vectors, gradient) / size
    return -np.einsum("icd,id->ic", vectors, along)

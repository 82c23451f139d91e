"""New rows of a model that has only a decoder: the code whose decoded row fits the observed cells best.

Each row starts from several of the fitted codes (anchors), far from each other, and minimises its error by Newton steps
with the exact second derivatives; the best minimum is kept. No row depends on the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.latent.networks._levels import Levels, on_circles
from lowdim.latent.networks._network import Layers, Network

Array = np.ndarray
STARTS = 4
STEPS = 100
FAR = 0.25  # of the spread of the fitted codes: starts nearer than that lead to the same minimum
STILL = 1e-13  # of that spread: a smaller step is rounding
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Decoder:
    """A fitted decoder, the penalty on squared codes, and the fitted codes to start from."""

    net: Network
    layers: Layers
    levels: Levels
    circular: bool
    ridge: float
    anchors: Array

    def codes(self, Z: Array) -> Array:
        """What goes into the network."""
        return on_circles(Z) if self.circular else Z

    def rows(self, Z: Array) -> Array:
        """Decoded, with all components."""
        return self.net(self.layers, self.codes(Z))

    def costs(self, Z: Array, X: Array, observed: Array) -> Array:
        """Half the squared error of each row at its code, levels weighted, plus the penalty on the code."""
        C = self.codes(Z)
        cost = 0.5 * self.ridge * np.square(Z).sum(axis=1)
        for weight, mask in zip(*self.levels, strict=True):
            R = (self.net(self.layers, C * mask) - X) * observed
            cost += 0.5 * weight * np.square(R).sum(axis=1)
        return cost

    def costs_at(self, anchors: Array, X: Array, observed: Array) -> Array:
        """The same for every row at every anchor, from inner products."""
        C = self.codes(anchors)
        cost = np.tile(0.5 * self.ridge * np.square(anchors).sum(axis=1), (len(X), 1))
        for weight, mask in zip(*self.levels, strict=True):
            P = self.net(self.layers, C * mask)
            squares = np.square(X).sum(axis=1)[:, None]
            cost += 0.5 * weight * (observed @ np.square(P).T - 2 * (X @ P.T) + squares)
        return cost

    def slopes(self, Z: Array, X: Array, observed: Array) -> tuple[Array, Array]:
        """Gradient and second derivatives of each row's cost."""
        C, (n, k) = self.codes(Z), Z.shape
        J = np.repeat(np.eye(k)[None], n, axis=0)
        if self.circular:
            turn = np.stack([-np.sin(Z), np.cos(Z)], axis=2)
            J = np.einsum("njc,jl->njcl", turn, np.eye(k)).reshape(n, 2 * k, k)
        gradient, H = self.ridge * Z, self.ridge * np.repeat(np.eye(k)[None], n, axis=0)
        for weight, mask in zip(*self.levels, strict=True):
            values = self.net.forward(self.layers, C * mask)
            G = (values[-1] - X) * observed
            by_input, g, h = self.net.curvature(self.layers, values, J * mask[:, None], G, observed)
            gradient, H = gradient + weight * g, H + weight * h
            if self.circular:  # second derivative of a point on the circle
                bend = -((C * mask) * by_input).reshape(n, k, 2).sum(axis=2)
                H = H + weight * np.einsum("nj,jl->njl", bend, np.eye(k))
        return gradient, H


def place(decoder: Decoder, X: Array, observed: Array, start: Array | None = None) -> Array:
    """The codes of scaled rows, in which missing cells are 0; from `start` and the best anchor, or several anchors."""
    minima, costs = _minima(decoder, X, observed, start)
    # Of minima that differ by rounding the first is taken, so that the result does not depend on rounding.
    best = np.argmax(costs <= costs.min(axis=0) * (1 + 1e-9) + 1e-15, axis=0)
    Z = minima[best, np.arange(len(X))]
    return wrapped(Z) if decoder.circular else Z


def wrapped(angles: Array) -> Array:
    """Angles from -pi to pi."""
    return np.mod(angles + np.pi, 2 * np.pi) - np.pi


def expected(decoder: Decoder, X: Array, observed: Array, noise: float) -> Array:
    """Decoded rows, averaged over the codes a row may have.

    The weight of a minimum is the sum of exp(-cost / noise) over the anchors nearest to it: how well the row fits
    there, and how many rows are there. `noise` is the variance of a cell.
    """
    minima, _ = _minima(decoder, X, observed)
    costs = decoder.costs_at(decoder.anchors, X, observed)
    weights = np.exp((costs.min(axis=1, keepdims=True) - costs) / noise)
    apart = np.stack([_apart(decoder, Z, decoder.anchors) for Z in minima])
    home = apart.argmin(axis=0)
    total = weights.sum(axis=1)
    out = np.zeros_like(X)
    for i, Z in enumerate(minima):
        out += ((weights * (home == i)).sum(axis=1) / total)[:, None] * decoder.rows(Z)
    return out


def noise_variance(decoder: Decoder, Z: Array, X: Array, observed: Array, n_parameters: int, known: Array) -> float:
    """Variance of a cell about the fitted surface, plus the error of taking the best other anchor for a code."""
    cells = float(observed.sum())
    noise = 2.0 * float(decoder.costs(Z, X, observed).sum()) / max(cells - n_parameters, 0.1 * cells)
    costs = decoder.costs_at(decoder.anchors, X[known], observed[known])
    own = np.diag(costs).copy()
    np.fill_diagonal(costs, np.inf)
    between = float(np.median(costs.min(axis=1) - own)) if len(own) > 1 else 0.0
    return max(noise + max(between, 0.0), 1e-12)


def _minima(decoder: Decoder, X: Array, observed: Array, start: Array | None = None) -> tuple[Array, Array]:
    """The codes found from several starts, (starts, n, k), and their costs."""
    starts = _initial_codes(decoder, X, observed)
    starts = starts if start is None else [start, starts[0]]
    minima = np.stack([_newton(decoder, Z, X, observed) for Z in starts])
    return minima, np.stack([decoder.costs(Z, X, observed) for Z in minima])


def _apart(decoder: Decoder, A: Array, B: Array) -> Array:
    """Largest difference of a coordinate, of codes A with codes B."""
    apart = np.abs(A[:, None] - B)
    if decoder.circular:
        apart = np.mod(apart, 2 * np.pi)
        apart = np.minimum(apart, 2 * np.pi - apart)
    return apart.max(axis=2)


def best_anchors(decoder: Decoder, Z: Array, X: Array, observed: Array) -> Array:
    """The codes Z, those of rows that fit better at an anchor replaced by the best anchor."""
    costs = decoder.costs_at(decoder.anchors, X, observed)
    best = costs.argmin(axis=1)
    better = costs[np.arange(len(X)), best] < decoder.costs(Z, X, observed)
    return np.where(better[:, None], decoder.anchors[best], Z)


def _spread(decoder: Decoder) -> float:
    return float(np.pi) if decoder.circular else float(np.ptp(decoder.anchors, axis=0).max()) or 1.0


def _initial_codes(decoder: Decoder, X: Array, observed: Array) -> list[Array]:
    """For each row the best anchor, then the best of those far from it, and so on."""
    A = decoder.anchors
    costs = decoder.costs_at(A, X, observed)
    near = _apart(decoder, A, A) < FAR * _spread(decoder)
    starts: list[Array] = []
    for _ in range(STARTS):
        best = costs.argmin(axis=1)
        starts.append(A[best])
        costs = np.where(near[best], np.inf, costs)
        if not np.isfinite(costs).any(axis=1).all():
            break
    return starts


def _newton(decoder: Decoder, Z: Array, X: Array, observed: Array) -> Array:
    """Damped Newton steps, each row with its own damping, until none changes."""
    Z, still = Z.copy(), STILL * _spread(decoder)
    rows, damping, cost = np.arange(len(Z)), np.zeros(len(Z)), decoder.costs(Z, X, observed)
    # The last steps change the cost by less than its rounding error, and the code by a thousand times more.
    slack = ROUNDING * (1 + np.square(X).sum(axis=1))
    for _ in range(STEPS):
        gradient, H = decoder.slopes(Z[rows], X[rows], observed[rows])
        curvatures, axes = np.linalg.eigh(H)
        size = np.abs(curvatures).max(axis=1, keepdims=True) + 1e-12
        strength = np.maximum(np.abs(curvatures), 1e-12 * size) + damping[rows, None] * size
        step = -np.einsum("nij,nj->ni", axes, np.einsum("nij,ni->nj", axes, gradient) / strength)
        tried = Z[rows] + step
        costs = decoder.costs(tried, X[rows], observed[rows])
        better = costs <= cost[rows] + slack[rows]
        Z[rows[better]], cost[rows[better]] = tried[better], costs[better]
        damping[rows] = np.where(better, damping[rows] / 10, np.maximum(10 * damping[rows], 1e-3))
        moving = (np.abs(step).max(axis=1) > still) & (damping[rows] < 1e8)
        rows = rows[moving]
        if not len(rows):
            break
    return Z

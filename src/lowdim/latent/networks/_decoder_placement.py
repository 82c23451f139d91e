"""New rows of a model that has only a decoder: the code whose decoded row fits the observed cells best.

Each row starts from several of the fitted codes, far from each other, and goes downhill by Newton steps with the exact
second derivatives; the best end is kept. Rows do not see each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.latent.networks._levels import Levels, on_circles
from lowdim.latent.networks._network import Layers, Network

Array = np.ndarray
STARTS = 4
STEPS = 100
FAR = 0.25  # of the spread of the fitted codes: starts nearer than that lead to the same end
STILL = 1e-13  # of that spread: a step that is rounding
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Decoder:
    """A fitted decoder, what holds codes back, and the fitted codes to start from."""

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

    def costs(self, Z: Array, X: Array, seen: Array) -> Array:
        """Half the squared error of each row at its code, levels weighted, and what holds the code back."""
        C = self.codes(Z)
        cost = 0.5 * self.ridge * np.square(Z).sum(axis=1)
        for weight, mask in zip(*self.levels, strict=True):
            R = (self.net(self.layers, C * mask) - X) * seen
            cost += 0.5 * weight * np.square(R).sum(axis=1)
        return cost

    def costs_at(self, anchors: Array, X: Array, seen: Array) -> Array:
        """The same for every row at every anchor, from inner products."""
        C = self.codes(anchors)
        cost = np.tile(0.5 * self.ridge * np.square(anchors).sum(axis=1), (len(X), 1))
        for weight, mask in zip(*self.levels, strict=True):
            P = self.net(self.layers, C * mask)
            squares = np.square(X).sum(axis=1)[:, None]
            cost += 0.5 * weight * (seen @ np.square(P).T - 2 * (X @ P.T) + squares)
        return cost

    def slopes(self, Z: Array, X: Array, seen: Array) -> tuple[Array, Array]:
        """Gradient and second derivatives of each row's cost."""
        C, (n, k) = self.codes(Z), Z.shape
        J = np.repeat(np.eye(k)[None], n, axis=0)
        if self.circular:
            turn = np.stack([-np.sin(Z), np.cos(Z)], axis=2)
            J = np.einsum("njc,jl->njcl", turn, np.eye(k)).reshape(n, 2 * k, k)
        gradient, H = self.ridge * Z, self.ridge * np.repeat(np.eye(k)[None], n, axis=0)
        for weight, mask in zip(*self.levels, strict=True):
            values = self.net.forward(self.layers, C * mask)
            G = (values[-1] - X) * seen
            by_input, g, h = self.net.curvature(self.layers, values, J * mask[:, None], G, seen)
            gradient, H = gradient + weight * g, H + weight * h
            if self.circular:  # the circle bends towards its centre
                bend = -((C * mask) * by_input).reshape(n, k, 2).sum(axis=2)
                H = H + weight * np.einsum("nj,jl->njl", bend, np.eye(k))
        return gradient, H


def place(decoder: Decoder, X: Array, seen: Array) -> Array:
    """The codes of scaled rows, 0 where they are not seen."""
    ends, costs = _ends(decoder, X, seen)
    # Ends that differ by rounding are one: the first of them, so that a row has one place.
    best = np.argmax(costs <= costs.min(axis=0) * (1 + 1e-9) + 1e-15, axis=0)
    Z = ends[best, np.arange(len(X))]
    return np.mod(Z + np.pi, 2 * np.pi) - np.pi if decoder.circular else Z


def expected(decoder: Decoder, X: Array, seen: Array, noise: float) -> Array:
    """Decoded rows, in the mean over the places where a row may be.

    Each end of the descents counts with the sum of exp(-cost / noise) over the anchors that are nearest to it: how well
    the row fits there, and how many rows are there. `noise` is the variance of a cell.
    """
    ends, _ = _ends(decoder, X, seen)
    costs = decoder.costs_at(decoder.anchors, X, seen)
    weights = np.exp((costs.min(axis=1, keepdims=True) - costs) / noise)
    apart = np.stack([_apart(decoder, Z, decoder.anchors) for Z in ends])
    home = apart.argmin(axis=0)
    total = weights.sum(axis=1)
    out = np.zeros_like(X)
    for i, Z in enumerate(ends):
        out += ((weights * (home == i)).sum(axis=1) / total)[:, None] * decoder.rows(Z)
    return out


def noise_variance(decoder: Decoder, Z: Array, X: Array, seen: Array, n_parameters: int, known: Array) -> float:
    """Of a cell about the fitted surface, and what lies between an anchor and the next, whose codes Z[known] are."""
    cells = float(seen.sum())
    noise = 2.0 * float(decoder.costs(Z, X, seen).sum()) / max(cells - n_parameters, 0.1 * cells)
    costs = decoder.costs_at(decoder.anchors, X[known], seen[known])
    own = np.diag(costs).copy()
    np.fill_diagonal(costs, np.inf)
    between = float(np.median(costs.min(axis=1) - own)) if len(own) > 1 else 0.0
    return max(noise + max(between, 0.0), 1e-12)


def _ends(decoder: Decoder, X: Array, seen: Array) -> tuple[Array, Array]:
    """Where descents from several starts end, (starts, n, k), and their costs."""
    ends = np.stack([_downhill(decoder, Z, X, seen) for Z in _starts(decoder, X, seen)])
    return ends, np.stack([decoder.costs(Z, X, seen) for Z in ends])


def _apart(decoder: Decoder, A: Array, B: Array) -> Array:
    """Largest difference of a coordinate, of codes A with codes B."""
    apart = np.abs(A[:, None] - B)
    if decoder.circular:
        apart = np.mod(apart, 2 * np.pi)
        apart = np.minimum(apart, 2 * np.pi - apart)
    return apart.max(axis=2)


def nearest_anchor(decoder: Decoder, Z: Array, X: Array, seen: Array) -> Array:
    """Codes that are better than their own, for the rows for which an anchor has one."""
    costs = decoder.costs_at(decoder.anchors, X, seen)
    best = costs.argmin(axis=1)
    better = costs[np.arange(len(X)), best] < decoder.costs(Z, X, seen)
    return np.where(better[:, None], decoder.anchors[best], Z)


def _spread(decoder: Decoder) -> float:
    return float(np.pi) if decoder.circular else float(np.ptp(decoder.anchors, axis=0).max()) or 1.0


def _starts(decoder: Decoder, X: Array, seen: Array) -> list[Array]:
    A = decoder.anchors
    costs = decoder.costs_at(A, X, seen)
    near = _apart(decoder, A, A) < FAR * _spread(decoder)
    starts: list[Array] = []
    for _ in range(STARTS):
        best = costs.argmin(axis=1)
        starts.append(A[best])
        costs = np.where(near[best], np.inf, costs)
        if not np.isfinite(costs).any(axis=1).all():
            break
    return starts


def _downhill(decoder: Decoder, Z: Array, X: Array, seen: Array) -> Array:
    """Newton steps, each row with its own damping, until none moves."""
    Z, still = Z.copy(), STILL * _spread(decoder)
    rows, damping, cost = np.arange(len(Z)), np.zeros(len(Z)), decoder.costs(Z, X, seen)
    # The last steps change the cost by less than its rounding, and the code by a thousand times more.
    slack = ROUNDING * (1 + np.square(X).sum(axis=1))
    for _ in range(STEPS):
        gradient, H = decoder.slopes(Z[rows], X[rows], seen[rows])
        bends, axes = np.linalg.eigh(H)
        size = np.abs(bends).max(axis=1, keepdims=True) + 1e-12
        strength = np.maximum(np.abs(bends), 1e-12 * size) + damping[rows, None] * size
        step = -np.einsum("nij,nj->ni", axes, np.einsum("nij,ni->nj", axes, gradient) / strength)
        tried = Z[rows] + step
        costs = decoder.costs(tried, X[rows], seen[rows])
        better = costs <= cost[rows] + slack[rows]
        Z[rows[better]], cost[rows[better]] = tried[better], costs[better]
        damping[rows] = np.where(better, damping[rows] / 10, np.maximum(10 * damping[rows], 1e-3))
        moving = (np.abs(step).max(axis=1) > still) & (damping[rows] < 1e8)
        rows = rows[moving]
        if not len(rows):
            break
    return Z

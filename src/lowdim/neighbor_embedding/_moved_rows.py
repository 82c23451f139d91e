"""Weights of rows that have moved a little, while the others keep their own widths.

For each moved row: its distances to candidates, those rows that may attract it. It has neighbours of its own among
them, calibrated as at fit, and it is itself a neighbour of those in whose reach it is; these keep the width that they
have, as in the fast variant of Liu, Ma and Zhong (2025).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim.neighbor_embedding import _fuzzy
from lowdim.neighbor_embedding._affinity import weights

Array = np.ndarray
ROUNDING = 1e-5  # relative: the last neighbour of a row is in its reach, however its distance was computed


@dataclass(frozen=True, eq=False)
class Affinities:
    """Of t-SNE: p_j|x of the moved row x, and p_x|j of the others.

    `reaches` are the distances to the last neighbour of each row; `betas` and `logs` the precisions and the logarithms
    of the sums of each row, for each perplexity.
    """

    n: int
    k: int
    settings: dict[str, Any]
    factor: float
    reaches: Array
    betas: Array
    logs: Array

    @classmethod
    def of(cls, distances: Array, settings: dict[str, Any], factor: float) -> Affinities:
        """From the distances of each row to its neighbours, nearest first."""
        n, k = distances.shape
        squares = np.ascontiguousarray(np.square(distances, dtype=np.float64))
        reaches = np.full(n, np.inf) if k >= n - 1 else distances[:, -1].astype(np.float64) * (1 + ROUNDING)
        if settings["kind"] == "uniform":
            betas, logs = np.zeros((1, n)), np.full((1, n), np.log(k))
        elif settings["sigma"] is not None:
            betas = np.full((1, n), 0.5 / settings["sigma"] ** 2)
            logs = _log_sums(squares, betas[0])[None]
        else:
            values = np.atleast_1d(np.asarray(settings["perplexity"], dtype=np.float64))
            betas = np.stack([_precisions(squares, value) for value in values])
            logs = np.stack([_log_sums(squares, beta) for beta in betas])
        return cls(n, k, settings, factor, reaches, betas, logs)

    def weights(self, who: Array, near: Sequence[Array], reached: Sequence[Array]) -> sparse.csr_array:
        """Symmetric affinities of moved rows; `reached` are the distances of one row before and after its moves."""
        graph, orders = nearest_of(near, reached, self.k, self.n)
        own = weights(graph, **self.settings).data.reshape(-1, self.k)
        found, at = [], 0
        for candidates, distances, order in zip(near, reached, orders, strict=True):
            both = self.of_others(candidates, distances)
            forward = np.zeros_like(both)
            np.put_along_axis(forward, order, own[at : at + len(order)], axis=1)
            found.append((forward + both) * (self.factor / (2 * self.n)))
            at += len(order)
        return as_rows(near, found, self.n)

    def of_others(self, candidates: Array, distances: Array) -> Array:
        """p_x|j for each move of one row and each candidate j: the row itself takes part in the sum of j."""
        inside = distances <= self.reaches[candidates]
        squares = np.square(distances)
        shares = np.zeros((len(distances) - 1, len(candidates)))
        for beta, log in zip(self.betas[:, candidates], self.logs[:, candidates], strict=True):
            raw = np.where(inside, np.exp(np.minimum(-beta * squares - log, 50.0)), 0.0)
            shares += raw[1:] / np.maximum(1 - raw[0] + raw[1:], 1e-300)
        return shares / len(self.betas)


def _precisions(squares: Array, perplexity: float) -> Array:
    n, k = squares.shape
    found, betas = np.empty(n * k), np.empty(n)
    _native.calibrate_rows(np.arange(0, n * k + 1, k, dtype=np.int64), squares.ravel(), perplexity, 1, found, betas)
    return betas


def _log_sums(squares: Array, betas: Array) -> Array:
    """log sum_j exp(-beta d_j²), relative to the nearest, so that nothing underflows."""
    least = squares[:, :1]
    return np.asarray(np.log(np.exp(-betas[:, None] * (squares - least)).sum(axis=1)) - betas * least[:, 0])


@dataclass(frozen=True, eq=False)
class Memberships:
    """Of UMAP: the union of memberships of the moved row and of the others; `extra` are edges between components."""

    k: int
    calibrated: _fuzzy.Calibrated
    last: Array
    mix: float
    connectivity: float
    scale: float
    extra: sparse.csr_array | None

    def weights(self, who: Array, near: Sequence[Array], reached: Sequence[Array]) -> sparse.csr_array:
        """Weights of moved rows, in units of the largest; `reached` are distances before and after the moves."""
        n = len(self.last)
        graph, orders = nearest_of(near, reached, self.k, n)
        own = _fuzzy.memberships(graph, self.connectivity, 1).data.reshape(-1, self.k)
        found, at = [], 0
        for candidates, distances, order in zip(near, reached, orders, strict=True):
            back = self.of_others(candidates, distances[1:])
            forward = np.zeros_like(back)
            np.put_along_axis(forward, order, own[at : at + len(order)], axis=1)
            both = self.mix * (forward + back) + (1 - 2 * self.mix) * forward * back
            if self.extra is not None:
                both += self.extra[[who[at]]].toarray()[0, candidates]
            found.append(both / self.scale)
            at += len(order)
        return as_rows(near, found, n)

    def of_others(self, candidates: Array, distances: Array) -> Array:
        """The membership of the moved row among the neighbours of each candidate."""
        beyond = np.maximum(distances - self.calibrated.reaches[candidates], 0.0)
        inside = distances <= self.last[candidates] * (1 + ROUNDING)
        return np.where(inside, np.exp(-beyond / self.calibrated.widths[candidates]), 0.0)


def nearest_of(near: Sequence[Array], reached: Sequence[Array], k: int, n: int) -> tuple[sparse.csr_array, list[Array]]:
    """The k nearest candidates of each moved row, as a graph of distances, and where they are among the candidates."""
    orders = [np.argsort(distances[1:], axis=1, kind="stable")[:, :k] for distances in reached]
    pairs = list(zip(near, reached, orders, strict=True))
    data = np.concatenate([np.take_along_axis(d[1:], order, axis=1).ravel() for _, d, order in pairs])
    indices = np.concatenate([candidates[order].ravel() for candidates, _, order in pairs])
    starts = np.arange(0, len(data) + 1, k)
    return sparse.csr_array((data, indices, starts), shape=(len(starts) - 1, n)), orders


def as_rows(near: Sequence[Array], values: Sequence[Array], n: int) -> sparse.csr_array:
    """Values of each move and candidate as sparse rows, without zeros."""
    indices = np.concatenate([np.tile(candidates, len(v)) for candidates, v in zip(near, values, strict=True)])
    data = np.concatenate([v.ravel() for v in values])
    counts = np.concatenate([(v > 0).sum(axis=1) for v in values])
    kept = data > 0
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((data[kept], indices[kept], starts), shape=(len(counts), n))

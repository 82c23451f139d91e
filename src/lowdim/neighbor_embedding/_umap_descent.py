"""Stochastic gradient descent of UMAP: edges attract, other pairs repel, at a learning rate that decreases to 0.

Not `iterate`: an epoch takes about a millisecond, so blocks of them are one call of compiled code, and their number is
part of the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.iterate import Callback, Progress, wants_stop
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding._densities import Densities
from lowdim.neighbor_embedding._gradient_descent import centred

EXACT = 500  # rows up to which the expected forces are computed, over all pairs
EPOCHS = ((10_000, 500), (np.inf, 200))  # (rows, epochs up to so many rows), as in the original code
SETTLED = 800  # epochs of few rows: half of them sampled, then half settled
# Shares of the epochs at the end, when the arrangement of groups is settled: in which the forces on a row are applied
# one by one instead of summed, and in which densities count.
# Areas under R_NX of digits, MNIST 10,000 x 50 and trustworthiness of MNIST for 0, 0.2, 0.3 of them: .411 .300 .964,
# .415 .309 .966, .412 .306 .967; umap-learn .410 .301 .966.
ONE_BY_ONE, DENSE = 0.2, 0.3
BLOCK = 10  # epochs between two checks of the map
HALVES = 2  # steps of an epoch: each end of an edge moves once for every sample of either
RARE = 200  # epochs in which an edge must be sampled once to be used, where there are fewer epochs
FULL = 65_535  # an edge that is sampled in every step
PAIRS = 2_000_000  # over which the divergence is computed at most


@dataclass(frozen=True)
class Forces:
    """The kernel 1 / (1 + a d^2b) of the map, the factor on repulsion, and negative samples for each edge sampled."""

    a: float
    b: float
    strength: float
    rate: float

    @property
    def arguments(self) -> tuple[float, float, float, float]:
        """For the compiled loops: each of the two ends of an edge draws half of its negative samples."""
        return self.a, self.b, self.strength, self.rate / HALVES

    def similarity(self, squares: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / (1.0 + self.a * squares**self.b))


@dataclass(frozen=True)
class Schedule:
    """The number of epochs, and the learning rate of the first; it decreases linearly to 0."""

    epochs: int
    rate: float

    @classmethod
    def of(cls, max_iter: int | None, rate: float, n: int) -> Schedule:
        return cls(max_iter or next(epochs for most, epochs in EPOCHS if n <= most), float(rate))


class SampledDescent:
    """Edges are sampled in proportion to their weights, each with negative samples drawn at random."""

    def __init__(
        self,
        W: sparse.csr_array,
        start: np.ndarray,
        forces: Forces,
        schedule: Schedule,
        rng: Any,
        densities: Densities | None = None,
    ) -> None:
        W = W if W.has_sorted_indices else W.sorted_indices()
        kept = W.data >= W.data.max(initial=0.0) / max(schedule.epochs, RARE)  # others would hardly be sampled
        starts = np.concatenate([[0], np.cumsum(kept)])[W.indptr]
        steps = np.rint(FULL * (W.data[kept] / W.data.max(initial=1e-300))).astype(np.uint16)
        clocks = _at_both_ends(rng.integers(FULL + 1, size=W.nnz).astype(np.uint16), W)[kept]
        self.edges = (starts.astype(np.int64), W.indices[kept].astype(np.int32), steps, clocks)
        self.forces, self.schedule, self.seed = forces, schedule, int(rng.integers(2**63))
        self.Z = np.ascontiguousarray(start, dtype=np.float32)
        self.W, self.densities = W, densities

    def advance(self, done: int, epochs: int, n_threads: int) -> None:
        left = 1 - (done + epochs) / self.schedule.epochs
        dense = self.densities if left < DENSE else None
        for first in range(done, done + epochs, 1 if dense else epochs):
            count = 1 if dense else epochs
            when = (HALVES * first, HALVES * count, HALVES * self.schedule.epochs, self.schedule.rate)
            _native.sample_map(
                *self.edges, *self.forces.arguments, left >= ONE_BY_ONE, self.seed, *when, n_threads, self.Z
            )
            if dense:
                rate = self.schedule.rate * (1 - first / self.schedule.epochs)
                moves = dense.moves(self.W, self.Z, self.forces.a, self.forces.b, n_threads)
                self.Z += (rate * moves).astype(np.float32)


def _at_both_ends(values: np.ndarray, W: sparse.csr_array) -> np.ndarray:
    """Numbers on the edges of a symmetric graph, those of edges i < j also for (j, i)."""
    numbered = sparse.csr_array((np.arange(W.nnz), W.indices, W.indptr), shape=W.shape)
    other = sparse.csr_array(numbered.T).data  # the position of the entry (j, i), for each (i, j)
    return np.where(np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)) < W.indices, values, values[other])


class ExpectedDescent:
    """Every row moves by the expectation of the sampled forces: nothing is random."""

    def __init__(self, W: sparse.csr_array, start: np.ndarray, forces: Forces, schedule: Schedule) -> None:
        weights = W.data / W.data.max(initial=1e-300)
        self.edges = (W.indptr.astype(np.int64), W.indices.astype(np.int32), weights)
        self.W, self.forces, self.schedule = W, forces, schedule
        self.Z = np.array(start, dtype=np.float64, order="C")

    def advance(self, done: int, epochs: int, n_threads: int) -> None:
        epochs_in_all, rate = self.schedule.epochs, self.schedule.rate
        _native.settle_map(*self.edges, *self.forces.arguments, done, epochs, epochs_in_all, rate, n_threads, self.Z)


class SettledDescent:
    """Sampled forces in the first half of the epochs, expected ones in the second, each at a rate that decreases to 0.

    Expected forces alone keep what the initial map tears apart: Iris falls into four groups at a divergence of 0.083,
    where samples draw two or three at 0.076, and both in turn at 0.074 (docs/decisions/0031-umap-of-few-rows.md).
    """

    def __init__(
        self, W: sparse.csr_array, start: np.ndarray, forces: Forces, max_iter: int | None, rate: float, rng: Any
    ) -> None:
        self.W, self.forces, self.schedule = W, forces, Schedule(max_iter or SETTLED, float(rate))
        half = self.schedule.epochs // 2
        self._halves = Schedule(half, float(rate)), Schedule(self.schedule.epochs - half, float(rate))
        self._sampled = SampledDescent(W, start, forces, self._halves[0], rng) if half else None
        self._settled = None if half else ExpectedDescent(W, start, forces, self._halves[1])

    @property
    def Z(self) -> np.ndarray:
        return self._now.Z

    @property
    def _now(self) -> SampledDescent | ExpectedDescent:
        found = self._settled or self._sampled
        assert found is not None
        return found

    def advance(self, done: int, epochs: int, n_threads: int) -> None:
        half = self._halves[0].epochs
        if done < half:
            self._now.advance(done, min(epochs, half - done), n_threads)
        if done + epochs > half:
            self._settled = self._settled or ExpectedDescent(self.W, self.Z, self.forces, self._halves[1])
            self._settled.advance(max(done - half, 0), done + epochs - max(half, done), n_threads)


SOLVERS = ("sampled", "exact")


@dataclass(frozen=True, eq=False)
class Optimised:
    """The map after the descent, the epochs made, and whether the callback stopped it."""

    Z: np.ndarray
    n_iter: int
    stopped: bool


def run_epochs(
    descent: Any,
    *,
    loss: Callable[[np.ndarray], float],
    callback: Callback | None,
    n_jobs: int | None,
    verbose: int | bool,
    owner: str,
) -> Optimised:
    """Run the whole schedule, block by block; `callback(epochs, loss(map), map)` after each may stop it."""
    total, done, stopped = descent.schedule.epochs, 0, False
    with Progress(owner, total, verbose) as progress:
        while done < total and not stopped:
            epochs = min(BLOCK, total - done)
            descent.advance(done, epochs, threads.n_threads(n_jobs))
            done += epochs
            progress.done += epochs - 1
            progress.advance()
            if not np.isfinite(descent.Z).all():
                raise ValueError(f"{owner}: the coordinates of the map overflowed. Lower learning_rate or repulsion.")
            if callback is not None:
                Z = centred(descent.Z)
                stopped = wants_stop(callback(done, loss(Z), Z))
    return Optimised(centred(descent.Z), done, stopped)


def divergence(W: sparse.csr_array, Z: np.ndarray, forces: Forces) -> float:
    """UMAP's cross-entropy less its minimum: the mean over pairs of KL(v_ij || q_ij) between Bernoulli distributions.

    Pairs repel far less often than the weights w alone would ask for (Damrich and Hamprecht, 2021): the descent
    minimises the divergence from v = w / (w + r), r being how often a pair is a negative sample, and weights a pair by
    w + r. Exact up to 1,400 rows; beyond, estimated from all edges and from all pairs of some rows, always the same.
    """
    n, w = len(Z), W.data / W.data.max(initial=1e-300)
    i = np.repeat(np.arange(n), np.diff(W.indptr))
    degrees, half = np.bincount(i, w, n), forces.rate * forces.strength / (2 * HALVES * n)
    some = np.arange(n) if n * n <= PAIRS else generator(0).permutation(n)[: max(1, PAIRS // n)]
    apart = 0.0
    for row in some:
        costs = half * (degrees[row] + degrees) * _apart(((Z[row] - Z) ** 2).sum(axis=1), forces)
        apart += float(costs.sum() - costs[row])
    r = half * (degrees[i] + degrees[W.indices])
    q = np.maximum(forces.similarity(((Z[i] - Z[W.indices]) ** 2).sum(axis=1)), 1e-12)
    edges = w * np.log(w / ((w + r) * q)) + r * np.log(np.maximum(r, 1e-300) / (w + r))
    total = degrees.sum() * (1 + 2 * half * (n - 1))
    return float((edges.sum() + apart * n / len(some)) / max(total, 1e-300))


def _apart(squares: np.ndarray, forces: Forces) -> np.ndarray:
    """-log(1 - q), kept finite where points meet."""
    return -np.log(np.maximum(1.0 - forces.similarity(squares), 1e-4))

"""The descent of UMAP: edges pull, all other pairs push, at a rate that goes down to 0.

Not `iterate`: a step takes about a millisecond, so blocks of them are one call, and how long the descent goes on is
part of the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.iterate import Progress
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding._densities import Densities
from lowdim.neighbor_embedding._new_rows import on_fitted

compiled: Any = _native  # a compiled module has no types to check

EXACT = 500  # rows up to which all pairs push
EPOCHS = ((10_000, 500), (np.inf, 200))  # rows up to which there are so many, as in the original code
# The last epochs, where groups lie being settled, in which each row finds its own place in them, and densities count.
# Areas under R_NX of digits, MNIST 10,000 x 50 and trustworthiness of MNIST for 0, 0.2, 0.3 of them: .411 .300 .964,
# .415 .309 .966, .412 .306 .967; umap-learn .410 .301 .966.
ALONE, DENSE = 0.2, 0.3
BLOCK = 10  # epochs between two looks at the map
HALVES = 2  # steps of an epoch: each end of an edge moves once for every pull of either
RARE = 200  # epochs in which an edge must pull once to count, where the descent is shorter
FULL = 65_535  # a pull in every step
PUSHERS = 2000  # fitted rows that push a new one
STEPS = 50  # of a new row
PAIRS = 2_000_000  # looked at for the divergence


@dataclass(frozen=True)
class Forces:
    """The kernel 1 / (1 + a d^2b) of the map, how much a push counts, and pushes for each pull."""

    a: float
    b: float
    strength: float
    rate: float

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """As the compiled loops want them: each of the two ends of an edge makes half of its pushes."""
        return self.a, self.b, self.strength, self.rate / HALVES

    def similarity(self, squares: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / (1.0 + self.a * squares**self.b))


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: `epochs` of them, at a rate from `rate` down to 0."""

    epochs: int
    rate: float

    @classmethod
    def of(cls, max_iter: int | None, rate: float, n: int) -> Schedule:
        return cls(max_iter or next(epochs for most, epochs in EPOCHS if n <= most), float(rate))


class Sampled:
    """Pulls come as often as edges are heavy, each with pushes from rows drawn at random."""

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
        kept = W.data >= W.data.max(initial=0.0) / max(schedule.epochs, RARE)  # the others' turn would hardly come
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
            when = (first, 1 if dense else epochs, self.schedule.epochs)
            times = (*(HALVES * epoch for epoch in when), self.schedule.rate)
            compiled.sample_map(*self.edges, *self.forces.parts, left >= ALONE, self.seed, *times, n_threads, self.Z)
            if dense:
                rate = self.schedule.rate * (1 - first / self.schedule.epochs)
                moves = dense.moves(self.W, self.Z, self.forces.a, self.forces.b, n_threads)
                self.Z += (rate * moves).astype(np.float32)


def _at_both_ends(values: np.ndarray, W: sparse.csr_array) -> np.ndarray:
    """Numbers on the edges of a symmetric graph, those of i < j also on the way back."""
    numbered = sparse.csr_array((np.arange(W.nnz), W.indices, W.indptr), shape=W.shape)
    back = sparse.csr_array(numbered.T).data  # where the entry (j, i) stands, for each (i, j)
    return np.where(np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)) < W.indices, values, values[back])


class Expected:
    """Every row moves by the mean of what could be drawn: nothing is random, and rows may come in any order."""

    def __init__(self, W: sparse.csr_array, start: np.ndarray, forces: Forces, schedule: Schedule) -> None:
        weights = W.data / W.data.max(initial=1e-300)
        self.edges = (W.indptr.astype(np.int64), W.indices.astype(np.int32), weights)
        self.forces, self.schedule = forces, schedule
        self.Z = np.array(start, dtype=np.float64, order="C")

    def advance(self, done: int, epochs: int, n_threads: int) -> None:
        when = (done, epochs, self.schedule.epochs, self.schedule.rate)
        compiled.settle_map(*self.edges, *self.forces.parts, *when, n_threads, self.Z)


SOLVERS = ("sampled", "exact")


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the descent ended, after how many epochs, and whether the callback ended it."""

    Z: np.ndarray
    n_iter: int
    stopped: bool


def lay_out(
    descent: Sampled | Expected,
    *,
    n_jobs: int | None,
    callback: Callable[[int, np.ndarray], Any] | None,
    verbose: int | bool,
    owner: str,
) -> Layout:
    """Run the whole schedule, block by block."""
    total, done, stopped = descent.schedule.epochs, 0, False
    with Progress(owner, total, verbose) as progress:
        while done < total and not stopped:
            epochs = min(BLOCK, total - done)
            descent.advance(done, epochs, threads.n_threads(n_jobs))
            done += epochs
            progress.done += epochs - 1
            progress.advance()
            if not np.isfinite(descent.Z).all():
                raise ValueError(f"{owner}: the map left the range of numbers; lower learning_rate or repulsion.")
            answer = None if callback is None else callback(done, _centred(descent.Z))
            stopped = isinstance(answer, (bool, np.bool_)) and bool(answer)
    return Layout(_centred(descent.Z), done, stopped)


def _centred(Z: np.ndarray) -> np.ndarray:
    Z = Z.astype(np.float64)
    return Z - Z.mean(axis=0)


def divergence(W: sparse.csr_array, Z: np.ndarray, forces: Forces) -> float:
    """The mean of KL(v_ij || q_ij) over pairs, both read as the chance that i and j belong together.

    Pushes come far less often than the weights alone would ask for (Damrich and Hamprecht, 2021): what the descent
    lowers has v = w / (w + r) for w, r being how often a pair is drawn for a push, and counts a pair w + r times.
    Pairs are all looked at up to 1,400 rows, else those of rows drawn once and for all.
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


def place(found: Neighbors, weights: np.ndarray, fitted: np.ndarray, forces: Forces, n_jobs: int | None) -> np.ndarray:
    """Where pulls to the neighbours of each new row and pushes from the fitted rows balance, these staying in place.

    It starts at the mean of the neighbours' places. A row that equals a fitted one is that row, and lies on its place.
    """
    places = fitted[found.indices]
    Z = np.einsum("ij,ijc->ic", weights / weights.sum(axis=1, keepdims=True), places)
    n = len(fitted)
    pushers = fitted if n <= PUSHERS else fitted[np.sort(generator(0).permutation(n)[:PUSHERS])]
    settings = (*forces.parts, STEPS, threads.n_threads(n_jobs))
    compiled.settle_rows(fitted, np.ascontiguousarray(pushers), found.indices, weights, *settings, Z)
    on, share = on_fitted(found.distances.astype(np.float64), places)
    return Z + share[:, None] * (on - Z)

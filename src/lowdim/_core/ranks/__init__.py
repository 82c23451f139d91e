"""Ranks of neighbours in the data and in the embedding: the histograms behind every rank-based measure.

Rank of j seen from i: one plus the number of other rows closer to i than j is, ties going to the smaller
index; rho in the data, r in the embedding. The measures need only sums over pairs (rho, r), so rows are
ranked block by block and forgotten: O(n) memory whatever n is. All sums are integers, hence the same for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, log
from statistics import NormalDist
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim._core import params
from lowdim._core.gpu import devices
from lowdim._core.ranks.on_device import device_parts
from lowdim._core.ranks.reference import Reference, embedding, reference_of
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import map_rows
from lowdim._core.streams import is_lazy
from lowdim._core.tables.brief import brief
from lowdim._core.tables.tensors import as_points

Array = NDArray[Any]
Interval = tuple[float, float]

EXACT_UP_TO, EXACT_ON_GPU = 20_000, 100_000  # rows ranked one and all under anchors="auto"; more are sampled
MOST_ENTRIES = 2**18  # of one block of distances

# Rows of the tally of the compiled core. "high" and "low" say by which space's rank an entry is binned.
TALLIES = ("equal", "nearer", "farther_depth", "error_high", "farther", "nearer_depth", "error_low")


@dataclass(frozen=True, eq=False)
class Ranks:
    """Co-ranking histograms of a data set and one embedding of it; make one with `Ranks.of`.

    Entry K-1 of a histogram belongs to rank K = 1..n-1. `equal`, `nearer` (r < rho) and `farther` (r > rho)
    count pairs by max(rho, r). `nearer_depth` sums rho - r over r < rho by r, `farther_depth` r - rho over r
    > rho by rho; `error_low` and `error_high` sum abs(rho - r) by r and by rho. Curves run over K = 1..n-2;
    `qnx`, `lcmc` and `mrre` go to n-1.

    Attributes
    ----------
    n : int
        Number of points that were ranked from each row.
    rows : ndarray of int
        Rows they were ranked from: all, or the anchors.
    reference, metric : str
        Which distances the embedding is compared with.
    zeros_high, zeros_low : int
        Zero distances between different rows in each space, seen from `rows`.
    row_auc : ndarray
        Area under R_NX of each row; their mean is `auc`.
    ks : tuple of int
        Neighbourhood sizes of `row_kept`, `row_intrusion` and `row_extrusion` (one column each).
    """

    n: int
    rows: Array
    reference: str
    metric: str
    equal: Array
    nearer: Array
    farther: Array
    nearer_depth: Array
    farther_depth: Array
    error_low: Array
    error_high: Array
    zeros_high: int
    zeros_low: int
    row_auc: Array
    ks: tuple[int, ...]
    row_kept: Array
    row_intrusion: Array
    row_extrusion: Array

    __repr__ = brief

    @classmethod
    def of(cls, X: Any, Z: Any, **options: Any) -> Ranks:
        """Rank the rows of `X` and of its embedding `Z`.

        Parameters
        ----------
        X : array (n, d), or distances (n, n) when they are precomputed
            The data.
        Z : array (n, r)
            Embedding without NaN, row by row that of `X`.
        **options
            Those of `of_each`: ``metric``, ``reference``, ``graph_neighbors``, ``anchors``, ``ks``, ...

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> round(Ranks.of(X, 2 * X).auc, 12)
        1.0
        """
        return cls.of_each(X, {"Z": Z}, **options)["Z"]

    @classmethod
    def of_each(
        cls,
        X: Any,
        embeddings: Mapping[str, Any],
        *,
        metric: Any = "euclidean",
        reference: str = "ambient",
        graph_neighbors: int = 10,
        anchors: Any = "auto",
        ks: Iterable[int] = (12,),
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        device: str = "cpu",
    ) -> dict[str, Ranks]:
        """`Ranks` of several embeddings of the same data, whose own ranks are computed once.

        Parameters
        ----------
        X : array (n, d), or distances (n, n) when they are precomputed
            The data.
        embeddings : mapping of str to array (n, r)
            Embeddings without NaN, row by row those of `X`.
        metric : str or callable
            Distance in `X`; embeddings are always measured by the Euclidean one.
        reference : {"ambient", "geodesic", "precomputed"}
            Distances in `X`, along its neighbour graph (bridged where it is disconnected), or `X` itself.
        graph_neighbors : int
            Neighbours of each row in that graph, with ``reference="geodesic"``.
        anchors : "auto", None, int or array of int
            Rows to rank from: all (None), so many drawn at random, these, or all up to 20,000 and max(500, 10
            ln n) drawn beyond ("auto"). Every anchor ranks *all* n points, so nothing is rescaled.
        ks : iterable of int
            Neighbourhood sizes to keep row by row; larger ones than n-2 are lowered to it.
        random_state, n_jobs, progress
            Seed of the anchors; threads (never change the result); an object with `advance()`, called for
            every block.
        device : str
            Where rows are ranked: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is
            one; there "auto" anchors are all rows up to 100,000. Squares are summed in another order, so that
            distances which differ by rounding alone may change places.
        """
        if is_lazy(X):
            given = {"reference": (reference, "ambient"), "device": (device, "cpu")}
            return _in_blocks(X, embeddings, given, metric=metric, anchors=anchors, ks=ks, random_state=random_state)
        place = devices.find(device, "Ranks.of")
        X = as_points(X, place is not None and metric == "euclidean" and reference == "ambient")
        embeddings = {name: as_points(Z, place is not None) for name, Z in embeddings.items()}
        source = reference_of(X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, n_jobs=n_jobs)
        placed = {name: embedding(Z, source.n, f"Ranks.of: the embedding {name}") for name, Z in embeddings.items()}
        rows = choose_rows(source.n, anchors, random_state, EXACT_UP_TO if place is None else EXACT_ON_GPU)
        counts = _Counts(source, placed, rows, _kept_sizes(ks, source.n))
        if place is not None:
            parts = device_parts(place, counts, progress)
            return {name: counts.record(name, [part[name] for part in parts]) for name in placed}
        parts = map_rows(counts.add, len(rows), max(1, min(256, MOST_ENTRIES // source.n)), n_jobs, progress)
        return {name: counts.record(name, [part[name] for part in parts]) for name in placed}

    @property
    def sampled(self) -> bool:
        """Whether only some rows were ranked from."""
        return len(self.rows) < self.n

    @property
    def qnx(self) -> Array:
        """Q_NX(K): share of the K nearest neighbours that are still among the K nearest."""
        return np.cumsum(self.equal + self.nearer + self.farther) / (len(self.rows) * sizes(self.n - 1))

    @property
    def lcmc(self) -> Array:
        """LCMC(K) = Q_NX(K) - K/(n-1): what chance does not explain."""
        return self.qnx - sizes(self.n - 1) / (self.n - 1)

    @property
    def rnx(self) -> Array:
        """R_NX(K) = ((n-1) Q_NX(K) - K) / (n-1-K): 1 for a perfect embedding, 0 for a random one."""
        K, n = sizes(self.n - 2), self.n
        return ((n - 1) * self.qnx[:-1] - K) / (n - 1 - K)

    @property
    def regions(self) -> tuple[Array, Array, Array]:
        """U_P, U_N, U_X for K = 1..n-2: the parts of Q_NX at the same rank, pushed outward, drawn inward.

        A kept neighbour pushed outward (rho < r) has made room for an intruder: U_N is the mark of mild
        intrusions, U_X of mild extrusions.
        """
        area = len(self.rows) * sizes(self.n - 2)
        equal, farther, nearer = (np.cumsum(c)[:-1] / area for c in (self.equal, self.farther, self.nearer))
        return equal, farther, nearer

    @property
    def bnx(self) -> Array:
        """B_NX(K) = U_N - U_X: positive where the embedding is intrusive (far points drawn near)."""
        area = len(self.rows) * sizes(self.n - 2)
        return np.cumsum(self.farther - self.nearer)[:-1] / area

    @property
    def trustworthiness(self) -> Array:
        """T(K): 1 when no point enters a neighbourhood of the embedding from outside."""
        return self._penalty(self.nearer_depth, self.farther, self.nearer)

    @property
    def continuity(self) -> Array:
        """C(K): 1 when no point is lost from a neighbourhood of the data."""
        return self._penalty(self.farther_depth, self.nearer, self.farther)

    def _penalty(self, depth: Array, below: Array, ended: Array) -> Array:
        # A pair with ranks a < b (a in the space of the neighbourhood) costs b-K for K = a..b-1: it enters
        # with depth b-a, then loses 1 at every step until it has ended, so the sum over pairs is a running
        # sum.
        inside = np.cumsum(len(self.rows) - self.equal - below - ended)
        cost = np.cumsum(depth - np.concatenate([[0], inside[:-1]]))[:-1]
        return 1 - 2 * cost / (len(self.rows) * penalty_norm(sizes(self.n - 2), self.n))

    @property
    def mrre(self) -> tuple[Array, Array]:
        """Mean relative rank errors: W_n(K) over neighbours in the embedding, W_nu(K) over those in the data.

        Each error abs(rho - r) is divided by the rank in the space that defines the neighbourhood.
        """
        k = sizes(self.n - 1)
        norm = len(self.rows) * np.cumsum(np.abs(self.n - 2 * k) / k)
        return np.cumsum(self.error_low / k) / norm, np.cumsum(self.error_high / k) / norm

    @property
    def auc(self) -> float:
        """Area under R_NX on a logarithmic scale of K: sum R_NX(K)/K over sum 1/K."""
        weight = 1 / sizes(self.n - 2)
        return float(self.rnx @ weight / weight.sum())

    def auc_interval(self, confidence: float = 0.95) -> Interval:
        """Interval for the AUC of all rows; a single point when none was left out."""
        return self.interval(self.row_auc, confidence)

    def interval(self, values: Array, confidence: float = 0.95) -> Interval:
        """Normal interval for the mean over all n rows of something known for `rows`."""
        return mean_interval(values, self.n, confidence)

    @property
    def k_max(self) -> int:
        """The K with the largest LCMC: where local turns into global."""
        return int(np.argmax(self.lcmc)) + 1

    @property
    def q_local(self) -> float:
        """Mean of Q_NX over K = 1..k_max."""
        return float(np.mean(self.qnx[: self.k_max]))

    @property
    def q_global(self) -> float:
        """Mean of Q_NX over K = k_max+1..n-1 (1 when there is none)."""
        rest = self.qnx[self.k_max :]
        return float(np.mean(rest)) if rest.size else 1.0


def _in_blocks(X: Any, embeddings: Mapping[str, Any], given: dict[str, Any], *, ks: Any, **options: Any) -> Any:
    """Records of rows of Dask; `given` are the options that have one value there, with this value."""
    from lowdim._core.ranks.in_blocks import ranks_in_blocks

    for name, (value, only) in given.items():
        if value != only:
            raise ValueError(f"Ranks.of: {name} must be {only!r} for a collection of Dask; got {value!r}.")
    wanted = _kept_sizes(ks, 2**62)
    return {name: ranks_in_blocks(X, Z, ks=wanted, owner="Ranks.of", **options) for name, Z in embeddings.items()}


def mean_interval(values: Array, n: int, confidence: float = 0.95) -> Interval:
    """Normal interval for the mean over all n rows of something known for some; a point where known for all."""
    m, mean = len(values), float(np.mean(values))
    if m == n:
        return mean, mean
    spread = float(np.std(values, ddof=1)) * np.sqrt((1 - m / n) / m)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * spread
    return float(mean - half), float(mean + half)


def sizes(last: int) -> Array:
    """Neighbourhood sizes 1..last."""
    return np.arange(1, last + 1)


def penalty_norm(K: Any, n: int) -> Any:
    """Twice the worst cost of one row: K (2n-3K-1) for K < n/2, (n-K)(n-K-1) beyond."""
    K = np.asarray(K, dtype=np.int64)  # products of a small integer of numpy would overflow
    return np.where(n > 2 * K, K * (2 * n - 3 * K - 1), (n - K) * (n - K - 1))


def auc_weights(n: int) -> Array:
    """w with: AUC of one row = sum over its pairs of w[max(rho, r)], minus 1."""
    K = sizes(n - 2).astype(float)
    gain = (n - 1) / (K * K * (n - 1 - K)) / np.sum(1 / K)
    tail = np.cumsum(gain[::-1])[::-1]
    return np.concatenate([[0.0], tail, [0.0]])


def rank_rows(D: Array, rows: Array) -> tuple[Array, int]:
    """Ranks of all columns seen from `rows` (those of the block `D`), and the number of zero distances."""
    ranks, zeros = np.empty(D.shape, np.int32), np.empty(len(D), np.int64)
    _native.rank_rows(np.ascontiguousarray(D), np.ascontiguousarray(rows, np.int64), ranks, zeros, 1)
    return ranks, int(zeros.sum())


def tally_ranks(high: Array, low: Array, weight: Array, ks: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Tallies (7, n), area of each row, and (rows, ks, 3): neighbours kept, depth of in- and extrusions."""
    tally = np.zeros((len(TALLIES), high.shape[1]), np.int64)
    area, terms = np.empty(len(high)), np.empty((len(high), 3 * len(ks)), np.int64)
    _native.tally_ranks(high, low, weight, np.array(ks, np.int64), tally, area, terms, 1)
    return tally, area - 1, terms.reshape(len(high), len(ks), 3)


def _kept_sizes(ks: Any, n: int) -> tuple[int, ...]:
    """Neighbourhood sizes to keep row by row, none above n-2."""
    wanted = tuple(ks) if isinstance(ks, Iterable) else (ks,)
    for k in wanted:
        params.check("Ranks.of", {"every entry of ks": k}, {"every entry of ks": params.whole(1)})
    return tuple(min(int(k), n - 2) for k in wanted)


class _Counts:
    """The running tallies of `Ranks.of_each`."""

    def __init__(self, source: Reference, placed: Mapping[str, Reference], rows: Array, ks: tuple[int, ...]):
        self.source, self.placed, self.rows, self.ks = source, placed, rows, ks
        self.weight = auc_weights(source.n)
        self.lock = Lock()
        self.clear()

    def clear(self) -> None:
        source, placed = self.source, self.placed
        self.tally = {name: np.zeros((len(TALLIES), source.n), np.int64) for name in placed}
        self.zeros_high, self.zeros_low = 0, dict.fromkeys(placed, 0)

    def add(self, part: slice) -> dict[str, tuple[Array, Array]]:
        rows = self.rows[part]
        high, zeros = rank_rows(self.source.block(rows, True), rows)
        with self.lock:
            self.zeros_high += zeros
        return {name: self._compare(name, high, rows) for name in self.placed}

    def _compare(self, name: str, high: Array, rows: Array) -> tuple[Array, Array]:
        low, zeros = rank_rows(self.placed[name].block(rows, True), rows)
        tally, area, terms = tally_ranks(high, low, self.weight, self.ks)
        with self.lock:  # integers: the order in which blocks arrive does not matter
            self.tally[name] += tally
            self.zeros_low[name] += zeros
        return area, terms

    def record(self, name: str, parts: list[tuple[Array, Array]]) -> Ranks:
        terms = np.concatenate([part[1] for part in parts])
        return Ranks(
            n=self.source.n,
            rows=self.rows,
            reference=self.source.name,
            metric=self.source.metric,
            zeros_high=self.zeros_high,
            zeros_low=self.zeros_low[name],
            row_auc=np.concatenate([part[0] for part in parts]),
            ks=self.ks,
            row_kept=terms[:, :, 0],
            row_intrusion=terms[:, :, 1],
            row_extrusion=terms[:, :, 2],
            **dict(zip(TALLIES, self.tally[name][:, 1:], strict=True)),
        )


def choose_rows(n: int, anchors: Any, random_state: Any = None, most: int = EXACT_UP_TO) -> Array:
    """The rows to rank from, ascending."""
    if n < 3:
        raise ValueError(f"Ranks.of: X must have at least 3 rows; got {n}.")
    if isinstance(anchors, str) and anchors == "auto":
        anchors = None if n <= most else max(500, ceil(10 * log(n)))
    if anchors is None:
        return np.arange(n)
    chosen = np.asarray(anchors)
    if chosen.dtype.kind not in "iu" or (chosen.ndim == 0 and chosen < 2) or chosen.ndim > 1:
        raise ValueError(f'Ranks.of: anchors must be "auto", None, at least 2, or an array of rows; got {anchors!r}.')
    if chosen.ndim == 0:
        return np.sort(generator(random_state).choice(n, size=min(n, int(chosen)), replace=False))
    unique = np.unique(chosen)
    if len(unique) != len(chosen) or len(unique) < 2 or unique[0] < 0 or unique[-1] >= n:
        raise ValueError(f"Ranks.of: anchors must be at least 2 different rows in 0..{n - 1}; got {anchors!r}.")
    return unique.astype(np.int64)

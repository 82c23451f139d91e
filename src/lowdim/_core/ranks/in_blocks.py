"""Ranks of rows that come in blocks, seen from anchors: two passes over the blocks, small sums, the same record.

Some rows are anchors. The first pass finds the nearest rows of each anchor in both spaces, and its distances to random
rows, which are others for each anchor, so that their errors cancel; the second counts, for each of these, the rows of
all blocks that are nearer. So every rank that is used is the rank among *all* rows. A pair of which one rank is at most
`NEAREST` is counted as it is; the others are represented by the random ones. Measures of small neighbourhoods are
therefore those of `Ranks.of` from the same anchors, and measures of large ones estimates without bias. Where the random
rows are all rows, the record is the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core import streams
from lowdim._core.distances import check_domain, check_metric, pairwise
from lowdim._core.ranks import TALLIES, Ranks, auc_weights, choose_rows
from lowdim._core.ranks.reference import embedded_rows, rows_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks as parts_of

Array = np.ndarray

NEAREST = 90  # of each anchor, whose ranks are all known
SAMPLED = 1000  # rows of each anchor that stand for those beyond
CELLS = 2**21  # of distances that a worker holds at a time
NONE = np.iinfo(np.int64).max  # the number of a row that is not there


@dataclass(frozen=True, eq=False)
class Space:
    """Numbers ordered like the distances of the anchors to other rows, in one of the two tables.

    Euclidean ones by differences, in units of 2**exponent, as in memory: every block gives the same bits.
    """

    anchors: Any
    metric: Any
    exponent: int
    what: str

    @classmethod
    def of(cls, anchors: Any, metric: Any, what: str, owner: str) -> Space:
        """From the anchors' rows, which stand for the size of all cells."""
        check_domain(anchors, metric, owner)
        if metric != "euclidean" or not isinstance(anchors, np.ndarray):
            return cls(anchors, metric, 0, what)
        exponent = int(np.frexp(np.max(np.abs(anchors), initial=0))[1])
        return cls(np.ldexp(anchors, -exponent), metric, exponent, what)

    def rows(self, block: Any) -> Any:
        """A block as this space measures it."""
        if self.what.endswith("Z"):
            return self._scaled(embedded_rows(block, None, self.what))
        return self._scaled(rows_of(block, self.what, "Fill the holes in first"))

    def to(self, rows: Any, part: slice) -> Array:
        """From some of the anchors to the rows of a block."""
        if not (self.metric == "euclidean" and isinstance(rows, np.ndarray)):
            return np.ascontiguousarray(pairwise(self.anchors[part], rows, self.metric, owner=self.what))
        kind = np.result_type(self.anchors, rows)
        out = np.empty((part.stop - part.start, len(rows)), kind)
        _native.square_rows(self.anchors[part].astype(kind, copy=False), rows.astype(kind, copy=False), out, 1)
        return out

    def lengths(self, ordered: Array) -> Array:
        """The distances themselves."""
        if not (self.metric == "euclidean" and isinstance(self.anchors, np.ndarray)):
            return ordered
        return np.ldexp(np.sqrt(ordered), self.exponent)

    def _scaled(self, rows: Any) -> Any:
        return np.ldexp(rows, -self.exponent) if self.exponent else rows


@dataclass(frozen=True, eq=False)
class Anchors:
    """What a worker needs to know: the anchors in both spaces, the sampled rows, and how many nearest are kept."""

    numbers: Array
    spaces: tuple[Space, Space]
    sample: Array
    k: int

    def blocks(self, given: Any, start: int) -> Any:
        """For groups of anchors: which they are, and their two tables of distances to the rows of a block."""
        tables = [space.rows(block) for space, block in zip(self.spaces, given, strict=True)]
        b = tables[0].shape[0]
        if tables[1].shape[0] != b:
            raise ValueError(f"a block of X has {b} rows and that of Z {tables[1].shape[0]}.")
        for part in parts_of(len(self.numbers), max(1, CELLS // max(1, b))):
            here = self.numbers[part] - start
            inside = np.flatnonzero((here >= 0) & (here < b))
            found = [space.to(table, part) for space, table in zip(self.spaces, tables, strict=True)]
            for D in found:
                D[inside, here[inside]] = np.inf
            yield part, found


@dataclass(frozen=True, eq=False)
class Nearest:
    """Of some rows: the nearest of each anchor in each space, by (distance, number), and distances to sampled rows.

    `numbers`, `own` and `other` are of shape (2, anchors, k): which rows, their distance in the space in which they are
    near, and in the other one. `sampled` are the places in the table of random rows that each block has, and the two
    distances there.
    """

    numbers: Array
    own: Array
    other: Array
    sampled: tuple[tuple[Array, Array], ...]
    zeros: Array

    @classmethod
    def of(cls, given: Any, start: int, *, anchors: Anchors) -> Nearest:
        """Of a block whose first row has the number `start`."""
        shape = (2, len(anchors.numbers), anchors.k)
        numbers, own, other = np.full(shape, NONE), np.full(shape, np.inf), np.full(shape, np.inf)
        sampled, zeros = [], np.zeros(2, np.int64)
        for part, found in anchors.blocks(given, start):
            b = found[0].shape[1]
            here = anchors.sample[part] - start
            i, c = np.nonzero((here >= 0) & (here < b))
            flat = (i + part.start) * anchors.sample.shape[1] + c
            sampled.append((flat, np.stack([D[i, here[i, c]] for D in found]).astype(np.float64)))
            for at, D in enumerate(found):
                zeros[at] += np.count_nonzero(D == 0)
                columns = _nearest_columns(D, min(anchors.k, b))
                k = columns.shape[1]
                there = np.take_along_axis(D, columns, axis=1)
                numbers[at, part, :k] = np.where(np.isfinite(there), columns + start, NONE)
                own[at, part, :k] = there
                other[at, part, :k] = np.take_along_axis(found[1 - at], columns, axis=1)
        return cls(numbers, own, other, tuple(sampled), zeros)

    def __add__(self, later: Nearest) -> Nearest:
        k = self.numbers.shape[2]
        both = [np.concatenate(pair, axis=2) for pair in zip(self._tables(), later._tables(), strict=True)]
        order = np.lexsort((both[0], both[1]), axis=-1)[..., :k]
        numbers, own, other = (np.take_along_axis(table, order, axis=-1) for table in both)
        return Nearest(numbers, own, other, self.sampled + later.sampled, self.zeros + later.zeros)

    def _tables(self) -> tuple[Array, Array, Array]:
        return self.numbers, self.own, self.other


def _nearest_columns(D: Array, k: int) -> Array:
    """The columns of the k smallest entries of each row, smallest first, equal ones by their number."""
    wide = np.full((len(D), D.shape[1] + 1), np.inf, D.dtype)  # a last column, which is the row itself
    wide[:, :-1] = D
    columns = np.empty((len(D), k), np.int32)
    _native.nearest_columns(wide, np.full(len(D), D.shape[1]), columns, 1)
    return columns


def count_nearer(given: Any, start: int, *, anchors: Anchors, numbers: Array, distances: Array) -> Array:
    """Rows of a block that are nearer to each anchor than the asked ones, by (distance, number), in both spaces.

    `numbers` and `distances` are of shape (2, anchors, asked).
    """
    counts = np.zeros(numbers.shape, np.int64)
    for part, found in anchors.blocks(given, start):
        b = found[0].shape[1]
        for at, D in enumerate(found):
            for row, i in enumerate(range(part.start, part.stop)):
                asked, limit = numbers[at, i], distances[at, i].astype(D.dtype)
                inside = (asked >= start) & (asked < start + b)
                here = asked[inside] - start
                limit[inside] = D[row, here]  # the bits that are compared with
                ordered = np.sort(D[row])
                below, through = (np.searchsorted(ordered, limit, side) for side in ("left", "right"))
                counts[at, i] = np.where(asked < start, below, through)
                counts[at, i, inside] = below[inside] + _ties_before(D[row], here, (through - below)[inside])
    return counts


def _ties_before(distances: Array, here: Array, equal: Array) -> Array:
    """How many columns before each asked one have its distance, where `equal` says that several have."""
    return np.array(
        [np.count_nonzero(distances[:j] == distances[j]) if n > 1 else 0 for j, n in zip(here, equal, strict=True)],
        dtype=np.int64,
    )


def ranks_in_blocks(
    X: Any, Z: Any, *, metric: Any, anchors: Any, ks: tuple[int, ...], random_state: Any, owner: str
) -> Ranks:
    """The record of rows X of Dask and their embedding Z (of Dask, in any blocks, or in memory)."""
    metric = check_metric(metric, owner)
    if isinstance(metric, str) and metric in ("precomputed", "gower"):
        raise ValueError(f"{owner}: metric must measure rows of a collection of Dask one by one; got {metric!r}.")
    blocks = streams.blocks_of(X, owner, Z).counted()
    n = blocks.n_rows()
    if n <= memory.sample_rows():
        rows, places = blocks.at(None)
        return Ranks.of(rows, places, metric=metric, anchors=anchors, ks=ks, random_state=random_state)
    chosen = choose_rows(n, anchors, random_state, 0)
    k = min(max(NEAREST, *ks), n - 1)
    sample = _sample(n, len(chosen), random_state)
    asked = k + sample.shape[1]
    needs = {"ranks": 8 * 6 * len(chosen) * asked, "histograms": 2 * 56 * n}
    memory.check(owner, needs, "Take fewer anchors: anchors=500.")
    rows, places = blocks.at(chosen)
    spaces = (
        Space.of(rows_of(rows, f"{owner}: X", "Fill the holes in first"), metric, f"{owner}: X", owner),
        Space.of(embedded_rows(places, None, f"{owner}: Z"), "euclidean", f"{owner}: Z", owner),
    )
    pairs = _pairs(blocks, Anchors(chosen, spaces, sample, k), n)
    named = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
    return pairs.record(chosen, named, tuple(min(k, n - 2) for k in ks))


def _sample(n: int, m: int, random_state: Any) -> Array:
    """Numbers of random rows for each of m anchors, of shape (m, number); of few rows all."""
    if m == n or n <= SAMPLED:
        return np.broadcast_to(np.arange(n), (m, n))
    rng = np.random.default_rng(int(generator(random_state).integers(2**31)))  # not the stream that drew the anchors
    return rng.integers(n, size=(m, SAMPLED))


def _pairs(blocks: Any, anchors: Anchors, n: int) -> Pairs:
    """The ranks of all pairs that are used, in two passes."""
    near = blocks.gather(partial(Nearest.of, anchors=anchors), numbered=True)
    m = len(anchors.numbers)
    flat = np.empty((2, anchors.sample.size))
    for places, found in near.sampled:
        flat[:, places] = found
    sampled = flat.reshape(2, m, -1)
    listed = np.broadcast_to(anchors.sample, sampled.shape)
    # In the data the rows that are near in the embedding are looked up, and the other way round.
    numbers = np.concatenate([near.numbers[::-1], listed], axis=2)
    distances = np.concatenate([near.other[::-1], sampled], axis=2)
    count = partial(count_nearer, anchors=anchors, numbers=numbers, distances=distances)
    ranks = blocks.gather(count, numbered=True) + 1
    return Pairs.of(near, ranks, anchors, n)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of an anchor and a row: both ranks, and how many pairs each stands for."""

    n: int
    anchor: Array
    rho: Array
    r: Array
    weight: Array
    zeros: Array

    @classmethod
    def of(cls, near: Nearest, ranks: Array, anchors: Anchors, n: int) -> Pairs:
        """From the lists of the nearest, and the ranks of these and of the sampled rows in the other space."""
        m, k = near.numbers.shape[1:]
        own = np.broadcast_to(np.arange(1, k + 1), (m, k))
        there = near.numbers != NONE
        of_data, of_map = there[0], there[1] & (ranks[0, :, :k] > k)  # the others are in both lists
        known = of_data.sum(axis=1) + of_map.sum(axis=1)
        rho, r = ranks[0, :, k:], ranks[1, :, k:]
        beyond = (rho > k) & (r > k) & (anchors.sample != anchors.numbers[:, None])
        stands_for = (n - 1 - known) / np.maximum(1, beyond.sum(axis=1))
        parts = [
            (of_data, own, ranks[1, :, :k], np.ones(m)),
            (of_map, ranks[0, :, :k], own, np.ones(m)),
            (beyond, rho, r, stands_for),
        ]
        anchor, high, low, weight = (
            np.concatenate(column)
            for column in zip(*((np.nonzero(at)[0], a[at], b[at], w[np.nonzero(at)[0]]) for at, a, b, w in parts),
                              strict=True)
        )  # fmt: skip
        return cls(n, anchor, high, low, weight, near.zeros)

    def record(self, rows: Array, metric: str, ks: tuple[int, ...]) -> Ranks:
        """The histograms of all pairs, and the terms of each anchor."""
        tally, m = self._tallies(), len(rows)
        area = np.bincount(self.anchor, auc_weights(self.n)[self.larger] * self.weight, m) - 1
        terms = [self._terms(k, m) for k in ks]
        kept, intrusion, extrusion = (np.stack(column, axis=1) for column in zip(*terms, strict=True))
        return Ranks(
            n=self.n, rows=rows, reference="ambient", metric=metric, zeros_high=int(self.zeros[0]),
            zeros_low=int(self.zeros[1]), row_auc=area, ks=ks, row_kept=kept, row_intrusion=intrusion,
            row_extrusion=extrusion, **dict(zip(TALLIES, tally, strict=True)),
        )  # fmt: skip

    @property
    def larger(self) -> Array:
        """The larger of both ranks of each pair."""
        return np.maximum(self.rho, self.r)

    def _tallies(self) -> list[Array]:
        rho, r, w = self.rho, self.r, self.weight
        gap = rho - r

        def by(rank: Array, value: Array) -> Array:
            found = np.bincount(rank, value, self.n)[1:]
            return np.rint(found).astype(np.int64) if self.exact else found

        return [
            by(r, w * (gap == 0)), by(rho, w * (gap > 0)), by(rho, w * np.maximum(-gap, 0)), by(rho, w * np.abs(gap)),
            by(r, w * (gap < 0)), by(r, w * np.maximum(gap, 0)), by(r, w * np.abs(gap)),
        ]  # fmt: skip

    @property
    def exact(self) -> bool:
        """Whether every pair stands for itself."""
        return bool((self.weight == 1).all())

    def _terms(self, k: int, m: int) -> list[Array]:
        """Neighbours kept, depth of the intrusions and of the extrusions of each anchor."""
        kept = np.bincount(self.anchor, self.weight * (self.larger <= k), m)
        intrusion = np.bincount(self.anchor, self.weight * np.maximum(self.rho - k, 0) * (self.r <= k), m)
        extrusion = np.bincount(self.anchor, self.weight * np.maximum(self.r - k, 0) * (self.rho <= k), m)
        return [np.rint(x).astype(np.int64) if self.exact else x for x in (kept, intrusion, extrusion)]

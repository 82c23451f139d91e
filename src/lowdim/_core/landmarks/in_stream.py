"""Landmarks of rows in blocks, chosen among all of them in one pass, with a random sample of the others.

Of each block a `Cover` keeps as many candidates as landmarks are wanted; covers are added, and thinned out by the same
rule when they become large. By distance this is the composition of core-sets: farthest points of farthest points cover
all rows within a small multiple of the smallest possible radius (Malkomes et al. 2015), and draws of weighted draws are
those of k-means|| (Bahmani et al. 2012) but for their weights. Random landmarks, and the sample, are drawn by a hash of
the number of each row: uniformly, and the same whatever the blocks are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.distances import as_rows
from lowdim._core.landmarks.choose import choose
from lowdim._core.neighbors import nearest
from lowdim._core.streams.rows import n_rows, stacked, taken

Array = np.ndarray
KEPT = 4  # times the landmarks: candidates before they are thinned out


@dataclass(frozen=True)
class Pick:
    """What is chosen: so many landmarks, by a rule of `choose`, and a sample of at most so many rows."""

    n_landmarks: int
    method: str
    metric: Any
    most: int
    seed: int
    owner: str


@dataclass(frozen=True, eq=False)
class Some:
    """Some rows with their numbers, in ascending order, and a weight each."""

    numbers: Array
    rows: Any
    weights: Array

    def joined(self, other: Some, owner: str) -> Some:
        """Both, which have no row in common; those of `other` come later."""
        if not len(other.numbers):
            return self
        rows = stacked([self.rows, other.rows], owner) if len(self.numbers) else other.rows
        return Some(np.concatenate([self.numbers, other.numbers]), rows, np.concatenate([self.weights, other.weights]))

    def at(self, positions: Array, weights: Array | None = None) -> Some:
        """These of them."""
        weights = self.weights[positions] if weights is None else weights
        return Some(self.numbers[positions], taken(self.rows, positions), weights)


@dataclass(frozen=True, eq=False)
class Cover:
    """Rows that stand for the blocks that were read: `n` rows, candidates for landmarks, and a sample."""

    pick: Pick
    n: int
    candidates: Some
    sample: Some

    @classmethod
    def of(cls, block: Any, start: int, pick: Pick) -> Cover:
        """Of one block, whose first row has the number `start`."""
        numbers = np.arange(start, start + n_rows(block))
        as_rows(block, pick.owner)  # an error for cells that are missing or infinite
        every = Some(numbers, block, np.ones(len(numbers)))
        return cls(pick, len(numbers), _thinned(every, pick), _drawn(every, pick.most, pick.seed))

    def __add__(self, other: Cover) -> Cover:
        """Of the rows of both, those of `other` later."""
        pick = self.pick
        candidates = self.candidates.joined(other.candidates, pick.owner)
        if len(candidates.numbers) > KEPT * pick.n_landmarks:
            candidates = _thinned(candidates, pick)
        sample = _drawn(self.sample.joined(other.sample, pick.owner), pick.most, pick.seed)
        return Cover(pick, self.n + other.n, candidates, sample)

    def landmarks(self) -> Some:
        """As many as are wanted."""
        return _thinned(self.candidates, self.pick)


@dataclass(frozen=True, eq=False)
class Marked:
    """The rows that a method on landmarks is fitted to: a sample, and the landmarks of all rows.

    Attributes
    ----------
    numbers : ndarray of int
        Their numbers among all rows.
    rows : table
        The rows.
    positions : ndarray of int
        Which of them are the landmarks.
    n_all : int
        Number of all rows.
    blocks : Any
        The blocks, where they can be read again; None elsewhere.
    """

    numbers: Array
    rows: Any
    positions: Array
    n_all: int
    blocks: Any = None

    @classmethod
    def of(cls, cover: Cover, blocks: Any) -> Marked:
        """From what one pass found."""
        marks, sample = cover.landmarks(), cover.sample
        new = ~np.isin(marks.numbers, sample.numbers)
        both = Some(
            np.concatenate([sample.numbers, marks.numbers[new]]),
            stacked([sample.rows, taken(marks.rows, np.flatnonzero(new))], cover.pick.owner),
            np.empty(0),
        )
        order = np.argsort(both.numbers)
        numbers = both.numbers[order]
        return cls(numbers, taken(both.rows, order), np.searchsorted(numbers, marks.numbers), cover.n, blocks)

    def __len__(self) -> int:
        """Number of landmarks."""
        return len(self.positions)


def nearest_counts(block: Any, landmarks: Any, metric: Any, owner: str) -> Array:
    """How many rows of a block are nearest to each landmark."""
    rows = as_rows(block, owner)
    found = nearest(landmarks, 1, queries=rows, metric=metric, n_jobs=1, owner=owner).indices[:, 0]
    return np.bincount(found, minlength=landmarks.shape[0])


def _thinned(some: Some, pick: Pick) -> Some:
    """As many as landmarks are wanted, by the rule; each takes the weights of the rows that it is nearest to."""
    m = pick.n_landmarks
    if len(some.numbers) <= m:
        return some
    if pick.method == "random":
        return _drawn(some, m, pick.seed + 1)
    rows, rng = as_rows(some.rows, pick.owner), np.random.default_rng([pick.seed, int(some.numbers[0])])
    settings = {"method": pick.method, "metric": pick.metric, "rng": rng, "owner": pick.owner}
    if pick.method == "farthest":
        return some.at(np.sort(choose(rows, m, **settings)))
    chosen = np.sort(choose(rows, m, weights=some.weights, **settings))
    found = nearest(rows[chosen], 1, queries=rows, metric=pick.metric, n_jobs=1, owner=pick.owner)
    return some.at(chosen, np.bincount(found.indices[:, 0], some.weights, minlength=m))


def _drawn(some: Some, most: int, seed: int) -> Some:
    """At most so many: those whose numbers have the smallest hashes."""
    if len(some.numbers) <= most:
        return some
    return some.at(np.sort(np.argpartition(_hash(some.numbers, seed), most)[:most]))


def _hash(numbers: Array, seed: int) -> Array:
    """Of row numbers, as if they were random: the finaliser of SplitMix64 (Steele et al. 2014), twice."""
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % 2**63)
    for _ in range(2):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return x

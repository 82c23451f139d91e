"""The neighbours of all rows of a collection of Dask: searched in shards, merged, and measured.

A shard holds rows that are near to each other, and few enough for one worker. Every row goes to the two shards whose
centres are nearest, so that a row at a border is inside one of them; each shard is searched by the front door of this
package, and the lists of a row are merged. A second sweep cuts the rows along other borders. How many of the true
neighbours were found is measured on some rows, which are compared with all others.

Which rows a shard has depends on the rows and on no worker, and merging on no order: lost workers change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.distances import check_metric
from lowdim._core.distances.moved import moved, moved_rows
from lowdim._core.distances.rows import as_rows
from lowdim._core.neighbors.record import Neighbors, check_k
from lowdim._core.neighbors.search import nearest
from lowdim._core.runtime import memory
from lowdim._core.runtime.blas import on_one_blas_thread
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator

Array = np.ndarray

SHARD_ROWS = 50_000  # of a shard, where memory.sample_rows() is 20,000
SHARD_BYTES = 2**28
SAMPLE = 20_000  # rows that the shards are chosen by
SWEEPS = 2
CHECKED = 300  # rows whose true neighbours are found
LEAST_RECALL = 0.9
ROUNDS = 8  # of two-means
NONE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest rows of some rows: numbers and distances, nearest first, equal ones by number."""

    numbers: Array
    distances: Array

    def __add__(self, other: Lists) -> Lists:
        """The nearest of both, each once."""
        numbers = np.concatenate([self.numbers, other.numbers], axis=1)
        distances = np.concatenate([self.distances, other.distances], axis=1).astype(np.float64)
        order = np.lexsort((distances, numbers), axis=-1)
        numbers, distances = (np.take_along_axis(table, order, axis=1) for table in (numbers, distances))
        again = np.zeros(numbers.shape, bool)
        again[:, 1:] = numbers[:, 1:] == numbers[:, :-1]
        numbers, distances = np.where(again, NONE, numbers), np.where(again, np.inf, distances)
        k = self.numbers.shape[1]
        order = np.lexsort((numbers, distances), axis=-1)[:, :k]
        return Lists(np.take_along_axis(numbers, order, axis=1), np.take_along_axis(distances, order, axis=1))


def nearest_in_shards(blocks: Any, k: int, *, metric: Any, n_jobs: int | None, owner: str, name: str) -> Neighbors:
    """The `k` nearest of all rows of blocks, with the share of them that was found."""
    metric, blocks = check_metric(metric, owner), blocks.counted()
    n = blocks.n_rows()
    check_k(k, n, True, owner, name)
    memory.check(owner, {"neighbours of all rows": 48 * n * k}, "Take fewer neighbours, or a sample of the rows.")
    whole = np.full((n, k), NONE), np.full((n, k), np.inf)
    for sweep in range(SWEEPS):
        rng = generator(sweep)
        _, rows, _ = blocks.sample(SAMPLE, rng)
        centres = chosen_centres(routed(rows, metric, owner), _n_shards(n, blocks.width), rng)
        search = partial(_searched, k=k, metric=metric, n_jobs=n_jobs, owner=owner)
        for numbers, found in blocks.in_shards(
            partial(two_nearest, centres=centres, metric=metric), len(centres), search
        ):
            both = Lists(whole[0][numbers], whole[1][numbers]) + found
            whole[0][numbers], whole[1][numbers] = both.numbers, both.distances
    found = Lists(*whole)
    recall = measured_recall(blocks, found, metric, owner)
    if recall < LEAST_RECALL:
        warn(
            f"{owner}: {recall:.0%} of the true neighbours were found, measured on {min(n, CHECKED)} rows. Larger "
            "shards find more: lowdim.config(sample_rows=100_000) lets a worker hold 250,000 rows."
        )
    return Neighbors(found.numbers, found.distances, recall)


def _n_shards(n: int, width: int) -> int:
    """So many that a shard, with two of every row, holds what a worker may hold."""
    most = min(int(memory.sample_rows() * (SHARD_ROWS / 20_000)), SHARD_BYTES // (8 * max(1, width)))
    return max(2, -(-2 * n // max(2, most)))


def routed(block: Any, metric: Any, owner: str) -> Any:
    """Rows as shards are chosen by them: by Euclidean distances, of moved rows where the metric is one of those."""
    rows = as_rows(block, owner)
    if metric == "cosine":
        norms = np.sqrt(rows.multiply(rows).sum(axis=1)) if sparse.issparse(rows) else np.linalg.norm(rows, axis=1)
        scale = 1 / np.maximum(np.asarray(norms).ravel(), 1e-300)
        return sparse.csr_array(rows.multiply(scale[:, None])) if sparse.issparse(rows) else rows * scale[:, None]
    form = moved(metric, rows)
    return rows if form is None else moved_rows(form, rows, metric, owner, "X")


@on_one_blas_thread
def chosen_centres(rows: Any, count: int, rng: np.random.Generator) -> Array:
    """Centres of so many groups of rows of similar size: the largest is cut in two until there are as many."""
    rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)
    groups = [np.arange(len(rows))]
    while len(groups) < min(count, len(rows) // 2):
        largest = max(range(len(groups)), key=lambda at: len(groups[at]))
        groups[largest : largest + 1] = _halves(rows, groups[largest], rng)
    return np.stack([rows[group].mean(axis=0) for group in groups])


def _halves(rows: Array, group: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Two-means along one line, with three tenths of the rows at least on each side."""
    some = rows[group]
    a, b = some[rng.choice(len(some), 2, replace=False)]
    for _ in range(ROUNDS):
        along = some @ (b - a)
        limit = np.clip((a + b) @ (b - a) / 2, *np.quantile(along, [0.3, 0.7]))
        right = along > limit
        if right.all() or not right.any():
            break
        a, b = some[~right].mean(axis=0), some[right].mean(axis=0)
    order = np.argsort(some @ (b - a), kind="stable")
    cut = int(np.clip(np.count_nonzero(~right), 1, len(some) - 1))
    yield group[np.sort(order[:cut])]
    yield group[np.sort(order[cut:])]


def two_nearest(block: Any, centres: Array, metric: Any) -> Array:
    """The two shards of each row of a block; with the same bits on every machine."""
    rows = routed(block, metric, "NeighborGraph")
    if sparse.issparse(rows):
        D = np.square(centres).sum(axis=1) - 2 * (rows @ centres.T)
    else:
        D = np.empty((len(rows), len(centres)))
        _native.square_rows(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(centres), D, 1)
    first = D.argmin(axis=1)
    D[np.arange(len(D)), first] = np.inf
    return np.column_stack([first, D.argmin(axis=1)])


def _searched(numbers: Array, rows: Any, *, k: int, metric: Any, n_jobs: int | None, owner: str) -> Any:
    """The lists of the rows of a shard, by their numbers."""
    shape = len(numbers), k
    found, lengths = np.full(shape, NONE), np.full(shape, np.inf)
    most = min(k, len(numbers) - 1)
    if most > 0:
        near = nearest(rows, most, metric=metric, n_jobs=n_jobs, approximate=None, owner=owner)
        found[:, :most], lengths[:, :most] = numbers[near.indices], near.distances
    return numbers, Lists(found, lengths)


def measured_recall(blocks: Any, found: Lists, metric: Any, owner: str) -> float:
    """The share of the true neighbours of some rows that are in their lists; equal distances count."""
    n, k = found.numbers.shape
    drawn = np.sort(generator(len(found.numbers)).choice(n, min(n, CHECKED), replace=False))
    true = nearest_of_new(blocks, blocks.at(drawn)[0], min(k + 1, n), metric, owner)
    itself = true.numbers == drawn[:, None]
    reach = np.where(itself, -np.inf, true.distances)
    last = np.sort(reach, axis=1)[:, -1]
    # A row that copies push out of its own list leaves one entry too many there.
    last = np.where(itself.any(axis=1), last, true.distances[:, k - 1])
    return float(np.mean(found.distances[drawn] <= last[:, None] * (1 + 1e-6)))


def nearest_of_new(blocks: Any, queries: Any, k: int, metric: Any, owner: str) -> Lists:
    """The nearest of all rows of blocks to other rows, compared with each of them."""
    return blocks.gather(partial(_nearest_in_block, queries=queries, k=k, metric=metric, owner=owner), numbered=True)


def _nearest_in_block(block: Any, start: int, *, queries: Any, k: int, metric: Any, owner: str) -> Lists:
    rows, asked = as_rows(block, owner), as_rows(queries, owner)
    shape = asked.shape[0], k
    numbers, distances = np.full(shape, NONE), np.full(shape, np.inf)
    here = min(k, rows.shape[0])
    near = nearest(rows, here, metric=metric, queries=asked, n_jobs=1, approximate=False, owner=owner)
    numbers[:, :here], distances[:, :here] = near.indices.astype(np.int64) + start, near.distances
    return Lists(numbers, distances)

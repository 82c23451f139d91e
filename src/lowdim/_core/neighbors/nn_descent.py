"""Approximate nearest neighbours of every row, for data too large to compare all pairs.

Three ideas, each a loop of the compiled core:

* *Trees.* A random projection tree halves the rows along the line through two of them until leaves are small.
  The rows that share a leaf with a row in one of a few trees are a first guess at its neighbours.
* *Neighbours of neighbours.* A row near my neighbour is likely near me (Dong, Moses & Li, 2011). A round
  looks at every row two links away and keeps the best; walks along old links alone are not made twice.
* *Sketches.* Long rows are first compared through their leading principal coordinates and the length of what
  these leave over. That distance never exceeds the true one, so a pair it rules out needs no second look.

Rows live in the order of the first tree's leaves, so that neighbours share cache lines. Long lists (large k)
grow out of short ones: two links along lists of 0.4 k reach nearly all of the k nearest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.distances import Metric
from lowdim._core.neighbors.descent_cells import points_of
from lowdim._core.neighbors.descent_rows import Points, padded
from lowdim._core.runtime import rng, threads

# Chosen on MNIST (70,000 rows; 784 columns, and 50 principal coordinates): least time at a recall of 0.98.
LEAF = 40  # fewest rows of a leaf; leaves are up to three times that
TREES = 4
FEW_TREES = 25_000  # so many rows that trees see through projections have as many trees as others
SHORT, SHARE = 18, 0.4  # rounds keep max(SHORT, SHARE * k) neighbours per row, the last one k
FEW = 1024  # so few rows are compared with all others, as are up to short**2: two links are about as many
NAMED = 0.5  # rows that name a row, as a share of those it names
PROBE = 512  # rows that are tried before all are
GUESSES = 2  # rounds on sketches alone before distances are confirmed


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows as the loops want them, and where seeds come from."""

    space: Any  # measures pairs of rows, in the order of the first tree
    guess: Any  # the same by their sketches alone; None where rows have none
    order: np.ndarray  # the row of the data that each of them is
    trees: np.ndarray  # (trees, n): the rows in the order of each tree's leaves
    stream: np.random.Generator
    workers: int

    def links(self, keys: np.ndarray, reach: int) -> np.ndarray:
        """Steps from each row: to its `reach` nearest, and half as many rows that have it among theirs."""
        links = np.empty((keys.shape[0], 2 + reach + math.ceil(NAMED * reach)), np.int32)
        _native.link_rows(keys, reach, _seed(self.stream), self.workers, links)
        return links

    def walk(
        self, keys: np.ndarray, k: int, links: np.ndarray | None, *, known: bool = True, stride: int = 1
    ) -> tuple[np.ndarray, float]:
        """The k best within two steps of each row, and the share of the entries that is new.

        `links` None: steps along whole lists. `known` False: the distances in `keys` are those of sketches,
        to be measured again. `stride`: every so many rows alone, to see what it would bring.
        """
        n = keys.shape[0]
        lists, places = np.empty((n, k), np.uint64), np.empty_like(self.trees)
        np.put_along_axis(places, self.trees, np.arange(n, dtype=np.int32)[None], axis=1)
        steps = np.empty((n, 0), np.int32) if links is None else links
        rows = (self.space, self.trees, places)
        changed = _native.search_links(*rows, steps, keys, known, stride, self.workers, lists)
        return lists, changed / (k * -(-n // stride))


def nearest_by_descent(
    X: Any,
    k: int,
    *,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
    random_state: Any = 0,
    n_trees: int | None = None,
    short: int | None = None,
    max_iter: int = 12,
    tol: float = 0.01,
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate k nearest neighbours of every row of `X`.

    The same seed gives the same bits for any `n_jobs`. Share of the true neighbours that is found, on
    the 70,000 images of MNIST: 784 columns, 0.990 at k = 15 and 0.998 at k = 90; 50 principal coordinates,
    0.995 and 0.990. It falls with the dimension that the rows really fill: independent normal columns, 20,000
    rows, k = 15: 0.95 for 20 columns, 0.76 for 50. `estimated_recall` measures it on the data at hand.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d), float32 or float64, finite
        Searched in float32.
    k : int
        Neighbours per row, from 1 to n - 1.
    metric : str or ParametricMetric
        One that compiled loops measure: euclidean, cosine and manhattan, and those of `distances.table_of`.
    n_jobs : int, optional
        Threads.
    random_state : int, Generator or RandomState
    n_trees : int, optional
        Trees of the start. More help where neighbours of neighbours lead nowhere, as in small clusters. None: 4; of
        rows that trees see through projections 2 more each time that rows double beyond 25,000.
    short : int, optional
        Neighbours kept between rounds; None: max(18, 0.4 k).
    max_iter : int
        At most so many rounds.
    tol : float
        Rounds end when less than this share of the entries has changed.

    Returns
    -------
    indices : ndarray of shape (n, k), int32
        Nearest first, ties by index, the row itself left out by index.
    distances : ndarray of shape (n, k), float32
        As measured in float32, under euclidean and cosine; else numbers that are ordered like the distances. Whoever
        needs more digits measures the k pairs again.
    """
    n = X.shape[0]
    check_lists(n, k, "nearest_by_descent")
    stream = rng.generator(random_state)
    points = points_of(X, metric, n_jobs, "nearest_by_descent")
    short = max(SHORT, math.ceil(SHARE * k)) if short is None else short
    if n <= max(FEW, short**2):
        search, keys = _plant(points, 0, 1, k, stream, n_jobs)
    else:
        depth = int(math.log2(0.75 * n / max(LEAF, short + 1)))  # the first split can be 40 to 60
        search, keys = _plant(points, depth, n_trees or _trees(points), short, stream, n_jobs)
        keys = _improve(search, keys, k, max_iter, tol)
    indices, distances = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    _native.read_lists(keys, search.order, points.root, search.workers, indices, distances)
    return indices, points.distances(indices, distances)


def _trees(points: Points) -> int:
    """A projection keeps two near rows in one leaf the more rarely, the more often a tree splits (record 134)."""
    return TREES + 2 * max(0, round(math.log2(points.n / FEW_TREES))) if points.projected else TREES


def check_lists(n: int, k: int, owner: str) -> None:
    """ValueError where n rows have no k neighbours each."""
    if not 1 <= k < n:
        raise ValueError(f"{owner}: k must be from 1 to {n - 1} for {n} rows; got {k!r}.")


# ---- search ------------------------------------------------------------------------------------------------


def _seed(stream: np.random.Generator) -> int:
    return int(stream.integers(2**63))


def _plant(
    points: Points, depth: int, n_trees: int, k: int, stream: np.random.Generator, n_jobs: int | None
) -> tuple[_Search, np.ndarray]:
    """The rows in the order of a first tree, and first lists from all. Depth 0: one leaf holds all rows."""
    n, workers = points.n, threads.n_threads(n_jobs)
    lines = points.lines(depth == 0, stream, n_jobs)
    order = np.empty((1, n), np.int32)
    _native.grow_trees(lines, depth, 0, _seed(stream), workers, order)
    if depth > 0:
        lines = padded(lines, order[0], n_jobs)
    orders = np.empty((max(1, n_trees), n), np.int32)
    orders[0] = np.arange(n)
    _native.grow_trees(lines, depth, 1, _seed(stream), workers, orders[1:])
    guess, space = points.guess(lines, order[0]), points.space(lines, order[0])
    keys = np.empty((n, k), np.uint64)
    _native.search_leaves(space if guess is None else guess, orders, depth, workers, keys)
    return _Search(space, guess, order[0], orders, stream, workers), keys


def _improve(search: _Search, keys: np.ndarray, k: int, max_iter: int, tol: float) -> np.ndarray:
    """Rounds until few entries change; then longer lists where k asks for them."""
    short = keys.shape[1]
    if search.guess is not None:
        guess = replace(search, space=search.guess)
        for _ in range(GUESSES):
            keys, _ = guess.walk(keys, short, guess.links(keys, short))
        keys, _ = search.walk(keys, short, search.links(keys, short), known=False)
    for _ in range(max_iter):
        keys, changed = search.walk(keys, short, search.links(keys, short))
        if changed <= tol:
            break
    return keys[:, :k].copy() if k <= short else _lengthen(search, keys, k, max_iter, tol)


def _lengthen(search: _Search, keys: np.ndarray, k: int, max_iter: int, tol: float) -> np.ndarray:
    """Lists of k from shorter ones.

    Two links reach nearly all of the k nearest where the data has many dimensions, but hardly farther than
    twice a list's length on a curve, and not out of a cluster of fewer than k rows. So try on a few rows what
    steps along the longer lists bring, and take them where it pays.
    """
    keys, _ = search.walk(keys, k, search.links(keys, keys.shape[1]))
    stride = max(1, keys.shape[0] // PROBE)
    for _ in range(max_iter):
        if search.walk(keys, k, None, stride=stride)[1] <= tol:
            break
        keys, _ = search.walk(keys, k, None)
    return keys

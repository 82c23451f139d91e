"""Exact neighbour search: the engines behind `neighbors`.

Three engines give the same answer to the last bit, so the choice between them is a matter of time alone:

* *tree*: scipy's KD-tree, in low dimension;
* *products*: candidates from blocked matrix products and a running top k, in higher dimension;
* *scan*: every pair by its differences, for what the other two cannot decide.

The first two only propose. Their candidates are measured again by plain differences in float64 (`row_pairs`)
and ordered by (distance, index), and a bound on what was not proposed tells whether the k best are certain;
the rows where they are not (ties, duplicates, digits lost far from the origin) go to the scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.neighbors.prepared import BLOCK_ROWS, NOBODY, Found, Products, Search
from lowdim._core.runtime import threads

_SPARE = 8  # candidates beyond k that absorb the rounding of the products

Engine = tuple[int, Callable[[np.ndarray], Found]]


def _by_scan(search: Search, k: int) -> Engine:
    size = int(np.clip(3e8 / (search.X.shape[0] * search.X.shape[1] + 1), 8, BLOCK_ROWS))
    return size, lambda rows: search.scan(rows, k)


def _by_tree(search: Search, k: int) -> Engine:
    n = search.X.shape[0]
    tree = search.tree
    points = tree.data if search.Q is search.X else search.points(search.Q, search.q_scales)

    def propose(rows: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        wanted = min(n, (k + 2) * 4**attempt)
        if attempt > 1:
            return None
        reached, indices = (found.reshape(len(rows), -1) for found in tree.query(points[rows], wanted, p=search.p))
        indices = np.where(indices == search.skip[rows, None], NOBODY, indices)
        values, indices = search.refine(rows, indices)
        # What was not proposed is at least as far as the last proposal, but for rounding.
        certain = (wanted == n) | (values[:, k - 1] < reached[:, -1] ** search.p * (1 - 1e-9))
        return values, indices, certain

    return min(2048, max(16, 2**20 // k)), _settle(search, k, propose)


def _by_products(search: Search, k: int) -> Engine:
    n = search.X.shape[0]
    there = n - int(search.same)
    wanted = min(there, k + _SPARE + k // 8)
    stages = ("double",) if sparse.issparse(search.X) else ("single", "double")
    getattr(search, stages[0])  # prepared before the threads start

    def propose(rows: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        if attempt == len(stages) or (attempt and len(rows) <= 16):
            return None
        products: Products = getattr(search, stages[attempt])
        heaps, indices = products.candidates(rows, search.skip[rows], wanted)
        values, indices = search.refine(rows, indices)
        kth = values[:, k - 1] * products.unit
        floor = products.q_norms[rows] + 2.0 * heaps[:, 0]  # of the squared distances that were not proposed
        certain = kth + products.slack(rows, kth) < floor
        return values, indices, certain | (products.rounding == 0) | (wanted == there)

    size = 64 if sparse.issparse(search.X) else max(16, 2**20 // wanted)
    return min(BLOCK_ROWS, size), _settle(search, k, propose)


def _settle(search: Search, k: int, propose: Callable[..., Any]) -> Callable[[np.ndarray], Found]:
    """Proposals until every row of the block is certain, the scan for the rows that never are."""

    def find(rows: np.ndarray) -> Found:
        values, indices = np.full((len(rows), k), np.inf), np.empty((len(rows), k), np.int32)
        open_ = np.arange(len(rows))
        attempt = 0
        while len(open_) and (proposal := propose(rows[open_], attempt)) is not None:
            values[open_], indices[open_] = proposal[0][:, :k], proposal[1][:, :k]
            open_ = open_[~proposal[2]]
            attempt += 1
        if len(open_):
            values[open_], indices[open_] = search.scan(rows[open_], k, values[open_, -1])
        return values, indices

    return find


def nearest_rows(search: Search, k: int, n_jobs: int | None, route: str | None = None) -> Found:
    """Distances and indices of the k nearest rows of every query."""
    route = route or search.route(k)
    size, find = {"tree": _by_tree, "products": _by_products, "scan": _by_scan}[route](search, k)
    m = search.Q.shape[0]
    # In the order of the tree's leaves neighbouring queries walk the same nodes: a third less time.
    leaves = route == "tree" and search.same
    order = search.tree.indices.astype(np.int32) if leaves else np.arange(m, dtype=np.int32)
    values, indices = np.empty((m, k)), np.empty((m, k), np.int32)

    def fill(part: slice) -> None:
        values[order[part]], indices[order[part]] = find(order[part])

    threads.map_rows(fill, m, size, n_jobs)
    distances = search.distances(values)
    fill_zero_rows(search, k, distances, indices)
    return distances, indices


def fill_zero_rows(search: Search, k: int, distances: np.ndarray, indices: np.ndarray) -> None:
    """What zero rows find under cosine: the zero rows at 0, then all others at 1.

    The engines take them for orthogonal to everything, to each other as well.
    """
    zero = search.x_scales == 0
    order = np.concatenate([np.flatnonzero(zero), np.flatnonzero(~zero)])[: k + 1]
    for i in np.flatnonzero(search.q_scales == 0):
        indices[i] = order[order != search.skip[i]][:k]
        distances[i] = np.where(zero[indices[i]], 0.0, 1.0)

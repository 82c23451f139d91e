"""All rows within a radius, exact: the same engines as for the k nearest, without a k."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from lowdim._core.neighbors.prepared import BLOCK_ROWS, Found, Search
from lowdim._core.runtime import threads

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows_within(search: Search, radius: float, n_jobs: int | None, route: str | None = None) -> list[Pairs]:
    """Blocks of (query, row, distance) for all pairs at most `radius` apart, a row and itself left out.

    By a tree or by products, so not for manhattan where the route is "scan".
    """
    route = route or search.route(1)
    propose = (_pairs_by_tree if route == "tree" else _pairs_by_products)(search, radius)

    def find(part: slice) -> Pairs:
        queries, columns = propose(np.arange(part.start, part.stop, dtype=np.int32))
        queries, columns = _with_zero_pairs(search, part, queries, columns)
        kept = columns != search.skip[queries]
        queries, columns = queries[kept], columns[kept]
        values = np.empty(len(queries))
        search.pairs.pairs(search.p, queries, columns, values)
        with np.errstate(over="ignore"):
            distances = search.distances(values).astype(search.X.dtype)
        distances[(search.q_scales[queries] == 0) & (search.x_scales[columns] == 0)] = 0.0  # zero rows are equal
        near = distances <= search.X.dtype.type(radius)
        return queries[near], columns[near], distances[near]

    size = 64 if sparse.issparse(search.X) else BLOCK_ROWS
    return threads.map_rows(find, search.Q.shape[0], size, n_jobs)


def _with_zero_pairs(search: Search, part: slice, queries: np.ndarray, columns: np.ndarray) -> Found:
    """The proposed pairs and, under cosine, all pairs of zero rows, each once."""
    here, there = np.flatnonzero(search.q_scales[part] == 0) + part.start, np.flatnonzero(search.x_scales == 0)
    if not len(here) or not len(there):
        return queries, columns
    other = (search.q_scales[queries] != 0) | (search.x_scales[columns] != 0)
    pairs = np.repeat(here, len(there)), np.tile(there, len(here))
    joined = [np.concatenate([a[other], b]).astype(np.int32) for a, b in zip((queries, columns), pairs, strict=True)]
    return joined[0], joined[1]


def _pairs_by_tree(search: Search, radius: float) -> Callable[[np.ndarray], Found]:
    reach = search.power(radius) ** (1 / search.p) * (1 + 1e-6)  # float32 rounds outwards by up to 6e-8
    tree = search.tree
    points = tree.data if search.Q is search.X else search.points(search.Q, search.q_scales)

    def propose(rows: np.ndarray) -> Found:
        found = cKDTree(points[rows]).sparse_distance_matrix(tree, reach, p=search.p, output_type="ndarray")
        return rows[found["i"]], found["j"].astype(np.int32)

    return propose


def _pairs_by_products(search: Search, radius: float) -> Callable[[np.ndarray], Found]:
    products = search.double if sparse.issparse(search.X) else search.single
    reach = search.power(radius) * (1 + 1e-6) * products.unit

    def propose(rows: np.ndarray) -> Found:
        bound = reach + products.slack(rows, np.full(len(rows), reach)) * (1 + 1e-6)
        with np.errstate(over="ignore"):  # beyond the range of single precision every row is within reach
            limits = ((bound - products.q_norms[rows]) / 2).astype(products.half_norms.dtype)[:, None]
        limits = np.nextafter(limits, np.inf, dtype=limits.dtype)
        found = []
        for columns, product in products.blocks(rows):
            np.subtract(products.half_norms[columns], product, out=product)
            i, j = np.nonzero(~(product > limits))
            found.append((rows[i], (j + columns.start).astype(np.int32)))
        queries, indices = zip(*found, strict=True)
        return np.concatenate(queries), np.concatenate(indices)

    return propose

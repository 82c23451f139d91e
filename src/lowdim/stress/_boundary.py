"""The boundary of a sheet, from path lengths alone, and the pairs of rows between which path lengths can be trusted."""

from __future__ import annotations

from math import gamma, pi, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import edge_arrays
from lowdim._core.runtime import threads

compiled: Any = _native  # a compiled module has no types to check

Array = np.ndarray

AROUND = 24  # rows that say whether others lie on all sides of one: of so many, chance leaves 1 in 100 one-sided
WEAK = 0.67  # part of the limit that is enough next to the boundary; around a right angle it is 0.47 of the edge's
BLOCK = 1024


def one_sidedness(D: Array, r: int) -> Array:
    """How far the nearest rows of each row lie to one side of it: about 0 inside a sheet, 1 at a straight edge.

    The nearest rows are laid flat by classical scaling of their path lengths to r axes; the mean of the directions to
    them is as long as chance inside, and at an edge as that of a half ball, which is the unit.
    """
    n, found = len(D), np.zeros(len(D))
    k = min(AROUND, n - 1)
    for rows in threads.blocks(n, BLOCK):
        lengths = D[rows].copy()
        lengths[np.arange(len(lengths)), np.arange(rows.start, rows.stop)] = -1.0  # before rows that equal it
        members = np.argpartition(lengths, k, axis=1)[:, : k + 1]
        flat = _laid_flat(D[members[:, :, None], members[:, None, :]].astype(np.float64), r)
        own = members == np.arange(rows.start, rows.stop)[:, None]
        steps = flat - flat[own][:, None, :]
        size = np.linalg.norm(steps, axis=2, keepdims=True)
        unit = np.divide(steps, size, out=np.zeros_like(steps), where=size > 0)
        others = np.maximum((size[..., 0] > 0).sum(axis=1), 1)
        found[rows] = np.linalg.norm(unit.sum(axis=1), axis=1) / others
    half_ball = gamma(r / 2) / (sqrt(pi) * gamma((r + 1) / 2))
    return found / half_ball


def boundary_rows(graph: Any, sides: Array, limit: float) -> Array:
    """Rows that are one-sided beyond the limit, and those next to them that are so beyond a part of it.

    Around the corner of a hole rows lie on three of four sides; just there paths bend around it.
    """
    sure = sides > limit
    ones = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    return np.asarray(sure | ((sides > WEAK * limit) & (ones @ sure > 0)))


def _laid_flat(D: Array, r: int) -> Array:
    """Classical scaling of many small tables at once: (m, k, k) -> (m, k, r)."""
    B = np.square(D)
    B -= B.mean(axis=1, keepdims=True)
    B -= B.mean(axis=2, keepdims=True)
    with threads.single_blas():
        values, vectors = np.linalg.eigh(-0.25 * (B + B.transpose(0, 2, 1)))
    return vectors[:, :, -r:] * np.sqrt(np.maximum(values[:, None, -r:], 0.0))


def trusted_pairs(graph: Any, D: Array, boundary: Array, n_near: int, n_jobs: int | None = None) -> Array:
    """A symmetric table of the pairs whose path is as long as the straight way on the sheet would be.

    It does not touch the boundary between its ends, or is no longer than both ends are from the boundary together: a
    straight line of that length stays inside. The nearest pairs of each row always count: they are what is sure.
    """
    n = len(D)
    touched = np.empty((n, n), dtype=np.uint8)
    marks = np.ascontiguousarray(boundary, dtype=np.uint8)
    sources = np.arange(n, dtype=np.int32)
    compiled.path_touches(*edge_arrays(graph), sources, marks, touched, threads.n_threads(n_jobs))
    inland = D[:, boundary].min(axis=1, initial=np.inf)
    kept = touched == 0
    for rows in threads.blocks(n, BLOCK):
        reach = np.partition(D[rows], min(n_near, n - 1), axis=1)[:, min(n_near, n - 1)]
        kept[rows] |= D[rows] <= np.maximum(inland[rows, None] + inland, reach[:, None])
    return kept | kept.T

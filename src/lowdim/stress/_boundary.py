"""The boundary of a surface, from geodesic distances alone, and the pairs whose distances it does not affect."""

from __future__ import annotations

from math import gamma, pi, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import edge_arrays
from lowdim._core.runtime import threads

Array = np.ndarray

AROUND = 24  # nearest rows that decide: of so many, 1 row in 100 inside is one-sided by chance
WEAK = 0.67  # share of the limit that is enough next to a boundary row; at a right-angled corner it is 0.47
BLOCK = 1024


def one_sidedness(D: Array, r: int) -> Array:
    """How far the nearest rows of each row lie to one side of it: about 0 inside a surface, 1 at a straight boundary.

    Classical scaling of their geodesic distances gives the nearest rows r coordinates; the mean of the unit vectors to
    them has a random length inside, and at a boundary that of a half ball, which is the unit.
    """
    n, found = len(D), np.zeros(len(D))
    k = min(AROUND, n - 1)
    for rows in threads.blocks(n, BLOCK):
        lengths = D[rows].copy()
        lengths[np.arange(len(lengths)), np.arange(rows.start, rows.stop)] = -1.0  # sorts before rows that equal it
        members = np.argpartition(lengths, k, axis=1)[:, : k + 1]
        flat = _flattened(D[members[:, :, None], members[:, None, :]].astype(np.float64), r)
        own = members == np.arange(rows.start, rows.stop)[:, None]
        steps = flat - flat[own][:, None, :]
        size = np.linalg.norm(steps, axis=2, keepdims=True)
        unit = np.divide(steps, size, out=np.zeros_like(steps), where=size > 0)
        others = np.maximum((size[..., 0] > 0).sum(axis=1), 1)
        found[rows] = np.linalg.norm(unit.sum(axis=1), axis=1) / others
    half_ball = gamma(r / 2) / (sqrt(pi) * gamma((r + 1) / 2))
    return found / half_ball


def boundary_rows(graph: Any, sides: Array, limit: float) -> Array:
    """Rows that are one-sided beyond the limit, and those next to them that are so beyond a share of it.

    At the corner of a hole, rows lie on three of four sides; it is there that paths bend around the hole.
    """
    sure = sides > limit
    ones = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    return np.asarray(sure | ((sides > WEAK * limit) & (ones @ sure > 0)))


def _flattened(D: Array, r: int) -> Array:
    """Classical scaling of many small tables at once: (m, k, k) -> (m, k, r)."""
    B = np.square(D)
    B -= B.mean(axis=1, keepdims=True)
    B -= B.mean(axis=2, keepdims=True)
    with threads.single_blas():
        values, vectors = np.linalg.eigh(-0.25 * (B + B.transpose(0, 2, 1)))
    return vectors[:, :, -r:] * np.sqrt(np.maximum(values[:, None, -r:], 0.0))


def trusted_pairs(graph: Any, D: Array, boundary: Array, n_near: int, n_jobs: int | None = None) -> Array:
    """A symmetric table of the pairs whose geodesic distance is that of a straight line on the surface.

    The path does not touch the boundary between its ends, or is no longer than the sum of the distances of both ends to
    the boundary: a straight line of that length stays inside. The pairs of each row with its nearest rows always count.
    """
    n = len(D)
    touched = np.empty((n, n), dtype=np.uint8)
    marks = np.ascontiguousarray(boundary, dtype=np.uint8)
    sources = np.arange(n, dtype=np.int32)
    _native.path_touches(*edge_arrays(graph), sources, marks, touched, threads.n_threads(n_jobs))
    inland = D[:, boundary].min(axis=1, initial=np.inf)
    kept = touched == 0
    for rows in threads.blocks(n, BLOCK):
        reach = np.partition(D[rows], min(n_near, n - 1), axis=1)[:, min(n_near, n - 1)]
        kept[rows] |= D[rows] <= np.maximum(inland[rows, None] + inland, reach[:, None])
    return kept | kept.T

"""Nearest rows: a missing cell is the mean of that cell in the rows most alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model

DONORS = 2000  # rows that others are filled from; of larger tables so many are drawn
BLOCK_CELLS = 2**21


class NearestRows(Model):
    """Means of the k nearest rows that have the cell, weighted by the inverse of the distance.

    Distances are over the cells that both rows have. Numbers are standardised; two different categories are as far
    apart as numbers by one deviation.
    """

    name: ClassVar[str] = "neighbors"
    words: ClassVar[str] = "nearest rows"

    def path(self, cells: Cells) -> list[int]:
        return [k for k in (3, 5, 10, 20, 40, 80) if k < len(cells.coded)] or [1]

    def fill(self, cells: Cells, setting: int, start: Array | None = None) -> Array:
        n = len(cells.coded)
        donors = np.arange(n) if n <= DONORS else np.sort(generator(self.effort.seed).choice(n, DONORS, replace=False))
        return cells.only(_from_donors(cells, donors, setting))

    def bootstrap(
        self, cells: Cells, setting: int, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        n = len(cells.coded)
        for _ in range(count):
            yield cells.only(_from_donors(cells, rng.integers(n, size=min(n, DONORS)), setting))

    def said(self, setting: int) -> str:
        return f"{setting} neighbours"


def _from_donors(cells: Cells, donors: Array, k: int) -> Array:
    D, holes, parents = cells.spread, cells.holes, cells.layout.parents
    means = cells.baseline()
    filled = np.broadcast_to(means, D.shape).copy()
    rows = np.flatnonzero(holes.any(axis=1))
    known = ~holes[donors]
    for part in blocks(len(rows), max(1, BLOCK_CELLS // len(donors))):
        mine = rows[part]
        far = _distances(cells, mine, donors)
        for j in np.flatnonzero(holes[mine].any(axis=0)):
            lacking, having = np.flatnonzero(holes[mine, j]), np.flatnonzero(known[:, j])
            columns = np.flatnonzero(parents == j)
            filled[np.ix_(mine[lacking], columns)] = _weighed(
                far[np.ix_(lacking, having)], D[np.ix_(donors[having], columns)], k, means[columns]
            )
    return filled


def _weighed(far: Array, cells: Array, k: int, otherwise: Array) -> Array:
    """Means of the cells of the k nearest donors by inverse distance: (m, width); `otherwise` where none is near."""
    if not far.shape[1]:
        return np.broadcast_to(otherwise, (len(far), len(otherwise)))
    near = np.argsort(far, axis=1, kind="stable")[:, :k]
    weight = 1.0 / np.maximum(np.take_along_axis(far, near, axis=1), 1e-9)  # 0 for what is out of reach
    total = weight.sum(axis=1, keepdims=True)
    mean = np.einsum("mk,mkw->mw", weight, cells[near])
    return np.where(total > 0, np.divide(mean, total, out=np.zeros_like(mean), where=total > 0), otherwise)


def _distances(cells: Cells, rows: Array, donors: Array) -> Array:
    """Root mean squared difference over the cells in common, infinite to itself and where there is none."""
    weight = np.where(cells.layout.numeric, 1.0, np.sqrt(0.5))  # two indicators differ where a category does
    D, seen = cells.spread * weight, (~cells.holes).astype(np.float64)
    Y = np.where(np.isnan(D), 0.0, D)
    W = seen[:, cells.layout.parents]
    square = (Y[rows] ** 2) @ W[donors].T + W[rows] @ (Y[donors] ** 2).T - 2.0 * Y[rows] @ Y[donors].T
    both = seen[rows] @ seen[donors].T
    far: Any = np.sqrt(np.maximum(square, 0.0) / np.where(both > 0, both, np.nan))
    far[np.isnan(far) | (rows[:, None] == donors[None, :])] = np.inf
    return np.asarray(far)

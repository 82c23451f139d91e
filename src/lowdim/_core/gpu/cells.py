"""Approximate nearest neighbours of every row: k-means cells, of which the nearest few are searched.

Rows are grouped around the means of a sample. A row is compared with the rows of the cells whose means are nearest to
it, one cell after the other, and keeps the best. How many cells are enough depends on the data, so it is measured: on
rows drawn evenly, the share of the true neighbours that was found. Cells are added until it is `RECALL`; where that
would take most of them, the search is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.devices import BLOCK_BYTES, Device
from lowdim._core.gpu.nearest import Rows, least, measured, merged, search

RECALL = 0.99  # of the neighbours of a row; the search ends there
PROBES = 3  # cells searched at first; then half as many again each time
MOST = 0.25  # of all cells: beyond, comparing all pairs is as fast
SAMPLE = 500  # rows on which the recall is measured
PER_MEAN, ROUNDS = 64, 8  # of k-means: rows of the sample for each mean, and rounds
FEW = 16  # nearest cells of a row that are listed at first
LONGEST = 128  # neighbours: longer lists are not made by the fused kernel


@dataclass(frozen=True, eq=False)
class Found:
    """Squared distances and indices of neighbours, the recall on a sample, and the cells that were searched."""

    squares: Any
    indices: Any
    recall: float
    probes: int


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows in the order of their cells: the number of each row, where each cell begins, and how many rows it has."""

    order: Any
    starts: Any
    sizes: Any
    near: Any  # (n, most) cells by the distance of their means, for each row; int32
    means: Any

    @classmethod
    def of(cls, device: Device, rows: Rows, means: Any, most: int) -> Cells:
        torch = device.torch
        if device.fused is not None and most <= FEW:
            near = device.fused.nearest_means(torch, rows.shifted, means, most)
        else:
            near = _nearest_means(device, rows.shifted, means, most)
        order = near[:, 0].argsort(stable=True)
        sizes = torch.bincount(near[:, 0], minlength=len(means))
        return cls(order, sizes.cumsum(0) - sizes, sizes, near, means)


def _means(device: Device, X: Any, n_cells: int) -> Any:
    """Lloyd's rounds from rows spread evenly over the sample; sums of a mean are taken in the order of the rows."""
    torch = device.torch
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(X), min(len(X), PER_MEAN * n_cells), replace=False)
    sample = X[torch.as_tensor(drawn, device=X.device)]
    means = sample[:n_cells].clone()
    for _ in range(ROUNDS):
        of = _nearest_means(device, sample, means, 1)[:, 0]
        order = of.argsort(stable=True)
        sizes = torch.bincount(of, minlength=n_cells)
        sums = torch.segment_reduce(sample[order], "sum", lengths=sizes, initial=0)
        means = torch.where(sizes[:, None] > 0, sums / sizes.clamp(min=1)[:, None], means)
    return means


def _nearest_means(device: Device, X: Any, means: Any, most: int) -> Any:
    torch = device.torch
    norms = means.square().sum(dim=1)
    found = torch.empty((len(X), most), dtype=torch.int32, device=X.device)
    for low in range(0, len(X), step := device.rows(16 * len(means), len(X), copies=3)):
        part = X[low : low + step]
        table = torch.addmm(norms.expand(len(part), -1), part, means.T, alpha=-2)
        if most == 1:
            found[low : low + step, 0] = table.argmin(dim=1)
        else:
            found[low : low + step] = table.topk(most, dim=1, largest=False).indices
    return found


def n_cells(n: int) -> int:
    """About half the square root of the number of rows, a power of 2: cells of some thousand rows."""
    return max(4, int(2 ** round(np.log2(np.sqrt(n) / 2))))


def needs(n: int, d: int, k: int) -> dict[str, int]:
    """Bytes of a search by the fused kernel beside the rows: these in their cells, lists of cells and of neighbours."""
    listed, length = max(PROBES, min(FEW, int(MOST * n_cells(n)))), max(16, 2 ** int(np.ceil(np.log2(k + 1))))
    measured = 16 * n * k + min(BLOCK_BYTES, 8 * n * length)
    return {"cells": 4 * n * (-(-d // 64) * 64 + 2 * listed), "neighbours": 8 * n * length + measured}


def nearest_by_cells(device: Device, X: Any, k: int) -> Found:
    """The k nearest rows of each row of X, all but about one in a hundred; their distances are exact.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    X : tensor of shape (n, d)
        The rows.
    k : int
        How many neighbours.

    Returns
    -------
    Found
        The row itself is left out by its index.
    """
    torch = device.torch
    rows, count = Rows.of(X), n_cells(len(X))
    drawn = torch.linspace(0, len(X) - 1, min(SAMPLE, len(X)), device=X.device, dtype=torch.float64).long()
    kth = _kth(device, rows, drawn, k)
    means, most = _means(device, rows.shifted, count), max(PROBES, int(MOST * count))
    for cells in sorted({min(FEW, most), most}):  # long lists of cells take long to make, and are hardly ever needed
        lists, recall, probes = _searched(device, rows, Cells.of(device, rows, means, cells), k, (drawn, kth))
        if recall >= RECALL:
            squares, indices = lists.measured()
            short = squares[:, -1].isinf().nonzero()[:, 0]  # the cells had fewer rows
            if len(short):
                squares[short], indices[short] = search(device, rows, Rows.of(X[short], rows.center), k, short)
            return Found(squares, indices, recall, probes)
        del lists
    squares, indices = search(device, rows, rows, k, torch.arange(len(X), device=X.device))
    return Found(squares, indices, 1.0, count)


def _searched(device: Device, rows: Rows, cells: Cells, k: int, sample: tuple[Any, Any]) -> tuple[Any, float, int]:
    """The lists after as many cells as the recall on a sample needs, or all; the recall, and how many cells."""
    fused = device.fused if k < LONGEST else None
    lists = Lists(device, rows, cells, k) if fused is None else fused.Lists(device, rows, cells, k)
    done, recall, wanted, most = 0, 0.0, PROBES, cells.near.shape[1]
    while recall < RECALL and done < most:
        for number in range(done, min(wanted, most)):
            lists.compare(number, _tiles(device, cells, lists.wanted(number), lists.tile))
        done, wanted = min(wanted, most), wanted + (wanted + 1) // 2
        recall = _recall(rows.given, sample[0], lists.some(sample[0]), sample[1], k)
    return lists, recall, done


def _kth(device: Device, rows: Rows, drawn: Any, k: int) -> Any:
    """Squared distance of some rows to their k-th nearest other row."""
    some = Rows.of(rows.given[drawn], rows.center)
    return search(device, rows, some, k, drawn)[0][:, -1]


def _recall(X: Any, drawn: Any, lists: tuple[Any, Any], kth: Any, k: int) -> float:
    """The share of neighbours that are no farther than the k-th nearest, so that ties do not matter."""
    indices, filled = lists
    squares = X[indices].double().sub_(X[drawn][:, None].double()).square_().sum(dim=2)
    found = filled & (squares <= kth[:, None] * (1 + 1e-12))
    return float((found.sum(dim=1).clamp(max=k).double() / k).mean())


class Lists:
    """The nearest rows of every row among those compared so far."""

    tile = 256  # rows that are compared with one cell at a time

    def __init__(self, device: Device, rows: Rows, cells: Cells, k: int) -> None:
        torch, n = device.torch, len(rows.given)
        self.device, self.rows, self.cells = device, rows, cells
        self.best = (
            torch.full((n + 1, k), torch.inf, device=rows.given.device, dtype=rows.shifted.dtype),
            torch.zeros((n + 1, k), dtype=torch.int64, device=rows.given.device),
        )

    def wanted(self, number: int) -> Any:
        """The nearest, second, ... cell of every row."""
        return self.cells.near[:, number].long()

    def compare(self, number: int, tiles: _Tiles) -> None:
        """Tiles of rows, each with one cell: the nearest, second, ... of these rows."""
        sizes, at = tiles.sizes.tolist(), 0  # decreasing
        while at < len(sizes) and sizes[at] > 0:
            width = sizes[at]
            step = self.device.rows(4 * self.tile * (width + 1), len(sizes), copies=3)
            self._compare(tiles.part(at, at + step), width)
            at += step

    def _compare(self, tiles: _Tiles, width: int) -> None:
        """The queries of some tiles with the rows of their cells."""
        torch, rows, cells = self.device.torch, self.rows, self.cells
        n, k = len(rows.shifted), self.best[0].shape[1]
        place = torch.arange(width, device=rows.shifted.device)
        inside = place < tiles.sizes[:, None]
        names = cells.order[(cells.starts[tiles.cells][:, None] + place).clamp(max=n - 1)]
        norms = torch.where(inside, rows.norms[names], torch.inf)
        Q, Y = rows.shifted[tiles.queries.clamp(max=n - 1)], rows.shifted[names]
        table = torch.baddbmm(norms[:, None].expand(-1, self.tile, -1), Q, Y.transpose(1, 2), alpha=-2)
        values, columns = least(self.device, table, min(k + 1, width))
        del table
        of, values = tiles.queries.flatten(), values.flatten(0, 1)
        indices = names[:, None].expand(-1, self.tile, -1).gather(2, columns).flatten(0, 1)
        values = torch.where(indices == of[:, None], torch.inf, values)
        self.best[0][of], self.best[1][of] = merged(torch, (self.best[0][of], self.best[1][of]), (values, indices), k)

    def some(self, drawn: Any) -> tuple[Any, Any]:
        """The members of the lists of some rows, and which of them were filled."""
        return self.best[1][drawn], ~self.best[0][drawn].isinf()

    def measured(self) -> tuple[Any, Any]:
        """Squared distances and indices of the k nearest; infinite where fewer were compared."""
        short = self.best[0][:-1].isinf().any(dim=1)
        squares, indices = measured(self.device, self.rows.given, self.rows.given, self.best[1][:-1])
        return squares.masked_fill_(short[:, None], self.device.torch.inf), indices


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Groups of queries, each with one cell to search, those of large cells first."""

    queries: Any  # (tiles, rows of a tile); the number of rows where there is none
    cells: Any
    sizes: Any

    def part(self, low: int, high: int) -> _Tiles:
        return _Tiles(self.queries[low:high], self.cells[low:high], self.sizes[low:high])


def _tiles(device: Device, cells: Cells, wanted: Any, tile: int) -> _Tiles:
    """Rows and the cell that each of them is compared with, in tiles of so many rows."""
    torch = device.torch
    n, order = len(wanted), wanted.argsort(stable=True)
    counts = torch.bincount(wanted, minlength=len(cells.sizes))
    begins, needed = counts.cumsum(0) - counts, (counts + tile - 1) // tile
    cell = torch.repeat_interleave(torch.arange(len(counts), device=wanted.device), needed)
    number = torch.arange(len(cell), device=wanted.device) - (needed.cumsum(0) - needed)[cell]
    sizes, by_size = cells.sizes[cell].sort(descending=True, stable=True)
    cell, number = cell[by_size], number[by_size]
    place = number[:, None] * tile + torch.arange(tile, device=wanted.device)
    queries = order[(begins[cell][:, None] + place).clamp(max=n - 1)]
    return _Tiles(torch.where(place < counts[cell][:, None], queries, n), cell, sizes)

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

from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.nearest import Rows, least, measured, merged, search

RECALL = 0.99  # of the neighbours of a row; the search ends there
PROBES = 3  # cells searched at first; then half as many again each time
MOST = 0.25  # of all cells: beyond, comparing all pairs is as fast
SAMPLE = 500  # rows on which the recall is measured
PER_MEAN, ROUNDS = 64, 8  # of k-means: rows of the sample for each mean, and rounds
TILE = 256  # queries that are compared with one cell at a time


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

    @classmethod
    def of(cls, device: Device, rows: Rows, n_cells: int, most: int) -> Cells:
        torch = device.torch
        means = _means(device, rows.shifted, n_cells)
        near = _nearest_means(device, rows.shifted, means, most)
        order = near[:, 0].argsort(stable=True)
        sizes = torch.bincount(near[:, 0], minlength=n_cells)
        return cls(order, sizes.cumsum(0) - sizes, sizes, near)


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
    parts = []
    for part in X.split(device.rows(4 * len(means), len(X), copies=3)):
        table = torch.addmm(norms.expand(len(part), -1), part, means.T, alpha=-2)
        parts.append(
            table.argmin(dim=1)[:, None] if most == 1 else table.topk(most, dim=1, largest=False).indices.int()
        )
    return torch.cat(parts)


def n_cells(n: int) -> int:
    """About half the square root of the number of rows, a power of 2: cells of some thousand rows."""
    return max(4, int(2 ** round(np.log2(np.sqrt(n) / 2))))


def list_bytes(n: int) -> int:
    """Of the lists of nearest cells."""
    return 4 * n * max(PROBES, int(MOST * n_cells(n)))


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
    most = max(PROBES, int(MOST * count))
    cells = Cells.of(device, rows, count, most)
    best = (
        torch.full((len(X) + 1, k), torch.inf, device=X.device),
        torch.zeros((len(X) + 1, k), dtype=torch.int64, device=X.device),
    )
    drawn = torch.linspace(0, len(X) - 1, min(SAMPLE, len(X)), device=X.device, dtype=torch.float64).long()
    kth = _kth(device, rows, drawn, k)
    done, recall, wanted = 0, 0.0, PROBES
    while recall < RECALL and done < most:
        for probe in range(done, min(wanted, most)):
            _search_cells(device, rows, cells, probe, best)
        done, wanted = min(wanted, most), wanted + (wanted + 1) // 2
        recall = _recall(device, X, drawn, best[1], kth)
    if recall < RECALL:
        squares, indices = search(device, rows, rows, k, torch.arange(len(X), device=X.device))
        return Found(squares, indices, 1.0, count)
    return Found(*measured(device, X, X, best[1][:-1]), recall, done)


def _kth(device: Device, rows: Rows, drawn: Any, k: int) -> Any:
    """Squared distance of some rows to their k-th nearest other row."""
    some = Rows.of(rows.given[drawn], rows.center)
    return search(device, rows, some, k, drawn)[0][:, -1]


def _recall(device: Device, X: Any, drawn: Any, indices: Any, kth: Any) -> float:
    """The share of neighbours that are no farther than the k-th nearest, so that ties do not matter."""
    found = measured(device, X, X[drawn], indices[drawn])[0]
    return float((found <= kth[:, None] * (1 + 1e-12)).double().mean())


def _search_cells(device: Device, rows: Rows, cells: Cells, probe: int, best: tuple[Any, Any]) -> None:
    """Compare every row with its `probe`-th nearest cell, and keep what is nearer than what it has."""
    tiles = _tiles(device, cells, cells.near[:, probe].long())
    k, at = best[0].shape[1], 0
    sizes = tiles.sizes.tolist()  # decreasing
    while at < len(sizes) and sizes[at] > 0:
        width = sizes[at]
        until = min(len(sizes), at + device.rows(4 * TILE * (width + 1), len(sizes), copies=3))
        _compare(device, rows, cells, tiles.part(at, until), width, k, best)
        at = until


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Groups of queries, each with one cell to search, those of large cells first."""

    queries: Any  # (tiles, TILE); the number of rows where there is none
    cells: Any
    sizes: Any

    def part(self, low: int, high: int) -> _Tiles:
        return _Tiles(self.queries[low:high], self.cells[low:high], self.sizes[low:high])


def _tiles(device: Device, cells: Cells, wanted: Any) -> _Tiles:
    torch = device.torch
    n, order = len(wanted), wanted.argsort(stable=True)
    counts = torch.bincount(wanted, minlength=len(cells.sizes))
    begins, needed = counts.cumsum(0) - counts, (counts + TILE - 1) // TILE
    cell = torch.repeat_interleave(torch.arange(len(counts), device=wanted.device), needed)
    number = torch.arange(len(cell), device=wanted.device) - (needed.cumsum(0) - needed)[cell]
    sizes, by_size = cells.sizes[cell].sort(descending=True, stable=True)
    cell, number = cell[by_size], number[by_size]
    place = number[:, None] * TILE + torch.arange(TILE, device=wanted.device)
    queries = order[(begins[cell][:, None] + place).clamp(max=n - 1)]
    return _Tiles(torch.where(place < counts[cell][:, None], queries, n), cell, sizes)


def _compare(
    device: Device, rows: Rows, cells: Cells, tiles: _Tiles, width: int, k: int, best: tuple[Any, Any]
) -> None:
    """The queries of some tiles with the rows of their cells."""
    torch = device.torch
    n, place = len(rows.shifted), torch.arange(width, device=rows.shifted.device)
    inside = place < tiles.sizes[:, None]
    names = cells.order[(cells.starts[tiles.cells][:, None] + place).clamp(max=n - 1)]
    norms = torch.where(inside, rows.norms[names], torch.inf)
    Q, Y = rows.shifted[tiles.queries.clamp(max=n - 1)], rows.shifted[names]
    table = torch.baddbmm(norms[:, None].expand(-1, TILE, -1), Q, Y.transpose(1, 2), alpha=-2)
    values, columns = least(device, table, min(k + 1, width))
    del table
    of, values = tiles.queries.flatten(), values.flatten(0, 1)
    indices = names[:, None].expand(-1, TILE, -1).gather(2, columns).flatten(0, 1)
    values = torch.where(indices == of[:, None], torch.inf, values)
    best[0][of], best[1][of] = merged(torch, (best[0][of], best[1][of]), (values, indices), k)

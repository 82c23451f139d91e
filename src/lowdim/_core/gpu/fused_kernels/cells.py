# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""Rows compared with their nearest k-means cells as one kernel of Triton; its twin in plain PyTorch is `cells.Lists`.

A program compares some rows with one cell, tile after tile of its rows. It has a bin for each column of the tile and
keeps the two least distances of each bin: an operation or two for a pair, and no table in memory. From time to time,
the least of all bins are put into the lists of the rows, as long as some are less than the worst there. A list misses
a row only where two nearer ones of a segment of tiles share its bin.

Distances are the bits of floats that are not negative, whose order is that of whole numbers; the lowest bits hold the
number of the tile. Rows are differences from the mean of their cell: products of these have small errors.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")

ROWS, COLUMNS = 64, 64  # rows of a program, and of a tile it compares them with
WARPS, STAGES, PRECISION = 4, 2, "tf32x3"  # products of three times eleven bits: as exact as single precision
WIDEST = 64  # columns multiplied at once
LONG, SEGMENT, SHORT_SEGMENT = 64, 16, 4  # tiles between two looks at the lists; fewer where lists are long
FAR = 0x7F800000  # the bits of infinity


@triton.jit
def _taken(low_bins, high_bins, best, on, columns: tl.constexpr, far: tl.constexpr):
    """The first bin that holds the least of each row, and the bins without it."""
    across = tl.arange(0, columns)
    at = tl.min(tl.where(low_bins == best[:, None], across[None, :], columns), 1)
    here = (across[None, :] == at[:, None]) & on[:, None]
    return at, tl.where(here, high_bins, low_bins), tl.where(here, far, high_bins)


@triton.jit
def _listed(
    low_bins, high_bins, list_values, list_members, begin,
    length: tl.constexpr, columns: tl.constexpr, segment: tl.constexpr, far: tl.constexpr,
):  # fmt: skip
    """Lists after the least of the bins took the places of the worst, as long as they are less."""
    worst = tl.max(list_values, 1)
    best = tl.min(low_bins, 1)
    on = best < worst
    where = tl.arange(0, length)
    while tl.max(on.to(tl.int32), 0) > 0:
        which, low_bins, high_bins = _taken(low_bins, high_bins, best, on, columns, far)
        slot = tl.min(tl.where(list_values == worst[:, None], where[None, :], length), 1)
        put = (where[None, :] == slot[:, None]) & on[:, None]
        member = begin + (best & (segment - 1)) * columns + which
        list_values = tl.where(put, (best & -segment)[:, None], list_values)
        list_members = tl.where(put, member[:, None], list_members)
        worst = tl.max(list_values, 1)
        best = tl.min(low_bins, 1)
        on = best < worst
    return list_values, list_members


@triton.jit
def _binned(square, number, low_bins, high_bins, keep: tl.constexpr):
    """The two least of each bin, with one more tile."""
    key = (square.to(tl.int32, bitcast=True) & keep) | number
    return tl.minimum(low_bins, key), tl.minimum(high_bins, tl.maximum(low_bins, key))


@triton.jit
def _moved(points, means, homes, q, filled, cell, at, d: tl.constexpr, cells: tl.constexpr):
    """Rows, which are differences from the mean of their own cell, as differences from that of another one."""
    k = at + tl.arange(0, cells)
    x = tl.load(points + q.to(tl.int64)[:, None] * d + k[None, :], mask=filled[:, None], other=0.0)
    x += tl.load(means + homes.to(tl.int64)[:, None] * d + k[None, :])
    return x - tl.load(means + cell * d + k)[None, :]


@triton.jit
def _compare(
    points, norms, means, homes, starts, queries, names, values, members, n,
    own: tl.constexpr, d: tl.constexpr, length: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
    cells: tl.constexpr, segment: tl.constexpr, far: tl.constexpr, precision: tl.constexpr,
):  # fmt: skip
    """Some rows with the rows of one cell; `own`: the cell that they are in themselves."""
    tile = tl.program_id(0).to(tl.int64)
    q = tl.load(queries + tile * rows + tl.arange(0, rows))
    filled = q < n
    cell = tl.load(names + tile)
    last = tl.load(starts + cell + 1)
    home = tl.load(homes + q, mask=filled, other=0)
    x = _moved(points, means, home, q, filled, cell, 0, d, cells)
    size = tl.sum(x * x, 1)
    for at in range(cells, d, cells):
        more = _moved(points, means, home, q, filled, cell, at, d, cells)
        size += tl.sum(more * more, 1)
    slots = q.to(tl.int64)[:, None] * length + tl.arange(0, length)[None, :]
    list_values = tl.load(values + slots, mask=filled[:, None], other=0)
    list_members = tl.load(members + slots, mask=filled[:, None], other=0)
    for begin in range(tl.load(starts + cell), last, segment * columns):
        low_bins = tl.full([rows, columns], far, tl.int32)
        high_bins = tl.full([rows, columns], far, tl.int32)
        for number in range(tl.minimum(segment, tl.cdiv(last - begin, columns))):
            j = begin + number * columns + tl.arange(0, columns)
            there = j < last
            place = points + j.to(tl.int64)[None, :] * d + tl.arange(0, cells)[:, None]
            products = tl.dot(x, tl.load(place, mask=there[None, :], other=0.0), input_precision=precision)
            for at in range(cells, d, cells):
                more = _moved(points, means, home, q, filled, cell, at, d, cells)
                other = tl.load(place + at, mask=there[None, :], other=0.0)
                products = tl.dot(more, other, products, input_precision=precision)
            norm = tl.load(norms + j, mask=there, other=float("inf"))
            square = tl.maximum(size[:, None] + norm[None, :] - 2.0 * products, 0.0)
            if own:
                square = tl.where(j[None, :] == q[:, None], float("inf"), square)
            low_bins, high_bins = _binned(square, number, low_bins, high_bins, -segment)
        list_values, list_members = _listed(
            low_bins, high_bins, list_values, list_members, begin, length, columns, segment, far
        )
    tl.store(values + slots, list_values, mask=filled[:, None])
    tl.store(members + slots, list_members, mask=filled[:, None])


@triton.jit
def _rank(
    points, means, norms, out, n, width, count,
    wide: tl.constexpr, most: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, cells: tl.constexpr,
    tiles: tl.constexpr, far: tl.constexpr, precision: tl.constexpr,
):  # fmt: skip
    """The nearest means of some rows, nearest first."""
    i = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    k = tl.arange(0, cells)
    first = (i < n)[:, None] & (k < width)[None, :]
    place = points + i[:, None] * width + k[None, :]
    x = tl.load(place, mask=first, other=0.0)
    size = tl.sum(x * x, 1)
    for at in range(cells, wide, cells):
        part = (i < n)[:, None] & (at + k < width)[None, :]
        more = tl.load(place + at, mask=part, other=0.0)
        size += tl.sum(more * more, 1)
    low_bins = tl.full([rows, columns], far, tl.int32)
    high_bins = tl.full([rows, columns], far, tl.int32)
    for number in range(tl.cdiv(count, columns)):
        j = number * columns + tl.arange(0, columns)
        there = means + j[None, :] * wide + k[:, None]
        products = tl.dot(x, tl.load(there, mask=(j < count)[None, :], other=0.0), input_precision=precision)
        for at in range(cells, wide, cells):
            part = (i < n)[:, None] & (at + k < width)[None, :]
            more = tl.load(place + at, mask=part, other=0.0)
            other = tl.load(there + at, mask=(j < count)[None, :], other=0.0)
            products = tl.dot(more, other, products, input_precision=precision)
        norm = tl.load(norms + j, mask=j < count, other=float("inf"))
        square = tl.maximum(size[:, None] + norm[None, :] - 2.0 * products, 0.0)
        low_bins, high_bins = _binned(square, number, low_bins, high_bins, -tiles)
    for number in range(most):
        best = tl.min(low_bins, 1)
        which, low_bins, high_bins = _taken(low_bins, high_bins, best, best < far, columns, far)
        tl.store(out + i * most + number, (best & (tiles - 1)) * columns + which, mask=i < n)


@triton.jit(do_not_specialize=["low", "n", "d"])
def _measure(
    given, order, values, members, sums, low, n, d,
    length: tl.constexpr, rows: tl.constexpr, cells: tl.constexpr, far: tl.constexpr,
):  # fmt: skip
    """Squared distances of the members of lists by differences in double precision; infinite where a list is short."""
    s = low + tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    filled = s < n
    i = tl.load(order + s, mask=filled, other=0)
    slots = s[:, None] * length + tl.arange(0, length)[None, :]
    known = tl.load(values + slots, mask=filled[:, None], other=far) < far
    j = tl.load(order + tl.load(members + slots, mask=known, other=0), mask=known, other=0)
    total = tl.zeros([rows, length], tl.float64)
    column = tl.arange(0, cells)
    for at in range(0, d, cells):
        inside = at + column < d
        one = tl.load(given + i[:, None] * d + at + column[None, :], mask=inside[None, :], other=0.0).to(tl.float64)
        place = given + j[:, :, None] * d + at + column[None, None, :]
        gap = tl.load(place, mask=known[:, :, None] & inside[None, None, :], other=0.0).to(tl.float64) - one[:, None, :]
        total += tl.sum(gap * gap, 2)
    tl.store(sums + slots - low * length, tl.where(known, total, float("inf")), mask=filled[:, None])


@triton.jit(do_not_specialize=["low", "n", "k"])
def _sort(order, members, sums, squares, indices, low, n, k, length: tl.constexpr, rows: tl.constexpr):
    """The k nearest of each list in their places, ties by index.

    A kernel of its own, which reads the distances: the compiler may compute a sum twice, in another order.
    """
    s = low + tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    filled = s < n
    slot = tl.arange(0, length)
    slots = s[:, None] * length + slot[None, :]
    own = tl.load(sums + slots - low * length, mask=filled[:, None], other=float("inf"))
    j = tl.load(order + tl.load(members + slots, mask=filled[:, None], other=0))
    rank = tl.zeros([rows, length], tl.int32)
    for number in range(length):
        value = tl.load(sums + (s - low) * length + number, mask=filled, other=float("inf"))[:, None]
        name = tl.load(order + tl.load(members + s * length + number, mask=filled, other=0))[:, None]
        rank += ((value < own) | ((value == own) & (name < j))).to(tl.int32)
    i = tl.load(order + s, mask=filled, other=0)
    kept = (own < float("inf")) & (rank < k) & filled[:, None]
    tl.store(squares + i[:, None] * k + rank, own, mask=kept)
    tl.store(indices + i[:, None] * k + rank, j, mask=kept)


def _columns(d: int) -> tuple[int, int]:
    """Columns that are multiplied at once, and the multiple of these that d columns take."""
    cells = min(WIDEST, max(16, triton.next_power_of_2(d)))
    return cells, -(-d // cells) * cells


def nearest_means(torch, X, means, most: int) -> Any:
    """The numbers of the nearest means of each row, nearest first (int32)."""
    cells, wide = _columns(X.shape[1])
    means = torch.nn.functional.pad(means, (0, wide - X.shape[1])).contiguous()
    out = torch.empty((len(X), most), dtype=torch.int32, device=X.device)
    tiles = max(16, triton.next_power_of_2(triton.cdiv(len(means), COLUMNS)))
    shape = {"wide": wide, "most": most, "rows": ROWS, "columns": COLUMNS, "cells": cells, "tiles": tiles, "far": FAR}
    norms = means.square().sum(dim=1)
    _rank[(triton.cdiv(len(X), ROWS),)](
        X,
        means,
        norms,
        out,
        len(X),
        X.shape[1],
        len(means),
        **shape,
        precision=PRECISION,
        num_warps=WARPS,
        num_stages=STAGES,
    )
    return out


class Lists:
    """The rows nearest to each row among those compared so far; inside, rows lie in the order of their cells."""

    tile = ROWS

    def __init__(self, device: Any, rows: Any, cells: Any, k: int) -> None:
        torch, n = device.torch, len(rows.given)
        self.device, self.torch, self.given, self.order, self.k = device, torch, rows.given, cells.order, k
        self.cells, self.wide = _columns(rows.shifted.shape[1])
        self.means = torch.nn.functional.pad(cells.means, (0, self.wide - cells.means.shape[1])).contiguous()
        self.near = cells.near
        self.homes = self.near[:, 0][self.order]
        self.points = rows.shifted.new_zeros((n, self.wide))
        at = self.points[:, : rows.shifted.shape[1]]
        torch.sub(rows.shifted[self.order], cells.means[self.homes.long()], out=at)
        self.norms = self.points.square().sum(dim=1)
        self.starts = torch.nn.functional.pad(cells.sizes.cumsum(0), (1, 0)).int()
        self.length = max(16, triton.next_power_of_2(k + 1))
        self.values = torch.full((n, self.length), FAR, dtype=torch.int32, device=rows.given.device)
        self.members = torch.zeros_like(self.values)

    def wanted(self, number: int) -> Any:
        """The nearest, second, ... cell of every row, in the order of the rows inside."""
        return self.near[:, number][self.order].long()

    def compare(self, number: int, tiles: Any) -> None:
        """Tiles of rows, each with one cell: the nearest, second, ... of these rows."""
        long = self.length > LONG
        how = {"segment": SHORT_SEGMENT if long else SEGMENT, "num_warps": 2 * WARPS if long else WARPS}
        shape = {"d": self.wide, "length": self.length, "rows": ROWS, "columns": COLUMNS, "cells": self.cells}
        queries, names = tiles.queries.int(), tiles.cells.int()
        _compare[(len(names),)](
            self.points, self.norms, self.means, self.homes, self.starts, queries, names,
            self.values, self.members, len(self.points),
            own=number == 0, far=FAR, precision=PRECISION, num_stages=STAGES, **how, **shape,
        )  # fmt: skip

    def some(self, drawn: Any) -> tuple[Any, Any]:
        """The members of the lists of some rows, and which of them were filled."""
        place = self.torch.empty_like(self.order)
        place[self.order] = self.torch.arange(len(place), device=place.device)
        at = place[drawn]
        return self.order[self.members[at].long()], self.values[at] < FAR

    def measured(self) -> tuple[Any, Any]:
        """Squared distances and indices of the k nearest; infinite where fewer were compared."""
        torch, (n, d) = self.torch, self.given.shape
        squares = torch.full((n, self.k), torch.inf, dtype=torch.float64, device=self.given.device)
        indices = torch.zeros((n, self.k), dtype=torch.int64, device=self.given.device)
        rows, step = max(1, 128 // self.length), self.device.rows(8 * self.length, n)
        shape = {"length": self.length, "rows": rows}
        for low in range(0, n, step):
            some = min(step, n - low)
            sums = squares.new_empty((some, self.length))
            grid, lists = (triton.cdiv(some, rows),), (self.order, self.values, self.members)
            _measure[grid](self.given, *lists, sums, low, low + some, d, cells=16, far=FAR, num_warps=4, **shape)
            _sort[grid](self.order, self.members, sums, squares, indices, low, low + some, self.k, num_warps=1, **shape)
        return squares, indices

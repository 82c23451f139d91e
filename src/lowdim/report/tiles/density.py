"""One square of a map: how many rows fall into each of its 256 x 256 bins and what colour they have; its points.

Answers are bytes: four numbers of 4 bytes, then one array after the other, little-endian (see `web/src/tiles.ts`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from lowdim.report.tiles.morton import BITS, interleaved, separated
from lowdim.report.tiles.store import N_COLOURED, NO_CLASS

BIN_BITS = 8  # a tile has 2**8 x 2**8 bins
DEEPEST = BITS - BIN_BITS
N_BINS = 4**BIN_BITS
BLOCK = 2**20  # rows that are looked at in one go: bounds the memory of an answer
UNKNOWN = 255  # colour of rows without a value
OTHER, NONE = N_COLOURED, N_COLOURED + 1  # codes of small classes and of rows without a class
LARGEST = 2**16 - 1
MOST_POINTS = 2**16
STEPS = 254  # of the colours of a quantity


@dataclass(frozen=True, eq=False)
class Shades:
    """What a map is coloured by: numbers of a quantity with their range, or codes of classes."""

    values: np.ndarray
    classed: bool
    low: float = 0.0
    high: float = 0.0


def square(codes: np.ndarray, level: int, x: int, y: int) -> tuple[int, int]:
    """Where the rows of a square of the quadtree begin and end in the order of the map."""
    first = int(interleaved(np.array([x]), np.array([y]))[0]) << 2 * (BITS - level)
    last = first + (1 << 2 * (BITS - level))
    begin, end = np.searchsorted(codes, np.array([first, last], dtype=np.uint64))
    return int(begin), int(end)


def bins_of(codes: np.ndarray, level: int) -> np.ndarray:
    """The bin of each code in its tile, in the order of the quadtree."""
    return ((codes >> np.uint64(2 * (DEEPEST - level))) & np.uint64(N_BINS - 1)).astype(np.int64)


def full_bin(codes: np.ndarray, level: int) -> float:
    """How many rows a well-filled bin of a level has: 99 of 100 occupied ones have no more. The codes are in order."""
    counts: list[np.ndarray] = []
    shift = np.uint64(2 * (DEEPEST - level))
    for start in range(0, len(codes), BLOCK):
        block = codes[start : start + BLOCK] >> shift
        edges = np.flatnonzero(block[1:] != block[:-1]) + 1
        counts.append(np.diff(np.concatenate([[0], edges, [len(block)]])))
    return float(np.quantile(np.concatenate(counts), 0.99))


def tile(
    codes: np.ndarray, rows: np.ndarray, level: int, full: float, shades: Shades | None, marked: np.ndarray | None
) -> bytes:
    """The bins of a square that have rows: their numbers, counts, marked rows, colours and how pure these are.

    Counts above 65,535 are cut; the total in the head is not. The colour of a quantity is that of the mean, the colour
    of classes that of the largest; `pure` is 255 times its share.
    """
    counts, marks = np.zeros(N_BINS, dtype=np.int64), np.zeros(N_BINS, dtype=np.int64)
    sums = _Sums(shades)
    for start in range(0, len(codes), BLOCK):
        block = rows[start : start + BLOCK]
        bins = bins_of(codes[start : start + BLOCK], level)
        counts += np.bincount(bins, minlength=N_BINS)
        sums.add(bins, block)
        if marked is not None:
            marks += np.bincount(bins[marked[block]], minlength=N_BINS)
    some = np.flatnonzero(counts)
    colours, pure = sums.colours(some)
    head = struct.pack("<IIfI", int(counts.sum()), len(some), full, int(marks.sum()))
    parts = (some, np.minimum(counts[some], LARGEST), np.minimum(marks[some], LARGEST))
    return head + b"".join([*(part.astype("<u2").tobytes() for part in parts), colours.tobytes(), pure.tobytes()])


class _Sums:
    """Values or classes of the rows of each bin, summed block by block."""

    def __init__(self, shades: Shades | None) -> None:
        self.shades = shades
        width = 0 if shades is None else NONE + 1 if shades.classed else 2
        self.total = np.zeros((N_BINS, width))

    def add(self, bins: np.ndarray, rows: np.ndarray) -> None:
        if self.shades is None:
            return
        values = self.shades.values[rows]
        if self.shades.classed:
            width = NONE + 1
            places = bins * width + _group(values)
            self.total += np.bincount(places, minlength=N_BINS * width).reshape(N_BINS, width)
            return
        known = np.isfinite(values)
        self.total[:, 0] += np.bincount(bins[known], weights=values[known], minlength=N_BINS)
        self.total[:, 1] += np.bincount(bins[known], minlength=N_BINS)

    def colours(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = self.total[some]
        if self.shades is None:
            return np.zeros(len(some), np.uint8), np.full(len(some), 255, np.uint8)
        if self.shades.classed:
            best = total.argmax(axis=1)
            share = total[np.arange(len(some)), best] / total.sum(axis=1)
            return np.where(best == NONE, UNKNOWN, best).astype(np.uint8), np.rint(255 * share).astype(np.uint8)
        with np.errstate(invalid="ignore"):
            mean = total[:, 0] / total[:, 1]
        return _step(mean, self.shades), np.full(len(some), 255, np.uint8)


def _group(codes: np.ndarray) -> np.ndarray:
    """Classes as the colours they have: the first ones their own, the others one, none another."""
    return np.where(codes == NO_CLASS, NONE, np.minimum(codes, OTHER)).astype(np.int64)


def _step(values: np.ndarray, shades: Shades) -> np.ndarray:
    """Values as steps of the colour bar."""
    span = (shades.high - shades.low) or 1.0
    with np.errstate(invalid="ignore"):
        steps = np.clip(np.rint(STEPS * (values - shades.low) / span), 0, STEPS)
    return np.where(np.isfinite(values), steps, UNKNOWN).astype(np.uint8)


def points(
    codes: np.ndarray, rows: np.ndarray, level: int, below: int, shades: Shades | None, marked: np.ndarray | None
) -> bytes:
    """The rows of a square among the first `below` of the random order: which, where in the square, colours, marks.

    Rows of all squares of a map, below the same number, are a fair sample of the map.
    """
    kept = np.concatenate([
        start + np.flatnonzero(rows[start : start + BLOCK] < below) for start in range(0, max(1, len(rows)), BLOCK)
    ])  # fmt: skip
    chosen = rows[kept]
    wanted = len(chosen)
    first = np.argsort(chosen, kind="stable")[:MOST_POINTS]
    kept, chosen = kept[first], np.asarray(chosen[first])
    x, y = (_inside(values, level) for values in separated(np.asarray(codes[kept])))
    colours = np.zeros(len(chosen), np.uint8) if shades is None else _colours_of(shades, chosen)
    marks = np.zeros(len(chosen), np.uint8) if marked is None else marked[chosen].astype(np.uint8)
    head = struct.pack("<IIII", len(rows), len(chosen), wanted, 0)
    return head + b"".join([
        chosen.astype("<u4").tobytes(), x.tobytes(), y.tobytes(), colours.tobytes(), marks.tobytes(),
    ])  # fmt: skip


def _inside(values: np.ndarray, level: int) -> np.ndarray:
    """Coordinates within a square, in steps of 1/65536 of its side."""
    inner = values & np.uint64(2 ** (BITS - level) - 1)
    shift = BITS - level - 16
    return (inner >> np.uint64(shift) if shift >= 0 else inner << np.uint64(-shift)).astype("<u2")


def _colours_of(shades: Shades, rows: np.ndarray) -> np.ndarray:
    values = np.asarray(shades.values[rows])
    if not shades.classed:
        return _step(values, shades)
    groups = _group(values)
    return np.where(groups == NONE, UNKNOWN, groups).astype(np.uint8)

"""Rows that are marked: inside a loop that was drawn in a map, or of one class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lowdim.report.tiles.density import BLOCK
from lowdim.report.tiles.morton import BITS, separated

MOST_CORNERS = 128


def inside(codes: np.ndarray, rows: np.ndarray, n: int, corners: np.ndarray) -> np.ndarray:
    """Which of the n rows lie inside a closed loop, in coordinates from 0 to 1: a ray crosses it oddly often."""
    found = np.zeros(n, dtype=bool)
    low, high = corners.min(axis=0), corners.max(axis=0)
    for start, x, y in blocks(codes):
        near = np.flatnonzero((x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]))
        odd = _odd(x[near], y[near], corners)
        found[rows[start + near[odd]]] = True
    return found


def blocks(codes: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Coordinates from 0 to 1, block by block, with the place where each begins: the middle of each cell."""
    for start in range(0, len(codes), BLOCK):
        x, y = separated(np.asarray(codes[start : start + BLOCK]))
        yield start, (x + 0.5) / 2**BITS, (y + 0.5) / 2**BITS


def _odd(x: np.ndarray, y: np.ndarray, corners: np.ndarray) -> np.ndarray:
    odd = np.zeros(len(x), dtype=bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, 1, axis=0), strict=True):
        if y1 == y2:
            continue
        crossed = ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
        odd ^= crossed
    return odd

"""Places in a square as whole numbers, and the order of a quadtree: neighbours in a square are neighbours in a file.

The bits of both coordinates are interleaved (Morton, 1966), y first. All places of one square of the quadtree then have
the same leading bits, so that a sorted list holds each square, at every level, in one piece.
"""

from __future__ import annotations

import numpy as np

BITS = 24  # of each coordinate: at the deepest zoom a step is far less than a pixel
_SPREAD = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)


def quantised(unit: np.ndarray) -> np.ndarray:
    """Coordinates from 0 to 1 as whole numbers of `BITS` bits: the number of the cell they fall into."""
    return np.clip(unit * 2**BITS, 0, 2**BITS - 1).astype(np.uint64)


def interleaved(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The Morton code of each place."""
    return _spread(x) | (_spread(y) << np.uint64(1))


def separated(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates of each code: the inverse of `interleaved`."""
    return _gathered(codes), _gathered(codes >> np.uint64(1))


def _spread(values: np.ndarray) -> np.ndarray:
    """A zero between any two bits."""
    out = np.asarray(values, dtype=np.uint64)
    for shift, mask in _SPREAD:
        out = (out | (out << np.uint64(shift))) & np.uint64(mask)
    return out


def _gathered(codes: np.ndarray) -> np.ndarray:
    """Every second bit, from the lowest on."""
    out = np.asarray(codes, dtype=np.uint64) & np.uint64(_SPREAD[-1][1])
    for (shift, _), (_, mask) in zip(_SPREAD[::-1], [*_SPREAD[-2::-1], (32, 0x00000000FFFFFFFF)], strict=True):
        out = (out | (out >> np.uint64(shift))) & np.uint64(mask)
    return out

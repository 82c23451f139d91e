"""Parts of a graph that are embedded on their own, and where they are put beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.extend import Nystrom
from lowdim._core.threads import blocks


@dataclass(frozen=True, eq=False)
class Part:
    """One connected part: its rows, the path lengths (sources, rows) and how they become places."""

    rows: np.ndarray
    sources: np.ndarray
    geodesics: np.ndarray
    eigenvalues: np.ndarray
    extension: Nystrom
    shift: np.ndarray

    def places(self) -> np.ndarray:
        """Where its own rows are: sqrt(l) v where all of them are sources, else from their path lengths."""
        if len(self.sources) == len(self.rows):
            return self.extension.projection * self.eigenvalues + self.shift
        return self.place(self.geodesics.T)

    def place(self, lengths: np.ndarray) -> np.ndarray:
        """Places from path lengths to the sources, one row of lengths a row placed."""
        Z = np.empty((len(lengths), len(self.shift)))
        for rows in blocks(len(lengths), max(1, 2**20 // max(1, lengths.shape[1]))):
            Z[rows] = self.extension(-0.5 * np.square(lengths[rows], dtype=np.float64))
        return Z + self.shift


def tile(parts: list[Any]) -> list[Any]:
    """The parts side by side along the first axis, with a gap of a tenth of their total width between them.

    A part is a record with a `shift` and `places()`: a `Part`, or another method's own.
    """
    if len(parts) == 1:
        return parts
    boxes = [_box(part) for part in parts]
    gap = 0.1 * sum(high - low for low, high in boxes) or 1.0
    shifted, edge = [], 0.0
    for part, (low, high) in zip(parts, boxes, strict=True):
        shift = part.shift.copy()
        shift[0] = edge - low
        shifted.append(replace(part, shift=shift))
        edge += high - low + gap
    return shifted


def _box(part: Any) -> tuple[float, float]:
    first = part.places()[:, 0]
    return float(first.min()), float(first.max())

"""Arrays in `.npy` files, in parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.large.parts import Array, Parts


@dataclass(frozen=True, eq=False)
class ArrayParts(Parts):
    """Rows of a C-ordered table of numbers; its columns are called 1, 2, ..."""

    dtype: np.dtype
    offset: int

    def read(self, start: int, stop: int) -> pl.DataFrame:
        """Read, not mapped: pages of a map count as memory of this process."""
        at, count = self.offset + start * self.n_columns * self.dtype.itemsize, (stop - start) * self.n_columns
        return self._frame(np.fromfile(self.path, self.dtype, count, offset=at).reshape(stop - start, -1))

    def piece(self, start: int, stop: int, at: Array) -> pl.DataFrame:
        """Only the pages that hold these rows are read."""
        rows = np.memmap(self.path, self.dtype, "r", self.offset, (self.n_rows, self.n_columns))
        return self._frame(rows[start + at])

    def _frame(self, rows: Array) -> pl.DataFrame:
        rows = rows.astype(self.dtype.newbyteorder("="), copy=False)
        return pl.DataFrame({str(j + 1): np.ascontiguousarray(rows[:, j]) for j in range(self.n_columns)})


def of(path: Path) -> ArrayParts | None:
    """The rows of an array of numbers; None for what is read at once."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:  # said where the file is read
        return None
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.dtype.itemsize > 8 or not array.flags.c_contiguous:
        return None
    n, width = array.shape
    return ArrayParts(path, n, width, array.dtype, array.offset)

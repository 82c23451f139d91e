"""The parts of a large table, and random rows of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from lowdim.app.read_options import ReadOptions

LARGE = 2**30  # bytes of a table that is read in parts
PART = 2**25  # bytes of one part
SAMPLE = 20_000  # rows that say what the columns are, and that methods which need their rows together are fitted to

Array = np.ndarray
Advance = Callable[[str, float, int], None]


class Runner(Protocol):
    """Where parts are read: `Here`, or a cluster."""

    def in_order(self, of: Callable[[Any, Any], Any], given: Any, items: Iterable[Any]) -> Iterator[Any]:
        """`of(given, item)` for each item, in their order."""


class Here:
    """In this process, one part after the other."""

    def in_order(self, of: Callable[[Any, Any], Any], given: Any, items: Iterable[Any]) -> Iterator[Any]:
        """`of(given, item)` for each item."""
        return (of(given, item) for item in items)


@dataclass(frozen=True, eq=False)
class Parts(ABC):
    """Rows of a file or of a folder of files, some at a time; a worker on a cluster can be given it."""

    path: Path
    n_rows: int
    n_columns: int
    notes: tuple[str, ...] = field(default=(), kw_only=True)  # what was recognised in the file

    @property
    def typed(self) -> bool:
        """Whether a column has one type in the whole file."""
        return True

    @property
    def nbytes(self) -> int:
        """Bytes of all cells as numbers."""
        return 8 * self.n_rows * self.n_columns

    def borders(self) -> list[tuple[int, int]]:
        """First row, and the one after the last, of each part."""
        size = max(1000, PART // (8 * max(1, self.n_columns)))
        return [(start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size)]

    @abstractmethod
    def read(self, start: int, stop: int) -> pl.DataFrame:
        """The rows of one part."""

    def piece(self, start: int, stop: int, at: Array) -> Any:
        """Some rows of a part, to be `joined`."""
        return self.read(start, stop)[at.tolist()]

    def as_read(self, how: ReadOptions) -> ReadOptions:
        """The options with what the file itself says about its columns."""
        return how

    def joined(self, pieces: list[Any]) -> pl.DataFrame:
        """The rows of some pieces."""
        return pl.concat(pieces)

    def drawn(self, most: int, seed: int, runner: Runner, advance: Advance) -> tuple[Array, pl.DataFrame]:
        """Numbers and cells of so many random rows, each with the same chance, in their order."""
        rng = np.random.default_rng(seed)
        numbers = np.sort(rng.choice(self.n_rows, min(most, self.n_rows), replace=False))
        wanted = []
        for start, stop in self.borders():
            first, last = np.searchsorted(numbers, [start, stop])
            if last > first:
                wanted.append((start, stop, numbers[first:last] - start))
        pieces: list[Any] = []
        for piece in runner.in_order(_piece, self, wanted):
            advance("drawing rows", len(pieces), len(wanted))
            pieces.append(piece)
        return numbers, self.joined(pieces)


def _piece(parts: Parts, where: tuple[int, int, Array]) -> Any:
    return parts.piece(*where)


def parts_of(source: str, how: ReadOptions, least: int | None = None) -> Parts | None:
    """The rows of a large `.npy`, Parquet or text file, or of a folder of Parquet files; None for all other tables.

    Large are tables of more than `least` bytes, by default a gigabyte or a quarter of the memory limit; of text, an
    eighth of the limit.
    """
    from lowdim._core.runtime import memory
    from lowdim.app.large import arrays, delimited, parquet

    path = Path(source).absolute()  # workers of a cluster are in other folders
    if not path.exists():
        return None
    if path.is_dir():
        return parquet.of(path) if any(path.glob("*.parquet")) else None
    quarter = memory.limit() // 4
    most = min(LARGE, quarter) if least is None else least
    suffix = path.suffix.lower()
    if suffix not in (".parquet", ".npy"):
        return delimited.of(path, how, quarter // 2 if least is None else least)  # reading takes six times as much
    found: Parts | None = arrays.of(path) if suffix == ".npy" else parquet.of(path)
    return found if found is not None and found.nbytes > most else None

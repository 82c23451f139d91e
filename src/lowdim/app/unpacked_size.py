"""How much memory a table will take once it is read, asked before it is: a small file can unpack to a large table.

The limit is that of `lowdim.config`, the variable LOWDIM_MEMORY_LIMIT or --limit-memory.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from typing import Any

import polars as pl

from lowdim._core.runtime import memory
from lowdim.app.errors import UserError
from lowdim.app.reading.loaded import library
from lowdim.app.reading.source import Source

HEAD = 2**16
SEPARATORS = (b",", b";", b"\t", b"|", b" ")
# Bytes of memory for a byte of the file, where the format has no table of contents; measured on tables of numbers.
JSON_OBJECTS = 20
SHEET_CELLS = 2
CELL = 8
TEXT_CELL = 16
LABELLED_CELL = 40


def check_size(source: Source, kind: str) -> None:
    """UserError where the table needs more than the memory limit."""
    refuse_larger(_SIZES[kind](source) if kind in _SIZES else file_size(source), source.shown)


def refuse_larger(needed: float, shown: str, what: str = "the table") -> None:
    """UserError where so many bytes are more than the limit."""
    most = memory.limit()
    if needed > most:
        raise UserError(
            f"{shown}: {what} needs about {memory.show(needed)} once it is read; the memory limit is "
            f"{memory.show(most)}. Take fewer rows or columns, or raise --limit-memory."
        )


def file_size(source: Source) -> int:
    return len(source.content) if isinstance(source.content, bytes) else source.content.stat().st_size


def text_size(source: Source) -> float:
    """The text, or eight bytes for each of its cells, judged by its first lines."""
    head, size = source.head(HEAD), file_size(source)
    cells = head.count(b"\n") + max(head.count(mark) for mark in SEPARATORS)
    return size * max(1.0, CELL * cells / max(1, len(head)))


def _frame_size(scan: Callable[[Any], pl.LazyFrame]) -> Callable[[Source], float]:
    """Rows times columns of a file whose columns can be far smaller than they are in memory."""

    def size(source: Source) -> float:
        with source.open() as stream:
            frame = scan(stream)
            kinds = frame.collect_schema().dtypes()
            rows = frame.select(pl.len()).collect().item()
        return float(rows) * sum(CELL if kind.is_numeric() or kind.is_temporal() else TEXT_CELL for kind in kinds)

    return size


def _workbook_size(source: Source) -> float:
    if not source.head(4).startswith(b"PK"):
        return SHEET_CELLS * file_size(source)
    with source.open() as raw, zipfile.ZipFile(raw) as archive:
        said = sum(info.file_size for info in archive.infolist())
        # What a list of members says about their sizes can be a lie; the checksum of a member shows it.
        worst = 1032 * sum(info.compress_size for info in archive.infolist())
        if said <= memory.limit() < worst and archive.testzip() is not None:
            raise UserError(f"{source.shown} is damaged: its members are not what its list of them says.")
    return SHEET_CELLS * said


def _statistics_size(function: str, program: str) -> Callable[[Source], float]:
    def size(source: Source) -> float:
        pyreadstat = library("pyreadstat", "formats", source.shown, f"reading {program} files")
        with source.path() as path:
            try:
                about = getattr(pyreadstat, function)(str(path), metadataonly=True)[1]
            except Exception:  # noqa: BLE001 (errors of that library have no class in common)
                return float(file_size(source))  # the reader says what is wrong with it
        return float(LABELLED_CELL * max(0, about.number_rows or 0) * max(1, about.number_columns or 1))

    return size


_SIZES: dict[str, Callable[[Source], float]] = {
    "text": text_size,
    "json": lambda source: JSON_OBJECTS * file_size(source),
    "json lines": lambda source: JSON_OBJECTS * file_size(source),
    "parquet": _frame_size(lambda stream: pl.scan_parquet(stream)),
    "arrow": _frame_size(lambda stream: pl.scan_ipc(stream)),
    "workbook": _workbook_size,
    "spss": _statistics_size("read_sav", "SPSS"),
    "stata": _statistics_size("read_dta", "Stata"),
}


def array_size(shape: tuple[int, ...], itemsize: int) -> int:
    """An array and the columns that are made of it."""
    return 2 * math.prod(shape) * itemsize

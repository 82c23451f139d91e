"""The file formats: which extensions are known, how each is read and written.

Text tables are read with every value looked at before a column's type is settled; numpy files are read with pickles
refused, so that no file can run code.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .files import UserError, write_atomically

EXTENSIONS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz")
MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]


@dataclass(frozen=True)
class Reading:
    """What the command line says about a file: which columns are what, which rows to keep."""

    label: str | None = None
    names: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: str = "all"  # or "complete"
    missing: str = "error"  # or "keep"
    na: tuple[str, ...] = ()
    header: bool = True
    array: str | None = None
    min_rows: int = 3


def reader(path: Path) -> Callable[[Path, Reading], tuple[pl.DataFrame, list[str]]]:
    readers: dict[str, Callable[[Path, Reading], tuple[pl.DataFrame, list[str]]]] = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".parquet": lambda p, how: (pl.read_parquet(p), []),
        ".arrow": lambda p, how: (pl.read_ipc(p), []),
        ".feather": lambda p, how: (pl.read_ipc(p), []),
        ".ipc": lambda p, how: (pl.read_ipc(p), []),
        ".npy": _read_npy,
        ".npz": _read_npz,
    }
    try:
        return readers[path.suffix.lower()]
    except KeyError:
        kind = f"the extension {path.suffix!r}" if path.suffix else "a file without extension"
        raise UserError(f"{path}: {kind} is not known; use one of {', '.join(EXTENSIONS)}.") from None


def _read_csv(path: Path, how: Reading) -> tuple[pl.DataFrame, list[str]]:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    notes = _check_header(path, separator) if how.header else []
    frame = pl.read_csv(
        path,
        separator=separator,
        has_header=how.header,
        infer_schema_length=None,
        null_values=[*MISSING_WORDS, *how.na],
    )
    if not how.header:
        frame.columns = [str(i + 1) for i in range(frame.width)]
    return frame, notes


def _check_header(path: Path, separator: str) -> list[str]:
    """Refuse a header whose names repeat (they would be renamed in silence) or that looks like a row of data."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as source:
        names = next(csv.reader(source, delimiter=separator), [])
    if not names:
        raise UserError(f"{path} is empty.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if all(_is_number(name) for name in names):
        if twice or any("." in name or "e" in name.lower() for name in names):
            raise UserError(
                f"{path}: the first line holds only numbers; if it is data, read the file with --no-header, "
                "else put a line of column names first."
            )
        return ["the first line holds whole numbers, read as column names (--no-header reads it as data)"]
    if twice:
        raise UserError(
            f"{path}: column names must be different; {twice[0]!r} appears {names.count(twice[0])} times. "
            "Rename them in the file."
        )
    return []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_npy(path: Path, how: Reading) -> tuple[pl.DataFrame, list[str]]:
    return _frame_of(np.load(path, allow_pickle=False), str(path)), []


def _read_npz(path: Path, how: Reading) -> tuple[pl.DataFrame, list[str]]:
    with np.load(path, allow_pickle=False) as archive:
        tables = [key for key in archive.files if archive[key].ndim == 2]
        wanted = how.array or ("X" if "X" in tables else tables[0] if len(tables) == 1 else None)
        if wanted not in archive.files:
            listed = ", ".join(archive.files) or "none"
            raise UserError(f"{path}: say which array holds the rows with --array NAME; the file has: {listed}.")
        frame = _frame_of(archive[wanted], f"{path} ({wanted})")
        notes = [f"rows read from the array {wanted!r}"]
        for name in {how.label, how.names} & set(archive.files) - {None, *frame.columns}:
            values = archive[str(name)]
            if values.shape != (frame.height,):
                raise UserError(f"{path}: {name!r} must have one value for each of the {frame.height} rows.")
            frame = frame.with_columns(pl.Series(str(name), values))
    return frame, notes


def _frame_of(array: np.ndarray, source: str) -> pl.DataFrame:
    if array.ndim != 2:
        raise UserError(f"{source}: the array must have two axes, rows and columns; got shape {array.shape}.")
    if array.dtype.kind not in "buif":
        raise UserError(f"{source}: the array must hold real numbers; got dtype {array.dtype}.")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    return pl.DataFrame(
        {
            str(i + 1): np.ascontiguousarray(array[:, i]).astype(array.dtype.newbyteorder("="))
            for i in range(array.shape[1])
        }
    )


def write(path: str | Path, frame: pl.DataFrame) -> Path:
    """A frame to a file, atomically, in the format its extension names."""
    path = Path(path)
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": lambda p: frame.write_csv(p),
        ".tsv": lambda p: frame.write_csv(p, separator="\t"),
        ".parquet": lambda p: frame.write_parquet(p),
        ".arrow": lambda p: frame.write_ipc(p),
        ".feather": lambda p: frame.write_ipc(p),
        ".ipc": lambda p: frame.write_ipc(p),
        ".npy": lambda p: np.save(p, _rows(frame).to_numpy(), allow_pickle=False),
        ".npz": lambda p: _save_archive(p, _arrays(frame)),
    }
    return write_atomically(path, writers[check_extension(path)])


def check_extension(path: str | Path) -> str:
    """The extension of a file to be written, when it is one of ours."""
    suffix = Path(path).suffix.lower()
    if suffix not in EXTENSIONS:
        raise UserError(f"{path}: the extension must be one of {', '.join(EXTENSIONS)}; got {suffix or 'none'!r}.")
    return suffix


def _save_archive(path: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(path, **arrays)


def _rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns of measurements: whole numbers and text are labels, names and row numbers."""
    return frame.select(pl.selectors.float())


def _arrays(frame: pl.DataFrame) -> dict[str, np.ndarray]:
    """Measurements together as X; each other column as an array of its own."""
    rows = _rows(frame)
    others = [name for name in frame.columns if name not in rows.columns]
    return {"X": rows.to_numpy(), **{name: _array(frame[name]) for name in others}}


def _array(column: pl.Series) -> np.ndarray:
    return column.to_numpy() if column.dtype.is_numeric() else np.asarray(column.to_list(), dtype=str)

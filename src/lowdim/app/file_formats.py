"""The file formats: known extensions, and how each is read and written.

Numpy files are read with ``allow_pickle=False``, so that no file can execute code.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowdim._core.runtime.files import write_atomically
from lowdim.app.delimited_text import read_text
from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions

EXTENSIONS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz")


def reader(path: Path) -> Callable[[Path, ReadOptions], tuple[pl.DataFrame, list[str]]]:
    """The function that reads a file with this extension: a data frame and notes about the file."""
    readers: dict[str, Callable[[Path, ReadOptions], tuple[pl.DataFrame, list[str]]]] = {
        ".csv": read_text,
        ".tsv": read_text,
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
        kind = f"the extension {path.suffix!r}" if path.suffix else "a file without an extension"
        raise UserError(f"{path}: {kind} is not supported; use one of {', '.join(EXTENSIONS)}.") from None


def _read_npy(path: Path, how: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    return _frame_of(np.load(path, allow_pickle=False), str(path)), []


def _read_npz(path: Path, how: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    tables = _tables_of(path)
    with np.load(path, allow_pickle=False) as archive:
        wanted = how.array or ("X" if "X" in tables else tables[0] if len(tables) == 1 else None)
        if wanted not in archive.files:
            listed = ", ".join(archive.files) or "none"
            raise UserError(f"{path}: choose the array with the rows by --array NAME; the file has: {listed}.")
        frame = _frame_of(archive[wanted], f"{path} ({wanted})")
        notes = [f"rows read from the array {wanted!r}"]
        for name in {how.label, how.names} & set(archive.files) - {None, *frame.columns}:
            values = archive[str(name)]
            if values.shape != (frame.height,):
                raise UserError(f"{path}: {name!r} must have one value for each of the {frame.height} rows.")
            frame = frame.with_columns(pl.Series(str(name), values))
    return frame, notes


def _tables_of(path: Path) -> list[str]:
    """Names of the two-dimensional arrays of an archive; only their headers are read."""
    tables = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                first = np.lib.format.read_magic(member) == (1, 0)
                header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
                if len(header(member)[0]) == 2:
                    tables.append(name.removesuffix(".npy"))
    return tables


def _frame_of(array: np.ndarray, source: str) -> pl.DataFrame:
    if array.ndim != 2:
        raise UserError(f"{source}: the array must have two dimensions, rows and columns; got shape {array.shape}.")
    if array.dtype.kind not in "buif":
        raise UserError(f"{source}: the array must hold real numbers; got dtype {array.dtype}.")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return pl.DataFrame(
        {
            str(i + 1): np.ascontiguousarray(array[:, i]).astype(array.dtype.newbyteorder("="))
            for i in range(array.shape[1])
        }
    )


def write(path: str | Path, frame: pl.DataFrame, measured: Sequence[str] | None = None) -> Path:
    """Write a data frame atomically, in the format of the file's extension.

    A numpy file holds one table of numbers: the columns in `measured`, or all columns of floats. An archive (.npz)
    has the other columns (row numbers, names, labels) as arrays of their own; a single array (.npy) has not.
    """
    path = Path(path)
    rows = frame.select(list(measured) if measured is not None else pl.selectors.float())
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": lambda p: frame.write_csv(p),
        ".tsv": lambda p: frame.write_csv(p, separator="\t"),
        ".parquet": lambda p: frame.write_parquet(p),
        ".arrow": lambda p: frame.write_ipc(p),
        ".feather": lambda p: frame.write_ipc(p),
        ".ipc": lambda p: frame.write_ipc(p),
        ".npy": lambda p: _save(p, np.save, rows.to_numpy(), allow_pickle=False),
        ".npz": lambda p: _save(p, np.savez_compressed, **_arrays(frame, rows)),
    }
    writer = writers[check_extension(path)]
    try:
        return write_atomically(path, writer)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
        raise UserError(f"cannot write {path}: {reason.splitlines()[0].rstrip('.')}.") from error


def check_extension(path: str | Path) -> str:
    """The extension of an output file; an error if it is not supported."""
    suffix = Path(path).suffix.lower()
    if suffix not in EXTENSIONS:
        raise UserError(f"{path}: the extension must be one of {', '.join(EXTENSIONS)}; got {suffix or 'none'!r}.")
    return suffix


def _save(path: Path, save: Callable[..., Any], *values: Any, **options: Any) -> None:
    with open(path, "wb") as stream:  # given a path, numpy would append its own extension
        save(stream, *values, **options)


def _arrays(frame: pl.DataFrame, rows: pl.DataFrame) -> dict[str, np.ndarray]:
    """The columns of numbers as the array X; each other column as an array of its own."""
    others = [name for name in frame.columns if name not in rows.columns]
    return {"X": rows.to_numpy(), **{name: _array(frame[name]) for name in others}}


def _array(column: pl.Series) -> np.ndarray:
    return column.to_numpy() if column.dtype.is_numeric() else np.asarray(column.fill_null("").to_list(), dtype=str)

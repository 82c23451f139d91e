"""The file formats that results are written in; `reading` has those that are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowdim._core.runtime.files import write_atomically
from lowdim.app.errors import UserError

EXTENSIONS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz")


def write(
    path: str | Path, frame: pl.DataFrame, measured: Sequence[str] | None = None, shown: str | Path | None = None
) -> Path:
    """Write a data frame atomically, in the format of the file's extension. An error names `shown` instead of the path.

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
        raise UserError(f"cannot write {shown or path}: {reason.splitlines()[0].rstrip('.')}.") from error


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

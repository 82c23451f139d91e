"""Parquet and Arrow, by polars, and numpy files, with ``allow_pickle=False``, so that no file can execute code."""

from __future__ import annotations

import zipfile
from typing import IO, Any

import numpy as np
import polars as pl
from scipy import io, sparse

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded
from lowdim.app.reading.source import Source
from lowdim.app.unpacked_size import array_size, refuse_larger


def read_npy(source: Source, how: ReadOptions) -> Loaded:
    with source.open() as stream:
        _check_header(stream, source.shown)
        stream.seek(0)
        array = np.load(stream, allow_pickle=False)
    if how.distances == "condensed" and array.ndim == 1:
        array = array[:, None]
    return Loaded(_frame_of(array, source.shown), tuple(source.notes))


def read_npz(source: Source, how: ReadOptions) -> Loaded:
    members = _members_of(source)
    if {"format", "shape", "data"} <= set(members) and how.array is None:
        return Loaded(
            _sparse_frame(source), (*source.notes, "a sparse matrix of scipy: cells that are not stored are 0")
        )
    tables = [name for name, shape in members.items() if len(shape) == 2]
    with source.open() as stream, np.load(stream, allow_pickle=False) as archive:
        wanted = how.array or ("X" if "X" in tables else tables[0] if len(tables) == 1 else None)
        if wanted not in archive.files:
            listed = ", ".join(archive.files) or "none"
            raise UserError(f"{source.shown}: choose the array with the rows by --array NAME; the file has: {listed}.")
        frame = _frame_of(_member(source, archive, str(wanted)), f"{source.shown} ({wanted})")
        for name in {how.label, how.names} & set(archive.files) - {None, *frame.columns}:
            values = _member(source, archive, str(name))
            if values.shape != (frame.height,):
                raise UserError(f"{source.shown}: {name!r} must have one value for each of the {frame.height} rows.")
            frame = frame.with_columns(pl.Series(str(name), values))
    return Loaded(frame, (*source.notes, f"rows read from the array {wanted!r}"))


def _members_of(source: Source) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of an archive; only their headers are read."""
    found = {}
    with source.open() as raw, zipfile.ZipFile(raw) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                found[name.removesuffix(".npy")] = _header(member)[0]
    return found


def _sparse_frame(source: Source) -> pl.DataFrame:
    """A sparse matrix that `scipy.sparse.save_npz` wrote, with its zeros."""
    with source.open() as stream, np.load(stream, allow_pickle=False) as archive:
        shape = tuple(int(n) for n in _member(source, archive, "shape"))
        refuse_larger(
            array_size(shape, _member(source, archive, "data").dtype.itemsize), source.shown, f"all {shape} cells"
        )
    with source.open() as stream:
        found = sparse.load_npz(stream)
    if hasattr(found, "check_format"):
        found.check_format(full_check=True)  # compiled code trusts the indices
    return _frame_of(found.toarray(), source.shown)


def read_matrix_market(source: Source, how: ReadOptions) -> Loaded:
    """A matrix of numbers, such as the counts of single cells; cells that are not written are 0."""
    with source.open() as stream:
        rows, columns = io.mminfo(stream)[:2]
    refuse_larger(array_size((rows, columns), 8), source.shown, f"all {(rows, columns)} cells")
    with source.open() as stream:
        found = io.mmread(stream)
    said = "cells that are not written are 0" if sparse.issparse(found) else "every cell is written"
    array = found.toarray() if sparse.issparse(found) else np.asarray(found)
    return Loaded(_frame_of(array, source.shown), (*source.notes, f"a matrix of {rows} x {columns}: {said}"))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of an array, which its first bytes say."""
    first = np.lib.format.read_magic(stream) == (1, 0)
    shape, _, dtype = (np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0)(stream)
    return shape, dtype


def _check_header(stream: IO[bytes], shown: str) -> None:
    """An error before memory is taken for an array that is larger than the limit."""
    shape, dtype = _header(stream)
    refuse_larger(array_size(shape, dtype.itemsize), shown, f"the array of shape {shape}")


def _member(source: Source, archive: Any, name: str) -> np.ndarray:
    with archive.zip.open(f"{name}.npy") as member:
        _check_header(member, f"{source.shown} ({name})")
    found: np.ndarray = archive[name]
    return found


def _if_condensed(array: np.ndarray) -> str:
    """What to do with as many numbers as there are pairs of items."""
    n = round((1 + np.sqrt(1 + 8 * array.size)) / 2)
    if array.ndim != 1 or n < 3 or n * (n - 1) != 2 * array.size:
        return ""
    return f" --distances condensed reads it as distances between {n} items."


def _frame_of(array: np.ndarray, source: str) -> pl.DataFrame:
    if array.ndim != 2:
        raise UserError(
            f"{source}: the array must have two dimensions, rows and columns; got shape {array.shape}."
            f"{_if_condensed(array)}"
        )
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


def read_parquet(source: Source, how: ReadOptions) -> Loaded:
    return Loaded(pl.read_parquet(source.content, glob=False), tuple(source.notes))


def read_arrow(source: Source, how: ReadOptions) -> Loaded:
    with source.open() as stream:  # a path would be expanded where it has * or [
        return Loaded(pl.read_ipc(stream), tuple(source.notes))


def read_arrow_stream(source: Source, how: ReadOptions) -> Loaded:
    with source.open() as stream:
        return Loaded(pl.read_ipc_stream(stream), tuple(source.notes))

"""AnnData files (.h5ad), by h5py: one table of numbers, the annotations of its rows, and their names.

The layout is that of anndata 0.8 and later, and of 0.7 where it differs (categories, sparse matrices).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from lowdim._core.runtime.memory import limit
from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded, library, listed
from lowdim.app.reading.source import Source
from lowdim.app.unpacked_size import TEXT_CELL, array_size, refuse_larger
from lowdim.study.suggestions import did_you_mean

NAMES = "obs_names"


def read_anndata(source: Source, how: ReadOptions) -> Loaded:
    """The table X, a layer, or an entry of obsm; then the columns of obs, and the names of the observations."""
    h5py = library("h5py", "formats", source.shown, "reading .h5ad files")
    with source.open() as stream, h5py.File(stream, "r") as file:
        if "obs" not in file:
            raise UserError(
                f"{source.shown} is an HDF5 file, but not of AnnData (it has no obs): {listed(list(file), 8)}."
            )
        notes, where = source.notes, _chosen(file, how.layer, source)
        _check_annotations(file, source)
        X = _numbers(file[where], where, file, source)
        columns = _column_names(file, where, X.shape[1])
        others = sorted({*_tables(file)} - {where})
        if others:
            notes.append(f"rows read from {where} (--layer chooses another: {listed(others, 8)})")
        table: dict[str, Any] = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(columns)}
        names = _free(NAMES, table)
        obs = file["obs"]
        table[names] = _strings(obs[_index_of(obs)])
        renamed = []
        features = tuple(name for name in table if name != names)
        for name in _columns_of(obs):
            free = _free(name, table)
            renamed += [f"{name} -> {free}"] if free != name else []
            table[free] = _annotation(obs, name)
    if renamed:
        notes.append(f"columns of obs with the name of a variable are renamed: {listed(renamed)}")
    return Loaded(pl.DataFrame(table), tuple(notes), names=names, features=features)


def _check_annotations(file: Any, source: Source) -> None:
    """An error where the names and annotations alone, which may be compressed, are more than the memory limit."""
    sizes: list[float] = []
    for group in ("obs", "var"):
        if group in file:
            file[group].visititems(lambda name, item: sizes.append(getattr(item, "size", None) or 0))
    refuse_larger(TEXT_CELL * sum(sizes), source.shown, "the table of annotations")


def _tables(file: Any) -> list[str]:
    found = ["X"] if "X" in file else []
    return found + [f"{group}/{name}" for group in ("layers", "obsm") if group in file for name in file[group]]


def _chosen(file: Any, layer: str | None, source: Source) -> str:
    known = _tables(file)
    wanted = layer or "X"
    for place in (wanted, f"layers/{wanted}", f"obsm/{wanted}"):
        if place in known:
            return place
    short = [name.split("/")[-1] for name in known]
    what = f"--layer {layer!r} is not in the file" if layer else "the file has no X; choose a table with --layer"
    raise UserError(f"{source.shown}: {what}.{did_you_mean(wanted, short)} It has: {listed(known, 12)}.")


def _numbers(item: Any, where: str, file: Any, source: Source) -> np.ndarray:
    """A dense table; a sparse one only if it fits into memory as a dense one."""
    if hasattr(item, "shape") and not hasattr(item, "keys"):
        refuse_larger(array_size(item.shape, item.dtype.itemsize), source.shown, f"{where} of shape {item.shape}")
        found = np.asarray(item[()])
        if found.ndim != 2 or found.dtype.kind not in "buif":
            raise UserError(f"{source.shown}: {where} must be a table of numbers; got {found.dtype} {found.shape}.")
        return found
    kind = str(item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", "")))
    if not kind.startswith("cs"):
        raise UserError(f"{source.shown}: {where} is not a table of numbers ({kind or 'unknown encoding'}).")
    shape = tuple(int(n) for n in item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    needed = shape[0] * shape[1] * item["data"].dtype.itemsize * 2  # the table, and its columns beside it
    if needed > limit():
        others = [name for name in _tables(file) if name.startswith("obsm/")]
        way = f"Choose a smaller table with --layer, such as {others[0]}" if others else "Reduce it first"
        raise UserError(
            f"{source.shown}: {where} is sparse, {shape[0]} x {shape[1]}; as a dense table it needs "
            f"{needed / 1e9:.3g} GB, more than the memory limit. {way}, or raise --limit-memory."
        )
    from scipy import sparse

    make = sparse.csr_matrix if kind.startswith("csr") else sparse.csc_matrix
    parts = (item["data"][()], item["indices"][()], item["indptr"][()])
    return make(parts, shape=shape).toarray()


def _column_names(file: Any, where: str, width: int) -> list[str]:
    """Names of the variables; those of obsm/X_pca are X_pca_1, X_pca_2, ..."""
    if where.startswith("obsm/") or "var" not in file:
        base = where.split("/")[-1]
        return [f"{base}_{j + 1}" for j in range(width)]
    names = _strings(file["var"][_index_of(file["var"])])
    found: dict[str, None] = {}
    for name in names:
        found[_free(name, found)] = None
    return list(found)


def _free(name: str, taken: Any) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}_{count}"
    return free


def _index_of(group: Any) -> str:
    return _text(group.attrs.get("_index", "_index" if "_index" in group else "index"))


def _columns_of(obs: Any) -> list[str]:
    order = obs.attrs.get("column-order")
    names = [_text(name) for name in order] if order is not None else [n for n in obs if n != "__categories"]
    return [name for name in names if name != _index_of(obs) and name in obs]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _strings(item: Any) -> list[str]:
    values = item["values"] if hasattr(item, "keys") else item
    return [_text(value) for value in values[()]]


def _annotation(obs: Any, name: str) -> pl.Series:
    """A column of obs: numbers, text, categories, or values with a mask of missing ones."""
    item = obs[name]
    if hasattr(item, "keys"):
        if "codes" in item:
            return _categories(name, item["codes"][()], item["categories"])
        values, absent = item["values"], np.asarray(item["mask"][()], dtype=bool)
        cells = _strings(values) if values.dtype.kind in "OS" else values[()].tolist()
        return pl.Series(name, [None if gone else cell for cell, gone in zip(cells, absent, strict=True)])
    if "categories" in item.attrs:  # anndata 0.7: a reference to the table of categories
        return _categories(name, item[()], obs.file[item.attrs["categories"]])
    values = item[()]
    return pl.Series(name, _strings(item) if values.dtype.kind in "OS" else values)


def _categories(name: str, codes: np.ndarray, categories: Any) -> pl.Series:
    known = categories[()] if categories.dtype.kind not in "OS" else np.array(_strings(categories), dtype=object)
    return pl.Series(name, [None if code < 0 else known[code] for code in codes.tolist()], strict=False)

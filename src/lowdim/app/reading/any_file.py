"""Reading of any supported file: where its bytes are, what it holds, which reader takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.annotated import read_anndata
from lowdim.app.reading.arrays import read_npy, read_npz
from lowdim.app.reading.distances import as_distances
from lowdim.app.reading.images import read_images
from lowdim.app.reading.json_records import read_json, read_json_lines
from lowdim.app.reading.kinds import kind_of
from lowdim.app.reading.loaded import Loaded
from lowdim.app.reading.source import Source, source_of
from lowdim.app.reading.statistics_files import read_spss, read_stata
from lowdim.app.reading.text import read_text
from lowdim.app.reading.workbook import read_workbook

READERS: dict[str, Callable[[Source, ReadOptions], Loaded]] = {
    "text": read_text,
    "parquet": lambda source, how: Loaded(pl.read_parquet(source.content), tuple(source.notes)),
    "arrow": lambda source, how: Loaded(pl.read_ipc(source.content), tuple(source.notes)),
    "arrow stream": lambda source, how: Loaded(pl.read_ipc_stream(source.content), tuple(source.notes)),
    "npy": read_npy,
    "npz": read_npz,
    "workbook": read_workbook,
    "json": read_json,
    "json lines": read_json_lines,
    "spss": read_spss,
    "stata": read_stata,
    "anndata": read_anndata,
}


def read_any(path: str | Path, how: ReadOptions) -> Loaded:
    """The table, or the distances, in a file, a folder of images or standard input ("-")."""
    if Path(path).is_dir():
        return read_images(Path(path), how)
    source = source_of(path)
    loaded = READERS[kind_of(source)](source, how)
    return as_distances(loaded, how.distances, source.shown)

"""Reading of any supported file: where its bytes are, what it holds, which reader takes it.

A reader is imported when a file needs it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded

READERS = {  # kind -> module of this package and function
    "text": ("text", "read_text"),
    "parquet": ("arrays", "read_parquet"),
    "arrow": ("arrays", "read_arrow"),
    "arrow stream": ("arrays", "read_arrow_stream"),
    "npy": ("arrays", "read_npy"),
    "npz": ("arrays", "read_npz"),
    "matrix market": ("arrays", "read_matrix_market"),
    "workbook": ("workbook", "read_workbook"),
    "json": ("json_records", "read_json"),
    "json lines": ("json_records", "read_json_lines"),
    "spss": ("statistics_files", "read_spss"),
    "stata": ("statistics_files", "read_stata"),
    "anndata": ("annotated", "read_anndata"),
}


def read_any(path: str | Path, how: ReadOptions) -> Loaded:
    """The table, or the distances, in a file, a folder of images or standard input ("-")."""
    from lowdim.app.reading.clutter.lists import with_lists_as_columns
    from lowdim.app.reading.clutter.ticks import with_ticks_as_numbers
    from lowdim.app.reading.distances import as_distances
    from lowdim.app.reading.images import read_images
    from lowdim.app.reading.kinds import kind_of
    from lowdim.app.reading.marks import without_marks_in_names
    from lowdim.app.reading.source import source_of
    from lowdim.app.reading.transposed import note_on_items_in_columns, transposed
    from lowdim.app.unpacked_size import check_size

    if Path(path).is_dir():
        return read_images(Path(path), how)
    source = source_of(path)
    kind = kind_of(source)
    check_size(source, kind)
    module, function = READERS[kind]
    reader = getattr(import_module(f"lowdim.app.reading.{module}"), function)
    loaded: Loaded = with_ticks_as_numbers(with_lists_as_columns(without_marks_in_names(source, how, reader)))
    if how.transpose:
        return as_distances(transposed(loaded, how, source.shown), how.distances, source.shown)
    found = as_distances(loaded, how.distances, source.shown)
    return note_on_items_in_columns(found) if found.kind == "table" else found

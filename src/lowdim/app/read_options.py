"""Options for reading a table from a file."""

from __future__ import annotations

from dataclasses import dataclass

from lowdim.study.columns.column import Conversion
from lowdim.study.columns.wishes import Kind


@dataclass(frozen=True)
class ReadOptions:
    """Roles of the columns, rows to keep, and the format of the file.

    `needed` are the columns a saved model was fitted with; `columns` are those named on the command line. Before the
    names in the file are known, `label`, `names`, `drop` and `columns` hold what the user typed, and `asked` the values
    of --as; `column_names.resolved` finds the columns that are meant.
    """

    label: str | None = None
    label_file: str | None = None  # a second file with the labels
    names: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    needed_kinds: tuple[tuple[str, Kind], ...] = ()  # (column, kind) as the saved model has them
    needed_values: tuple[tuple[str, tuple[object, ...]], ...] = ()  # (column, categories) as the saved model has them
    needed_conversions: tuple[tuple[str, Conversion], ...] = ()  # (column, how dates or words became its numbers)
    kinds: tuple[tuple[str, Kind], ...] = ()  # (column, kind) as named on the command line
    asked: tuple[str, ...] = ()  # KIND:COLUMN as typed
    rows: str = "all"  # or "complete"
    drop_rows: tuple[str, ...] = ()  # names or numbers of rows to leave out, as typed
    keep_totals: bool = False  # True: last rows that sum up the others are rows like them
    missing: str = "error"  # or "keep"
    na: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()  # columns that name the rows, in which `na` does not count
    header: bool = True  # False: the first line is data; True: detected
    has_header: bool = False  # True: the first line has names, whatever it looks like
    separator: str | None = None  # None: detected
    decimal_comma: bool = False  # False: detected
    thousands: str | None = None  # the character between groups of three digits; None: detected
    encoding: str | None = None  # None: detected
    array: str | None = None
    sheet: str | None = None  # name or number (from 1) of the sheet of a spreadsheet; None: the first with cells
    layer: str | None = None  # table of an .h5ad file: X, a layer, or an entry of obsm; None: X
    transpose: bool = False  # True: rows and columns of the file are exchanged
    distances: str | None = None  # "square", "lower", "condensed", "pairs", "similarities" or "no"; None: detected
    image_size: tuple[int, int] | None = None  # width and height of images; None: their own, or 32 x 32
    image_colour: bool | None = None  # True: red, green and blue; False: grey; None: colour if any image has it
    takes_distances: bool = False  # whether the command can use distances instead of rows
    unknown_pairs: bool = False  # whether some of the distances may be unknown
    min_rows: int = 3
    need_columns: bool = True  # False: a table without a column for the map, or without rows, is taken too

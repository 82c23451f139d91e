"""Tables from files: numeric columns, labels and names, with notes about what was left out or looks unusual.

Nothing is dropped or converted without a note. A column that is not numeric, a missing value or an infinite one is an
error that names its position and the option that decides about it.
"""

from __future__ import annotations

import csv
import tokenize
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.any_file import read_any
from lowdim.app.reading.loaded import Loaded
from lowdim.app.reading.source import PACKED_EXTENSIONS, STANDARD_INPUT
from lowdim.study.suggestions import did_you_mean

# What libraries raise for files that are damaged or of another kind than they seem.
DAMAGED = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, tokenize.TokenError, zipfile.BadZipFile, csv.Error,
    OSError, EOFError, RecursionError, ValueError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class InputTable:
    """Rows of numbers, with their labels, names and numbers in the file.

    `frame` has the numeric columns only. `labels` and `names` are None if no column was chosen for them; a row without
    a label has NaN or None there. `numbers` are the positions of the rows in the file, from 1, without blank lines.
    `notes` are printed and shown in the report.
    """

    name: str
    frame: pl.DataFrame
    labels: np.ndarray | None = None
    label_name: str | None = None
    names: list[str] | None = None
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    notes: tuple[str, ...] = ()

    @property
    def X(self) -> np.ndarray:
        """The numbers as a C-ordered array; missing cells are NaN."""
        return np.ascontiguousarray(self.frame.to_numpy())

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    def take(self, rows: np.ndarray, note: str) -> InputTable:
        """The given rows, with a note that says why."""
        return InputTable(
            self.name,
            self.frame[rows],
            None if self.labels is None else self.labels[rows],
            self.label_name,
            None if self.names is None else [self.names[i] for i in rows],
            self.numbers[rows],
            (*self.notes, note),
        )


def read(path: str | Path, how: ReadOptions = ReadOptions()) -> InputTable:  # noqa: B008 (frozen: safe to share)
    """Read and check the table in a file."""
    loaded = load(path, how)
    if loaded.kind == "distances":
        raise UserError(
            f"{path}: {loaded.notes[-1]}. Rows are needed here; --distances no reads the table as rows and columns."
        )
    roles = {"names": how.names or loaded.names, "label": how.label or loaded.label}
    how = ReadOptions(**{**how.__dict__, **roles})
    return assemble(table_name(path), loaded.frame, how, source=str(path), notes=loaded.notes)


def load(path: str | Path, how: ReadOptions) -> Loaded:
    """All columns of a file as they are, and notes about its format. "-" is standard input, a folder has images."""
    path = Path(path)
    if str(path) != STANDARD_INPUT and not path.exists():
        raise UserError(f"no such file: {path}.{_near_file(path)}")
    try:
        return read_any(path, how)
    except DAMAGED as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(f"{path} cannot be read as {path.suffix[1:] or 'a table'}: {reason.rstrip('.')}.") from error


def table_name(path: str | Path) -> str:
    """The name of a table: that of its file without extensions."""
    if str(path) == STANDARD_INPUT:
        return "standard-input"
    path = Path(path)
    return Path(path.stem).stem if path.suffix.lower() in PACKED_EXTENSIONS else path.stem


def _near_file(path: Path) -> str:
    try:
        return did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return ""


def assemble(
    name: str,
    frame: pl.DataFrame,
    how: ReadOptions,
    *,
    source: str,
    notes: Sequence[str] = (),
    option: str = "--columns",
) -> InputTable:
    """Separate labels and names from the numbers, apply the options and check the result.

    `option` is the command-line option that chose the columns, for error messages.
    """
    found = list(notes)
    labels, names = _column(frame, how.label, "--label", source), _column(frame, how.names, "--names", source)
    for column in (*how.drop, *how.columns):
        _column(frame, column, "--drop" if column in how.drop else option, source)
    for column in how.needed:
        _column(frame, column, "the model needs", source)
    aside = {how.label, how.names, *how.drop} if not how.needed else set()
    chosen = [c for c in dict.fromkeys(how.needed or how.columns or frame.columns) if c not in aside]
    if not chosen or not frame.height:
        raise UserError(f"{source}: the table is empty ({frame.height} rows, {len(chosen)} columns to use).")
    numbers = _numeric(frame.select(chosen), source, found)
    table = InputTable(
        name,
        numbers,
        None if labels is None else _labels(labels),
        how.label,
        None if names is None else names.cast(pl.String, strict=False).fill_null("").to_list(),
        np.arange(1, frame.height + 1),
    )
    table = _complete(table, how, source, found)
    _note_row_numbers(table, found)
    if table.frame.height < how.min_rows:
        raise UserError(f"{source}: at least {how.min_rows} rows are needed; got {table.frame.height}.")
    return InputTable(**{**table.__dict__, "notes": (*found, *table.notes)})


def _column(frame: pl.DataFrame, name: str | None, option: str, source: str) -> pl.Series | None:
    if name is None:
        return None
    if name in frame.columns:
        return frame[name]
    hint = did_you_mean(name, frame.columns, cutoff=0.5)
    shown = ", ".join(frame.columns[:12]) + (", ..." if frame.width > 12 else "")
    wrong = f"{option} {name!r}, which" if not option.startswith("--") else f"{option} {name!r}"
    raise UserError(f"{source}: {wrong} is not a column.{hint} Columns: {shown}.")


def _numeric(frame: pl.DataFrame, source: str, notes: list[str]) -> pl.DataFrame:
    """All columns as floats: float32 if all are float32 in the file, else float64."""
    bad = [column.name for column in frame if not _is_numeric(column)]
    if bad:
        raise UserError(_not_numeric(frame[bad[0]], bad, source))
    flags = [name for name, kind in frame.schema.items() if kind == pl.Boolean]
    if flags:
        notes.append(f"true/false read as 1/0: {_listed(flags)}")
    narrow = all(kind == pl.Float32 for kind in frame.dtypes)
    wide = frame.cast(pl.Float32 if narrow else pl.Float64)
    return wide.with_columns(pl.all().fill_null(float("nan")))


def _is_numeric(column: pl.Series) -> bool:
    """Whether a column has numbers or true/false; a column whose cells are all missing counts as numeric."""
    return column.dtype.is_numeric() or column.dtype == pl.Boolean or column.null_count() == len(column)


def _not_numeric(column: pl.Series, bad: list[str], source: str) -> str:
    """The error: which column, how many values, the first of them, and the options that solve it."""
    nested = column.dtype.is_nested() or column.dtype == pl.Object
    text = pl.Series([str(v) for v in column.to_list()]) if nested else column.cast(pl.String, strict=False)
    wrong = text.is_not_null() & text.cast(pl.Float64, strict=False).is_null()
    values = text.filter(wrong)
    if not len(values):  # dates and other types that are not numbers
        values, wrong = text.drop_nulls(), text.is_not_null()
    row, name = int(wrong.arg_max() or 0) + 1, column.name
    others = f" (and {len(bad) - 1} other columns: {_listed(bad[1:])})" if len(bad) > 1 else ""
    first = repr(str(values[0])[:40]) if len(values) else "none"
    if len(values) and values.str.contains(r"^[+-]?[0-9]{1,3}(,[0-9]{3})+$").all():
        way = "If the comma separates thousands, remove it in the file; otherwise use"
    elif len(values) and values.str.contains(r"^[+-]?[0-9]*,[0-9]+$").all():
        way = "If the comma is the decimal point, add --decimal-comma; otherwise use"
    elif len(values) < len(text.drop_nulls()) and values.n_unique() == 1:
        way = f"If {first} means a missing value, add --na {first}; otherwise use"
    else:
        way = "Use"
    return (
        f"{source}: column {name!r}{others} has {len(values)} values that are not numbers (first: {first}, row {row}). "
        f"{way} it for colours with --label {_quoted(name)}, for row names with --names {_quoted(name)}, "
        f"or leave it out with --drop {_quoted(name)}."
    )


def _quoted(name: str) -> str:
    return name if name and all(c.isalnum() or c in "_-." for c in name) else repr(name)


def _listed(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _labels(column: pl.Series) -> np.ndarray:
    """Labels as numbers or as text; NaN or None for a row without a label."""
    if column.dtype.is_numeric():
        return column.to_numpy()
    if column.dtype == pl.Boolean and not column.null_count():
        return column.to_numpy()
    return np.array([text or None for text in column.cast(pl.String, strict=False).to_list()], dtype=object)


def _complete(table: InputTable, how: ReadOptions, source: str, notes: list[str]) -> InputTable:
    """Apply the options for missing cells; infinite values are an error."""
    X = table.X
    infinite = np.isinf(X)
    if infinite.any():
        where = _where(infinite, table)
        raise UserError(
            f"{source}: {infinite.sum()} infinite values ({where}); replace them, or leave the column out with --drop."
        )
    holes = np.isnan(X)
    if not holes.any():
        return table
    rows, hit = np.flatnonzero(~holes.any(axis=1)), int(holes.any(axis=1).sum())
    if how.rows == "complete":
        if not len(rows):
            raise UserError(f"{source}: no row is complete ({_where(holes, table)}); leave columns out with --drop.")
        return table.take(rows, f"{hit} rows with missing values left out (--rows complete)")
    if how.missing == "keep":
        notes.append(f"{holes.sum()} missing values in {hit} of {len(X)} rows")
        return table
    raise UserError(
        f"{source}: {holes.sum()} missing values in {hit} of {len(X)} rows ({_where(holes, table)}). "
        f"--rows complete uses only the {len(rows)} complete rows; --drop COL leaves a column out."
    )


def _where(mask: np.ndarray, table: InputTable) -> str:
    row, column = np.argwhere(mask)[0]
    return f"first: row {table.numbers[row]}, column {table.columns[column]!r}"


def _note_row_numbers(table: InputTable, notes: list[str]) -> None:
    """Add a note about a column of row numbers, which is usually not data."""
    for name in table.columns:
        values = table.frame[name].to_numpy()
        if len(values) > 3 and np.array_equal(values, values[0] + np.arange(len(values))):
            notes.append(f"column {name!r} is a row number; --drop {_quoted(name)} leaves it out")

"""Tables from files: rows of numbers, and a word about everything that was left out or looked odd.

Nothing is guessed in silence. A column that is not numeric, a missing value or an infinite one stops the reading with
a line that says where it is and which option decides about it.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.files import UserError
from lowdim.app.formats import EXTENSIONS, reader
from lowdim.app.reading import Reading
from lowdim.study.spelling import did_you_mean


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers with what belongs to them.

    `frame` holds the numeric columns only; `labels`, `names` are None where no column was named for them, and a row
    without a label has NaN or None there; `numbers` are the positions of the rows in the file, from 1, blank lines
    not counted; `notes` are things the reader of the output should know.
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
        """The numbers, one C-ordered array; missing ones are NaN."""
        return np.ascontiguousarray(self.frame.to_numpy())

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    def take(self, rows: np.ndarray, note: str) -> Table:
        """Some of the rows, in their order."""
        return Table(
            self.name,
            self.frame[rows],
            None if self.labels is None else self.labels[rows],
            self.label_name,
            None if self.names is None else [self.names[i] for i in rows],
            self.numbers[rows],
            (*self.notes, note),
        )


def read(path: str | Path, how: Reading = Reading()) -> Table:  # noqa: B008 (frozen: safe to share)
    """The table in a file, checked."""
    frame, notes = load(path, how)
    return assemble(Path(path).stem, frame, how, source=str(path), notes=notes)


def load(path: str | Path, how: Reading) -> tuple[pl.DataFrame, list[str]]:
    """All columns of a file as they are, and what was found out about it."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{path} is a folder; give one file ({', '.join(EXTENSIONS)}).")
    if not path.exists():
        raise UserError(f"no such file: {path}.{_near_file(path)}")
    parse = reader(path)
    try:
        return parse(path, how)
    except (pl.exceptions.PolarsError, OSError, EOFError, zipfile.BadZipFile, csv.Error, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(f"{path} cannot be read as {path.suffix[1:]}: {reason.rstrip('.')}.") from error


def _near_file(path: Path) -> str:
    try:
        return did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return ""


def assemble(
    name: str,
    frame: pl.DataFrame,
    how: Reading,
    *,
    source: str,
    notes: Sequence[str] = (),
    option: str = "--columns",
) -> Table:
    """Part labels and names from the numbers, apply the options, and check what is left.

    `option` is what people typed to choose columns.
    """
    said = list(notes)
    labels, names = _column(frame, how.label, "--label", source), _column(frame, how.names, "--names", source)
    for column in (*how.drop, *how.columns):
        _column(frame, column, "--drop" if column in how.drop else option, source)
    for column in how.needed:
        _column(frame, column, "the model needs", source)
    aside = {how.label, how.names, *how.drop} if not how.needed else set()
    chosen = [c for c in dict.fromkeys(how.needed or how.columns or frame.columns) if c not in aside]
    if not chosen or not frame.height:
        raise UserError(f"{source}: the table is empty ({frame.height} rows, {len(chosen)} columns to use).")
    numbers = _numeric(frame.select(chosen), source, said)
    table = Table(
        name,
        numbers,
        None if labels is None else _labels(labels),
        how.label,
        None if names is None else names.cast(pl.String, strict=False).fill_null("").to_list(),
        np.arange(1, frame.height + 1),
    )
    table = _complete(table, how, source, said)
    _note_counters(table, said)
    if table.frame.height < how.min_rows:
        raise UserError(f"{source}: at least {how.min_rows} rows are needed; got {table.frame.height}.")
    return Table(**{**table.__dict__, "notes": (*said, *table.notes)})


def _column(frame: pl.DataFrame, name: str | None, option: str, source: str) -> pl.Series | None:
    if name is None:
        return None
    if name in frame.columns:
        return frame[name]
    hint = did_you_mean(name, frame.columns, cutoff=0.5)
    shown = ", ".join(frame.columns[:12]) + (", ..." if frame.width > 12 else "")
    wrong = f"{option} {name!r}, which" if not option.startswith("--") else f"{option} {name!r}"
    raise UserError(f"{source}: {wrong} is not a column.{hint} Columns: {shown}.")


def _numeric(frame: pl.DataFrame, source: str, said: list[str]) -> pl.DataFrame:
    """All columns as floats: float32 when the file has nothing wider, else float64."""
    bad = [column.name for column in frame if not _is_numeric(column)]
    if bad:
        raise UserError(_not_numeric(frame[bad[0]], bad, source))
    flags = [name for name, kind in frame.schema.items() if kind == pl.Boolean]
    if flags:
        said.append(f"true/false read as 1/0: {_listed(flags)}")
    narrow = all(kind == pl.Float32 for kind in frame.dtypes)
    wide = frame.cast(pl.Float32 if narrow else pl.Float64)
    return wide.with_columns(pl.all().fill_null(float("nan")))


def _is_numeric(column: pl.Series) -> bool:
    """Numbers, truth values, or nothing at all: a column without a single value is all holes, not text."""
    return column.dtype.is_numeric() or column.dtype == pl.Boolean or column.null_count() == len(column)


def _not_numeric(column: pl.Series, bad: list[str], source: str) -> str:
    """One line: which column, how many values, the first of them, and the ways out."""
    nested = column.dtype.is_nested() or column.dtype == pl.Object
    text = pl.Series([str(v) for v in column.to_list()]) if nested else column.cast(pl.String, strict=False)
    wrong = text.is_not_null() & text.cast(pl.Float64, strict=False).is_null()
    values = text.filter(wrong)
    if not len(values):  # dates and the like: stored as something else than a number
        values, wrong = text.drop_nulls(), text.is_not_null()
    row, name = int(wrong.arg_max() or 0) + 1, column.name
    others = f" (and {len(bad) - 1} other columns: {_listed(bad[1:])})" if len(bad) > 1 else ""
    first = repr(str(values[0])[:40]) if len(values) else "none"
    if len(values) and values.str.contains(r"^[+-]?[0-9]{1,3}(,[0-9]{3})+$").all():
        way = "If the comma parts thousands, remove it in the file; else use"
    elif len(values) and values.str.contains(r"^[+-]?[0-9]*,[0-9]+$").all():
        way = "If the comma stands for the decimal point, say --decimal-comma; else use"
    elif len(values) < len(text.drop_nulls()) and values.n_unique() == 1:
        way = f"If {first} stands for a missing value, say --na {first}; else use"
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
    """Labels as numbers where they are numbers, else as text; NaN or None where a row has none."""
    if column.dtype.is_numeric():
        return column.to_numpy()
    if column.dtype == pl.Boolean and not column.null_count():
        return column.to_numpy()
    return np.array([text or None for text in column.cast(pl.String, strict=False).to_list()], dtype=object)


def _complete(table: Table, how: Reading, source: str, said: list[str]) -> Table:
    """Deal with missing and infinite values as asked."""
    X = table.X
    infinite = np.isinf(X)
    if infinite.any():
        where = _where(infinite, table)
        raise UserError(f"{source}: {infinite.sum()} infinite values ({where}); replace them, or --drop the column.")
    holes = np.isnan(X)
    if not holes.any():
        return table
    rows, hit = np.flatnonzero(~holes.any(axis=1)), int(holes.any(axis=1).sum())
    if how.rows == "complete":
        if not len(rows):
            raise UserError(f"{source}: no row is complete ({_where(holes, table)}); --drop the columns with holes.")
        return table.take(rows, f"{hit} rows with missing values left out (--rows complete)")
    if how.missing == "keep":
        said.append(f"{holes.sum()} missing values in {hit} of {len(X)} rows")
        return table
    raise UserError(
        f"{source}: {holes.sum()} missing values in {hit} of {len(X)} rows ({_where(holes, table)}). "
        f"--rows complete keeps the {len(rows)} complete rows only; --drop COL leaves a column out."
    )


def _where(mask: np.ndarray, table: Table) -> str:
    row, column = np.argwhere(mask)[0]
    return f"first: row {table.numbers[row]}, column {table.columns[column]!r}"


def _note_counters(table: Table, said: list[str]) -> None:
    """A column that only counts the rows is data to no method; say so, and leave the choice to the reader."""
    for name in table.columns:
        values = table.frame[name].to_numpy()
        if len(values) > 3 and np.array_equal(values, values[0] + np.arange(len(values))):
            said.append(f"column {name!r} only counts the rows; --drop {_quoted(name)} leaves it out")

"""Tables from files: columns that are understood, with notes about what was found and left out.

Nothing is dropped or converted without a word: every column has a kind, a use and a reason, which are printed. What
cannot be decided is an error that names its position and the option that decides it.
"""

from __future__ import annotations

import csv
import tokenize
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from lowdim._core.tables.kinds import some_of
from lowdim.app.column_names import one_name, quoted, resolved
from lowdim.app.errors import UserError, with_option_names
from lowdim.app.label_file import with_labels
from lowdim.app.left_out_rows import with_note_on_summary, without_rows, without_totals
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.any_file import read_any
from lowdim.app.reading.loaded import Loaded, counted, listed, missing_values
from lowdim.app.reading.source import PACKED_EXTENSIONS, STANDARD_INPUT
from lowdim.app.reading.transposed import refuse_turned
from lowdim.study.columns import Column, Table, Wishes, read_table
from lowdim.study.columns.column import MAPPED
from lowdim.study.columns.kinds import kind_of
from lowdim.study.columns.raw_columns import named_columns
from lowdim.study.suggestions import did_you_mean

OPTIONS = {"columns": "--columns", "drop": "--drop", "label": "--label", "names": "--names", "kinds": "--as"}

# What libraries raise for files that are damaged or of another kind than they seem.
DAMAGED = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, tokenize.TokenError, zipfile.BadZipFile, csv.Error,
    OSError, EOFError, RecursionError, ValueError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class InputTable:
    """A table from a file or a built-in data set, its columns understood.

    Attributes
    ----------
    name : str
        What it is called in results.
    table : Table
        The columns, with their kinds and uses.
    notes : tuple of str
        About the file and its rows; printed and shown in the report.
    distances : ndarray or None
        Distances between the items, if the file has these instead of rows; `table` then has the names of the items.
    """

    name: str
    table: Table
    notes: tuple[str, ...] = ()
    distances: np.ndarray | None = None
    frame: pl.DataFrame | None = None  # all rows and columns as they are in the file
    positions: tuple[str, ...] = ()  # columns of the frame with the true place of each row, for colours

    @property
    def n_rows(self) -> int:
        return len(self.table.rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the methods see."""
        return self.table.column_names

    @property
    def X(self) -> np.ndarray:
        """The columns of numbers as a C-ordered array; missing cells are NaN."""
        return self.table.numbers()

    @property
    def names(self) -> list[str] | None:
        """The names of the rows."""
        return self.table.names

    @property
    def labels(self) -> np.ndarray | None:
        """The label of each row; NaN or None where there is none."""
        return None if self.table.label is None else self.table.label.label_values()

    @property
    def label_name(self) -> str | None:
        return None if self.table.label is None else self.table.label.name

    @property
    def numbers(self) -> np.ndarray:
        """Positions of the rows in the file, from 1, without blank lines."""
        return self.table.rows + 1

    def take(self, rows: np.ndarray, note: str) -> InputTable:
        """The given rows, with a note that says why."""
        kept = None if self.distances is None else np.ascontiguousarray(self.distances[np.ix_(rows, rows)])
        return replace(self, table=self.table.take(rows), notes=(*self.notes, note), distances=kept)


def read(path: str | Path, how: ReadOptions = ReadOptions()) -> InputTable:  # noqa: B008 (frozen: safe to share)
    """Read and check the table in a file."""
    loaded = load(path, how)
    if loaded.kind == "distances":
        return _of_distances(loaded, how, path)
    frame, notes = loaded.frame, loaded.notes
    if how.label_file is not None:
        frame, how, note = with_labels(frame, how, one_name(how.names, frame.columns) or loaded.names)
        notes = (*notes, note)
    how = resolved(how, frame.columns)
    columns = how.columns or _asked_features(loaded, how)
    how = replace(how, names=how.names or loaded.names, label=how.label or loaded.label, columns=columns)
    found = assemble(table_name(path), frame, how, source=str(path), notes=notes)
    return replace(found, table=found.table.described(loaded.about))


def _asked_features(loaded: Loaded, how: ReadOptions) -> tuple[str, ...]:
    """The columns of measurements, and of the annotations those that the user gives a kind."""
    if not loaded.features:
        return ()
    asked = {column for column, kind in how.kinds if kind in MAPPED or not isinstance(kind, str)}
    return tuple(c for c in loaded.frame.columns if (c in loaded.features or c in asked) and c not in how.drop)


def _of_distances(loaded: Loaded, how: ReadOptions, path: str | Path) -> InputTable:
    """Items and the distances between them."""
    D = loaded.frame.to_numpy().astype(np.float64)
    if not how.takes_distances:
        raise UserError(
            f"{path} has distances between {len(D)} items, and rows are needed here. If its numbers are no distances, "
            f"--distances no reads the file as rows and columns.{_ways_with_unknown(D, path)}"
        )
    names = np.array(loaded.frame.columns, dtype=object)
    items = Column("item", "id", names, "the items between which distances are given", "name")
    labels, notes = _labels_of_items(names.tolist(), how)
    table = Table((items, *labels), np.arange(len(D)), len(D))
    told = [note for note in loaded.notes if "without a name is named" not in note]  # the column of the names
    found = InputTable(table_name(path), table, (*told, *notes), D)
    found = without_rows(found, how.drop_rows, str(path)) if how.drop_rows else found
    return _with_known_pairs(found, how, path)


def _labels_of_items(names: list[str], how: ReadOptions) -> tuple[list[Column], list[str]]:
    """The label of each item, and how it was found, if a file of labels is given."""
    if how.label_file is None:
        return [], []
    frame, how, note = with_labels(pl.DataFrame({"item": names}), how, "item")
    assert how.label is not None
    values = named_columns(frame.select(how.label), "labels")[how.label]
    return [kind_of(how.label, values).used("label", "as asked")], [note]


def _ways_with_unknown(D: np.ndarray, path: str | Path) -> str:
    """What can be done with distances of which some are unknown."""
    if not np.isnan(D).any():
        return ""
    return f" Unknown distances need not be filled: lowdim fit {path} --method mds maps the items by the known ones."


def _with_known_pairs(found: InputTable, how: ReadOptions, path: str | Path) -> InputTable:
    """Items between which all distances are known, unless the command can do without some."""
    assert found.distances is not None
    unknown = np.isnan(found.distances)
    if not unknown.any() or how.unknown_pairs or not how.need_columns:
        return found
    rows = _known_to_each_other(unknown)
    if how.rows == "complete":
        left = [name for i, name in enumerate(found.names or []) if i not in set(rows.tolist())]
        return found.take(rows, f"{len(left)} items with unknown distances left out (--rows complete): {listed(left)}")
    i, j = np.argwhere(unknown)[0]
    names = found.names or []
    raise UserError(
        f"{path}: {int(unknown.sum()) // 2} pairs of items have no distance (first: {names[i]!r} and {names[j]!r}); "
        f"all are needed here (lowdim fit --method mds does without). --rows complete uses {len(rows)} of "
        f"{len(unknown)} items, between which all are known."
    )


def _known_to_each_other(unknown: np.ndarray) -> np.ndarray:
    """Items between which all distances are known: the one with most unknown distances goes first, and so on."""
    left = np.arange(len(unknown))
    while (counts := unknown[np.ix_(left, left)].sum(axis=0)).any():
        left = np.delete(left, counts.argmax())
    return left


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


def assemble(name: str, frame: pl.DataFrame, how: ReadOptions, *, source: str, notes: Sequence[str] = ()) -> InputTable:
    """Find out what the columns are, apply the options and check the result."""
    if not frame.width or (not frame.height and how.need_columns):
        raise UserError(f"{source}: the table is empty ({frame.height} rows, {frame.width} columns).")
    frame, total = without_totals(frame, how)
    table = _understood(frame, resolved(how, frame.columns), source)
    found = InputTable(name, table, (*notes, *total, *table.notes), frame=frame)
    if how.drop_rows:
        found = without_rows(found, how.drop_rows, source)
    elif not how.keep_totals:
        found = with_note_on_summary(found)
    found = _without_holes(found, how, source)
    if found.n_rows < how.min_rows:
        raise UserError(f"{source}: at least {how.min_rows} rows are needed; got {found.n_rows}.")
    return found


def _understood(frame: pl.DataFrame, how: ReadOptions, source: str) -> Table:
    _refuse_against_model(how, source)
    refuse_turned(frame, how.needed, source)
    wishes = Wishes(
        columns=tuple(dict.fromkeys(how.needed or how.columns)),
        drop=how.drop,
        label=how.label,
        names=how.names,
        kinds={**dict(how.kinds), **dict(how.needed_kinds)},
        fitted=dict(how.needed_values),
        conversions=dict(how.needed_conversions),
        find_label=not how.needed,
        need_columns=how.need_columns,
        owner=source,
        option={**OPTIONS, "columns": "the model needs", "kinds": "the model needs"} if how.needed else OPTIONS,
    )
    try:
        found = read_table(frame, wishes)
        return replace(found, columns=tuple(map(_as_fitted, found.columns))) if how.needed else found
    except ValueError as error:
        said = with_option_names(str(error))
        way = " --na TEXT reads a text as a missing cell." if "must hold numbers; got" in said else ""
        raise UserError(f"{said}{way}") from error


def _as_fitted(column: Column) -> Column:
    """A column with its reason: a saved model needs it as it is, and nobody else asked."""
    needed = column.use == "map"
    return replace(
        column, why=column.why.replace("as asked", "as in the model"), why_use="" if needed else column.why_use
    )


def _refuse_against_model(how: ReadOptions, source: str) -> None:
    """What a saved model needs cannot be left out by --drop or --columns, nor be of another kind by --as."""
    without = [name for name in how.needed if name in how.drop or (how.columns and name not in how.columns)]
    if without:
        option = "--drop" if without[0] in how.drop else "--columns"
        raise UserError(
            f"{source}: {option} leaves out {some_of([repr(name) for name in without])}, which the model was fitted "
            f"with. Leave {option} away, or fit another model without {'it' if len(without) == 1 else 'them'}."
        )
    fitted = dict(how.needed_kinds)
    for name, kind in how.kinds:
        if fitted.get(name, kind) != kind:
            raise UserError(
                f"{source}: --as {kind}:{quoted(name)} is not what the model was fitted with: {name!r} was a "
                f"{fitted[name]} there. Leave it away, or fit another model."
            )


def _without_holes(found: InputTable, how: ReadOptions, source: str) -> InputTable:
    """Apply the options for missing cells."""
    used = found.table.used
    if not used:
        return found
    lost = np.logical_or.reduce([column.missing for column in used])
    if not lost.any():
        return found
    cells, hit = sum(int(column.missing.sum()) for column in used), int(lost.sum())
    first = next(column for column in used if column.missing.any())
    where = f"first: row {found.numbers[int(first.missing.argmax())]}, column {first.name!r}"
    rows = np.flatnonzero(~lost)
    if how.rows == "complete":
        if not len(rows):
            raise UserError(f"{source}: no row is complete ({where}); leave columns out with --drop.")
        return found.take(rows, f"{counted(hit, 'row')} with missing values left out (--rows complete)")
    if how.missing == "keep":
        return replace(found, notes=(*found.notes, missing_values(cells, hit, found.n_rows)))
    raise UserError(
        f"{source}: {missing_values(cells, hit, found.n_rows)} ({where}). "
        f"--rows complete uses only the {len(rows)} complete rows; --drop COL leaves a column out."
    )

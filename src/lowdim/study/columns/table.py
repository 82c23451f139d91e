"""A table whose columns are understood: the rows that the methods see, labels, names, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.tables.columns import has_categories, is_frame
from lowdim._core.tables.orders import ordered_column, orders_of
from lowdim.study.columns.asked_kinds import as_kind, without_marks
from lowdim.study.columns.column import Column
from lowdim.study.columns.counts import counts_in
from lowdim.study.columns.given import different_names, note_on_names
from lowdim.study.columns.infinite import with_finite
from lowdim.study.columns.kinds import CODES, kind_of
from lowdim.study.columns.raw_columns import named_columns
from lowdim.study.columns.row_index import with_index
from lowdim.study.columns.uses import decide
from lowdim.study.columns.wishes import Wishes

_MOST_COPIES = 5  # named in a note


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table with their kinds and uses.

    Attributes
    ----------
    columns : tuple of Column
        All columns in their order, with the rows that were kept.
    rows : ndarray of int
        Positions of these rows in the table that was given.
    n_given : int
        Number of rows that were given.
    notes : tuple of str
        What was done with rows.
    """

    columns: tuple[Column, ...]
    rows: np.ndarray
    n_given: int
    notes: tuple[str, ...] = ()
    _frame: Any = field(default=None, repr=False)  # class of the data frame that was given, to make one like it
    _single: bool = False  # whether all numbers were in single precision
    drawn_from: int | None = None  # rows of the table that these are a random sample of

    @property
    def used(self) -> list[Column]:
        """The columns that the methods see."""
        return [column for column in self.columns if column.use == "map"]

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that the methods see."""
        return [column.name for column in self.used]

    @property
    def categories(self) -> list[str]:
        """Names of the columns of categories that the methods see, ordered ones too."""
        return [column.name for column in self.used if column.kind != "number"]

    @property
    def label(self) -> Column | None:
        """The column with the labels."""
        return next((column for column in self.columns if column.use == "label"), None)

    @property
    def names(self) -> list[str] | None:
        """The names of the rows."""
        found = next((column for column in self.columns if column.use == "name"), None)
        return None if found is None else found.texts()

    @property
    def shown(self) -> dict[str, list[str]]:
        """Columns that are shown with a row, as text."""
        return {column.name: column.texts() for column in self.columns if column.use == "shown"}

    def numbers(self) -> np.ndarray:
        """The columns of numbers that the methods see, as one C-ordered array."""
        kept = [column.values for column in self.used if column.kind == "number"]
        dtype = np.float32 if self._single else np.float64
        out = np.empty((len(self.rows), len(kept)), dtype=dtype)
        for j, values in enumerate(kept):
            out[:, j] = values
        return out

    def of_numbers(self) -> Table:
        """The same table, of which the methods see the columns of numbers alone."""
        left = {column.name for column in self.used if column.kind != "number"}
        return replace(self, columns=tuple(column for column in self.columns if column.name not in left))

    def frame(self, *, ranks: bool = False) -> Any:
        """The columns that the methods see: a data frame like the one given, else an array (of objects if mixed).

        Ordered categories have a type of their own in a data frame. An array has none: `ranks` gives their ranks.
        """
        if self._frame is not None:
            return self._frame({column.name: self._typed(column) for column in self.used})
        if not self.categories:
            return self.numbers()
        table = np.empty((len(self.rows), len(self.used)), dtype=object)
        for j, column in enumerate(self.used):
            values = column.ranks() if ranks and column.levels else column.values
            table[:, j] = [None if v is None or v != v else v for v in values.tolist()]
        return table

    def _typed(self, column: Column) -> Any:
        if column.levels:
            return ordered_column(self._frame, column.values.tolist(), column.levels)
        return column.values if column.values.dtype.kind == "f" else column.values.tolist()

    def described(self, about: Mapping[str, str]) -> Table:
        """The same table, with what its file says about some columns."""
        return replace(self, columns=tuple(replace(c, about=about.get(c.name, c.about)) for c in self.columns))

    def take(self, rows: np.ndarray, note: str | None = None) -> Table:
        """These rows of the table, with a note that says why."""
        kept = tuple(column.take(rows) for column in self.columns)
        notes = self.notes if note is None else (*self.notes, note)
        return replace(self, columns=kept, rows=self.rows[rows], notes=notes)


def is_plain_numbers(X: Any) -> bool:
    """Whether X is an array of numbers (or sparse): nothing about its columns has to be found out."""
    if sparse.issparse(X):
        return True
    if isinstance(X, Mapping) or is_frame(X):
        return False
    return not has_categories(X)


def read_table(X: Any, wishes: Wishes = Wishes()) -> Table:  # noqa: B008 (frozen: safe to share)
    """Look at every column of a table and decide what it is used for.

    Parameters
    ----------
    X : data frame, mapping of columns, array or list of rows
        The table.
    wishes : Wishes
        What the user has decided.

    Returns
    -------
    Table
        Without the rows that have no value in any column that the methods see.
    """
    raw = named_columns(X, wishes.owner)
    renamed = note_on_names(X, list(raw))
    wishes.check(list(raw))
    raw = {name: raw[name] for name in dict.fromkeys((*wishes.columns, *raw))}  # in the order asked for
    orders = _orders(X)
    columns = [
        _asked(name, values, wishes) if name in wishes.kinds else kind_of(name, values, orders.get(name))
        for name, values in raw.items()
    ]
    n = len(next(iter(raw.values()))) if raw else 0
    frame = type(X) if is_frame(X) else None
    decided: Sequence[Column] = with_index(decide(columns, wishes), X, wishes)
    rows = np.arange(n)
    decided, infinite = with_finite(decided, rows)
    table = Table(tuple(decided), rows, n, (*renamed, *infinite), frame, _is_single(X))
    table = _sure_of_counts(table)
    if not table.used:
        if not wishes.need_columns:
            return table
        raise ValueError(_nothing_left(table, wishes))
    return _without_empty_rows(_with_note_on_copies(table))


def _sure_of_counts(table: Table) -> Table:
    """The table without the doubt whether small counts are codes, where all its cells are counts."""
    if not any(c.doubt.endswith(CODES) for c in table.used) or any(c.kind != "number" for c in table.used):
        return table
    if counts_in(table.numbers(), table.names is not None) is None:
        return table
    sure = (replace(c, doubt="", other="") if c.use == "map" and c.doubt.endswith(CODES) else c for c in table.columns)
    return replace(table, columns=tuple(sure))


def _with_note_on_copies(table: Table) -> Table:
    """The table with a note on columns of the map that have the same values as an earlier one."""
    earlier: dict[tuple[str, int], Column] = {}
    copies = {}
    for column in table.used:
        plain = column.values.dtype.kind == "f"
        key = (column.kind, hash(column.values.tobytes() if plain else tuple(column.values.tolist())))
        first = earlier.setdefault(key, column)
        if first is not column and np.array_equal(first.values, column.values, equal_nan=plain):
            copies[column.name] = first.name
    if not copies:
        return table
    told = ", ".join(f"{name!r} as {first!r}" for name, first in list(copies.items())[:_MOST_COPIES])
    more = f" and {len(copies) - _MOST_COPIES} more" if len(copies) > _MOST_COPIES else ""
    note = (
        f"columns with the same values as another count twice in the map: {told}{more}; drop=[...] (on the command "
        "line: --drop) leaves them out"
    )
    return replace(table, notes=(*table.notes, note))


def _asked(name: str, values: np.ndarray, wishes: Wishes) -> Column:
    """A column as the kind that it is to have."""
    cells = without_marks(values, wishes.fitted.get(name))
    return as_kind(name, cells, wishes.kinds[name], wishes.owner, wishes.conversions.get(name))


def _orders(X: Any) -> dict[str, tuple[str, ...]]:
    """The columns of a data frame whose type has an order, and their values in that order."""
    if not is_frame(X):
        return {}
    found = zip(different_names([str(name) for name in X.columns]), orders_of(X), strict=True)
    return {name: levels for name, levels in found if levels is not None}


def _is_single(X: Any) -> bool:
    """Whether all numbers of a data frame are in single precision."""
    if not is_frame(X):
        return getattr(X, "dtype", None) == np.float32
    kinds = [str(kind).lower() for kind in X.dtypes]
    return "float32" in kinds and not any(k.startswith(("float64", "int", "uint", "bool")) for k in kinds)


def _nothing_left(table: Table, wishes: Wishes) -> str:
    seen = "; ".join(f"{c.name!r}: {c.reason}" for c in table.columns[:6]) or "the table has no columns"
    more = f"; and {len(table.columns) - 6} more" if len(table.columns) > 6 else ""
    kinds = wishes.option["kinds"]
    mark, end = (" category:", "COL") if kinds.startswith("--") else (": a column as ", "category")
    return (
        f"{wishes.owner}: no column is left for the map ({seen}{more}). A map needs numbers, or categories that occur "
        f"in several rows. A column that has them can be asked for ({kinds}{mark}{end})."
    )


def _without_empty_rows(table: Table) -> Table:
    empty = np.logical_and.reduce([column.missing for column in table.used])
    if not empty.any():
        return table
    names = table.names
    which = np.flatnonzero(empty)
    called = [f"{i + 1}" if names is None or not names[i] else f"{i + 1} ({names[i]})" for i in which[:5]]
    listed = ", ".join(called) + (", ..." if len(which) > 5 else "")
    plural = "rows have" if len(which) > 1 else "row has"
    return table.take(
        np.flatnonzero(~empty),
        f"{len(which)} {plural} no value in any column of the map and {'are' if len(which) > 1 else 'is'} left out: "
        f"row {listed}",
    )

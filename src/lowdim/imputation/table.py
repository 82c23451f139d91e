"""A table as it was given, its cells in units that models work in, and the way back: types, names and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from lowdim._core.tables import missing
from lowdim._core.tables.arrays import FLOATS, native
from lowdim._core.tables.brief import brief
from lowdim._core.tables.columns import categories_of, decode, has_categories, is_frame, raw_columns
from lowdim._core.tables.deviations import deviations
from lowdim._core.tables.indicators import Layout
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.mixed import code_column, mixed_cells
from lowdim.imputation.cells import Cells

Array = np.ndarray

LEAST_ROWS = 3


@dataclass(frozen=True, eq=False)
class Given:
    """The table of the user.

    Attributes
    ----------
    form : array or data frame
        The table itself.
    coded : ndarray of shape (n, d)
        Numbers as they are, categories as codes, NaN where missing.
    categories : list
        For each column its categories; None where it holds numbers.
    center, unit : ndarray of shape (d,)
        What models see is (x / power - center) / unit; 0 and 1 for categories.
    power : ndarray of shape (d,)
        Powers of two that bring numbers near one, so that squares of very large and very small ones are in range.
    dtype : numpy dtype
        Of completed tables of numbers.
    """

    form: Any
    coded: Array
    categories: list[tuple[Any, ...] | None]
    center: Array
    unit: Array
    power: Array
    dtype: np.dtype

    __repr__ = brief

    @classmethod
    def of(cls, X: Any, owner: str, *, scale: bool = True) -> Given:
        """A checked table; columns are standardised, or all divided by one deviation where `scale` is False."""
        mixed = has_categories(X) if not isinstance(X, np.ma.MaskedArray) else X.dtype.kind not in "biuf"
        coded, categories, dtype = _mixed(X, owner) if mixed else _numbers(X, owner)
        if len(coded) < LEAST_ROWS:
            raise ValueError(f"{owner}: X must have at least {LEAST_ROWS} rows; got {len(coded)} sample(s).")
        missing.admit(coded, owner)
        is_number = np.array([found is None for found in categories])
        largest = np.where(is_number, np.fmax.reduce(np.abs(coded), axis=0), 1.0).astype(np.float64)
        power = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1)
        power = power if scale else np.where(is_number, power[is_number].max(initial=1e-300), 1.0)
        Z = coded / power
        center = np.where(is_number, np.nanmean(Z, axis=0, dtype=np.float64), 0.0)
        variance = np.nanvar(Z, axis=0, dtype=np.float64)
        unit = deviations(variance, center, len(Z), dtype)
        if not scale:
            common = float(np.sqrt(variance[is_number].mean())) if is_number.any() else 1.0
            unit = np.full(len(unit), common or 1.0)
        return cls(X, coded, categories, center, np.where(is_number, unit, 1.0), power, dtype)

    @property
    def cells(self) -> Cells:
        """What models see."""
        Z = (self.coded / self.power - self.center) / self.unit
        return Cells(np.ascontiguousarray(Z, dtype=np.float64), Layout.of(self.categories))

    @property
    def observed(self) -> Array:
        """Which cells were observed: (n, d)."""
        return ~np.isnan(self.coded)

    @property
    def numeric(self) -> Array:
        """Which columns hold numbers: (d,)."""
        return np.array([found is None for found in self.categories])

    @property
    def mixed(self) -> bool:
        """Whether a column holds categories."""
        return any(found is not None for found in self.categories)

    def restored(self, coded: Array) -> Array:
        """Cells of models in the units of the table, observed ones as they were: floats, or objects with categories."""
        with np.errstate(over="ignore"):
            back = (coded * self.unit + self.center) * self.power
            table = np.where(self.observed, self.coded, back).astype(self.dtype)
        if np.isinf(table[~self.observed]).any():
            raise ValueError(
                f"impute: filled cells are beyond the range of {self.dtype}. Multiply X by a constant first."
            )
        return decode(table, self.categories)

    def spreads(self, deviation: Array) -> Array:
        """Standard deviations of numbers in the units of the table; NaN for missing cells of categories."""
        return np.where(self.observed, 0.0, np.where(self.numeric, deviation * self.unit * self.power, np.nan))

    def in_form(self, table: Array) -> Any:
        """A completed table as the user's was: a data frame with the same names, types and categories, or an array.

        Columns of whole numbers stay so: their filled cells are rounded.
        """
        if not is_frame(self.form):
            return table
        lost = ~self.observed
        if hasattr(self.form, "get_columns"):
            return self.form.with_columns([_series(c, table[:, j], lost[:, j]) for j, c in _polars(self.form, lost)])
        frame = self.form.copy()
        for j in np.flatnonzero(lost.any(axis=0)):
            column = self.form.iloc[:, j].copy()
            values = table[lost[:, j], j]
            if getattr(column.dtype, "kind", "") in "iu":
                values = np.round(values.astype(np.float64)).astype(np.int64)
            column.iloc[np.flatnonzero(lost[:, j])] = values.tolist()
            frame.isetitem(j, column)
        return frame


def _polars(frame: Any, lost: Array) -> list[tuple[int, Any]]:
    return [(j, column) for j, column in enumerate(frame.get_columns()) if lost[:, j].any()]


def _series(column: Any, values: Array, lost: Array) -> Any:
    """A column of polars with its missing cells filled, of the same type."""
    cells, whole = column.to_list(), column.dtype.is_integer()
    for i in np.flatnonzero(lost):
        cells[i] = round(float(values[i])) if whole else values[i]
    return type(column)(column.name, cells, dtype=column.dtype)


def _numbers(X: Any, owner: str) -> tuple[Array, list[Any], np.dtype]:
    with naming_text(X, owner):
        X = check_array(
            native(missing.undisguised(X, owner)),
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=LEAST_ROWS,
            estimator=owner,
        )
    return X, [None] * X.shape[1], X.dtype


def _mixed(X: Any, owner: str) -> tuple[Array, list[Any], np.dtype]:
    X = mixed_cells(X, owner)
    columns = raw_columns(X)
    categories = [categories_of(column) if column.dtype.kind == "O" else None for column in columns]
    parts = [code_column(c, found, str(j), owner) for j, (c, found) in enumerate(zip(columns, categories, strict=True))]
    return np.column_stack(parts), categories, np.dtype(np.float64)

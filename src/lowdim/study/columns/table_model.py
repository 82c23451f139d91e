"""A fitted method together with what was done to the columns of its table.

Methods for numbers see a table with categories coded, and columns with different units scaled. A model that is to place
the rows of another file must do the same to them: the same categories, the same scales, dates counted from the same
day. `Treatment` is what was done, `TableModel` does it again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core import streams
from lowdim._core.runtime.notices import warn
from lowdim._core.tables.columns import UNSEEN, code, is_frame
from lowdim._core.tables.mixed import name_unseen
from lowdim.study.columns import Column, Table, Wishes, read_table
from lowdim.study.columns.column import MAPPED, Conversion, as_text
from lowdim.study.columns.scales import deviations
from lowdim.study.columns.wishes import Kind

Array = np.ndarray
AS_IT_IS, SCALED, CODED = "as it is", "scaled", "coded"
_NEEDS = "the model needs"
_OPTIONS = {"drop": "drop", "label": "label", "names": "names", "columns": _NEEDS, "kinds": _NEEDS}
_THEN = "Such a cell counts as the average of all categories: the other columns place the row."


@dataclass(frozen=True)
class FittedColumn:
    """A column that a model was fitted with.

    Attributes
    ----------
    name, kind : str
        As `Column` has them; the kind is "number", "category" or "ordinal".
    levels : tuple of str
        The categories, in the order of their columns of ones and zeros; ordered categories lowest first.
    shares : tuple of float
        The share of the rows that each category had.
    center, spread : float
        Mean and standard deviation of a number; a spread of 1 for a constant.
    conversion : Conversion or None
        How dates or words became numbers.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    center: float = 0.0
    spread: float = 1.0
    conversion: Conversion | None = None

    def __post_init__(self) -> None:
        """An error for parts that do not belong together, as in a damaged file."""
        numbers = np.array([self.center, self.spread, *self.shares], dtype=np.float64)
        fits = len(self.levels) == len(self.shares) and (self.kind == "number") != bool(self.levels)
        if self.kind not in MAPPED or not fits:
            raise ValueError(f"FittedColumn: kind, levels and shares of {self.name!r} must belong together.")
        if not np.isfinite(numbers).all() or self.spread <= 0 or min(self.shares, default=0.0) < 0:
            raise ValueError(f"FittedColumn: the numbers about {self.name!r} must be finite, and its spread positive.")

    @classmethod
    def of(cls, column: Column) -> FittedColumn:
        """What must be known of a column to treat another one like it."""
        there = column.values[~column.missing]
        if column.kind == "number":
            spread = float(deviations(there[:, None])[0]) if len(there) else 0.0
            center = float(there.astype(np.float64).mean()) if len(there) else 0.0
            return cls(column.name, "number", (), (), center, spread or 1.0, column.conversion)
        texts = there.astype(str)
        levels = column.levels or tuple(np.unique(texts).tolist())
        return cls(column.name, column.kind, levels, tuple(float((texts == level).mean()) for level in levels))

    @property
    def asked(self) -> Kind:
        """The kind to ask for in another table: for ordered categories their order."""
        return self.levels if self.kind == "ordinal" else self.kind

    @property
    def width(self) -> int:
        """Columns that it is coded by."""
        return 1 if self.kind == "number" else len(self._seen)

    @property
    def _seen(self) -> Array:
        """The places of the categories that rows had: these have a column."""
        return np.flatnonzero(self.shares)

    def coded(self, column: Column, owner: str) -> Array:
        """Numbers standardised; a category of share p as a column (1 or 0) / sqrt(p), NaN where it is missing."""
        if self.kind == "number":
            return np.asarray((column.values - self.center) / self.spread)[:, None]
        lost, seen = column.missing, self._seen
        codes = code(column.values, [self.levels[k] for k in seen])
        unseen = codes == UNSEEN
        if unseen.any():
            warn(f"{owner}: {name_unseen(unseen[:, None], [column.values], [repr(self.name)])}. {_THEN}")
        roots = np.sqrt(np.array(self.shares)[seen])
        ones = np.full((len(lost), len(roots)), np.nan)
        known = ~lost & ~unseen
        ones[known] = (np.eye(len(roots)) / roots)[codes[known].astype(int)]
        ones[unseen] = roots
        return ones

    def decoded(self, block: Array) -> list[Any]:
        """Cells from columns as `coded` gives them: the number, or the category with the largest share."""
        if self.kind == "number":
            return self.cells(block[:, 0] * self.spread + self.center)
        seen = self._seen
        ones = block * np.sqrt(np.array(self.shares)[seen])
        return [self.levels[seen[k]] for k in ones.argmax(axis=1)]

    def cells(self, numbers: Array) -> list[Any]:
        """Numbers as the table had them: dates, the nearest word, or numbers."""
        if self.conversion is None:
            return numbers.tolist()
        if self.conversion.first:
            seconds = np.round(numbers * 86400).astype("timedelta64[s]")
            return [as_text(moment) for moment in np.datetime64(self.conversion.first, "s") + seconds]
        words, values = zip(*self.conversion.words, strict=True)
        return [words[k] for k in np.abs(numbers[:, None] - np.array(values)).argmin(axis=1)]


@dataclass(frozen=True, eq=False)
class Treatment:
    """What was done to the columns of a table before methods saw them.

    Attributes
    ----------
    columns : tuple of FittedColumn
        The columns that the methods see.
    scaled : bool
        Columns of numbers were divided by their standard deviations.
    """

    columns: tuple[FittedColumn, ...]
    scaled: bool = False

    @property
    def mixed(self) -> bool:
        """Whether there are categories."""
        return any(column.kind != "number" for column in self.columns)

    def model(self, estimator: Any, *, takes_categories: bool, own_units: bool) -> Any:
        """A model that places rows of tables like this one: the estimator itself where it sees them as they are."""
        if self.mixed and own_units and not takes_categories:
            numbers = tuple(column for column in self.columns if column.kind == "number")
            return Treatment(numbers).model(estimator, takes_categories=False, own_units=True)
        form = AS_IT_IS
        if self.mixed and not takes_categories:
            form = CODED
        elif self.scaled and not self.mixed and not own_units:
            form = SCALED
        ordered = any(column.kind == "ordinal" for column in self.columns)
        ranked = ordered and not hasattr(estimator, "feature_names_in_")
        if form == AS_IT_IS and not ranked and all(column.conversion is None for column in self.columns):
            return estimator
        return TableModel(estimator, self.columns, form)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted method that takes tables: it does to their columns what was done before the fit.

    Columns are found by their names, in any order; others are ignored. Where a method sees the columns as they are,
    there is no need for one.

    Parameters
    ----------
    estimator : estimator of lowdim
        The fitted method, which sees numbers.
    columns : tuple of FittedColumn
        The columns of the table it was fitted to.
    form : {"as it is", "scaled", "coded"}
        What the method sees: the columns, the columns divided by their standard deviations, or numbers standardised
        and a column of ones and zeros for each category.

    Examples
    --------
    >>> import lowdim
    >>> table = {"size": [1.0, 2.0, 3.0, 4.0, 9.0], "colour": ["red", "red", "blue", "blue", "red"]}
    >>> comparison = lowdim.compare(table, methods=["pca"], drop=[], kinds={"colour": "category"}, verdict=False)
    >>> comparison.model("pca").transform({"colour": ["red"], "size": [2.5]}).shape
    (1, 2)
    """

    estimator: Any
    columns: tuple[FittedColumn, ...]
    form: str = AS_IT_IS

    def __post_init__(self) -> None:
        """An error for parts that do not belong together, as in a damaged file."""
        if self.form not in (AS_IT_IS, SCALED, CODED):
            raise ValueError(f"TableModel: form must be {AS_IT_IS!r}, {SCALED!r} or {CODED!r}; got {self.form!r}.")
        seen = sum(column.width for column in self.columns) if self.form == CODED else len(self.columns)
        width = getattr(self.estimator, "n_features_in_", seen)
        if width != seen:
            raise ValueError(f"TableModel: the columns must give the {width} that the estimator takes; got {seen}.")

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns of the table."""
        return np.array([column.name for column in self.columns], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    def get_feature_names_out(self) -> Array:
        """Names of the components."""
        return np.asarray(self.estimator.get_feature_names_out())

    def wishes(self, owner: str = "transform") -> Wishes:
        """How the columns of another table must be read."""
        return Wishes(
            columns=tuple(column.name for column in self.columns),
            kinds={column.name: column.asked for column in self.columns},
            fitted={column.name: column.levels for column in self.columns if column.levels},
            conversions={column.name: column.conversion for column in self.columns if column.conversion is not None},
            find_label=False,
            owner=owner,
            option=_OPTIONS,
        )  # fmt: skip

    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of a table.

        Parameters
        ----------
        X : data frame, dict of columns, array of n rows, or collection of Dask
            Columns are found by name; those of an array by their order.

        Returns
        -------
        ndarray of shape (n, n_components), or of Dask a collection
            NaN for rows without any value. A category that was not there at fit is named in a warning.
        """
        if streams.is_lazy(X):
            return streams.placed_lazily(self._on_one_thread(), "transform", X, self.get_feature_names_out())
        if isinstance(X, Table):
            return np.asarray(self.estimator.transform(self.seen(X)))
        table = read_table(self._named(X), self.wishes())
        found = np.asarray(self.estimator.transform(self.seen(table)))
        if len(table.rows) == table.n_given:
            return found
        warn(f"transform: {table.notes[-1]}. Their coordinates are NaN.")
        Z = np.full((table.n_given, found.shape[1]), np.nan, dtype=found.dtype)
        Z[table.rows] = found
        return Z

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of the table from coordinates: numbers, dates as text, and the likeliest category.

        Parameters
        ----------
        Z : array of shape (n, n_components)
            Coordinates in the embedding.

        Returns
        -------
        ndarray of shape (n, n_columns)
            Objects where a column holds no numbers.
        """
        rows = np.asarray(self.estimator.inverse_transform(Z))
        if self.form == SCALED:
            rows = rows * np.array([column.spread for column in self.columns], dtype=rows.dtype)
        cells, start = [], 0
        for column in self.columns:
            end = start + (column.width if self.form == CODED else 1)
            if self.form == CODED:
                cells.append(column.decoded(rows[:, start:end]))
            else:
                cells.append(column.cells(rows[:, start]) if column.kind == "number" else rows[:, start].tolist())
            start = end
        table = np.empty((len(rows), len(cells)), dtype=object)
        for j, values in enumerate(cells):
            table[:, j] = values
        plain = all(isinstance(value, float) for values in cells for value in values)
        return table.astype(np.float64) if plain else table

    def _named(self, X: Any) -> Any:
        """The columns by name: those of an array in the order of the fitted ones."""
        if isinstance(X, Mapping) or is_frame(X):
            return X
        cells = np.asarray(X, dtype=object) if isinstance(X, Sequence) else np.asarray(X)
        if cells.ndim != 2 or cells.shape[1] != len(self.columns):
            raise ValueError(f"transform: X must have {len(self.columns)} columns; got shape {cells.shape}.")
        return {column.name: cells[:, j] for j, column in enumerate(self.columns)}

    def _on_one_thread(self) -> TableModel:
        """The same model for workers that place several blocks at once."""
        estimator = copy.copy(self.estimator)
        if hasattr(estimator, "n_jobs"):
            estimator.n_jobs = 1
        return replace(self, estimator=estimator)

    def seen(self, table: Table) -> Any:
        """What the estimator sees of a table.

        Parameters
        ----------
        table : Table
            Read as `wishes` asks.
        """
        if self.form == AS_IT_IS and hasattr(self.estimator, "feature_names_in_"):
            return table.frame()
        if self.form == AS_IT_IS:  # fitted to an array, in which ordered categories are ranks under Gower's distance
            return replace(table, _frame=None).frame(ranks=getattr(self.estimator, "metric", None) == "gower")
        if self.form == SCALED:
            rows = table.numbers()
            return rows / np.array([column.spread for column in self.columns], dtype=rows.dtype)
        pairs, owner = zip(self.columns, table.used, strict=True), type(self.estimator).__name__
        return np.ascontiguousarray(np.hstack([fitted.coded(column, owner) for fitted, column in pairs]))

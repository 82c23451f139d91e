"""Gower's distance between rows of numbers and categories.

d_ij = sum_k s_ik s_jk d_ijk / sum_k s_ik s_jk, where s_ik says whether cell k of row i is observed. Of numbers, d_ijk
is |x_ik - x_jk| over the range of column k among the fitted rows; of categories it is 1 where they differ, else 0. A
cell of a new row outside of the range may contribute more than 1, and a category that was not there at fit differs from
all others. A column that does not vary at fit contributes 0 and counts; a new row that differs in it contributes 1.
Ordered categories are numbers: their ranks (Kaufman and Rousseeuw, Finding Groups in Data, 1990).

Rows are given to the distance, neighbour and graph functions as finite tables under a metric of their own: the cells
(numbers over their range, codes of categories), their marks (0: missing, 1: a number, -1: a category), and the distance
to rows with which nothing is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lowdim import _native
from lowdim._core.distances.metrics import CODED, GOWER, check_metric
from lowdim._core.runtime.notices import warn
from lowdim._core.streams import refuse_streams
from lowdim._core.tables import missing
from lowdim._core.tables.columns import categories_of, decode, raw_columns
from lowdim._core.tables.indicators import Layout
from lowdim._core.tables.kinds import column_names
from lowdim._core.tables.mixed import code_column, mixed_cells, warn_of_unseen
from lowdim._core.tables.orders import check_levels, orders_of

Array = np.ndarray

_IDS = 10  # so many rows or more, each with a text of its own, are no categories
_LARGEST = 1e140
_THEN = "Such a value differs from all others, so that the other columns decide which rows are near."


@dataclass(frozen=True, eq=False)
class Gower:
    """How rows of numbers and categories become tables that Gower's distance is measured in; made at fit."""

    categories: tuple[tuple[Any, ...] | None, ...]  # of each column; None where it holds numbers
    names: tuple[str, ...]  # of the columns, as error messages give them
    low: Array  # the smallest number of each column; 0 for categories
    span: Array  # their range; 0 where it does not vary, 1 for categories
    center: Array  # mean of each column of `rows`
    apart: float  # mean distance between two rows, by the columns
    ordered: tuple[bool, ...] = ()  # which columns have ordered categories, `categories` being in that order

    partly_seen: ClassVar[bool] = True  # where cells are missing, different rows may be at distance 0

    @classmethod
    def of(cls, X: Any, owner: str, *, complete: bool = False) -> tuple[Gower, Array]:
        """Categories and ranges of the rows X, and their table. `complete`: missing cells are refused."""
        X = mixed_cells(X, owner)
        columns, names = raw_columns(X), tuple(column_names(X))
        orders = orders_of(X)
        categories = tuple(map(_categories, columns, orders))
        ordered = tuple(order is not None for order in orders)
        _refuse_ids(columns, categories, ordered, names, owner)
        coded = _coded(columns, categories, ordered, names, owner)
        _check(coded, owner, complete, fitting=True)
        numeric = np.array([found is None for found in categories]) | np.array(ordered)
        low, high = np.nanmin(coded, axis=0), np.nanmax(coded, axis=0)
        low, span = np.where(numeric, low, 0.0), np.where(numeric, high - low, 1.0)
        apart = float(np.mean([_mean_gap(c, s, n) for c, s, n in zip(coded.T, span, numeric, strict=True)]))
        plain = cls(categories, names, low, span, np.zeros(0), apart, ordered)
        made = replace(plain, center=np.nanmean(plain._spread(plain._scaled(coded)), axis=0))
        _warn_of_strangers(coded, owner)
        return made, made._table(coded)

    @property
    def metric(self) -> str:
        """The name under which `distances.pairwise` measures the tables made here."""
        return CODED

    def table(self, X: Any, owner: str, *, complete: bool = False, quiet: bool = False) -> Array:
        """New rows as a finite table; a warning (unless `quiet`) names values that the fitted rows do not have."""
        columns = raw_columns(mixed_cells(X, owner))
        if len(columns) != len(self.categories):
            raise ValueError(f"{owner}: X must have the {len(self.categories)} columns of the fitted rows.")
        coded = _coded(columns, self.categories, self.orders, self.names, owner)
        _check(coded, owner, complete, fitting=False)
        if not quiet:
            warn_of_unseen(coded, columns, self.categories, self.names, then=_THEN, owner=owner)
        return self._table(coded)

    def rows(self, table: Array) -> Array:
        """The rows of such a table as coordinates whose city-block distance is Gower's times the number of columns.

        Numbers over their range, and one column with 0 or 1/2 for each category. Missing cells are at the mean.
        """
        rows = self._spread(self._cells(table))
        return np.where(np.isnan(rows), self.center, rows)

    def rows_among(self, table: Array, neighbors: Any, known: Array | None = None) -> Array:
        """The same; missing cells are a mean of the neighbours', nearer ones counting more.

        `neighbors` (indices and distances) are rows of the same table, or where given of the completed rows `known`.
        """
        rows = self._spread(self._cells(table))
        return missing.filled_from_neighbors(rows, ~np.isnan(rows), self.center, neighbors, known)

    def decoded(self, rows: Array) -> Array:
        """From coordinates as `rows` gives them to numbers and the most likely categories."""
        cells = self._layout.gather(rows)
        coded = np.where(self._numeric, self.low + cells * self.span, cells)
        for j, (ordered, found) in enumerate(zip(self.orders, self.categories, strict=True)):
            if ordered and found is not None:
                coded[:, j] = np.clip(np.round(coded[:, j]), 0, len(found) - 1)
        return decode(coded, self.categories)

    @property
    def orders(self) -> tuple[bool, ...]:
        """Which columns have ordered categories; models of earlier releases have none."""
        return self.ordered or (False,) * len(self.categories)

    @property
    def _numeric(self) -> Array:
        return np.array([found is None for found in self.categories]) | np.array(self.orders)

    @property
    def _layout(self) -> Layout:
        parts = zip(self.categories, self.orders, strict=True)
        return Layout.of([None if ordered else found for found, ordered in parts])

    def _scaled(self, coded: Array) -> Array:
        """Numbers over their range, codes as they are; 0 and 1 for same and other where a column did not vary."""
        steps = (coded - self.low) / np.where(self.span > 0, self.span, 1.0)
        return np.where((self.span > 0) | np.isnan(coded), steps, coded != self.low)

    def _table(self, coded: Array) -> Array:
        seen = ~np.isnan(coded)
        marks = seen * np.where(self._numeric, 1.0, -1.0)
        return np.hstack([np.where(seen, self._scaled(coded), 0.0), marks, np.full((len(coded), 1), self.apart)])

    def _cells(self, table: Array) -> Array:
        q = len(self.categories)
        return np.where(table[:, q : 2 * q] != 0, table[:, :q], np.nan)

    def _spread(self, cells: Array) -> Array:
        layout = self._layout
        return layout.spread(cells) * np.where(layout.numeric, 1.0, 0.5)


def fitted_categories(model: Any) -> list[tuple[Any, ...] | None] | None:
    """The categories of each column that a model was fitted with, None for numbers; None if it knows of no columns."""
    found, holes = getattr(model, "categories_", None), getattr(model, "_holes", None)
    return list(holes.categories) if isinstance(holes, Gower) else found


def fitted_orders(model: Any) -> list[bool]:
    """Which columns that a model was fitted with have ordered categories; empty if it measures no order."""
    holes = getattr(model, "_holes", None)
    return list(holes.orders) if isinstance(holes, Gower) else []


def gower_block(Q: Array, R: Array) -> Array:
    """Distances between the rows of two such tables."""
    block = np.empty((len(Q), len(R)), R.dtype)
    _native.gower_rows(np.ascontiguousarray(Q), np.ascontiguousarray(R), block, 1)
    return block


def comparable(X: Any, metric: Any, owner: str) -> tuple[Any, Any]:
    """Rows and the metric to measure them with: under "gower" their table, else both as they are."""
    refuse_streams(X, f"{owner}: X")
    if check_metric(metric, owner) != GOWER:
        return X, metric
    return Gower.of(X, owner)[1], CODED


def _categories(column: Array, order: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    return order or (None if column.dtype.kind == "f" else categories_of(column))


def _coded(
    columns: list[Array], categories: Sequence[Any], ordered: Sequence[bool], names: Sequence[str], owner: str
) -> Array:
    """Numbers and codes as one float array, NaN where a cell is missing."""
    coded = []
    for column, found, ranks, name in zip(columns, categories, ordered, names, strict=True):
        codes = code_column(_alike(column, found, name, owner), found, name, owner)
        if ranks:
            check_levels(codes, column, found, name, owner)
        coded.append(codes)
    return np.column_stack(coded)


def _alike(column: Array, found: Sequence[Any] | None, name: str, owner: str) -> Array:
    """Truth values and the numbers 0 and 1 taken for each other, as the fitted column has them."""
    number = column.dtype.kind == "f"
    if found is None:
        truth = not number and all(value is None or isinstance(value, bool) for value in column)
        return column.astype(np.float64) if truth else column
    if not number or np.isnan(column).all():
        return column
    if all(isinstance(value, str) for value in found):
        raise ValueError(f"{owner}: column {name} held text at fit; got numbers. Convert it to text first.")
    if all(isinstance(value, bool) for value in found):
        truths = {0.0: False, 1.0: True}
        return np.array([None if v != v else truths.get(v, v) for v in column.tolist()], dtype=object)
    return column


def _check(coded: Array, owner: str, complete: bool, fitting: bool) -> None:
    largest, incomplete = missing.survey(coded, owner, columns=fitting)
    if largest > _LARGEST:
        raise ValueError(f"{owner}: the largest value of X is {largest:.1e}, out of range. Multiply X by a constant.")
    if incomplete and complete:
        holes = np.isnan(coded)
        rows, columns = (int(holes.any(axis=axis).sum()) for axis in (1, 0))
        raise ValueError(
            f"{owner}: X has {int(holes.sum())} missing values (NaN) in {rows} of {len(coded)} rows and {columns} "
            f"columns. Use missing='pairwise', which compares two rows by the "
            "columns that both have, as Gower's distance is defined, or keep the complete rows."
        )


def _refuse_ids(
    columns: list[Array], categories: Sequence[Any], ordered: Sequence[bool], names: Sequence[str], owner: str
) -> None:
    """A text that is different in every row says which row it is, and nothing about how alike rows are."""
    for column, found, ranks, name in zip(columns, categories, ordered, names, strict=True):
        if (
            found is not None
            and not ranks
            and len(found) == len(column) >= _IDS
            and all(isinstance(value, str) for value in found)
        ):
            raise ValueError(
                f"{owner}: column {name} has a different text in each of the {len(column)} rows: it identifies rows "
                "and does not compare them. Leave it out."
            )


def _mean_gap(column: Array, span: float, numeric: bool) -> float:
    """Mean contribution of a column to the distance between two different rows."""
    values = np.sort(column[~np.isnan(column)])
    n = len(values)
    if n < 2 or span == 0:
        return 0.0
    if numeric:
        return float(2.0 * (np.arange(1 - n, n, 2) @ ((values - values[0]) / span)) / (n * (n - 1)))
    counts = np.unique(values, return_counts=True)[1]
    return float(1.0 - (counts * (counts - 1)).sum() / (n * (n - 1)))


def _warn_of_strangers(coded: Array, owner: str) -> None:
    seen = ~np.isnan(coded)
    if not seen.all() and (pairs := missing.pairs_that_share_nothing(seen)):
        warn(
            f"{owner}: {pairs} or more pairs of rows have no observed column in common; they are taken to be as far "
            "apart as two rows are on average."
        )

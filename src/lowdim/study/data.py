"""The data of a comparison, as each method sees it: numbers, or numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, get_tags

from lowdim._core.runtime import memory
from lowdim._core.streams import refuse_streams
from lowdim._core.tables import missing
from lowdim._core.tables.form import check_structure
from lowdim._core.tables.kinds import naming_text
from lowdim.study.columns import Column, Table, Wishes, read_table
from lowdim.study.columns.counts import counts_in
from lowdim.study.columns.scales import note_on_units, scaled, units_differ
from lowdim.study.columns.table import is_plain_numbers
from lowdim.study.columns.table_model import FittedColumn, Treatment
from lowdim.study.drawn import Drawn
from lowdim.study.methods import keeps_units

Array = np.ndarray
DIVIDED = "divided by its standard deviation"


@dataclass(frozen=True, eq=False)
class Data:
    """Rows that methods are fitted to.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        What methods for numbers see: the numbers; of a mixed table the numbers standardised and each category as a
        column of its own (as FAMD weights them). Read-only.
    mixed : data frame, array of objects or None
        The table of numbers and categories, for the methods that take it; None for a table of numbers.
    ranked : data frame, array of objects or None
        The same for Gower's distance, which measures ordered categories by their ranks.
    table : Table or None
        What each column is, if the data came as a table.
    names : list of str or None
        Names of the columns.
    notes : tuple of str
        What was done to the rows and columns.
    distances : bool
        `rows` holds distances between items instead of rows.
    frame : data frame or None
        The same distances, with the names of the items.
    unscaled : ndarray or None
        The rows before they were scaled, for methods that need the units of the columns; None where nothing was scaled.
    """

    rows: Array
    mixed: Any = None
    table: Table | None = None
    names: list[str] | None = None
    notes: tuple[str, ...] = ()
    distances: bool = False
    ranked: Any = None
    frame: Any = None
    unscaled: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def n_given(self) -> int:
        """Number of rows that were given; rows without any value are left out."""
        return self.n if self.table is None else self.table.n_given

    @property
    def drawn(self) -> Drawn | None:
        """How the rows were drawn from more, where the table says so."""
        most = None if self.table is None else self.table.drawn_from
        return None if most is None else Drawn(most, self.n)

    @property
    def baseline(self) -> str:
        """The linear method that suits the columns: what the others are compared with."""
        if self.distances:
            return "classical-mds"
        if self.table is None or not self.table.categories:
            return "pca"
        return "mca" if len(self.table.categories) == len(self.table.used) else "famd"

    @property
    def incomplete(self) -> bool:
        """Whether a cell is missing."""
        return bool(np.isnan(self.rows).any())

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return self.rows.shape[1] if self.table is None else len(self.table.used)

    def seen_by(self, estimator: Any, named: bool = False) -> Any:
        """What this estimator is fitted to: the mixed table if there is one and it takes categories, else numbers.

        `named`: as a data frame where the numbers are those of the table.
        """
        if self.distances and not takes_distances(estimator):
            raise ValueError(f"{type(estimator).__name__} needs rows; only distances between them are given.")
        if self.mixed is not None:
            return self._seen_of_mixed(estimator)
        if named and self.frame is not None:
            return self.frame
        own = keeps_units(estimator)
        if named and self.table is not None and (own or self.unscaled is None):
            return self.table.frame()
        return self.unscaled if own and self.unscaled is not None else self.rows

    def _seen_of_mixed(self, estimator: Any) -> Any:
        if takes_categories(estimator):
            return self.ranked if _measures_gower(estimator) else self.mixed
        if not keeps_units(estimator):
            return self.rows
        assert self.table is not None
        if len(self.table.categories) == len(self.table.used):
            raise ValueError(f"{type(estimator).__name__} needs numbers; all columns are categories.")
        return self.table.of_numbers().frame()  # counts, or quantities in their own units: what it is for

    def treatment(self) -> Treatment | None:
        """What was done to the columns; None where they are known by their places alone, or for distances."""
        if self.table is None:
            return None
        return Treatment(tuple(map(FittedColumn.of, self.table.used)), self.unscaled is not None)

    def model(self, estimator: Any) -> Any:
        """A fitted estimator as a model of tables like this one: what was done to the columns is done again."""
        found = self.treatment()
        return estimator if found is None else model_of(found, estimator)


def model_of(treatment: Treatment, estimator: Any) -> Any:
    """A model that does to new rows what was done to the fitted ones, and then places them."""
    return treatment.model(estimator, takes_categories=takes_categories(estimator), own_units=keeps_units(estimator))


def takes_distances(estimator: Any) -> bool:
    """Whether an estimator takes distances as it is set up, by its tags; maps that exist already need nothing."""
    if not getattr(estimator, "needs_rows", True):
        return True
    try:
        return bool(get_tags(estimator).input_tags.pairwise)
    except Exception:  # noqa: BLE001 (estimators of other libraries need not have tags)
        return False


def _measures_gower(estimator: Any) -> bool:
    metric = getattr(estimator, "metric", None)
    return isinstance(metric, str) and metric == "gower"


def takes_categories(estimator: Any) -> bool:
    """Whether an estimator takes a table with categories, by its tags; a column transformer does."""
    first = estimator.steps[0][1] if hasattr(estimator, "steps") else estimator
    if type(first).__name__ == "ColumnTransformer":
        return True
    try:
        tags = get_tags(first).input_tags
    except Exception:  # noqa: BLE001 (estimators of other libraries need not have tags)
        return False
    return bool(tags.categorical or tags.string)


def data_of(X: Any, wishes: Wishes, scale: Any, least_rows: int = 3) -> Data:
    """The data from what the user passed: an array of numbers as it is, anything else by its columns."""
    if not (isinstance(scale, (bool, np.bool_)) or (isinstance(scale, str) and scale == "auto")):
        raise ValueError(f'{wishes.owner}: scale must be True, False or "auto"; got {scale!r}.')
    refuse_streams(X, f"{wishes.owner}: X")
    if not isinstance(X, Table) and is_plain_numbers(X) and not _asks(wishes):
        rows = _checked(_dense(X, wishes.owner), wishes.owner, least_rows)
        seen, notes = _scaled(rows, None, scale is True, wishes.owner)
        return Data(seen, notes=notes, unscaled=_frozen(rows.view()) if scale is True else None)
    table = X if isinstance(X, Table) else read_table(X, wishes)
    notes = table.notes
    if table.categories:
        if scale is False:
            notes = (*notes, "numbers are put on a common scale all the same, as they stand beside categories")
        rows = _checked(coded(table.used), wishes.owner, least_rows)
        ranked = table.frame(ranks=True)
        return Data(_frozen(rows), table.frame(), table, table.column_names, notes, ranked=ranked)
    rows = _checked(table.numbers(), wishes.owner, least_rows)
    wanted = units_differ(rows) if isinstance(scale, str) else bool(scale)
    chosen = _why_scaled(rows, table.names is not None) if isinstance(scale, str) and wanted else ""
    seen, more = _scaled(rows, table.column_names, wanted, wishes.owner, chosen)
    unscaled = _frozen(rows.view()) if wanted else None
    return Data(seen, None, table, table.column_names, (*notes, *more), unscaled=unscaled)


def _dense(X: Any, owner: str) -> Any:
    """A sparse table with its zeros, where memory allows; anything else as it is."""
    if not sparse.issparse(X):
        return X
    check_structure(X, f"{owner}: X")
    memory.check(owner, {"the table with its zeros": X.shape[0] * X.shape[1] * 8})
    return X.toarray()


def data_of_distances(D: Any, owner: str, unknown: bool = False, frame: Any = None) -> Data:
    """The data of items between which all distances are known, or some, with `unknown`.

    `frame` has the same distances in columns that are named by the items, for models that are to know the names.
    """
    from lowdim._core.distances import check_dissimilarities
    from lowdim._core.distances.labelled import labelled

    values, names = labelled(D, owner)
    rows = _frozen(np.asarray(check_dissimilarities(values, owner, unknown=unknown)))
    return Data(rows, names=names, distances=True, frame=frame)


def check_rows_differ(X: np.ndarray, owner: str, name: str = "X") -> None:
    """An error if all rows are equal: their distances are all zero."""
    if np.equal(X, X[0]).all():
        raise ValueError(f"{owner}: {name} must have at least two different rows; all {len(X)} are equal.")


def _asks(wishes: Wishes) -> bool:
    return bool(wishes.columns or wishes.drop or wishes.label or wishes.names or wishes.kinds)


def _checked(X: Any, owner: str, least: int) -> Array:
    """Finite numbers (or NaN) in enough rows, converted once, so that nobody needs copies."""
    _refuse_infinite(X, owner)
    with naming_text(X, owner), np.errstate(over="ignore", invalid="ignore"):  # it adds up what may be large
        rows = check_array(
            X, dtype=(np.float64, np.float32), order="C", ensure_all_finite="allow-nan", ensure_min_samples=least,
            estimator=owner, input_name="X",
        )  # fmt: skip
    check_rows_differ(rows, owner)
    missing.refuse_scale(float(np.fmax(np.fmax.reduce(rows, axis=None), -np.fmin.reduce(rows, axis=None))), owner)
    return np.asarray(rows)


def _refuse_infinite(X: Any, owner: str) -> None:
    if not (isinstance(X, np.ndarray) and X.dtype.kind == "f"):
        return
    wrong = np.argwhere(np.isinf(X))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"{owner}: X has {len(wrong)} infinite values (first: row {row}, column {column}, counted from 0). Replace "
            "them, or make them missing cells."
        )


def _scaled(
    rows: Array, names: list[str] | None, scale: bool, owner: str, chosen: str = ""
) -> tuple[Array, tuple[str, ...]]:
    """The rows, scaled if wanted, and what is to be said about units."""
    if not scale:
        note = note_on_units(rows, names)
        return _frozen(rows.view()), () if note is None else (note,)
    said = (f"{chosen}, so each is {DIVIDED}; scale=False (on the command line: --no-scale) leaves them as they are",)
    return _frozen(scaled(rows)), said if chosen else ()


def _why_scaled(rows: Array, named: bool) -> str:
    """Why columns are brought to one scale."""
    if counts_in(rows, named) is not None:
        return "the cells seem to be counts, and columns with the largest ones would decide all distances"
    return "columns have different units (a few would decide all distances)"


def _frozen(rows: Array) -> Array:
    """Read-only: a method that works in place fails, and changes nobody else's rows."""
    rows.flags.writeable = False
    return rows


def coded(columns: list[Column]) -> Array:
    """Numbers standardised; a category of share p as a column (1 or 0) / sqrt(p): distances as FAMD has them.

    All columns of a missing category are NaN.
    """
    return np.ascontiguousarray(np.hstack([FittedColumn.of(column).coded(column, "compare") for column in columns]))

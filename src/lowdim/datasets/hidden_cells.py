"""Hide cells of a table whose values are known, to compare them with what a method fills in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lowdim._core.params import checked
from lowdim._core.runtime.printable import printable

MECHANISMS = ("mcar", "mar", "nmar", "block")


@dataclass(frozen=True, eq=False, repr=False)
class HiddenCells:
    """A table with hidden cells, and their true values.

    Unpacks as ``X, mask, truth``.

    Parameters
    ----------
    X : array or data frame of shape (n, d)
        The table with NaN (in data frames: their missing value) in the hidden cells.
    mask : ndarray of bool of shape (n, d)
        True for the hidden cells; not for cells that were missing before.
    truth : array or data frame of shape (n, d)
        The original table.
    mechanism : str
        How the cells were chosen.
    driver : int or None
        The column that determines which rows lose cells, for ``mechanism="mar"``.

    Examples
    --------
    >>> from lowdim.datasets import hide_cells, swiss_roll
    >>> X, mask, truth = hide_cells(swiss_roll(100, random_state=0).X, 0.2, random_state=0)
    >>> int(mask.sum())
    60
    """

    X: Any
    mask: np.ndarray
    truth: Any
    mechanism: str
    driver: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.mask, self.truth))

    def __repr__(self) -> str:
        n, d = self.mask.shape
        driver = "" if self.driver is None else f" by column {printable(str(self.driver))}"
        return f"<HiddenCells {self.mechanism}{driver}: {int(self.mask.sum())} of {n} x {d} cells hidden>"


@checked("hide_cells")
def hide_cells(
    X: Any,
    share: float,
    mechanism: str = "mcar",
    random_state: object = None,
    *,
    driver: int | str | None = None,
    strength: float = 10.0,
) -> HiddenCells:
    """Hide a share of the cells of a table, by one of four missing-data mechanisms.

    Exactly round(share * cells) cells are hidden, and every row and column keeps at least one cell. Cells are drawn one
    after the other without replacement, with probabilities proportional to weights w. With q the relative rank of a
    value in its column, from 0 (smallest) to 1 (largest), the mean rank for ties:

    * ``"mcar"``, missing completely at random: w = 1 for every cell.
    * ``"mar"``, missing at random: w = strength^q where q is the rank of the row's value in the `driver` column, which
      keeps all of its cells and so explains which rows lose more.
    * ``"nmar"``, not missing at random: w = strength^q where q is the rank of the cell's own value. The remaining cells
      are biased, and nothing in the table shows it.
    * ``"block"``: one rectangle of adjacent rows and columns at a random position, with about the proportions of the
      table; its last row may be shorter.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        The table, of numbers or categories; it is not changed. Cells that are missing already do not count.
    share : float
        Share of the observed cells to hide, between 0 and 1.
    mechanism : {"mcar", "mar", "nmar", "block"}
        How the cells are chosen.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    driver : int, str or None
        For "mar": the column that determines which rows lose cells, by number or by name. None: the first of those
        with the fewest missing cells.
    strength : float
        For "mar" and "nmar": weight of the largest value relative to the smallest. 1 is "mcar"; below 1, small values
        are hidden more often.

    Returns
    -------
    HiddenCells
        The table with missing cells, the mask of the hidden cells, and the complete table.

    References
    ----------
    Rubin (1976), Inference and missing data, Biometrika 63, for the mechanisms.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import hide_cells, swiss_roll
    >>> roll = swiss_roll(200, random_state=0)
    >>> hidden = hide_cells(roll.X, 0.1, "nmar", random_state=0)
    >>> hidden
    <HiddenCells nmar: 60 of 200 x 3 cells hidden>
    >>> bool(np.nanmean(hidden.X) < roll.X.mean())
    True
    """
    from lowdim._core.runtime.rng import generator
    from lowdim._core.tables.columns import (  # they import scikit-learn
        categories_of,
        code,
        is_frame,
        raw_columns,
    )

    _check(share, mechanism, strength)
    truth = X.clone() if hasattr(X, "clone") and is_frame(X) else X.copy() if is_frame(X) else _array(X)
    columns = raw_columns(truth)
    values = np.column_stack([c if c.dtype.kind == "f" else code(c, categories_of(c)) for c in columns])
    present = ~np.isnan(values)
    count, rng = round(share * int(present.sum())), generator(random_state)
    chosen = None
    if mechanism == "block":
        mask = _block(present, count, rng)
    else:
        chosen = _driver(driver, truth, present) if mechanism == "mar" else None
        weights = _weights(values, present, mechanism, chosen, strength)
        cells = np.flatnonzero(weights)
        keys = rng.standard_exponential(values.size)[cells] / weights.flat[cells]  # Efraimidis and Spirakis (2006)
        mask = _take(cells[np.argsort(keys, kind="stable")], present, count)
    _check_found(int(mask.sum()), count, int(present.sum()), mechanism)
    return HiddenCells(_with_missing(truth, mask), mask, truth, mechanism, chosen)


def _check(share: Any, mechanism: Any, strength: Any) -> None:
    for name, value, high in (("share", share, 1.0), ("strength", strength, np.inf)):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < high:
            rule = "between 0 and 1" if name == "share" else "finite and above 0"
            raise ValueError(f"hide_cells: {name} must be a number {rule}; got {value!r}.")
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        raise ValueError(f"hide_cells: mechanism must be one of {', '.join(MECHANISMS)}; got {mechanism!r}.")


def _check_found(found: int, count: int, cells: int, mechanism: str) -> None:
    if found < count:
        raise ValueError(
            f"hide_cells: share must leave a cell in every row and column; mechanism {mechanism!r} can hide {found} of "
            f"{cells} cells, and {count} are requested. Use a share of at most {found / cells:.3g}."
        )


def _array(X: Any) -> np.ndarray:
    """A copy that can hold NaN: whole numbers become floats, other types objects."""
    from lowdim._core.tables.columns import as_cells, has_categories

    cells = as_cells(X)
    if cells.ndim != 2 or 0 in cells.shape:
        raise ValueError(f"hide_cells: X must be a table with rows and columns; got shape {cells.shape}.")
    if cells.dtype in (np.float32, np.float64):
        return cells.copy()
    return cells.astype(object if has_categories(cells) else np.float64)


def _with_missing(truth: Any, mask: np.ndarray) -> Any:
    """A copy of the table with the marked cells missing."""
    if hasattr(truth, "get_columns"):  # polars
        kept = [type(c)(~mask[:, j]) for j, c in enumerate(truth.get_columns())]
        return truth.with_columns(
            [c.zip_with(k, c.clear(len(c))) for c, k in zip(truth.get_columns(), kept, strict=True)]
        )
    if not isinstance(truth, np.ndarray):
        return truth.mask(mask)
    X = truth.copy()
    X[mask] = np.nan
    return X


def _driver(driver: Any, truth: Any, present: np.ndarray) -> int:
    if driver is None:
        return int(np.argmax(present.sum(axis=0)))
    names = list(getattr(truth, "columns", ()))
    if driver in names:
        return names.index(driver)
    if isinstance(driver, (int, np.integer)) and not isinstance(driver, bool) and 0 <= driver < present.shape[1]:
        return int(driver)
    raise ValueError(
        f"hide_cells: driver must be a column of X, by name or by number from 0 to {present.shape[1] - 1}; "
        f"got {driver!r}."
    )


def _weights(
    values: np.ndarray, present: np.ndarray, mechanism: str, driver: int | None, strength: float
) -> np.ndarray:
    """The weight of each cell; 0 for cells that must not be drawn."""
    if mechanism == "mcar":
        return present.astype(np.float64)
    if mechanism == "nmar":
        ranks = np.column_stack([_relative_ranks(column) for column in values.T])
        return np.where(present, np.power(strength, ranks), 0.0)
    weights = np.where(present, np.power(strength, _relative_ranks(values[:, driver]))[:, None], 0.0)
    weights[:, driver] = 0.0
    return weights


def _relative_ranks(column: np.ndarray) -> np.ndarray:
    """Relative rank of each value in its column, from 0 to 1; 1/2 for a missing cell."""
    from scipy.stats import rankdata

    there = ~np.isnan(column)
    ranks = np.full(len(column), 0.5)
    if there.sum() > 1:
        ranks[there] = (rankdata(column[there]) - 1) / (there.sum() - 1)
    return ranks


def _take(order: np.ndarray, present: np.ndarray, count: int) -> np.ndarray:
    """The first `count` cells in this order that are not the last of their row or column."""
    mask = np.zeros(present.shape, dtype=bool)
    mask.flat[order[:count]] = True
    left = present & ~mask
    emptied = [np.asarray(present.any(axis=a) & ~left.any(axis=a)).any() for a in (0, 1)]
    if not any(emptied):
        return mask
    mask[:] = False
    rows, columns = present.sum(axis=1).tolist(), present.sum(axis=0).tolist()
    d, taken = present.shape[1], 0
    for cell in order.tolist():
        i, j = divmod(cell, d)
        if taken < count and rows[i] > 1 and columns[j] > 1:
            mask[i, j] = True
            rows[i], columns[j], taken = rows[i] - 1, columns[j] - 1, taken + 1
    return mask


def _block(present: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """A rectangle with about the proportions of the table, wider if the rows do not suffice."""
    n, d = present.shape
    width = min(max(1, round(d * np.sqrt(count / max(1, int(present.sum()))))), max(1, d - 1))
    while width < d - 1 and count > width * (n - 1):
        width += 1
    first = int(rng.integers(0, d - width + 1))
    window = np.zeros_like(present)
    window[:, first : first + width] = present[:, first : first + width]
    below = window.sum(axis=1)[::-1].cumsum()[::-1]  # cells of the window from each row down
    tops = np.flatnonzero(below >= count)
    top = int(rng.choice(tops)) if len(tops) else 0
    window[:top] = False
    return _take(np.flatnonzero(window), present, count)

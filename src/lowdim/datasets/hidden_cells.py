"""Holes in a table whose answer is known: what a method fills in can be compared with what was there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

MECHANISMS = ("mcar", "mar", "nmar", "block")


@dataclass(frozen=True, eq=False, repr=False)
class Holes:
    """A table with cells hidden, and what was in them.

    Unpacks as ``X, mask, truth``.

    Parameters
    ----------
    X : array or data frame of shape (n, d)
        The table with NaN (in data frames: the frame's own mark) in the hidden cells.
    mask : ndarray of bool of shape (n, d)
        True where a cell was hidden; cells that were missing before are not marked.
    truth : array or data frame of shape (n, d)
        The table as it was.
    mechanism : str
        How the cells were chosen.
    driver : int or None
        The column that decides which rows lose cells, for ``mechanism="mar"``.

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
        driver = "" if self.driver is None else f" by column {self.driver}"
        return f"<Holes {self.mechanism}{driver}: {int(self.mask.sum())} of {n} x {d} cells hidden>"


def hide_cells(
    X: Any,
    share: float,
    mechanism: str = "mcar",
    random_state: object = None,
    *,
    driver: int | str | None = None,
    strength: float = 10.0,
) -> Holes:
    """Hide a share of the cells of a table, by one of the four ways in which cells go missing.

    Exactly round(share * cells) cells are hidden, and no row or column loses its last one. Cells are drawn one after
    the other without replacement, a cell with weight w before one with weight v with odds w : v; a cell that is the
    last of its row or column is passed over. With q the place of a value in its column, from 0 (smallest) to 1
    (largest), ties sharing their middle place:

    * ``"mcar"``, missing completely at random: w = 1 for every cell.
    * ``"mar"``, missing at random: w = strength^q where q is the place of the row's value in the `driver` column, which
      keeps all of its cells. Whoever looks at the driver knows which rows lose more.
    * ``"nmar"``, not at random: w = strength^q where q is the place of the cell's own value. What is left is biased,
      and nothing in the table says so.
    * ``"block"``: one rectangle of neighbouring rows and columns at a random place, with the proportions of the table
      as nearly as can be; its last row is as long as the share needs.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        The table; numbers or categories. Left as it is. Cells that are missing already stay so and do not count.
    share : float
        Share of the present cells to hide, between 0 and 1.
    mechanism : {"mcar", "mar", "nmar", "block"}, default="mcar"
        How the cells are chosen.
    random_state : int, Generator, RandomState or None, default=None
        An int hides the same cells every time.
    driver : int, str or None, default=None
        For "mar": the column that decides, by number or by name. None: the one with the fewest holes, the first of
        them.
    strength : float, default=10.0
        For "mar" and "nmar": the odds of the largest value against the smallest. 1 is "mcar"; below 1, small values
        go first.

    Returns
    -------
    Holes
        The table with holes, the mask of the hidden cells, and the truth.

    References
    ----------
    Rubin (1976), Inference and missing data, Biometrika 63, for the mechanisms.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import hide_cells, swiss_roll
    >>> roll = swiss_roll(200, random_state=0)
    >>> holes = hide_cells(roll.X, 0.1, "nmar", random_state=0)
    >>> holes
    <Holes nmar: 60 of 200 x 3 cells hidden>
    >>> bool(np.nanmean(holes.X) < roll.X.mean())
    True
    """
    from lowdim._core.runtime.rng import generator
    from lowdim._core.tables.columns import (  # they cost an import of scikit-learn
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
    return Holes(_punched(truth, mask), mask, truth, mechanism, chosen)


def _check(share: Any, mechanism: Any, strength: Any) -> None:
    for name, value, high in (("share", share, 1.0), ("strength", strength, np.inf)):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < high:
            rule = "between 0 and 1" if name == "share" else "finite and above 0"
            raise ValueError(f"hide_cells: {name} must be a number {rule}; got {value!r}.")
    if mechanism not in MECHANISMS:
        raise ValueError(f"hide_cells: mechanism must be one of {', '.join(MECHANISMS)}; got {mechanism!r}.")


def _check_found(found: int, count: int, cells: int, mechanism: str) -> None:
    if found < count:
        raise ValueError(
            f"hide_cells: share must leave a cell in every row and column; mechanism {mechanism!r} can hide {found} of "
            f"{cells} cells here, and {count} were asked for. Take a share of at most {found / cells:.3g}."
        )


def _array(X: Any) -> np.ndarray:
    """A copy with room for NaN: floats stay, whole numbers become floats, anything else objects."""
    from lowdim._core.tables.columns import as_cells, has_categories

    cells = as_cells(X)
    if cells.ndim != 2 or 0 in cells.shape:
        raise ValueError(f"hide_cells: X must be a table with rows and columns; got shape {cells.shape}.")
    if cells.dtype in (np.float32, np.float64):
        return cells.copy()
    return cells.astype(object if has_categories(cells) else np.float64)


def _punched(truth: Any, mask: np.ndarray) -> Any:
    """The table with the marked cells gone."""
    if hasattr(truth, "get_columns"):  # polars
        holes = [type(c)(~mask[:, j]) for j, c in enumerate(truth.get_columns())]
        return truth.with_columns(
            [c.zip_with(h, c.clear(len(c))) for c, h in zip(truth.get_columns(), holes, strict=True)]
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
    """The weight of each cell in the draw; 0 where it must not be drawn."""
    if mechanism == "mcar":
        return present.astype(np.float64)
    if mechanism == "nmar":
        places = np.column_stack([_places(column) for column in values.T])
        return np.where(present, np.power(strength, places), 0.0)
    weights = np.where(present, np.power(strength, _places(values[:, driver]))[:, None], 0.0)
    weights[:, driver] = 0.0
    return weights


def _places(column: np.ndarray) -> np.ndarray:
    """Where each value stands in its column, 0 the smallest and 1 the largest; 1/2 for a hole."""
    from scipy.stats import rankdata

    there = ~np.isnan(column)
    places = np.full(len(column), 0.5)
    if there.sum() > 1:
        places[there] = (rankdata(column[there]) - 1) / (there.sum() - 1)
    return places


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
    """A rectangle: as wide a part of the columns as it is a part of the rows, wider where the rows do not suffice."""
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

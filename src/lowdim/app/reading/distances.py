"""Tables of distances: recognised where a table is symmetric with a zero diagonal, or read as the user says.

The result is one form for all of them: a square table whose columns are named by the items, in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from lowdim._core.runtime.memory import limit
from lowdim.app.errors import UserError
from lowdim.app.reading.loaded import Loaded, unique_names

FORMS = ("square", "lower", "condensed", "pairs")
FEWEST = 3  # items of a table that is recognised by itself


def as_distances(loaded: Loaded, form: str | None, shown: str) -> Loaded:
    """The distances in a table: in the form that the user chose, or where it is symmetric with a zero diagonal."""
    if form == "no" or loaded.kind == "distances":
        return loaded
    if form is None:
        return _recognised(loaded)
    if form not in FORMS:
        raise UserError(f"--distances must be one of {', '.join(FORMS)} or no; got {form!r}.")
    if form == "pairs":
        return _pairs(loaded, shown)
    if form == "condensed":
        return _condensed(loaded, shown)
    return _square(loaded, form, shown)


def distances_of(D: np.ndarray, names: Sequence[str], notes: Sequence[str]) -> Loaded:
    """A record of distances; the names are made different where they are not."""
    found = list(notes)
    frame = pl.DataFrame(np.ascontiguousarray(D, dtype=np.float64), schema=unique_names(list(names), found))
    return Loaded(frame.with_columns(pl.all().fill_nan(None)), tuple(found), kind="distances")


def is_symmetric(D: np.ndarray) -> bool:
    """Whether a square table has zeros on its diagonal and equal, non-negative numbers on both sides of it."""
    if not np.isfinite(D).all() or D.min() < 0 or np.diag(D).any() or not D.any():
        return False
    return bool(np.allclose(D, D.T, rtol=1e-6, atol=1e-9 * D.max()))


def _recognised(loaded: Loaded) -> Loaded:
    parts = _items(loaded.frame)
    if parts is None or len(parts[0]) < FEWEST:
        return loaded
    D, names, labelled = parts
    filled = _both_sides(D) if labelled else D
    if not is_symmetric(filled) or set(np.unique(filled)) <= {0.0, 1.0}:  # zeros and ones: who is joined to whom
        return loaded
    half = "" if filled is D else ", one side of which is given"
    note = f"the table is symmetric with a zero diagonal{half}: distances between {len(D)} items (--distances no: rows)"
    return distances_of((filled + filled.T) / 2, names, [*loaded.notes, note])


def _items(frame: pl.DataFrame) -> tuple[np.ndarray, list[str], bool] | None:
    """Numbers, names, and whether rows have names too; None if the table is not square."""
    n = frame.height
    if n < 2 or frame.width not in (n, n + 1):
        return None
    labelled = frame.width == n + 1
    rows = frame[:, 0].cast(pl.String, strict=False).fill_null("").to_list() if labelled else []
    body = frame[:, 1:] if labelled else frame
    if not all(kind.is_numeric() or frame[name].null_count() == n for name, kind in body.schema.items()):
        return None
    if labelled and frame[:, 0].dtype != pl.String and rows != body.columns:
        return None
    D = body.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if not labelled:
        return D, body.columns, False
    counted = [str(i + 1) for i in range(frame.width)] == frame.columns
    if not counted and rows != body.columns and sorted(rows) == sorted(body.columns) and len(set(rows)) == n:
        D = D[:, [body.columns.index(name) for name in rows]]
    return D, rows, True


def _both_sides(D: np.ndarray) -> np.ndarray:
    """The table with its empty side filled from the other one; as it is if neither side is empty."""
    above, below = np.triu_indices(len(D), 1), np.tril_indices(len(D), -1)
    absent = np.isnan(D)
    for side, other in ((above, below), (below, above)):
        if absent[side].all() and not absent[other].any():
            filled = np.where(absent, D.T, D)
            np.fill_diagonal(filled, np.nan_to_num(np.diag(D)))
            return filled
    return D


def _square(loaded: Loaded, form: str, shown: str) -> Loaded:
    parts = _items(loaded.frame)
    if parts is None:
        size = f"{loaded.frame.height} rows and {loaded.frame.width} columns"
        raise UserError(f"{shown}: --distances {form} needs as many columns of numbers as rows; got {size}.")
    D, names, _ = parts
    D = _both_sides(D)
    known = ~np.isnan(D)
    if (D[known] < 0).any() or np.nan_to_num(np.diag(D)).any():
        raise UserError(
            f"{shown}: distances must not be negative, and zero on the diagonal. --distances no reads rows."
        )
    np.fill_diagonal(D, 0.0)
    both = known & known.T
    if not np.allclose(D[both], D.T[both], rtol=1e-6, atol=1e-9 * np.nanmax(D, initial=0)):
        i, j = np.argwhere(both & ~np.isclose(D, D.T, rtol=1e-6))[0]
        raise UserError(
            f"{shown}: distances must be the same both ways; {names[i]!r} to {names[j]!r} is {D[i, j]:g} and back "
            f"{D[j, i]:g}. Make the table symmetric, or use --distances no."
        )
    mean = np.where(both, (D + D.T) / 2, np.where(known, D, D.T))
    return distances_of(mean, names, [*loaded.notes, f"distances between {len(D)} items"])


def _condensed(loaded: Loaded, shown: str) -> Loaded:
    from scipy.spatial.distance import squareform

    frame = loaded.frame
    if 1 not in frame.shape or not all(kind.is_numeric() for kind in frame.dtypes):
        raise UserError(
            f"{shown}: --distances condensed needs one column or one row of numbers; got shape {frame.shape}."
        )
    values = frame.cast(pl.Float64).to_numpy().ravel()
    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        raise UserError(f"{shown}: condensed distances are n(n - 1)/2 numbers, such as 3, 6 or 10; got {len(values)}.")
    if (values < 0).any():
        raise UserError(f"{shown}: distances must not be negative; got {values.min():g}.")
    names = [str(i + 1) for i in range(n)]
    return distances_of(squareform(values), names, [*loaded.notes, f"condensed distances between {n} items"])


def _pairs(loaded: Loaded, shown: str) -> Loaded:
    """Lines of (item, item, distance); a pair in both directions must say the same."""
    frame = loaded.frame
    if frame.width != 3 or not frame[:, 2].dtype.is_numeric():
        raise UserError(
            f"{shown}: --distances pairs needs three columns, two items and their distance; got {frame.width} columns."
        )
    first, second = (frame[:, j].cast(pl.String).fill_null("").to_list() for j in (0, 1))
    names = list(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))
    if 16 * len(names) ** 2 > limit():
        raise UserError(f"{shown}: a table of the distances between {len(names)} items exceeds the memory limit.")
    place = {name: i for i, name in enumerate(names)}
    D = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(D, 0.0)
    for row, (a, b, value) in enumerate(zip(first, second, frame[:, 2].cast(pl.Float64).to_list(), strict=True), 1):
        i, j = place[a], place[b]
        if value is None or not value >= 0 or (i == j and value):
            raise UserError(
                f"{shown}: the distance in row {row} ({a!r}, {b!r}) must be a number of at least 0, and 0 from an item "
                f"to itself; got {value}."
            )
        if i != j and not np.isnan(D[i, j]) and not np.isclose(D[i, j], value):
            raise UserError(f"{shown}: the pair {a!r}, {b!r} has two distances, {D[i, j]:g} and {value:g} (row {row}).")
        D[i, j] = D[j, i] = value
    absent = int(np.isnan(D).sum()) // 2
    notes = [*loaded.notes, f"distances between {len(names)} items from {frame.height} pairs"]
    return distances_of(D, names, [*notes, *([f"{absent} pairs of items have no distance"] if absent else [])])

"""Square tables: distances (zeros on the diagonal), similarities such as correlations (one number on it), or rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.reading.distances.record import (
    FEWEST,
    are_rounded,
    are_same,
    distances_of,
    first_gap,
    gap,
    joined,
)
from lowdim.app.reading.loaded import Loaded

NO = "--distances no: rows"
SURE = (1.0, 100.0)  # similarities of an item with itself that leave no doubt


@dataclass(frozen=True, eq=False)
class _Square:
    """Numbers (NaN where missing), names of the items, and whether rows and columns have the same names."""

    D: np.ndarray
    names: list[str]
    named: bool

    @property
    def n(self) -> int:
        return len(self.D)

    @property
    def sides(self) -> np.ndarray:
        """The cells beside the diagonal."""
        return self.D[~np.eye(self.n, dtype=bool)]

    @property
    def one_sided(self) -> bool:
        """Whether all cells above, or all below, the diagonal are missing."""
        above, below = self.D[np.triu_indices(self.n, 1)], self.D[np.tril_indices(self.n, -1)]
        return bool(np.isnan(above).all() != np.isnan(below).all())

    @property
    def is_distances(self) -> bool:
        """Zeros on the diagonal (or nothing, where other cells are missing too) and no negative number."""
        diagonal = np.diag(self.D)
        known = ~np.isnan(self.sides)
        if np.nan_to_num(diagonal).any() or not known.any() or np.nanmin(self.sides) < 0 or not np.nanmax(self.sides):
            return False
        return not np.isnan(diagonal).any() or self.named or self.one_sided

    @property
    def is_similarities(self) -> bool:
        """One positive number on the diagonal, and none beside it that is larger."""
        diagonal = np.diag(self.D)
        if np.isnan(self.sides).all() or not np.isfinite(diagonal).all():
            return False
        return bool(
            diagonal[0] > 0 and (diagonal == diagonal[0]).all() and np.nanmax(np.abs(self.sides)) <= diagonal[0]
        )

    @property
    def enough(self) -> bool:
        """Whether enough cells are known that the two sides agree by more than chance."""
        both = np.triu(~np.isnan(self.D) & ~np.isnan(self.D.T), 1).sum()
        return self.one_sided or self.named or 2 * both >= self.n * (self.n - 1) / 2


def square_in(loaded: Loaded) -> Loaded:
    """The table as distances where it is a table of distances or similarities; with a note where it may be one."""
    found = _items(loaded.frame)
    if found is None or found.n < FEWEST or np.isinf(found.D).any() or not found.enough:
        return loaded
    exact, rounded = are_same(found.D), are_rounded(found.D)
    levels = set(np.unique(found.D[~np.isnan(found.D)]))
    if len(levels) < 3 and not found.one_sided:  # zeros and ones: who is joined to whom
        return _noted(loaded, _joined_or_not(found)) if exact and len(levels) == 2 else loaded
    if found.is_distances and rounded:
        return distances_of(_zeros_on_diagonal(joined(found.D)), found.names, [*loaded.notes, _said(found, exact)])
    if found.is_distances:
        return _noted(loaded, _not_symmetric(found))
    if found.is_similarities and rounded and (found.named or found.D[0, 0] in SURE):
        return _from_similarities(found, loaded)
    if exact or (found.named and rounded):
        return _noted(loaded, _symmetric(found))
    return loaded


def _noted(loaded: Loaded, note: str) -> Loaded:
    return replace(loaded, notes=(*loaded.notes, note)) if note else loaded


def _said(found: _Square, exact: bool) -> str:
    half = ", one side of which is given" if found.one_sided else ""
    rough = "" if exact else f" (its sides differ by up to {gap(found.D):.2g}, as rounding does; the mean is used)"
    return f"the table is symmetric with a zero diagonal{half}{rough}: distances between {found.n} items ({NO})"


def _joined_or_not(found: _Square) -> str:
    if not found.named and not np.isin(np.diag(found.D), (0.0, np.diag(found.D)[0])).all():
        return ""
    return (
        f"the table is symmetric and has two different numbers only: read as {found.n} rows (--distances square: "
        "distances between items; --distances similarities: similarities)"
    )


def _not_symmetric(found: _Square) -> str:
    sides = (np.triu(found.D, 1), np.tril(found.D, -1))
    if any(not np.nan_to_num(side).any() for side in sides):
        return (
            "the table is square with zeros on the diagonal and on one side of it: read as rows (--distances lower: "
            "one side of a table of distances)"
        )
    if not found.named and gap(found.D) > 0.5 * np.nanmax(found.D):
        return ""
    return (
        f"the table is square with a zero diagonal but not symmetric ({first_gap(found.D, found.names)}): read as "
        "rows; distances between items must be the same both ways (then: --distances square)"
    )


def _symmetric(found: _Square) -> str:
    return (
        f"the table is square and symmetric: read as {found.n} rows; if it has similarities between {found.n} items "
        "(covariances, counts), use --distances similarities"
    )


def _from_similarities(found: _Square, loaded: Loaded) -> Loaded:
    """Distances of items with these inner products: sqrt(s_ii + s_jj - 2 s_ij), of correlations sqrt(2 - 2s)."""
    S = joined(found.D)
    own = np.diag(S)
    D = np.sqrt(np.maximum(own[:, None] + own - 2 * S, 0.0))
    formula = f"sqrt({2 * own[0]:g} - 2s)" if (own == own[0]).all() else "sqrt(s_ii + s_jj - 2 s_ij)"
    note = (
        f"the table is symmetric with {own[0]:g} on the diagonal: " if (own == own[0]).all() else ""
    ) + f"similarities between {found.n} items, taken as the distances {formula} ({NO})"
    return distances_of(_zeros_on_diagonal(D), found.names, [*loaded.notes, note])


def _zeros_on_diagonal(D: np.ndarray) -> np.ndarray:
    np.fill_diagonal(D, 0.0)
    return D


def _items(frame: pl.DataFrame) -> _Square | None:
    """The square table; None if it is not one."""
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
    D = body.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    if not labelled:
        return _Square(D, body.columns, False)
    counted = [str(i + 1) for i in range(frame.width)] == frame.columns
    same = sorted(rows) == sorted(body.columns) and len(set(rows)) == n
    if not counted and rows != body.columns and same:
        D = D[:, [body.columns.index(name) for name in rows]]
    return _Square(D, rows, same)


def _asked(loaded: Loaded, form: str, shown: str) -> _Square:
    found = _items(loaded.frame)
    if found is None:
        size = f"{loaded.frame.height} rows and {loaded.frame.width} columns"
        raise UserError(f"{shown}: --distances {form} needs as many columns of numbers as rows; got {size}.")
    if np.isinf(found.D).any():
        raise UserError(
            f"{shown}: --distances {form} needs finite numbers; {int(np.isinf(found.D).sum())} are infinite."
        )
    return found


def read_square(loaded: Loaded, form: str, shown: str) -> Loaded:
    """Distances as the user says: a square table, or (form "lower") one side of it."""
    found = _asked(loaded, form, shown)
    if (found.D[~np.isnan(found.D)] < 0).any() or np.nan_to_num(np.diag(found.D)).any():
        raise UserError(
            f"{shown}: distances must not be negative, and zero on the diagonal. --distances similarities reads "
            "similarities, --distances no rows."
        )
    D = found.D
    if form == "lower" and not found.one_sided:
        below, above = np.tril(D, -1), np.triu(D, 1)
        side = below if not np.nan_to_num(above).any() else above if not np.nan_to_num(below).any() else None
        D = D if side is None else side + side.T
    if not are_rounded(D):
        raise UserError(
            f"{shown}: distances must be the same both ways; {first_gap(D, found.names)}. Make the table symmetric, or "
            "use --distances no."
        )
    rough = "" if are_same(D) else f"; the two sides differ by up to {gap(D):.2g}, and their mean is used"
    note = f"distances between {found.n} items{rough}"
    return distances_of(_zeros_on_diagonal(joined(D)), found.names, [*loaded.notes, note])


def read_similarities(loaded: Loaded, shown: str) -> Loaded:
    """Similarities as the user says: a symmetric table, the similarity of an item with itself on the diagonal."""
    found = _asked(loaded, "similarities", shown)
    if not are_rounded(found.D):
        raise UserError(
            f"{shown}: similarities must be the same both ways; {first_gap(found.D, found.names)}. Make the table "
            "symmetric."
        )
    own = np.diag(found.D)
    S = joined(found.D)
    small = own[:, None] + own - 2 * S < -1e-9 * np.nanmax(np.abs(S), initial=1.0)
    if np.isnan(own).any() or small.any():
        wrong = "is missing" if np.isnan(own).any() else "is smaller than with another item"
        raise UserError(
            f"{shown}: --distances similarities needs the similarity of each item with itself on the diagonal, the "
            f"largest of its row; of some item it {wrong}."
        )
    return _from_similarities(found, loaded)

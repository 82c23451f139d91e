"""Missing values: the one policy of the package.

NaN is the only mark of a missing cell. A method takes incomplete rows only where its model says what that means;
every other method raises an error here that counts them and names the alternatives. Nothing is filled silently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.runtime import threads
from lowdim._core.tables.columns import frame_columns, is_frame
from lowdim._core.tables.kinds import dates_by_type, dates_refused

SINGLE_RANGE = (1e-15, 1e15)  # magnitudes whose squares float32 holds


def refuse_disguised(X: Any, owner: str, name: str = "X") -> None:
    """Masked cells are missing values, and dates are not numbers: refuse both before a conversion hides it."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{owner}: {name} has {int(np.ma.getmaskarray(X).sum())} masked cells; they are missing values, and "
            f"{owner} needs complete rows. Fill them ({name}.filled(...)) or keep the rows without any."
        )
    if dates := dates_by_type(X):
        raise ValueError(dates_refused(owner, name, dates))


def refuse_sparse(X: Any, owner: str, name: str = "X") -> None:
    """TypeError for sparse rows, with the alternatives."""
    if sparse.issparse(X):
        raise TypeError(
            f"{owner}: {name} must be dense; got a sparse matrix of shape {X.shape}. Reduce its columns first with "
            f"lowdim.PCA, which takes sparse rows, or make it dense if memory allows: {name}.toarray()."
        )


def has_holes(X: Any) -> bool:
    """Whether a number is missing in an array or a data frame (column by column, so that no copy of it is made)."""
    if is_frame(X):
        return any(column.dtype.kind == "f" and bool(np.isnan(column).any()) for column in frame_columns(X))
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).any())


def undisguised(X: Any, owner: str) -> Any:
    """Masked cells as NaN, for methods that take missing values."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    return np.ma.filled(X if X.dtype.kind == "f" else X.astype(np.float64), np.nan)


def admit(X: np.ndarray, owner: str, *, columns: bool = True, rows: bool = True, name: str = "X") -> float:
    """The largest observed magnitude; ValueError for infinity and for rows and columns (if asked) without any cell."""
    return survey(X, owner, columns=columns, rows=rows, name=name)[0]


def survey(
    X: np.ndarray, owner: str, *, columns: bool = True, rows: bool = True, name: str = "X"
) -> tuple[float, bool]:
    """The same, and whether any cell is missing: known from the same pass."""
    largest = largest_magnitude(X)
    if np.isfinite(largest):
        return largest, False
    if np.isinf(X).any():
        raise ValueError(f"{owner}: {name} contains infinity or a value too large for {X.dtype}.")
    seen = ~np.isnan(X)
    empty_rows, empty_columns = np.flatnonzero(~seen.any(axis=1)), np.flatnonzero(~seen.any(axis=0))
    for empty, what, way in (
        (empty_rows if rows else empty_rows[:0], "row", f"{name}[~np.isnan({name}).all(axis=1)]"),
        (empty_columns if columns else empty_rows[:0], "column", f"{name}[:, ~np.isnan({name}).all(axis=0)]"),
    ):
        if len(empty):
            said = f"1 {what} of {name} has" if len(empty) == 1 else f"{len(empty)} {what}s of {name} have"
            raise ValueError(
                f"{owner}: {said} no observed cell (the first is {what} {empty[0]}), so nothing is known there. "
                f"Drop what is empty: {way}."
            )
    return float(max(np.fmax.reduce(X, axis=None), -np.fmin.reduce(X, axis=None))), True


def refuse(X: Any, owner: str, policies: tuple[str, ...] = (), whole: str = "complete rows", way: str = "") -> float:
    """The largest magnitude in `X`; ValueError when there are missing (NaN) or infinite cells.

    `policies` are the values of `missing` that would take them, `whole` what is needed instead, `way` another way out.
    """
    cells = X.data if sparse.issparse(X) else X
    if cells.size == 0:
        return 0.0
    largest = largest_magnitude(cells)
    if np.isfinite(largest):
        return largest
    if np.isinf(cells).any():
        raise ValueError(f"{owner}: X contains infinity or a value too large for {cells.dtype}.")
    holes = int(np.isnan(cells).sum())
    where = ""
    if not sparse.issparse(X) and X.ndim == 2:
        mask = np.isnan(X)
        where = f" in {int(mask.any(axis=1).sum())} of {X.shape[0]} rows and {int(mask.any(axis=0).sum())} columns"
    ways = " or ".join(f"missing={policy!r}" for policy in policies)
    raise ValueError(
        f"{owner}: X has {holes} missing values (NaN){where}; {owner} needs {whole}. "
        + (f"Use {ways}, keep" if ways else "Keep")
        + " the complete rows, X[~np.isnan(X).any(axis=1)], or fill the cells first, with "
        f"lowdim.PCA().fit(X).completed_ or lowdim.impute(X).{way}"
    )


def refuse_scale(largest: float, owner: str, name: str = "X") -> None:
    """ValueError for magnitudes whose squares float64 cannot hold."""
    if largest and not 1e-140 < largest < 1e140:
        raise ValueError(
            f"{owner}: the largest value of {name} is {largest:.1e}, and its square is out of range. Multiply {name} "
            "by a constant first."
        )


def with_room(X: Any, largest: float) -> Any:
    """X, in double precision where single precision does not hold the squares of its cells."""
    if X.dtype == np.float32 and largest and not SINGLE_RANGE[0] < largest < SINGLE_RANGE[1]:
        return X.astype(np.float64)
    return X


def pairs_that_share_nothing(seen: np.ndarray, most: int = 3000) -> int:
    """Pairs of rows without a common observed column, found among at most so many different patterns of holes."""
    patterns, counts = np.unique(seen, axis=0, return_counts=True)
    patterns, counts = patterns[:most], counts[:most]
    strangers = (patterns.astype(np.float32) @ patterns.T.astype(np.float32)) == 0
    return int(counts @ strangers @ counts) // 2


def filled_from_neighbors(
    rows: np.ndarray, seen: np.ndarray, center: np.ndarray, neighbors: Any, known: np.ndarray | None = None
) -> np.ndarray:
    """Rows whose missing cells are means of the neighbours' cells, nearer ones counting more; `center` where none has.

    `neighbors` (indices and distances) are rows of the same table, or where given of the completed rows `known`.
    """
    rows = rows.copy()
    for i in np.flatnonzero(~seen.all(axis=1)):
        near, holes = neighbors.indices[i], ~seen[i]
        cells = (rows if known is None else known)[near][:, holes]
        counts = seen[near][:, holes] if known is None else np.ones(cells.shape, dtype=bool)
        weights = counts / np.maximum(neighbors.distances[i], 1e-30)[:, None].astype(np.float64)
        total = weights.sum(axis=0)
        mean = (weights * cells).sum(axis=0) / np.where(total > 0, total, 1.0)
        rows[i, holes] = np.where(total > 0, mean, center[holes])
    return rows


def largest_magnitude(cells: np.ndarray) -> float:
    """The largest magnitude; NaN and infinity show in it."""
    n_threads = threads.n_threads() if cells.size > 2**20 else 1
    for layout in (cells, cells.T):  # row after row or column after column: either is one run through memory
        if layout.flags.c_contiguous and cells.dtype in (np.float32, np.float64):
            return _native.largest(layout.reshape(-1), n_threads)
    rows = threads.blocks(len(cells), max(1, 2**20 // max(1, cells[:1].size)))
    found = [(float(cells[part].max()), -float(cells[part].min())) for part in rows]
    return float(np.max(np.abs(found)))

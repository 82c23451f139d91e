"""The one form of all tables of distances: square, its columns named by the items, in the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from lowdim.app.reading.loaded import Loaded, unique_names

FEWEST = 3  # items of a table that is recognised by itself
EXACT = 1e-6  # two sides that differ by less, relative to the numbers, are the same
ROUGH = 0.05  # of the largest number: what rounding may explain at most


def distances_of(D: np.ndarray, names: Sequence[str], notes: Sequence[str]) -> Loaded:
    """A record of distances; the names are made different where they are not, and pairs without a distance counted."""
    found = list(notes)
    frame = pl.DataFrame(np.ascontiguousarray(D, dtype=np.float64), schema=unique_names(list(names), found))
    absent = int(np.isnan(D).sum()) // 2
    if absent:
        found.append(f"{absent} pair{'s' if absent > 1 else ''} of items {'have' if absent > 1 else 'has'} no distance")
    return Loaded(frame.with_columns(pl.all().fill_nan(None)), tuple(found), kind="distances")


def joined(D: np.ndarray) -> np.ndarray:
    """The mean of both sides; a cell that one side does not have is that of the other."""
    known = ~np.isnan(D)
    return np.where(known & known.T, (D + D.T) / 2, np.where(known, D, D.T))


def gap(D: np.ndarray) -> float:
    """The largest difference between a number and the one across the diagonal, where both are known."""
    differences = np.abs(D - D.T)
    return float(np.nanmax(differences)) if not np.isnan(differences).all() else 0.0


def are_same(D: np.ndarray) -> bool:
    """Whether both sides of the diagonal agree to working precision."""
    both = ~np.isnan(D) & ~np.isnan(D.T)
    return bool(np.allclose(D[both], D.T[both], rtol=EXACT, atol=1e-9 * np.nanmax(np.abs(D), initial=0.0)))


def are_rounded(D: np.ndarray) -> bool:
    """Whether both sides agree but for rounding: by one unit of the last decimal, or a thousandth of the largest."""
    largest = float(np.nanmax(np.abs(D), initial=0.0))
    there = D[np.isfinite(D)]
    decimals = next((k for k in range(9) if np.allclose(there, np.round(there, k), rtol=0, atol=1e-12 * largest)), 9)
    unit = 10.0**-decimals if decimals else 0.0
    return gap(D) <= min(ROUGH * largest, max(1.001 * unit, 1e-3 * largest))


def first_gap(D: np.ndarray, names: Sequence[str]) -> str:
    """The pair whose two numbers differ most, for a message."""
    differences = np.nan_to_num(np.abs(D - D.T))
    i, j = np.sort(np.unravel_index(int(differences.argmax()), D.shape))
    return f"{names[i]!r} to {names[j]!r} is {D[i, j]:g} and back {D[j, i]:g}"

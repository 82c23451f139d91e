"""Columns in different units: scaled where asked for, said where a few of them drown the rest."""

from __future__ import annotations

import numpy as np

from lowdim._core.runtime.threads import blocks

SHARE = 0.95  # of the variance, carried by
FEW = 5  # at most one in so many columns,
UNEVEN = 10.0  # while the spread of the usual column is so many times less than that of the widest


def deviations(X: np.ndarray) -> np.ndarray:
    """Standard deviation of each column over its observed cells, some columns at a time; 0 where nothing varies."""
    spread = np.zeros(X.shape[1])
    for part in blocks(X.shape[1], max(1, 2**22 // max(1, X.shape[0]))):
        columns = X[:, part].astype(np.float64)
        seen = np.isfinite(columns)
        count = np.maximum(seen.sum(axis=0), 1)
        gaps = np.where(seen, columns - np.where(seen, columns, 0.0).sum(axis=0) / count, 0.0)
        deviation = np.sqrt((gaps**2).sum(axis=0) / count)
        rounding = 1e-7 if X.dtype == np.float32 else 1e-14
        size = np.where(seen, np.abs(columns), 0.0).max(axis=0, initial=0.0)
        spread[part] = np.where(deviation > rounding * size, deviation, 0.0)
    return spread


def scaled(X: np.ndarray) -> np.ndarray:
    """Columns with unit standard deviation; constant ones as they are."""
    spread = deviations(X)
    return X / np.where(spread > 0, spread, 1.0).astype(X.dtype)


def note_on_units(X: np.ndarray, names: list[str] | None) -> str | None:
    """A sentence where distances between rows follow a few columns almost alone."""
    variance = deviations(X) ** 2
    varying = variance[variance > 0]
    if len(varying) < 3 or not np.isfinite(varying.sum()):
        return None
    order = np.argsort(-variance)
    needed = int(np.searchsorted(np.cumsum(variance[order]), SHARE * varying.sum())) + 1
    if needed > max(1, len(varying) // FEW) or np.median(varying) * UNEVEN**2 > varying.max():
        return None
    listed = ", ".join(f"{names[j]!r}" if names else f"column {j + 1}" for j in order[: min(needed, 3)])
    listed += f" and {needed - 3} more" if needed > 3 else ""
    share = variance[order[:needed]].sum() / varying.sum()
    return (
        f"{listed} {'carries' if needed == 1 else 'carry'} {share:.1%} of the variance of all {len(varying)} columns, "
        "so distances between rows, and with them the maps and scores, follow little else. Where columns have "
        "different units, scale them: scale=True, on the command line --scale."
    )

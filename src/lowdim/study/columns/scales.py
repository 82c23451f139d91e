"""Standard deviations of columns: scaling, and a note if a few columns dominate the distances."""

from __future__ import annotations

import numpy as np

from lowdim._core.runtime.threads import blocks

# A note is made if this share of the variance is in at most one of this many columns, and the median column has a
# standard deviation this many times smaller than the largest one.
SHARE, FEW, UNEVEN = 0.95, 5, 10.0
FEW_COLUMNS = 10  # of which each counts
HAND_MADE = 100  # columns of a table whose columns may have different units; wider ones are measured all alike


def deviations(X: np.ndarray) -> np.ndarray:
    """Standard deviation of each column over its observed cells, in blocks of columns; 0 for a constant column."""
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
    """The columns divided by their standard deviations; constant columns are not changed."""
    spread = deviations(X)
    return X / np.where(spread > 0, spread, 1.0).astype(X.dtype)


def units_differ(X: np.ndarray) -> bool:
    """Whether the columns of a table seem to have different units, so that a few would decide all distances."""
    if X.shape[1] < 2:
        return False
    if X.shape[1] > HAND_MADE:
        return _quantities_beside_flags(X)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = deviations(X)
    varying = spread[spread > 0]
    if len(varying) < 2:
        return False
    low = np.quantile(varying, 0.0 if len(varying) <= FEW_COLUMNS else 0.25)  # a few quiet columns are no other unit
    return bool(low * UNEVEN <= varying.max())


def _quantities_beside_flags(X: np.ndarray) -> bool:
    """Whether a wide table has quantities that outweigh its columns of zeros and ones, such as a mass beside bits."""
    flags = np.array([bool(np.isin(part[~np.isnan(part)], (0.0, 1.0)).all()) for part in X.T])
    if not flags.any() or flags.all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        spread = deviations(X)
    return bool(spread[~flags].max() >= UNEVEN * max(spread[flags].max(), 1e-300))


def note_on_units(X: np.ndarray, names: list[str] | None) -> str | None:
    """A sentence if a few columns determine the distances almost alone, else None."""
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
        f"{listed} {'has' if needed == 1 else 'have'} {share:.1%} of the total variance of {len(varying)} columns and "
        f"dominate{'s' if needed == 1 else ''} the distances between rows, and so the maps and scores. If columns have "
        "different units, use scale=True (on the command line: --scale)."
    )

"""Maps that show a few outlying rows while the others are at one place or on one line.

Eigenvectors are functions on the rows with a fixed sum of squares, and a few rows that hardly anything holds to the
others can pay for all of it. Such a map is a solution of its problem, and shows nothing of most rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.runtime.notices import warn

Array = np.ndarray

CROWDED = 1 / 3  # of the rows in a hundredth of the map
FEW = 20  # rows of which a third are soon at one place
AXES = 3  # that a picture shows; further ones of many may well describe few rows
# Outlying rows and the variance they pay for. Maps of sheets, clusters, digits and faces were seen to have at most 0.42
# of a direction in 2 % of the rows, maps with outliers that shrink the rest 0.67 and more, mostly over 0.9.
OUTLYING, PAID = 0.02, 0.6


class JudgedMap:
    """Beside `Reducer`: warns after a fit where the map shows a few outlying rows and nothing else."""

    _crowding_advice: ClassVar[str]  # what to do about it
    _unit_axes: ClassVar[bool] = False  # every axis has the same variance, whatever it shows
    component_labels_: Any

    def _judge_map(self, Z: Array, X: Any) -> None:
        """Components that lie side by side are judged one by one."""
        labels = self.component_labels_ if getattr(self, "disconnected", None) == "separate" else None
        warn_of_crowding(Z, X, labels, type(self).__name__, self._crowding_advice, unit_axes=self._unit_axes)


def warn_of_crowding(
    Z: Array, X: Any, labels: Array | None, owner: str, way_out: str, *, unit_axes: bool = False
) -> None:
    """Warn where most rows of a map are at one place or on one line, and a few far away.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The map; rows with NaN are not judged.
    X : array or sparse rows
        The fitted table: equal rows have one place, and count once.
    labels : ndarray of shape (n,) or None
        The component of each row where components are mapped side by side; each is judged by itself.
    owner : str
        Name of the estimator, for messages.
    way_out : str
        What to do about it.
    unit_axes : bool
        Every axis has the same variance whatever it shows, so that a few rows may shrink the others to a line.
    """
    numbers = np.arange(len(Z), dtype=np.int32)
    parts = [numbers] if labels is None else [numbers[labels == label] for label in np.unique(labels)]
    for part in parts:
        rows = part if np.isfinite(Z).all() else part[np.isfinite(Z[part]).all(axis=1)]
        found = _crowded(Z if len(rows) == len(Z) else Z[rows], rows, unit_axes)
        if found is not None:
            rows = rows[Distinct.of(X[rows]).first]
            found = _crowded(Z[rows], rows, unit_axes)
        if found is not None:
            warn(f"{owner}: {found} {way_out}")


def _crowded(Z: Array, rows: Array, unit_axes: bool) -> str | None:
    """What is wrong with the map Z of these rows, or None; a map without any extent is another matter."""
    if len(Z) < FEW or not np.ptp(Z, axis=0).any():
        return None
    share = crowding(Z)
    if share > CROWDED:
        return (
            f"{share:.0%} of the rows lie within 1 % of the map's diameter of one point: the axes show a few outlying "
            "rows."
        )
    far, paid = outlying(Z[:, :AXES]) if unit_axes else ((), 0.0)
    if paid <= PAID:
        return None
    named = ", ".join(str(i) for i in rows[far[:5]]) + (", ..." if len(far) > 5 else "")
    return (
        f"{len(far)} of {len(Z)} rows ({named}) make {paid:.0%} of the spread along a direction of the map, along "
        "which the others have shrunk."
    )


def outlying(Z: Array) -> tuple[Array, float]:
    """The 2 % of the rows that lie furthest out, and their largest share of the variance in any direction.

    Measured in the coordinates in which the covariance is I; neither a turn nor other units change it. Directions
    without variance do not count.
    """
    values, vectors = np.linalg.eigh(np.cov(Z.T, ddof=0).reshape(Z.shape[1], -1))
    alive = values > 1e-12 * values[-1]
    white = (Z - Z.mean(axis=0)) @ (vectors[:, alive] / np.sqrt(values[alive]))
    rows = np.argsort(-np.square(white).sum(axis=1), kind="stable")[: int(np.ceil(OUTLYING * len(Z)))]
    return rows, float(np.linalg.norm(white[rows], 2) ** 2 / len(Z)) if alive.any() else 0.0


def crowding(Z: Array) -> float:
    """Share of the rows within 1 % of the diameter of the row nearest to the median."""
    middle = _distances(Z, np.array([np.median(column) for column in Z.T])).argmin()
    from_middle = _distances(Z, Z[middle])
    diameter = _distances(Z, Z[from_middle.argmax()]).max()
    return float((from_middle <= 0.01 * diameter).mean()) if diameter > 0 else 1.0


def _distances(Z: Array, place: Array) -> Array:
    """Of all rows from a place, without a second table."""
    squares = np.zeros(len(Z))
    for column, at in zip(Z.T, place, strict=True):
        squares += np.square(column - at, dtype=np.float64)
    return np.sqrt(squares)

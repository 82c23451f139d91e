"""How many dimensions does the data need?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim._core.distances import check_metric, comparable
from lowdim._core.neighbors import nearest
from lowdim._core.params import checked
from lowdim._core.runtime.notices import warn
from lowdim.select._dimension_estimators import Estimate, correlation, gride, maximum_likelihood, without_edge

Array = NDArray[Any]
Interval = tuple[float, float, float]

LEAST_ROWS = 20
NEIGHBORS = 20  # of the estimates by maximum likelihood and of each row
MOST_NEIGHBORS = 128
HUBS = 10  # neighbours in whose lists rows are counted


@dataclass(frozen=True, eq=False, repr=False)
class IntrinsicDimension:
    """How many coordinates locate a row among its neighbours, at every scale.

    Attributes
    ----------
    value : float
        The dimension where it depends least on the scale.
    interval : tuple of two floats
        Its 95 % interval.
    estimates : dict of str to (value, low, high)
        "twonn", "mle", "correlation": estimates with 95 % intervals; "gride": that of `value`. Intervals of "mle" and
        "correlation", from 20 neighbours, hold those from 10 neighbours too: where both differ, the data are curved
        at that scale, and `value` is the better answer.
    curve : dict of int to (value, low, high)
        The estimate from neighbours m and 2 m (Gride), for m = 1, 2, 4, ... Small m are sensitive to noise, large m to
        curvature and to the edges of the data. NaN where neighbours m and 2 m are equally far, as on a grid.
    per_row : ndarray
        The estimate of each row from 20 neighbours, averaged over them; NaN for copies of other rows.
    hubness : float
        Skewness of the number of neighbour lists a row is in: above 1, few rows are the neighbours of many, as in
        data of many dimensions.
    n_rows : int
        Different rows, which the estimates are from.
    note : str
        Where `value` was read.
    """

    value: float
    interval: tuple[float, float]
    estimates: dict[str, Interval]
    curve: dict[int, Interval]
    per_row: Array
    hubness: float
    n_rows: int
    note: str

    def __repr__(self) -> str:
        rows = [
            f"{name:>12} {value:6.2f}  ({low:.2f} to {high:.2f})" for name, (value, low, high) in self.estimates.items()
        ]
        scales = [f"{m:>12} {value:6.2f}  ({low:.2f} to {high:.2f})" for m, (value, low, high) in self.curve.items()]
        low, high = self.interval
        head = f"Intrinsic dimension {self.value:.1f} ({low:.1f} to {high:.1f}), {self.note}; {self.n_rows} rows"
        return "\n".join([head, *rows, "  neighbour m", *scales, f"hubness {self.hubness:.2f}"])


class TooFewRows(ValueError):
    """Of so few different rows nothing can be estimated."""

    def __init__(self, message: str, different: int) -> None:
        super().__init__(message)
        self.different = different


@checked("intrinsic_dimension")
def intrinsic_dimension(
    X: Any, *, correct: bool = True, metric: Any = "euclidean", n_jobs: int | None = None
) -> IntrinsicDimension:
    """Estimate the intrinsic dimension of the data: how many coordinates locate a row among its neighbours.

    On a sheet of d dimensions the number of rows within a distance r of a row grows like r^d. All estimates come from
    one search for nearest neighbours: TwoNN (the nearest two), Gride (neighbours m and 2 m, for every scale m), maximum
    likelihood (20 neighbours) and the correlation dimension (pairs within a radius). Intervals allow for the dependence
    between neighbouring rows.

    Parameters
    ----------
    X : array (n, d), data frame, or distances
        The rows.
    correct : bool
        Neighbourhoods that reach over the edge of the data make estimates too small, the more so the more dimensions
        there are (15.5 for 2,000 rows in a cube of 20). True: each estimate is replaced by the dimension of a cube
        that would give it, and its interval reaches down to that of the published estimate, which is right for rows
        without an edge (a sphere). False: as published.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    IntrinsicDimension
        The dimension with its interval, other estimates, the curve over scales, and the dimension around each row.

    References
    ----------
    Facco, d'Errico, Rodriguez, Laio (2017), Estimating the intrinsic dimension of datasets by a minimal neighborhood
    information. Denti, Doimo, Laio, Mira (2022), The generalized ratios intrinsic dimension estimator. Levina, Bickel
    (2004), Maximum likelihood estimation of intrinsic dimension. MacKay, Ghahramani (2005), Comments on it.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(1000, noise=0, random_state=0).X
    >>> round(lowdim.select.intrinsic_dimension(X).value)
    2
    """
    owner = "intrinsic_dimension"
    rows, inside = comparable(X, check_metric(metric, owner), owner)
    distances, indices, kept, n_all = _neighbor_lists(rows, inside, n_jobs, owner)
    n = len(kept)

    def judged(found: Estimate) -> Interval:
        best = without_edge(found, n) if correct else found
        return best.value, found.interval()[0], best.interval()[1]

    def at_two_scales(estimator: Callable[[Array, Array, int], Estimate]) -> Interval:
        """What changes from half of the neighbours to all of them, as where a sheet is curved, is an error too."""
        (value, low, high), (_, *half) = (judged(estimator(distances, indices, size)) for size in (k, max(2, k // 2)))
        return value, float(np.fmin(low, half[0])), float(np.fmax(high, half[1]))

    k = min(NEIGHBORS, distances.shape[1])
    curve = {m: judged(gride(distances, indices, m)) for m in _scales(distances.shape[1])}
    chosen, note = _plateau({m: each for m, each in curve.items() if np.isfinite(each[0])}, owner)
    value, *interval = curve[chosen]
    return IntrinsicDimension(
        value=value,
        interval=(interval[0], interval[1]),
        estimates={
            "twonn": curve[1],
            "gride": curve[chosen],
            "mle": at_two_scales(maximum_likelihood),
            "correlation": at_two_scales(correlation),
        },
        curve=curve,
        per_row=_per_row(distances[:, :k], indices[:, :k], kept, n_all),
        hubness=_hubness(indices[:, : min(HUBS, k)]),
        n_rows=n,
        note=note,
    )


def _neighbor_lists(X: Any, metric: Any, n_jobs: int | None, owner: str) -> tuple[Array, Array, Array, int]:
    """Distances to and places of nearest neighbours among different rows, which rows these are, and how many in all."""
    found = nearest(X, 1, metric=metric, n_jobs=n_jobs, approximate=None, owner=owner)
    n_all = len(found.indices)
    copies = found.distances[:, 0] <= 0
    kept = np.flatnonzero(~_later_copies(found.indices[:, 0], copies))
    if len(kept) < LEAST_ROWS:
        raise TooFewRows(f"{owner}: X must have at least {LEAST_ROWS} different rows; got {len(kept)}.", len(kept))
    k = int(min(MOST_NEIGHBORS, (len(kept) - 1) // 4))
    chosen = X if len(kept) == n_all else _rows(X, kept, metric)
    near = nearest(chosen, k, metric=metric, n_jobs=n_jobs, approximate=None, owner=owner)
    distances = np.asarray(near.distances, float)
    positive = distances[:, 0] > 0  # copies that were each other's second nearest, of three and more
    if not positive.all():
        at = np.cumsum(positive) - 1
        distances, indices = distances[positive], np.where(positive[near.indices], at[near.indices], 0)[positive]
        return distances, indices, kept[positive], n_all
    _warn_about_ties(distances, owner)
    return distances, near.indices, kept, n_all


def _later_copies(partner: Array, copies: Array) -> Array:
    """Rows that are a copy of an earlier one."""
    return copies & (partner < np.arange(len(partner)))


def _rows(X: Any, kept: Array, metric: Any) -> Any:
    given = isinstance(metric, str) and metric == "precomputed"
    return X[np.ix_(kept, kept)] if given else (X.tocsr() if sparse.issparse(X) else X)[kept]


def _warn_about_ties(distances: Array, owner: str) -> None:
    """Ties say that values are rounded, which estimates from the nearest neighbours take for dimensions."""
    tied = float(np.mean(distances[:, 0] == distances[:, 1]))
    if tied > 0.1:
        warn(
            f"{owner}: for {tied:.0%} of the rows the two nearest neighbours are equally far, as in tables of "
            "integers or categories. The estimates at small scales (TwoNN) are then too large; read the curve at "
            "larger scales."
        )


def _scales(k: int) -> list[int]:
    return [2**power for power in range(int(np.log2(max(k // 2, 1))) + 1)]


def _plateau(curve: dict[int, Interval], owner: str) -> tuple[int, str]:
    """The scale in the middle of the longest run of scales whose intervals have a common value."""
    scales = list(curve)
    if not scales:
        raise ValueError(
            f"{owner}: X must have nearest rows at different distances; here, as on a grid, all are equally far. "
            "Measure the rows more finely, or by another metric."
        )
    intervals = [curve[m][1:] for m in scales]
    best = (0, 0)
    for first in range(len(scales)):
        last = first
        while last + 1 < len(scales) and _common(intervals[first : last + 2]):
            last += 1
        best = max(best, (last - first, -first))
    first, last = -best[1], best[0] - best[1]
    at = (first + last) // 2
    if first == last:
        return scales[0], f"from neighbours {scales[0]} and {2 * scales[0]} (no two scales agree)"
    return scales[at], f"the same within errors from neighbours {scales[first]} to {2 * scales[last]}"


def _common(intervals: list[tuple[float, float]]) -> bool:
    return max(low for low, _ in intervals) <= min(high for _, high in intervals)


def _per_row(distances: Array, indices: Array, kept: Array, n_all: int) -> Array:
    """Maximum likelihood from the neighbours of each row, its inverse averaged over them."""
    inverses = np.mean(np.log(distances[:, -1:] / distances[:, :-1]), axis=1)
    around = (inverses + inverses[indices].sum(axis=1)) / (1 + indices.shape[1])
    found = np.full(n_all, np.nan)
    found[kept] = 1 / np.maximum(around, 1e-12)
    return found


def _hubness(indices: Array) -> float:
    """Skewness of the number of lists that each row is in."""
    counts = np.bincount(indices.ravel(), minlength=len(indices)).astype(float)
    spread = counts.std()
    return float(np.mean((counts - counts.mean()) ** 3) / spread**3) if spread > 0 else 0.0

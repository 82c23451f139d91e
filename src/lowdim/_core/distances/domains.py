"""Which rows a metric is defined for, and what a function of the user must be to serve as one.

Outside its domain a formula still gives numbers: Dice's is negative for real cells, Jaccard's is 1 for every pair. Rows
outside are refused by the name of the metric, with the conversion that makes them fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim._core.distances.metrics import HAVERSINE, HELLINGER, RUZICKA, Metric, ParametricMetric, called_by

Array = np.ndarray
_TRIED = 12  # rows among which a function of the user is tried out before it is used


def _angles(cells: Array) -> Array:
    """Which cells are a latitude or a longitude in radians; none where there are not two columns."""
    if cells.shape[1] != 2:
        return np.zeros(cells.shape, dtype=bool)
    inside: Array = np.abs(cells) <= np.array([np.pi / 2, 2 * np.pi]) * (1 + 1e-6)
    return inside


@dataclass(frozen=True)
class Domain:
    """What the rows of a metric must be, and what to do with others."""

    text: str
    holds: Callable[[Array], Array]  # cells -> which of them are inside
    way: str


REAL = Domain("real numbers", lambda cells: np.ones(np.shape(cells), dtype=bool), "")
BOOLEAN = Domain(
    "True and False (or 1 and 0)",
    lambda cells: (cells == 0) | (cells == 1),
    "Say what counts as present, such as X > 0, or compare how much there is: metric='ruzicka' for counts. "
    "Unpack packed bits: np.unpackbits(X, axis=1).",
)
NON_NEGATIVE = Domain(
    "numbers that are not negative, such as counts",
    lambda cells: cells >= 0,
    "Subtract the least value of each column first, or use metric='manhattan'.",
)
SHARES = Domain(
    "shares that are not negative, with a positive sum (each row is divided by its sum)",
    lambda cells: cells >= 0,
    "Drop such rows, or use another metric.",
)

GLOBE = Domain(
    "two columns, latitude and longitude, in radians",
    lambda cells: _angles(cells),
    "Turn degrees into radians, np.radians(X).",
)
VARIED = Domain("rows that are not constant", REAL.holds, "Drop it, or use metric='cosine'.")

# Every metric by name -> its domain. What is not here is defined for all real rows.
DOMAINS = {
    **dict.fromkeys(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), BOOLEAN),
    **dict.fromkeys(("braycurtis", RUZICKA), NON_NEGATIVE),
    **dict.fromkeys(("jensenshannon", HELLINGER), SHARES),
    "correlation": VARIED,
    HAVERSINE: GLOBE,
}


def is_limited(metric: Any) -> bool:
    """Whether some rows are outside the domain of a metric, or may be: a function of the user says nothing of its own.

    >>> is_limited("dice"), is_limited("manhattan"), is_limited(None)
    (True, False, False)
    """
    metric = metric.name if isinstance(metric, ParametricMetric) else metric
    return callable(metric) or (isinstance(metric, str) and metric in DOMAINS)


def is_of_bits(metric: Any) -> bool:
    """Whether a metric compares rows of True and False.

    >>> is_of_bits("jaccard"), is_of_bits("hamming")
    (True, False)
    """
    metric = metric.name if isinstance(metric, ParametricMetric) else metric
    return isinstance(metric, str) and DOMAINS.get(metric) is BOOLEAN


def check_domain(rows: Any, metric: Metric, owner: str, name: str = "X") -> None:
    """ValueError where rows are outside the domain of a named metric; the first cell outside is named."""
    metric = metric.name if isinstance(metric, ParametricMetric) else metric
    domain = DOMAINS.get(metric, REAL) if isinstance(metric, str) else REAL
    if domain is REAL or not rows.shape[0] or not rows.shape[1]:
        return
    place = _outside(rows, domain)
    if place is not None:
        i, j, value = place
        raise ValueError(
            f"{owner}: metric={metric!r} must get {domain.text}; got {value:g} in row {i}, column {j} of {name}. "
            f"{domain.way}"
        )
    constant = _constant(rows, domain)
    if constant.any():
        i = int(constant.argmax())
        raise ValueError(
            f"{owner}: metric={metric!r} must get {domain.text}; all cells of row {i} of {name} are {rows[i, 0]:g}. "
            f"{domain.way}"
        )


def _constant(rows: Any, domain: Domain) -> Array:
    """Rows that a domain leaves no distance for: of shares those of zeros, of varied rows the constant ones."""
    if domain is SHARES:
        return np.asarray(rows.sum(axis=1)).ravel() == 0
    if domain is VARIED and not sparse.issparse(rows):
        return np.asarray(rows.max(axis=1) == rows.min(axis=1))
    return np.zeros(1, dtype=bool)


def _outside(rows: Any, domain: Domain) -> tuple[int, int, float] | None:
    """Row, column and value of the first cell outside of the domain; of sparse rows, of the stored ones."""
    if sparse.issparse(rows):
        stored = rows.tocoo()
        outside = np.flatnonzero(~domain.holds(stored.data[:, None]))
        if not len(outside):
            return None
        first = outside[0]
        return int(stored.row[first]), int(stored.col[first]), float(stored.data[first])
    outside = ~domain.holds(rows)
    if not outside.any():
        return None
    i, j = (int(found[0]) for found in np.nonzero(outside))
    return i, j, float(rows[i, j])


def check_function(rows: Array, metric: Metric, owner: str) -> None:
    """ValueError where a function of the user is no metric on a few of the rows.

    It must give numbers that are finite and not negative, the same in both directions, and 0 for a row and itself.
    """
    if not callable(metric) or not len(rows):
        return
    tried = np.unique(np.linspace(0, len(rows) - 1, _TRIED).astype(np.intp))
    few = rows[tried].astype(np.float64)
    block = called(few, few, metric, owner)
    refuse_undefined(block, metric, owner, tried)
    check_both_ways(block, metric, owner)


def check_both_ways(block: Array, metric: Metric, owner: str) -> None:
    """ValueError where a function of the user is not symmetric, or not 0 for a row and itself."""
    if isinstance(metric, ParametricMetric):  # named: what it gives a row and itself is 0 by convention
        return
    check_symmetric(block, owner)
    own = float(np.diagonal(block).max(initial=0.0))
    if own > 1e-6 * float(block.max(initial=0.0)):
        raise ValueError(
            f"{owner}: metric must give 0 for a row and itself; the function gave {own:g}. If it measures how alike "
            "rows are, pass lowdim.dissimilarities(X, metric=..., conversion=...) with metric='precomputed'."
        )


def check_symmetric(block: Array, owner: str) -> None:
    """ValueError where the distances from i to j and from j to i, given by a function of the user, differ."""
    gap = np.abs(block - block.T)
    if gap.size and gap.max() > 1e-6 * block.max():
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"{owner}: metric must be the same in both directions; the function gave {block[i, j]:g} and "
            f"{block[j, i]:g} for one pair of rows. Take their mean, lambda a, b: (f(a, b) + f(b, a)) / 2."
        )


def called(Q: Array, R: Array, function: Callable[..., Any], owner: str) -> Array:
    """Distances by a function of the user, which must not be negative; by a metric with parameters, in one block.

    scipy would take a function that is called like one of its own metrics for that one, so it gets another name.
    """

    if isinstance(function, ParametricMetric):
        return measured_by_name(Q, R, function.name, owner, function.params)

    def number(a: Array, b: Array) -> float:
        value = function(a, b)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{owner}: metric must give a number for two rows; the function gave {value!r:.80}."
            ) from None

    block: Array = cdist(Q, R, number)
    if (block < 0).any():
        raise ValueError(
            f"{owner}: metric must not be negative; the function gave {block.min():g}. If it measures how alike rows "
            "are, pass lowdim.dissimilarities(X, metric=..., conversion=...) with metric='precomputed'."
        )
    return block


def refuse_undefined(block: Array, metric: Metric, owner: str, rows: Array | None = None) -> None:
    """ValueError where a distance is NaN or infinite; the pair is named by its place in the block, or by `rows`."""
    if not np.isfinite(block).all():
        i, j = (int(found[0]) for found in np.nonzero(~np.isfinite(block)))
        pair = f"rows {i} and {j}" if rows is None else f"rows {rows[i]} and {rows[j]}"
        raise ValueError(
            f"{owner}: metric {called_by(metric)} must be defined for every pair of rows; got {block[i, j]} for {pair}."
            " Drop such rows or use another metric."
        )


def measured_by_name(Q: Array, R: Array, metric: str, owner: str, params: Mapping[str, Any] | None = None) -> Array:
    """Distances by a metric of scipy, within its domain; equal rows are at 0, also where the formula divides 0 by 0."""
    check_domain(Q, metric, owner)
    if R is not Q:
        check_domain(R, metric, owner, "Y")
    if DOMAINS.get(metric) is BOOLEAN:
        Q, R = Q.astype(bool), R.astype(bool)
    try:
        block: Array = cdist(Q, R, "cityblock" if metric == "manhattan" else metric, **(params or {}))
    except (ValueError, TypeError) as error:
        if not params:
            raise
        raise ValueError(
            f"{owner}: metric_params must suit metric={metric!r} and the {Q.shape[1]} columns; got "
            f"{', '.join(params)}: {error}"
        ) from None
    if metric == "yule" and params:
        block = _weighted_yule(Q, R, np.asarray(params["w"], dtype=np.float64))
    if DOMAINS.get(metric) in (BOOLEAN, NON_NEGATIVE):
        block[np.ix_(~Q.any(axis=1), ~R.any(axis=1))] = 0.0
    return block


def _weighted_yule(Q: Array, R: Array, w: Array) -> Array:
    """From the weights of columns where both, one or none of two rows are True; SciPy 1.12 drops their fractions."""
    both, neither = (Q * w) @ R.T, (~Q * w) @ (~R).T
    half = ((Q * w) @ (~R).T) * ((~Q * w) @ R.T)
    return np.divide(2 * half, both * neither + half, out=np.zeros(half.shape), where=half > 0)


def all_equal(rows: Array, distances: Callable[[Array, Array], Array]) -> float | None:
    """The one distance that all pairs of different rows have; None where they differ, or with fewer than four rows.

    A few rows settle it for nearly all data; where their distances are equal, those of the first row to all are too.
    """
    if len(rows) < 4:
        return None
    few = rows[np.unique(np.linspace(0, len(rows) - 1, _TRIED).astype(np.intp))]
    found = distances(few, few)[np.triu_indices(len(few), 1)]
    first = float(found[0])
    if not first > 0 or not np.allclose(found, first, rtol=1e-9, atol=0.0):
        return None
    return first if np.allclose(distances(rows[:1], rows)[0, 1:], first, rtol=1e-9, atol=0.0) else None

"""Rules for the width of a kernel: the distance at which two rows are no longer similar."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import as_rows, excess, over_power, pairwise
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.neighbors import nearest
from lowdim._core.runtime.rng import generator

Rows = Any  # an array, something numpy can turn into one, or scipy's sparse rows

_DISTANCE_RULES = ("median", "mean", "neighbors")
_COLUMN_RULES = ("scale", "features")
RULES = _DISTANCE_RULES + _COLUMN_RULES
NEIGHBORS = 7  # the neighbour whose distance the rule "neighbors" takes


def bandwidth(
    X: Rows,
    rule: str = "median",
    *,
    metric: Any = "euclidean",
    power: int = 2,
    n_neighbors: int = NEIGHBORS,
    max_rows: int = 1000,
    random_state: Any = 0,
    owner: str = "bandwidth",
) -> float:
    """A reasonable gamma for rows X, as a first value to be refined.

    Distances of 0 are ignored, so that equal rows change nothing.

    Parameters
    ----------
    X : array or sparse rows
        The data.
    rule : {"median", "mean", "neighbors", "scale", "features"}
        ``"median"``: gamma = 1 / (2 median d²), so that half of all pairs are closer than one width.
        ``"mean"``: the mean instead. ``"neighbors"``: the median squared distance to the `n_neighbors`-th
        nearest row, for structure at the scale of neighbourhoods. ``"scale"``: 1 / (columns · variance of all
        entries), as scikit-learn's SVC. ``"features"``: 1 / columns, as scikit-learn's KernelPCA.
    metric : str or callable
        The distance d of the first three rules.
    power : {1, 2}
        2 for exp(-gamma d²). 1 for exp(-gamma d), where gamma = 1 / (median d) and so on.
    n_neighbors : int
        For ``"neighbors"``.
    max_rows : int
        Beyond this many rows, distances are those among (``"neighbors"``: from) a sample of this size.
    random_state : int, generator or None
        Draws the sample; the default always draws the same rows.
    owner : str
        Name of the caller, for messages.

    Returns
    -------
    float
        A positive gamma.

    Examples
    --------
    >>> bandwidth([[0.0], [1.0], [2.0]])
    0.5
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"{owner}: rule must be one of {', '.join(RULES)}; got {rule!r}.")
    if power not in (1, 2):
        raise ValueError(f"{owner}: power must be 1 or 2; got {power!r}.")
    X = as_rows(_drawn_there(X, rule, max_rows, random_state) if isinstance(X, DeviceRows) else X, owner)
    if rule == "features":
        return 1.0 / X.shape[1]
    # Squares must stay in range: rows are divided by a power of two, where the distance scales with them.
    exponent = excess(X, 50) if metric in ("euclidean", "manhattan") else 0
    X = over_power(X, exponent)
    if rule == "scale":
        return _scaled_back(_column_gamma(X, power, owner), exponent * power, owner)
    sample = X
    if X.shape[0] > max_rows:
        sample = X[np.sort(generator(random_state).choice(X.shape[0], max_rows, replace=False))]
    if rule == "neighbors":
        distances = _neighbor_distances(X, sample, n_neighbors, metric, owner)
    else:
        distances = _pair_distances(X, sample, metric, owner)
    typical = float((np.mean if rule == "mean" else np.median)(distances**power))
    return _scaled_back(1.0 / (power * typical), exponent * power, owner)


def _drawn_there(X: DeviceRows, rule: str, most: int, random_state: Any) -> Any:
    """The sample that a rule takes of rows on a device; all of them where it asks for more."""
    if rule not in ("median", "mean") or X.shape[0] <= most:
        return X
    few = X[np.sort(generator(random_state).choice(X.shape[0], most, replace=False))].host
    return few if (few != few[0]).any() else X


def _scaled_back(gamma: float, power: int, owner: str) -> float:
    """``gamma / 2**power``, which must be a floating-point number."""
    with np.errstate(over="ignore", under="ignore"):
        found = float(np.ldexp(gamma, -power))
    if not np.finfo(np.float64).tiny <= found < np.inf:
        raise ValueError(
            f"{owner}: X must be of moderate size for a width to be found; got rows whose gamma is about "
            f"2**{round(np.log2(gamma)) - power}. Rescale the data, for example X / np.abs(X).max()."
        )
    return found


def _column_gamma(X: Rows, power: int, owner: str) -> float:
    X = X.astype(np.float64)
    mean = X.mean()
    square = X.multiply(X).mean() if sparse.issparse(X) else None
    variance = float(np.var(X) if square is None else square - mean**2)
    if not variance > 0:
        raise ValueError(f"{owner}: X must not be constant to have a width; got equal entries. Pass gamma instead.")
    return 1.0 / (X.shape[1] * variance ** (power / 2))


def _pair_distances(X: Rows, sample: Rows, metric: Any, owner: str) -> np.ndarray:
    """Positive distances between the sampled rows; where those are equal, from one of them to all rows."""
    sample = sample.astype(np.float64)
    found = pairwise(sample, None, metric)[np.triu_indices(sample.shape[0], 1)]
    if not (found > 0).any() and X.shape[0] > 1:
        found = pairwise(sample[:1], X.astype(np.float64), metric).ravel()
    return _only_positive(found, owner)


def _neighbor_distances(X: Rows, sample: Rows, k: int, metric: Any, owner: str) -> np.ndarray:
    if not 1 <= k < X.shape[0]:
        raise ValueError(f"{owner}: n_neighbors must be between 1 and {X.shape[0] - 1}; got {k!r}.")
    # Each sampled row is its own nearest one, at distance 0.
    return _only_positive(nearest(X, k + 1, queries=sample, metric=metric, owner=owner).distances[:, k], owner)


def _only_positive(distances: np.ndarray, owner: str) -> np.ndarray:
    positive = distances[distances > 0].astype(np.float64)
    if positive.size == 0:
        raise ValueError(
            f"{owner}: X must have different rows for a width to be found; got {distances.size} distances, "
            "none of them positive. Pass gamma instead."
        )
    return positive

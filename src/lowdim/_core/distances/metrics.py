"""Names of metrics, and what each is called inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim._core.distances.with_holes import METRICS

Metric = str | Callable[[np.ndarray, np.ndarray], float]

GOWER = "gower"  # of tables of numbers and categories
CODED = "coded rows of numbers and categories"  # the metric of the tables that `gower.Gower` makes of them

OWN = ("euclidean", "cosine", "manhattan")
_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
_SCIPY = (
    *("braycurtis", "canberra", "chebyshev", "correlation", "dice", "hamming", "jaccard", "jensenshannon"),
    *("minkowski", "rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule"),
)

# scipy takes the parameters of these two from the rows it is handed: they would change from block to block.
_FITTED = {
    "mahalanobis": "whiten the columns and use metric='euclidean'",
    "seuclidean": "divide the columns by their standard deviations and use metric='euclidean'",
}


def called_by(metric: Any) -> str:
    """The metric as messages call it: in quotes, or a function by its name.

    >>> called_by("dice"), called_by(max)
    ("'dice'", "the function 'max'")
    """
    return f"the function {getattr(metric, '__name__', 'callable')!r}" if callable(metric) else repr(metric)


def check_metric(metric: Any, owner: str) -> Metric:
    """The metric under the one name used inside; ValueError for a name nobody knows.

    >>> check_metric("cityblock", "Isomap")
    'manhattan'
    """
    if callable(metric):
        return metric
    name = _ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name in (*OWN, *_SCIPY, *METRICS.values(), GOWER, CODED, "precomputed"):
        return name
    if isinstance(name, str) and name in _FITTED:
        raise ValueError(f"{owner}: metric {name!r} depends on all rows at once; {_FITTED[name]}.")
    known = ", ".join(sorted((*OWN, *_SCIPY, GOWER, "precomputed")))
    raise ValueError(f"{owner}: metric must be a function of two rows or one of {known}; got {metric!r}.")

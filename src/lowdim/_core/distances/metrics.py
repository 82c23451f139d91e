"""Names of metrics, and what each is called inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from lowdim._core.distances.with_holes import METRICS

Metric = str | Callable[[np.ndarray, np.ndarray], float]

GOWER = "gower"  # of tables of numbers and categories
CODED = "coded rows of numbers and categories"  # the metric of the tables that `gower.Gower` makes of them

HELLINGER = "hellinger"  # of shares: the Euclidean distance of their square roots, over the square root of 2
HAVERSINE = "haversine"  # of latitudes and longitudes: the angle between two places on a globe
RUZICKA = "ruzicka"  # of counts: 1 - the sum of the lesser cells over that of the greater; Tanimoto's distance of bits
_WITHOUT_SCIPY = (HELLINGER, HAVERSINE, RUZICKA)

OWN = ("euclidean", "cosine", "manhattan")
_ALIASES = {
    "l2": "euclidean",
    "minkowski": "euclidean",  # without p
    "l1": "manhattan",
    "cityblock": "manhattan",
    "tanimoto": "jaccard",  # of True and False they are the same
    "counttanimoto": RUZICKA,
}
_SCIPY = (
    *("braycurtis", "canberra", "chebyshev", "correlation", "dice", "hamming", "jaccard", "jensenshannon"),
    *("minkowski", "rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule"),
)

_PUBLIC = (*OWN, *_SCIPY, *_WITHOUT_SCIPY, GOWER, "precomputed")

# scipy takes the parameters of these two from the rows it is handed: they would change from block to block.
_FITTED = {
    "mahalanobis": "give the inverse covariance, metric_params={'VI': ...}, or whiten the columns",
    "seuclidean": "give the variances of the columns, metric_params={'V': ...}, or standardise the columns",
}
# Parameters of metrics by name; the others have only `w`, the weights of the columns.
_PARAMETERS = {
    "minkowski": ("p", "w"),
    "mahalanobis": ("VI",),
    "seuclidean": ("V",),
    "jensenshannon": ("base",),
}


@dataclass(frozen=True, eq=False)
class ParametricMetric:
    """A metric of scipy with its parameters: measured in blocks by its name, and a function of two rows."""

    name: str
    params: Mapping[str, Any]

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        return float(cdist(a[None], b[None], _CALLED.get(self.name, self.name), **self.params)[0, 0])

    @property
    def __name__(self) -> str:
        return f"{self.name}({', '.join(self.params)})"


_CALLED = {"manhattan": "cityblock"}  # what scipy calls it


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
    if isinstance(name, str) and name in (
        *OWN,
        *_SCIPY,
        *METRICS.values(),
        *_WITHOUT_SCIPY,
        GOWER,
        CODED,
        "precomputed",
    ):
        return name
    if isinstance(name, str) and name in _FITTED:
        raise ValueError(f"{owner}: metric {name!r} depends on all rows at once; {_FITTED[name]}.")
    known = ", ".join(sorted(_PUBLIC))
    raise ValueError(f"{owner}: metric must be a function of two rows or one of {known}; got {metric!r}.")


def with_params(metric: Any, params: Mapping[str, Any] | None, owner: str) -> Metric:
    """The metric with its parameters: a name where there are none, else something that measures two rows.

    Parameters
    ----------
    metric : str or callable
        The metric.
    params : dict or None
        Its parameters by name; of a function, further arguments.
    owner : str
        Who asks; error messages begin with it.

    Returns
    -------
    str or callable

    Examples
    --------
    >>> with_params("minkowski", {"p": 1}, "Isomap")
    'manhattan'
    >>> with_params("minkowski", {"p": 3}, "Isomap").__name__
    'minkowski(p)'
    """
    if not params:
        return check_metric(metric, owner)
    if callable(metric):
        return partial(metric, **params)
    as_given = isinstance(metric, str) and metric in (*_FITTED, "minkowski")
    name = metric if as_given else check_metric(metric, owner)
    if name in (GOWER, *_WITHOUT_SCIPY, "precomputed"):
        raise ValueError(
            f"{owner}: metric_params must be None for metric={name!r}; got {', '.join(map(repr, params))}."
        )
    known = _PARAMETERS.get(str(name), ("w",))
    if unknown := [key for key in params if key not in known]:
        raise ValueError(
            f"{owner}: metric_params must be among {', '.join(known)} for metric={name!r}; got {unknown[0]!r}."
        )
    if set(params) == {"p"} and params["p"] in _POWERS:
        return _POWERS[params["p"]]
    return ParametricMetric(str(name), _arrays(params, owner))


_POWERS = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}


def _arrays(params: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Numbers as they are, everything else as an array of finite numbers."""
    found = {}
    for key, value in params.items():
        made = np.asarray(value)
        if made.dtype.kind not in "iuf" or not np.isfinite(made).all():
            raise ValueError(f"{owner}: metric_params[{key!r}] must be finite numbers; got {value!r:.80}.")
        if key in ("w", "V", "p", "base") and not (made > 0).all() and not (key == "w" and (made >= 0).all()):
            raise ValueError(f"{owner}: metric_params[{key!r}] must be positive; got {value!r:.80}.")
        found[key] = made.astype(np.float64) if made.ndim else value
    return found

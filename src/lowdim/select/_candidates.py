"""Methods to choose between: by name, class or estimator, each with the setting that is searched."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from inspect import isclass
from typing import Any

import numpy as np
from sklearn.base import clone

import lowdim
from lowdim._core.kernels.widths import bandwidth

SETTINGS = ("perplexity", "n_neighbors", "width")
FEWEST, MOST = 4, 100  # neighbours of the grid
STEPS = 12  # settings of the grid, evenly on a logarithmic scale
WIDER = 2.0  # widths begin below the distance of neighbours, and end above that of all pairs, by this factor


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method at one setting.

    Attributes
    ----------
    name : str
        In rankings.
    estimator : estimator
        With its settings for all rows; copies are fitted.
    parameter : str or None
        The setting that is searched.
    value : float or None
        Its value.
    """

    name: str
    estimator: Any
    parameter: str | None = None
    value: float | None = None

    def copy(self, seed: int) -> Any:
        """A copy to be fitted, with this seed where it has none of its own."""
        copy = clone(self.estimator)
        if "random_state" in (known := copy.get_params(deep=False)) and known["random_state"] is None:
            copy.set_params(random_state=seed)
        return copy


def estimator_of(method: Any, n_components: int, metric: Any, n_jobs: int | None, owner: str) -> Any:
    """An estimator from its name, its class or itself; a name or class gets the components, metric and threads."""
    if isinstance(method, str):
        method = _class_of(method, owner)
    if not (hasattr(method, "fit_transform") and hasattr(method, "get_params")):
        raise TypeError(f"{owner}: method must be a name, an estimator or its class; got {method!r}.")
    if not isclass(method):
        return method
    given = {"n_components": n_components, "metric": metric, "n_jobs": n_jobs}
    cls: Any = method
    known = cls().get_params(deep=False)
    return cls(**{key: value for key, value in given.items() if key in known})


def _class_of(name: str, owner: str) -> Any:
    known = {each.lower(): each for each in lowdim._ESTIMATORS}
    key = name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")
    if key in known:
        return getattr(lowdim, known[key])
    near = get_close_matches(key, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{owner}: method must be one of {', '.join(known)}; got {name!r}.{hint}")


def setting_of(estimator: Any, parameter: str | None, owner: str) -> str:
    """The parameter that is searched: perplexity, else the width of a kernel, else the number of neighbours."""
    known = estimator.get_params(deep=False)
    there = [name for name in SETTINGS if name in known]
    if parameter is not None:
        if parameter not in there:
            raise ValueError(
                f"{owner}: parameter must be one of {', '.join(there) or 'none'} for {type(estimator).__name__}; got "
                f"{parameter!r}."
            )
        return parameter
    if not there:
        raise ValueError(
            f"{owner}: method must have n_neighbors, perplexity or width; {type(estimator).__name__} has none of them."
        )
    by_kernel = "width" in there and ("kernel" in known or known.get("n_neighbors") is None)
    return "width" if by_kernel and "perplexity" not in there else there[0]


def grid_of(X: Any, n: int, estimator: Any, parameter: str, metric: Any) -> tuple[float, ...]:
    """Settings from small to large, for n rows."""
    if parameter == "width":
        return _widths(X, estimator, metric)
    most = max(FEWEST, min(MOST, (n - 1) // 4))
    values = np.unique(np.round(np.geomspace(FEWEST, most, STEPS)))
    return tuple(float(value) if parameter == "perplexity" else int(value) for value in values)


def _widths(X: Any, estimator: Any, metric: Any) -> tuple[float, ...]:
    """From the distance of near rows to that of all pairs, in the unit of the estimator's `convention`."""
    near, pairs = (1 / bandwidth(X, rule, metric=metric) for rule in ("neighbors", "median"))  # 2 s²
    squares = np.geomspace(near / WIDER**2, pairs * WIDER**2, STEPS)
    convention = getattr(estimator, "convention", "exp(-d2/(2*s2))")
    unit = {"exp(-d2/s)": squares, "exp(-d2/s2)": np.sqrt(squares)}.get(convention, np.sqrt(squares / 2))
    return tuple(float(f"{value:.3g}") for value in unit)

"""The methods that a comparison runs: requested by name or as estimators, cloned, with distinct names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim.study.methods import find, method_of, usual

# Parameters in which the PCA baseline may differ from PCA with default parameters.
FREE = ("n_components", "random_state", "n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class Entry:
    """A method to run; `baseline` if the others are compared with it."""

    name: str
    estimator: Any
    baseline: bool = False


class Unprepared:
    """Stands for an estimator that could not be cloned or set; its fit raises that error."""

    def __init__(self, estimator: Any, problem: Exception) -> None:
        self.estimator, self.problem = estimator, problem

    def fit_transform(self, X: Any) -> np.ndarray:
        raise self.problem


def requested_methods(wanted: Any, common: dict[str, Any]) -> list[Entry]:
    """The methods to run, in the order given.

    `common` parameters go to every method given by name. Estimators get of these only a `random_state` and `n_jobs` if
    theirs is None, and `verbose` if theirs is 0.
    """
    given = usual() if wanted is None else [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(given, Iterable):
        given = [given]
    listed = [_entry(item, common) for item in given]
    if not listed:
        raise ValueError("compare: methods must name at least one method; got an empty list.")
    return _distinct(listed)


def _entry(item: Any, common: dict[str, Any]) -> tuple[str, Any, bool, bool]:
    """(name, estimator, was the name chosen by the caller, is it the PCA baseline)."""
    if isinstance(item, str):
        method = find(item)
        return method.name, method.estimator(**common), True, method.name == "pca"
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return item[0], _prepared(item[1], common), True, _is_baseline(item[1])
    return class_name(item), _prepared(item, common), False, _is_baseline(item)


def _is_baseline(estimator: Any) -> bool:
    """Whether it is PCA of this library with default parameters, apart from those in `FREE`."""
    known = method_of(estimator)
    if known is None or known.name != "pca":
        return False
    own, plain_pca = estimator.get_params(deep=False), known.estimator().get_params(deep=False)
    return all(own[key] is value or own[key] == value for key, value in plain_pca.items() if key not in FREE)


def _prepared(estimator: Any, common: dict[str, Any]) -> Any:
    """A clone with the common parameters set; the caller's estimator is not changed."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit_transform"):
        raise TypeError(
            "compare: methods must be names, estimators with fit_transform, or (name, estimator) pairs; "
            f"got {estimator!r}."
        )
    try:
        copy = clone(estimator)
        shared = _shared(copy.get_params(deep=False), common)
        return copy.set_params(**shared) if shared else copy
    except Exception as problem:  # noqa: BLE001 (an estimator that cannot be prepared is one failed method)
        return Unprepared(estimator, problem)


def _shared(own: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """Common parameters for an estimator that has left them at None or 0."""
    shared = {key: common[key] for key in ("random_state", "n_jobs") if own.get(key, 0) is None}
    if "verbose" in own and common["verbose"] > 0 and own["verbose"] in (None, 0):
        quiet = own["verbose"]
        shared["verbose"] = bool(common["verbose"]) if isinstance(quiet, bool) else common["verbose"]
    return {key: value for key, value in shared.items() if value is not None}


def class_name(estimator: Any) -> str:
    """The class name of an estimator in lower case with dashes, as methods are named.

    >>> from sklearn.decomposition import KernelPCA
    >>> class_name(KernelPCA())
    'kernel-pca'
    """
    known = method_of(estimator)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", type(estimator).__name__)
    return known.name if known else words.lower()


def _distinct(listed: list[tuple[str, Any, bool, bool]]) -> list[Entry]:
    """Distinct names: a name given twice is an error, a class given twice is numbered."""
    chosen = Counter(name for name, _, by_caller, _ in listed if by_caller)
    twice = [name for name, count in chosen.items() if count > 1]
    if twice:
        raise ValueError(f"compare: method names must be different; {twice[0]!r} is given {chosen[twice[0]]} times.")
    taken = set(chosen)
    result = []
    for name, estimator, by_caller, baseline in listed:
        free = name if by_caller else free_name(name, taken)
        taken.add(free)
        result.append(Entry(free, estimator, baseline))
    return result


def free_name(name: str, taken: set[str]) -> str:
    """`name`, or the first of name-2, name-3, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free

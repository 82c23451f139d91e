"""The methods that a comparison runs: requested by name, as estimators or as ready-made maps, with distinct names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from lowdim.linear.columns.pipelines import refuse_variance_after_scaling
from lowdim.study.methods import Method, find, method_of
from lowdim.study.outside import ReadyMade
from lowdim.study.parameters import Parameters
from lowdim.study.settings import Settings

# Parameters in which the PCA baseline may differ from PCA with default parameters.
FREE = ("n_components", "random_state", "n_jobs", "verbose", "device")


@dataclass(frozen=True, eq=False)
class Entry:
    """A method to run; `baseline` if the others are compared with it, `target` as in `Method`."""

    name: str
    estimator: Any
    baseline: bool = False
    target: str = ""


class Unprepared:
    """Stands for an estimator that could not be made, cloned or set; its fit raises that error."""

    def __init__(self, estimator: Any, problem: Exception) -> None:
        self.estimator, self.problem = estimator, problem

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        raise self.problem


@dataclass(frozen=True, eq=False)
class _Draft:
    """An entry before names are made distinct."""

    name: str
    estimator: Any
    by_caller: bool  # whether the caller chose the name
    baseline: bool
    target: str = ""


def requested_methods(
    wanted: Any, settings: Settings, parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Entry]:
    """The methods to run, in the order given.

    Every method given by name gets the common `settings`, and its own `parameters`, where there are some. Estimators
    get of these only a `random_state` and `n_jobs` if theirs is None, and `verbose` if theirs is 0.
    """
    if isinstance(wanted, Mapping):
        given: Any = list(wanted.items())
    else:
        given = [wanted] if isinstance(wanted, (str, np.ndarray)) or not isinstance(wanted, Iterable) else wanted
    own = Parameters.of(parameters)
    drafts = [_draft(item, settings, own) for item in given]
    if not drafts:
        raise ValueError("compare: methods must name at least one method; got an empty list.")
    own.check_used([draft.name for draft in drafts])
    return _distinct(drafts)


def _draft(item: Any, settings: Settings, own: Parameters) -> _Draft:
    if isinstance(item, str):
        return _by_name(find(item), settings, own)
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        name, value = item
        if isinstance(value, str):
            draft = _by_name(find(value), settings, own)
            return _Draft(name, draft.estimator, True, draft.baseline, draft.target)
        if _is_map(value):
            return _Draft(name, ReadyMade(value), True, False)
        return _Draft(name, _prepared(value, settings), True, _is_baseline(value), _target(value))
    return _Draft(class_name(item), _prepared(item, settings), False, _is_baseline(item), _target(item))


def _by_name(method: Method, settings: Settings, own: Parameters) -> _Draft:
    try:
        estimator = method.estimator(**settings.of(method))
    except ImportError as problem:  # a library that is not installed is one failed method
        return _Draft(method.name, Unprepared(None, problem), True, False, method.target)
    given = own.use(method.name, estimator)
    if given:
        estimator.set_params(**given)
    return _Draft(method.name, estimator, True, method.name == settings.baseline and not given, method.target)


def _is_map(value: Any) -> bool:
    """Whether a value is an embedding that exists already, not an estimator."""
    return not hasattr(value, "fit_transform") and not isinstance(value, type) and np.ndim(value) in (1, 2)


def _is_baseline(estimator: Any) -> bool:
    """Whether it is PCA of this library with default parameters, apart from those in `FREE`."""
    known = method_of(estimator)
    if known is None or known.name != "pca":
        return False
    own, plain_pca = estimator.get_params(deep=False), known.estimator().get_params(deep=False)
    return all(own[key] is value or own[key] == value for key, value in plain_pca.items() if key not in FREE)


def _target(estimator: Any) -> str:
    """What an estimator needs `y` for; of strangers by their tags."""
    known = method_of(estimator)
    if known is not None:
        return known.target
    try:
        tags = get_tags(estimator)
    except Exception:  # noqa: BLE001 (estimators of other libraries need not have tags)
        return ""
    return "classes or a quantity" if tags.target_tags.required else ""


def _fit_alone(estimator: Any) -> str:
    """The way out for an estimator of another library that has `fit` and no `fit_transform`."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return ""
    if type(estimator).__module__.split(".")[0] == "openTSNE":
        return " Use the name 'opentsne', or give the embedding that it fitted."
    return " It has fit alone: give the embedding that it fitted, such as {'mine': Z}."


def _prepared(estimator: Any, settings: Settings) -> Any:
    """A clone with the common parameters set; the caller's estimator is not changed."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit_transform"):
        raise TypeError(
            "compare: methods must be names, estimators with fit_transform, (name, estimator) pairs, or a dictionary "
            f"of these and of embeddings; got {estimator!r}.{_fit_alone(estimator)}"
        )
    try:
        refuse_variance_after_scaling(estimator, "compare")
        if not (hasattr(estimator, "get_params") and hasattr(estimator, "set_params")):
            return deepcopy(estimator)
        copy = clone(estimator)
        shared = settings.shared(copy.get_params(deep=False))
        return copy.set_params(**shared) if shared else copy
    except Exception as problem:  # noqa: BLE001 (an estimator that cannot be prepared is one failed method)
        return Unprepared(estimator, problem)


def class_name(estimator: Any) -> str:
    """The class name of an estimator in lower case with dashes, as methods are named.

    >>> from sklearn.decomposition import KernelPCA
    >>> class_name(KernelPCA())
    'kernel-pca'
    """
    known = method_of(estimator)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", type(estimator).__name__)
    return known.name if known else words.lower()


def _distinct(drafts: list[_Draft]) -> list[Entry]:
    """Distinct names: a name given twice is an error, a class given twice is numbered."""
    chosen = Counter(draft.name for draft in drafts if draft.by_caller)
    twice = [name for name, count in chosen.items() if count > 1]
    if twice:
        raise ValueError(f"compare: method names must be different; {twice[0]!r} is given {chosen[twice[0]]} times.")
    taken = set(chosen)
    result = []
    for draft in drafts:
        free = draft.name if draft.by_caller else free_name(draft.name, taken)
        taken.add(free)
        result.append(Entry(free, draft.estimator, draft.baseline, draft.target))
    return result


def free_name(name: str, taken: set[str]) -> str:
    """`name`, or the first of name-2, name-3, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free

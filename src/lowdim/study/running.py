"""Running one method among others: its place in the list, its time, its warnings, its failure if it fails."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core.runtime.rng import generator
from lowdim.study.methods import find, has_scale, method_of, usual

# What an estimator may say about its own fit, in the order it is shown.
DIAGNOSTICS = (
    "solver_",
    "n_iter_",
    "converged_",
    "n_components_graph_",
    "explained_variance_ratio_",
    "eigenvalues_",
    "goodness_of_fit_",
    "residual_variance_",
    "reconstruction_error_",
    "stress_",
    "stress1_",
    "kl_divergence_",
    "log_likelihood_",
)

# Parameters in which the PCA baseline may differ from PCA as it comes.
FREE = ("n_components", "random_state", "n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class Entry:
    """A method about to run. `baseline` entries are there to be compared against."""

    name: str
    estimator: Any
    baseline: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one method left behind; `embedding` is None and `error` says why when it failed."""

    name: str
    baseline: bool
    estimator: Any
    parameters: dict[str, Any]
    seconds: float
    embedding: np.ndarray | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int | None:
        return None if self.embedding is None else self.embedding.shape[1]

    @property
    def embedded(self) -> np.ndarray | None:
        """Which rows have a place: a method may leave rows out, and marks them with NaN."""
        return None if self.embedding is None else ~np.isnan(self.embedding).any(axis=1)

    @property
    def has_scale(self) -> bool:
        return has_scale(self.estimator)


class Unprepared:
    """In the place of an estimator that could not be cloned or set: says why when its turn comes."""

    def __init__(self, estimator: Any, problem: Exception) -> None:
        self.estimator, self.problem = estimator, problem

    def fit_transform(self, X: Any) -> np.ndarray:
        raise self.problem


class RandomEmbedding:
    """Rows placed at random: what every method must beat, with R_NX near zero at every K."""

    def __init__(self, n_components: int, random_state: Any = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {"n_components": self.n_components, "random_state": self.random_state}

    def fit_transform(self, X: Any) -> np.ndarray:
        # A stream of its own: the seed alone would repeat the normal draws that made a synthetic data set.
        seed = generator(self.random_state).integers(2**32)
        return np.random.default_rng([int(seed), 0x72616E64]).standard_normal((X.shape[0], self.n_components))


def entries(wanted: Any, common: dict[str, Any]) -> list[Entry]:
    """The methods to run, in the order given. `common` parameters go to every method named by name; of those, a seed
    and a number of jobs also go to estimators that left theirs at None, and a verbosity to those that are silent."""
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
    """PCA of this library with nothing changed but its width, or what every method of the comparison shares."""
    known = method_of(estimator)
    if known is None or known.name != "pca":
        return False
    own, plain_pca = estimator.get_params(deep=False), known.estimator().get_params(deep=False)
    return all(own[key] is value or own[key] == value for key, value in plain_pca.items() if key not in FREE)


def _prepared(estimator: Any, common: dict[str, Any]) -> Any:
    """A clone, so that the caller's estimator stays as it is."""
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
    """What the comparison sets in an estimator that left it open."""
    shared = {key: common[key] for key in ("random_state", "n_jobs") if own.get(key, 0) is None}
    if "verbose" in own and common["verbose"] > 0 and own["verbose"] in (None, 0):
        quiet = own["verbose"]
        shared["verbose"] = bool(common["verbose"]) if isinstance(quiet, bool) else common["verbose"]
    return {key: value for key, value in shared.items() if value is not None}


def class_name(estimator: Any) -> str:
    """The name of an estimator's class the way methods are named: lower case with dashes.

    >>> from sklearn.decomposition import KernelPCA
    >>> class_name(KernelPCA())
    'kernel-pca'
    """
    known = method_of(estimator)
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", type(estimator).__name__)
    return known.name if known else parted.lower()


def _distinct(listed: list[tuple[str, Any, bool, bool]]) -> list[Entry]:
    """Names apart: a name given twice is an error, a class given twice is numbered."""
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


def run(entry: Entry, X: Any) -> Outcome:
    """Fit one method. Warnings are kept with it; an exception becomes its error; Ctrl-C goes through."""
    estimator, start = entry.estimator, time.perf_counter()
    embedding, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            embedding = _checked(estimator.fit_transform(X), X.shape[0])
        except (Exception, SystemExit) as problem:  # noqa: BLE001 (whatever goes wrong in one method, the others run)
            error = f"{type(problem).__name__}: {problem}"
    seconds = time.perf_counter() - start
    return Outcome(
        entry.name,
        entry.baseline,
        estimator,
        plain_parameters(estimator),
        seconds,
        embedding,
        error,
        _messages(caught),
        diagnostics(estimator) if error is None else {},
    )


def _checked(embedding: Any, n: int) -> np.ndarray:
    Z = np.asarray(embedding)
    if Z.ndim != 2 or Z.shape[0] != n or Z.shape[1] == 0:
        raise ValueError(f"fit_transform must return one row for each of the {n} rows; got shape {Z.shape}.")
    if Z.dtype.kind not in "fiu":
        raise ValueError(f"fit_transform must return real numbers; got dtype {Z.dtype}.")
    if np.isinf(Z).any():
        raise ValueError(f"the embedding holds {int(np.isinf(Z).sum())} infinite values.")
    placed = int((~np.isnan(Z).any(axis=1)).sum())
    if placed < 3:  # ranks need three rows, and one poor method must not take the scores of the others with it
        raise ValueError(f"at least 3 rows must get a place; {placed} of {n} did, the others hold NaN.")
    return Z


def _messages(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Each message once, with how often it came; the category where it says more than 'UserWarning'."""
    texts = Counter(
        str(w.message) if w.category is UserWarning else f"{w.category.__name__}: {w.message}" for w in caught
    )
    return tuple(text if count == 1 else f"{text} ({count} times)" for text, count in texts.items())


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """An estimator's parameters as JSON can hold them."""
    if not hasattr(estimator, "get_params"):
        return {}
    return {key: plain(value) for key, value in sorted(estimator.get_params(deep=False).items())}


def diagnostics(estimator: Any) -> dict[str, Any]:
    """What the fit says about itself: convergence, spectrum, graph. Long arrays keep their first ten values."""
    found = {}
    for name in DIAGNOSTICS:
        value = getattr(estimator, name, None)
        if value is not None:
            found[name] = plain(value[:10] if isinstance(value, np.ndarray) and value.ndim == 1 else value)
    return found


def plain(value: Any) -> Any:
    """A value as JSON can hold it; anything that is not data is written as Python would show it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.size > 100:
        return f"array of shape {value.shape}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    return repr(value)

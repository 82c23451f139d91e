"""One method of a comparison: fitted, with its time, warnings, diagnostics and error."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim._core.tables.brief import brief
from lowdim.study.data import Data
from lowdim.study.json_values import plain
from lowdim.study.labels import Labels
from lowdim.study.method_list import Entry
from lowdim.study.methods import has_scale, is_linear
from lowdim.study.running.targets import target_of

Tell = Callable[[float], None]  # the share of a fit that is done

# Fitted attributes that are shown in the report, in this order.
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


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one method; if it failed, `embedding` is None and `error` is its message."""

    name: str
    baseline: bool
    estimator: Any
    parameters: dict[str, Any]
    seconds: float
    embedding: np.ndarray | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)
    caution: str | None = None  # what must not be read from the map
    reused: bool = False  # finished by an earlier run, which its time is of; `estimator` is not fitted

    __repr__ = brief

    @property
    def n_components(self) -> int | None:
        """Number of components; None if the method failed."""
        return None if self.embedding is None else self.embedding.shape[1]

    @property
    def embedded(self) -> np.ndarray | None:
        """The rows that were embedded; a method that leaves rows out returns NaN for them."""
        return None if self.embedding is None else ~np.isnan(self.embedding).any(axis=1)

    @property
    def has_scale(self) -> bool:
        """Whether distances in the map approximate distances in the data."""
        return has_scale(self.estimator)

    @property
    def linear(self) -> bool:
        """Whether places in the map are linear functions of the columns."""
        return is_linear(self.estimator)


def run(entry: Entry, data: Data, labels: Labels | None = None, tell: Tell | None = None) -> Outcome:
    """Fit one method. Its warnings are collected and an exception becomes its error; Ctrl-C is not caught.

    `tell` is called with the share of the fit that is done, for methods that know it.
    """
    estimator, start = entry.estimator, time.perf_counter()
    embedding, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _listening(estimator, tell):
                embedding = _checked(fitted(entry, data, labels), data.n)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 (an error in one method must not stop the others)
            error = f"{type(problem).__name__}: {problem}"
    return Outcome(
        entry.name,
        entry.baseline,
        estimator,
        plain_parameters(estimator),
        time.perf_counter() - start,
        embedding,
        error,
        _messages(caught),
        diagnostics(estimator) if error is None else {},
        getattr(estimator, "not_shown_", None) if error is None else None,
    )


def fitted(entry: Entry, data: Data, labels: Labels | None, named: bool = False) -> Any:
    """Fit, and return the embedding of all rows; a method that needs labels is fitted to the rows that have one.

    `named`: pass a data frame where there is one, so that the model knows the names of its columns.
    """
    X = data.seen_by(entry.estimator, named=named)
    if not entry.target:
        return entry.estimator.fit_transform(X)
    known, y = target_of(entry.target, labels, entry.name)
    if known.all():
        return entry.estimator.fit_transform(X, y)
    return entry.estimator.fit(X[known], y[known]).transform(X)


@contextmanager
def _listening(estimator: Any, tell: Tell | None) -> Iterator[None]:
    """Within the block, an iterative estimator without a callback of its own reports its steps."""
    most = getattr(estimator, "max_iter", None)
    if tell is None or most is None or getattr(estimator, "callback", 0) is not None:
        yield
        return

    def report(step: int, loss: Any, state: Any) -> None:
        tell(min(1.0, step / most))

    estimator.callback = report
    try:
        yield
    finally:
        estimator.callback = None


def _checked(embedding: Any, n: int) -> np.ndarray:
    Z = np.asarray(embedding)
    if Z.ndim != 2 or Z.shape[0] != n or Z.shape[1] == 0:
        raise ValueError(f"fit_transform must return one row for each of the {n} rows; got shape {Z.shape}.")
    if Z.dtype.kind not in "fiu":
        raise ValueError(f"fit_transform must return real numbers; got dtype {Z.dtype}.")
    if np.isinf(Z).any():
        raise ValueError(
            f"fit_transform must return finite values or NaN; got {int(np.isinf(Z).sum())} infinite values."
        )
    embedded = int((~np.isnan(Z).any(axis=1)).sum())
    if embedded < 3:  # ranks need three rows, and scores are over the rows that all methods embedded
        raise ValueError(f"fit_transform must embed at least 3 rows; {embedded} of {n} have no NaN.")
    return Z


def _messages(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Each message once, with its count; the category unless it is UserWarning."""
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
    """Fitted attributes about convergence, spectrum and graph; of long arrays the first ten values."""
    found = {}
    for name in DIAGNOSTICS:
        value = getattr(estimator, name, None)
        if value is not None:
            found[name] = plain(value[:10] if isinstance(value, np.ndarray) and value.ndim == 1 else value)
    if (device := str(getattr(estimator, "device_", "cpu"))) != "cpu":
        found["device_"] = device
    return found

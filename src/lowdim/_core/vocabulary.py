"""Parameters that mean the same in every estimator: one rule, one default, one sentence, one place in the signature.

An estimator that has such a parameter does not write a rule for it. `tests/test_vocabulary.py` holds all signatures and
docstrings to this table. Where an estimator needs another rule or default, it is in `VARIES`, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

from lowdim._core import params
from lowdim._core.distances.with_holes import METRICS
from lowdim._core.graph import POLICIES
from lowdim._core.neighbors import SEARCH


@dataclass(frozen=True)
class Shared:
    """A parameter that several estimators have."""

    rule: params.Rule
    default: Any
    type: str  # as the docstring gives it
    text: str  # what its description begins with; an estimator may add sentences of its own


SHARED = {
    "radius": Shared(
        params.none() | params.real(0, open_low=True),
        None,
        "float or None",
        "Join rows within this distance instead of a fixed number of neighbours.",
    ),
    "metric": Shared(
        params.text() | params.function(),
        "euclidean",
        "str or callable",
        'Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or '
        '"precomputed" where X holds distances.',
    ),
    "metric_params": Shared(
        params.none() | params.mapping(),
        None,
        "dict or None",
        'Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.',
    ),
    "search": Shared(
        params.one_of(*SEARCH),
        "auto",
        '{"auto", "exact", "approximate"}',
        'Neighbour search. "auto" is exact up to 20,000 rows and wherever a tree is fast, else approximate (with a '
        "recall of 98 % and more on data with structure).",
    ),
    "missing": Shared(
        params.one_of("error", *METRICS),
        "error",
        '{"error", "pairwise", "expected"}',
        "Missing cells (NaN), at fit and in new rows:",
    ),
    "disconnected": Shared(
        params.one_of(*POLICIES),
        "bridge",
        '{"bridge", "separate", "largest", "error"}',
        "If the neighbour graph is not connected:",
    ),
    "n_init": Shared(params.whole(1), 1, "int", "Number of starts; the best result is kept."),
    "max_iter": Shared(params.whole(1), 1000, "int", "Maximum number of iterations"),
    "tol": Shared(params.real(0), 1e-6, "float", "Convergence tolerance:"),
    "callback": Shared(
        params.none() | params.function(),
        None,
        "callable or None",
        "Called as ``callback(step, loss, state)``; returning True stops the fit.",
    ),
    "device": Shared(
        params.text(),
        "cpu",
        "str",
        'Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one.',
    ),
    "random_state": Shared(params.seed(), None, "int, generator or None", "Seed; the same int gives the same result."),
    "n_jobs": Shared(
        params.jobs(), None, "int or None", "Number of threads; None means all cores. Results do not depend on it."
    ),
    "verbose": Shared(
        params.whole(0) | params.flag(), 0, "int or bool", "1 or True shows the progress of long fits on stderr."
    ),
}

# These come last in every signature and docstring, in this order.
LAST = (
    *("metric", "metric_params", "search", "missing", "disconnected", "init", "n_init", "max_iter", "tol", "callback"),
    *("device", "random_state", "n_jobs", "verbose"),
)


_RULES: dict[Any, dict[str, params.Rule]] = {}  # reading a signature takes longer than a small fit


def rules_of(cls: Any) -> dict[str, params.Rule]:
    """The rule of every parameter of an estimator class: its own, or that of the table."""
    if cls not in _RULES:
        own: dict[str, params.Rule] = cls._rules
        names = [name for name in signature(cls).parameters if name in own or name in SHARED]
        _RULES[cls] = {name: own[name] if name in own else SHARED[name].rule for name in names}
    return _RULES[cls]

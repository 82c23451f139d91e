"""Public names that changed: the old ones work for one release, with a warning that gives the new one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from lowdim._core.runtime.notices import warn

P = ParamSpec("P")
R = TypeVar("R")


def renamed_parameters(**names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator of an `__init__`: ``renamed_parameters(reg="ridge")`` takes `reg` as `ridge`, with a warning.

    scikit-learn reads parameters from the function behind it (`deprecated_original`), so that the old name is in no
    `get_params` and no `repr`.
    """

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        @wraps(init)
        def wrapper(self: Any, *args: Any, **given: Any) -> None:
            init(self, *args, **current(type(self).__name__, given, names))

        wrapper.deprecated_original = init  # type: ignore[attr-defined]
        wrapper.renamed = names  # type: ignore[attr-defined]
        return wrapper

    return decorate


def renamed_arguments(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function: ``renamed_arguments(callback="progress")`` takes `callback` as `progress`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **given: P.kwargs) -> R:
            return function(*args, **current(function.__name__, given, names))

        wrapper.renamed = names  # type: ignore[attr-defined]
        return wrapper

    return decorate


def current(owner: str, given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Arguments under the names of today."""
    for old in set(given) & set(names):
        new = names[old]
        if new in given:
            raise TypeError(f"{owner}: {old} is the old name of {new}; pass only {new}.")
        warn(f"{owner}: {old} is now called {new}; the old name will go in the next release.", FutureWarning)
        given = {**{name: value for name, value in given.items() if name != old}, new: given[old]}
    return given


def renamed_of(cls: type) -> dict[str, str]:
    """Old parameter names of an estimator and what they are called now."""
    return getattr(cls.__init__, "renamed", {})  # type: ignore[misc]

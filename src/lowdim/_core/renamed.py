"""Names of parameters: old ones work for one release, with a warning; unknown ones get an error that says more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from lowdim._core.params import InvalidParameter
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


def with_known_parameters(init: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` that answers a parameter it does not have by the name that it has here, or the nearest one.

    Signature, `get_params` and `clone` see the function behind it. One that takes any parameter stays as it is.
    """
    found = signature(init).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in found.values()):
        return init
    names = [name for name in found if name != "self"]
    taken = {*names, *getattr(init, "renamed", {})}

    @wraps(init)
    def wrapper(self: Any, *args: Any, **given: Any) -> None:
        if not taken.issuperset(given):
            refuse_unknown(type(self), given, names, taken)
        init(self, *args, **given)

    wrapper.answers = True  # type: ignore[attr-defined]
    return wrapper


def refuse_unknown(cls: type, given: Iterable[str], names: Iterable[str], taken: Iterable[str]) -> None:
    """Raise an error about the first parameter that is not among those taken."""
    for name in given:
        if name not in taken:
            from lowdim._core.foreign_names import about_parameter  # a long table that few need

            families = [base.__name__ for base in cls.__mro__]
            raise InvalidParameter(about_parameter(cls.__name__, name, names, families))

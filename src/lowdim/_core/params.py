"""Rules for parameters, written once per class and checked in one place.

A rule is a sentence and a test: `whole(1) | none()` reads "a whole number >= 1 or None" in the error message.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from itertools import zip_longest
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeVar, cast

import numpy as np

from lowdim._core.runtime import foreign_tables
from lowdim._core.runtime.foreign_tables import in_known_form, is_tensor

MOST = 2**31 - 1  # of a whole number without a bound of its own: compiled code counts in 32 bits

F = TypeVar("F", bound=Callable[..., Any])


class InvalidParameter(ValueError, TypeError):
    """A parameter breaks its rule. Both a ValueError and a TypeError, as in scikit-learn."""


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and as a test; `a | b` accepts either."""

    text: str
    accepts: Callable[[Any], bool]

    def __or__(self, other: Rule) -> Rule:
        return Rule(f"{self.text} or {other.text}", lambda v: self.accepts(v) or other.accepts(v))


_names: dict[Any, tuple[str, ...]] = {}


def names_of(cls: Any) -> tuple[str, ...]:
    """The parameters of an estimator; looked up once, as it takes a sixth of a small fit."""
    if cls not in _names:
        given = inspect.signature(cls.__init__).parameters.values()
        named = [p.name for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        _names[cls] = tuple(name for name in named if name != "self")
    return _names[cls]


def whole(low: int, high: int | None = None) -> Rule:
    text = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high}"
    return Rule(text, lambda v: _is_whole(v) and low <= v <= (MOST if high is None else high))


def real(low: float, high: float = np.inf, *, open_low: bool = False, open_high: bool = False) -> Rule:
    sign = ">" if open_low else ">="
    text = f"a number {sign} {low:g}"
    if np.isfinite(high):
        text += f" and {'<' if open_high else '<='} {high:g}"

    def accepts(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            return False
        v = float(value)
        if not np.isfinite(v):
            return False
        return (v > low if open_low else v >= low) and (v < high if open_high else v <= high)

    return Rule(text, accepts)


def share() -> Rule:
    """A fraction strictly between 0 and 1; the int 1 is a count, not a share."""
    inside = real(0, 1, open_low=True, open_high=True)
    return Rule("a share between 0 and 1", lambda v: not _is_whole(v) and inside.accepts(v))


def one_of(*options: str) -> Rule:
    return Rule("one of " + ", ".join(map(repr, options)), lambda v: isinstance(v, str) and v in options)


def flag() -> Rule:
    return Rule("True or False", lambda v: isinstance(v, (bool, np.bool_)))


def none() -> Rule:
    return Rule("None", lambda v: v is None)


def text() -> Rule:
    return Rule("a name", lambda v: isinstance(v, str))


def function() -> Rule:
    return Rule("a callable", callable)


def seed() -> Rule:
    kinds = (np.random.RandomState, np.random.Generator)
    return Rule(
        "None, a non-negative integer or a random generator",
        lambda v: v is None or (_is_whole(v) and v >= 0) or isinstance(v, kinds),
    )


def jobs() -> Rule:
    return Rule("None or a non-zero integer", lambda v: v is None or (_is_whole(v) and v != 0))


def mapping() -> Rule:
    return Rule("a dict", lambda v: isinstance(v, Mapping))


def names() -> Rule:
    """Names one after the other; a single text is none, as its letters would be meant."""
    return Rule(
        "a list of names",
        lambda v: isinstance(v, Iterable) and getattr(v, "ndim", 1) == 1 and not isinstance(v, (str, bytes, Mapping)),
    )


def place() -> Rule:
    return Rule("the path of a folder", lambda v: isinstance(v, PathLike) or (isinstance(v, str) and v != ""))


def estimator() -> Rule:
    """An instance that copies can be made of."""
    return Rule(
        "an estimator with fit_transform and get_params (an object, not its class)",
        lambda v: not isinstance(v, type) and hasattr(v, "fit_transform") and hasattr(v, "get_params"),
    )


def _is_whole(v: Any) -> bool:
    return isinstance(v, Integral) and not isinstance(v, (bool, np.bool_))


def plain(value: Any) -> Any:
    """A value with numpy's numbers, truth values and text as Python's: a small integer of numpy overflows in products.

    >>> plain(np.uint8(200)) * 2
    400
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU" and value.dtype.itemsize <= 8:
        return value.item()
    if isinstance(value, np.str_):
        return str(value)
    if type(value) in (list, tuple) and any(isinstance(item, (np.generic, list, tuple)) for item in value):
        items = [plain(item) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    return value


def check(owner: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The values as Python's own types; InvalidParameter for the first that breaks its rule."""
    for name, rule in rules.items():
        if not rule.accepts(values[name]):
            most = f" and at most {MOST}" if _is_whole(values[name]) and values[name] > MOST else ""
            raise InvalidParameter(f"{owner}: {name} must be {rule.text}{most}; got {shown(values[name])}.")
    return {name: plain(values[name]) for name in rules}


def checked(owner: str, **own: Rule) -> Callable[[F], F]:
    """Decorator of a public function: its rules, and those of `n_jobs`, `random_state`, `device` and flags.

    All are checked before any work. A flag is an argument whose default is True or False. Numbers of numpy become
    Python's, as `check` makes them for estimators, and tables of other libraries get a known form.
    """

    def decorate(function: F) -> F:
        known = inspect.signature(function).parameters
        names = tuple(known)
        flags = {name: flag() for name in names if isinstance(known[name].default, bool) and name != "verbose"}
        device = none() | text() if "device" in known and known["device"].default is None else text()
        rules = {"n_jobs": jobs(), "random_state": seed(), "device": device, **flags, **own}

        @wraps(function)
        def inside(*args: Any, **options: Any) -> Any:
            given = dict(zip(names, args, strict=False)) | options
            check(owner, given, {name: rule for name, rule in rules.items() if name in given})
            stay = given.get("device", "cpu") != "cpu"  # tensors on a GPU, for those that compute there
            placed = (
                _argument(value, f"{owner}: {name}", stay) for value, name in zip_longest(args, names[: len(args)])
            )
            named = {name: _argument(value, f"{owner}: {name}", stay) for name, value in options.items()}
            return function(*placed, **named)

        return cast(F, inside)

    return decorate


def _argument(value: Any, what: str, stay: bool) -> Any:
    """A number of numpy as Python's, tensors as arrays, tables of Arrow as data frames, anything else as it is."""
    if isinstance(value, np.generic):
        return plain(value)
    return value if stay and is_tensor(value) and foreign_tables.on_gpu(value) else in_known_form(value, what)


def shown(value: Any) -> str:
    """A value as error messages show it: of a long one the beginning."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."

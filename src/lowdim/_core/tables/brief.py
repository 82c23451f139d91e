"""How a record of arrays shows itself: one line that says what it holds, whatever its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

MOST = 4  # entries of an array, a tuple or a mapping that are written out
TEXT = 60  # characters of a text
LINE = 230  # characters after which fields are only counted


def brief(record: Any) -> str:
    """A `__repr__` for a dataclass: its fields, arrays by their shape and type, long texts and tuples cut.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Map:
    ...     name: str
    ...     Z: np.ndarray
    ...     stress: float
    ...
    ...     __repr__ = brief
    >>> Map("isomap", np.zeros((1000, 2)), 1 / 3)
    Map(name='isomap', Z=1000 x 2 float64, stress=0.333333)
    """
    shown, named = [], [one for one in fields(record) if one.repr]
    for one in named:
        shown.append(f"{one.name}={value(getattr(record, one.name))}")
        if sum(map(len, shown)) > LINE:
            shown[-1] = f"and {len(named) - len(shown) + 1} more fields"
            break
    return f"{type(record).__name__}({', '.join(shown)})"


def value(given: Any) -> str:
    """One field in a few words."""
    if isinstance(given, (bool, np.bool_)) or given is None:
        return str(given)
    if isinstance(given, (float, np.floating)):
        return f"{float(given):.6g}"
    if isinstance(given, (int, np.integer)):
        return str(int(given))
    if isinstance(given, str):
        return repr(given if len(given) <= TEXT else given[: TEXT - 3] + "...")
    if isinstance(given, np.ndarray) or sparse.issparse(given):
        return _array(given)
    if isinstance(given, Mapping):
        return "{" + _some([f"{value(key)}" for key in given], len(given)) + "}"
    if isinstance(given, (tuple, list)):
        return "(" + _some([value(one) for one in given[:MOST]], len(given)) + ")"
    return type(given).__name__ if is_dataclass(given) or hasattr(given, "get_params") else _short(repr(given))


def _array(given: Any) -> str:
    if isinstance(given, np.ndarray) and given.size <= MOST and given.ndim == 1:
        return f"[{', '.join(value(one) for one in given.tolist())}]"
    shape = " x ".join(f"{n}" for n in given.shape) or "one"
    return f"{shape} {given.dtype}" + (f" ({given.nnz} stored)" if sparse.issparse(given) else "")


def _some(shown: list[str], n: int) -> str:
    left = n - MOST
    return ", ".join(shown[:MOST]) + (f", {left} more" if left > 0 else "")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= TEXT else text[: TEXT - 3] + "..."

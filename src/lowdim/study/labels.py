"""Labels of rows: classes, or a quantity; some rows may have none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

MOST_CLASSES = 30


@dataclass(frozen=True, eq=False)
class Labels:
    """A label per row.

    Whole numbers with at most 30 different values, truth values and text are classes; other numbers are a quantity,
    for which colours have an order and the 1-nearest-neighbour error has no meaning.

    Attributes
    ----------
    values : ndarray
        As given; a quantity has NaN where a row has no label.
    name : str
        What the label is called.
    missing : ndarray of bool
        The rows without a label.
    classes : list of str or None
        The classes in order; None for a quantity.
    codes : ndarray of int or None
        For each row the position of its class; -1 for a row without a label.
    """

    values: np.ndarray
    name: str
    missing: np.ndarray
    classes: list[str] | None = None
    codes: np.ndarray | None = None

    @property
    def note(self) -> str | None:
        """What must be known about rows without a label."""
        if not self.missing.any():
            return None
        error = "" if self.classes is None else " and left out of the 1-NN error"
        rows = f"{self.missing.sum()} of {self.missing.size} rows have"
        return f"{rows} no label ({self.name}): they are drawn grey{error}."


def labels_of(y: Any, n: int, name: str | None = None, owner: str = "compare") -> Labels:
    """The labels behind what a user passes as `y`; NaN and None mean that a row has none."""
    values = np.asarray(y)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.shape != (n,):
        raise ValueError(f"{owner}: y must have one label for each of the {n} rows; got shape {values.shape}.")
    name = str(name) if name else "label"
    missing = _missing(values)
    if missing.all():
        raise ValueError(f"{owner}: y must have at least one label; all {n} are missing.")
    there = _plain(values[~missing])
    if there.dtype.kind == "f" and np.isinf(there).any():
        raise ValueError(f"{owner}: y must be finite; {int(np.isinf(there).sum())} labels are infinite.")
    if there.dtype.kind in "iuf" and not _few_whole_numbers(there):
        quantity = np.full(n, np.nan)
        quantity[~missing] = there
        return Labels(quantity, name, missing)
    return _classes(values, there, missing, name)


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "Mm":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([_is_hole(value) for value in values], dtype=bool)
    return np.zeros(values.shape, dtype=bool)


def _is_hole(value: Any) -> bool:
    """None, NaN, and the missing values of data frames, which say neither yes nor no when compared."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _plain(values: np.ndarray) -> np.ndarray:
    """Objects as the numbers or truth values they are; else text."""
    if values.dtype.kind != "O":
        return values if values.dtype.kind in "biuf" else values.astype(str)
    flags = [isinstance(value, (bool, np.bool_)) for value in values]
    if all(flags):
        return values.astype(bool)
    return values.astype(float if not any(flags) and all(isinstance(value, Real) for value in values) else str)


def _classes(values: np.ndarray, there: np.ndarray, missing: np.ndarray, name: str) -> Labels:
    found, where = np.unique(there, return_inverse=True)
    shown = [_shown(value) for value in found]
    order = _order(shown) if found.dtype.kind == "U" else list(range(len(shown)))
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = np.argsort(order)[where.ravel()]
    return Labels(values, name, missing, [shown[i] for i in order], codes)


def _order(names: list[str]) -> list[int]:
    """Names in the order people expect: numbers in text by their value, so that "class 10" comes after "class 9"."""
    try:
        numbers = [float(name) for name in names]
        return sorted(range(len(names)), key=lambda i: numbers[i])
    except ValueError:
        parts = [re.split(r"([0-9]+)", name) for name in names]
        keys = [[(int(p), "") if j % 2 else (0, p) for j, p in enumerate(part)] for part in parts]
        return sorted(range(len(names)), key=lambda i: keys[i])


def _few_whole_numbers(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all()) and len(np.unique(values)) <= MOST_CLASSES


def _shown(value: Any) -> str:
    """A class as people write it: 1.0 is 1."""
    return str(int(value)) if isinstance(value, np.floating) else str(value)

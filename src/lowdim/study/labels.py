"""Labels of rows: classes or a quantity, with missing labels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.tables.brief import brief
from lowdim._core.tables.labels import are_classes, missing_labels, plain_labels


@dataclass(frozen=True, eq=False)
class Labels:
    """A label for each row.

    Text, true/false and whole numbers with at most 30 different values are classes. Other numbers are a quantity: they
    are drawn on a continuous colour scale and have no 1-nearest-neighbour error.

    Attributes
    ----------
    values : ndarray
        As given; a quantity has NaN for a row without a label.
    name : str
        Name of the label.
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

    __repr__ = brief

    def take(self, rows: np.ndarray) -> Labels:
        """The labels of these rows; the classes stay as they are."""
        codes = None if self.codes is None else self.codes[rows]
        return replace(self, values=self.values[rows], missing=self.missing[rows], codes=codes)

    @property
    def note(self) -> str | None:
        """A note about rows without a label; None if there are none."""
        if not self.missing.any():
            return None
        error = "" if self.classes is None else " and not in the 1-NN error"
        rows = f"{self.missing.sum()} of {self.missing.size} rows"
        return f"{rows} have no label ({self.name}): they are grey in the maps{error}."


def labels_of(y: Any, n: int, name: str | None = None, owner: str = "compare") -> Labels:
    """The labels in `y`; NaN and None are missing labels."""
    values = np.asarray(y)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.shape != (n,):
        raise ValueError(f"{owner}: y must have one label for each of the {n} rows; got shape {values.shape}.")
    name = str(name) if name else "label"
    missing = missing_labels(values)
    if missing.all():
        raise ValueError(f"{owner}: y must have at least one label; all {n} are missing.")
    there = plain_labels(values[~missing])
    if there.dtype.kind == "f" and np.isinf(there).any():
        raise ValueError(f"{owner}: y must be finite; {int(np.isinf(there).sum())} labels are infinite.")
    if not are_classes(there):
        quantity = np.full(n, np.nan)
        quantity[~missing] = there
        return Labels(quantity, name, missing)
    return _classes(values, there, missing, name)


def _classes(values: np.ndarray, there: np.ndarray, missing: np.ndarray, name: str) -> Labels:
    found, where = np.unique(there, return_inverse=True)
    shown = [_shown(value) for value in found]
    order = _order(shown) if found.dtype.kind == "U" else list(range(len(shown)))
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = np.argsort(order)[where.ravel()]
    return Labels(values, name, missing, [shown[i] for i in order], codes)


def _order(names: list[str]) -> list[int]:
    """Natural order: numbers inside text count by value, so that "class 10" comes after "class 9"."""
    try:
        numbers = [float(name) for name in names]
        return sorted(range(len(names)), key=lambda i: numbers[i])
    except ValueError:
        parts = [re.split(r"([0-9]+)", name) for name in names]
        keys = [[(int(p), "") if j % 2 else (0, p) for j, p in enumerate(part)] for part in parts]
        return sorted(range(len(names)), key=lambda i: keys[i])


def _shown(value: Any) -> str:
    """A class as text: 1.0 is 1."""
    return str(int(value)) if isinstance(value, np.floating) else str(value)


def in_order_of(X: Any, y: Any) -> Any:
    """Labels of a pandas Series by the names of the rows of X, where both indices have the same ones; else as given."""
    if not all(hasattr(getattr(one, "index", None), "is_unique") for one in (X, y)):
        return y
    ours, theirs = X.index, y.index
    if not (ours.is_unique and theirs.is_unique) or ours.equals(theirs) or set(ours) != set(theirs):
        return y
    return y.loc[ours]

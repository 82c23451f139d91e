"""Labels of rows: classes, or a quantity."""

from __future__ import annotations

from dataclasses import dataclass
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
        As given.
    name : str
        What the label is called.
    classes : list of str or None
        The classes in order; None for a quantity.
    codes : ndarray of int or None
        For each row the position of its class.
    """

    values: np.ndarray
    name: str
    classes: list[str] | None = None
    codes: np.ndarray | None = None


def labels_of(y: Any, n: int, name: str | None = None, owner: str = "compare") -> Labels:
    """The labels behind what a user passes as `y`."""
    values = np.asarray(y)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.shape != (n,):
        raise ValueError(f"{owner}: y must have one label for each of the {n} rows; got shape {values.shape}.")
    name = str(name) if name else "label"
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{owner}: y must be finite; {int((~np.isfinite(values)).sum())} labels are NaN or infinite.")
    if values.dtype.kind in "iuf" and not _few_whole_numbers(values):
        return Labels(values, name)
    if values.dtype.kind not in "biuf":
        values = values.astype(str)
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(values, name, [_shown(c) for c in classes], codes.astype(np.int32).ravel())


def _few_whole_numbers(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all()) and len(np.unique(values)) <= MOST_CLASSES


def _shown(value: Any) -> str:
    """A class as people write it: 1.0 is 1."""
    return str(int(value)) if isinstance(value, np.floating) else str(value)

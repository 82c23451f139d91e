"""Labels of rows: which are missing, and whether the others are classes or a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

MOST_CLASSES = 30


@dataclass(frozen=True, eq=False)
class Target:
    """What the rows with a label are labelled with."""

    labelled: np.ndarray  # (n,) bool: the rows with a label
    values: np.ndarray  # of those rows: the number of the class (int), or the quantity (float64)
    classes: bool


def target_of(y: Any, n: int, kind: str, owner: str) -> Target:
    """The labels in `y` as classes or a quantity.

    `kind` is "classes", "quantity" or "auto": text, true/false and whole numbers with at most 30 different values are
    then classes, other numbers a quantity. NaN, None and masked labels are missing.
    """
    values = _as_array(y, n, owner)
    values = values.ravel() if values.ndim == 2 and 1 in values.shape else values
    if values.shape != (n,):
        raise ValueError(f"{owner}: y must have one label for each of the {n} rows; got shape {values.shape}.")
    missing = missing_labels(values)
    if isinstance(y, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(y).reshape(n)
    if missing.all():
        raise ValueError(f"{owner}: y must have at least one label; all {n} are missing.")
    there = _plain(values[~missing], owner)
    if there.dtype.kind == "f" and np.isinf(there).any():
        raise ValueError(f"{owner}: y must be finite; {int(np.isinf(there).sum())} labels are infinite.")
    classes = are_classes(there) if kind == "auto" else kind == "classes"
    if not classes and there.dtype.kind not in "iuf":
        raise ValueError(f"{owner}: y must hold numbers to be a quantity; got {there[0]!r}. Use target='classes'.")
    found, codes = np.unique(there, return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"{owner}: y must have different labels; all {len(there)} rows with a label have the same.")
    if classes and len(found) == len(there):
        raise ValueError(f"{owner}: y must have a class of two rows or more; each of {len(there)} rows has its own.")
    return Target(~missing, codes.ravel() if classes else there.astype(np.float64), classes)


def numbered(y: np.ndarray, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted labels, and the number of each row's."""
    try:
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise TypeError(
            f"{owner}: y must hold labels of one kind, text or numbers, and none missing; got {', '.join(kinds)}."
        ) from error


def _as_array(y: Any, n: int, owner: str) -> np.ndarray:
    try:
        return np.asarray(y)
    except ValueError as error:
        raise ValueError(f"{owner}: y must have one label for each of the {n} rows; got lists of them.") from error


def _plain(values: np.ndarray, owner: str) -> np.ndarray:
    try:
        return plain_labels(values)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"{owner}: y must hold labels that are text or numbers of float64; got {type(values[0]).__name__}."
        ) from error


def missing_labels(values: np.ndarray) -> np.ndarray:
    """Which labels are None, NaN or the missing value of a data frame."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "Mm":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([_is_missing(value) for value in values], dtype=bool)
    return np.zeros(values.shape, dtype=bool)


def _is_missing(value: Any) -> bool:
    """Missing values of data frames have comparisons that are neither true nor false."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def plain_labels(values: np.ndarray) -> np.ndarray:
    """Labels, none of them missing, as numbers or true/false if all of them are, else as text."""
    if values.dtype.kind != "O":
        return values if values.dtype.kind in "biuf" else values.astype(str)
    flags = [isinstance(value, (bool, np.bool_)) for value in values]
    if all(flags):
        return values.astype(bool)
    return values.astype(float if not any(flags) and all(isinstance(value, Real) for value in values) else str)


def are_classes(values: np.ndarray) -> bool:
    """Whether plain labels are classes: text, true/false, or whole numbers with few different values."""
    if values.dtype.kind not in "iuf":
        return True
    return bool((values == np.round(values)).all()) and len(np.unique(values)) <= MOST_CLASSES

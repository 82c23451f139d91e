"""Labels as the methods want them that need some: classes, a quantity, or a second table."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.study.labels import Labels


def target_of(kind: str, labels: Labels | None, name: str) -> tuple[np.ndarray, Any]:
    """The rows that have a label, and `y` of all rows; `kind` as `Method.target` has it."""
    if labels is None:
        raise ValueError(f"{name} needs a label for each row: pass y (on the command line: --label COL).")
    known = ~labels.missing
    if kind == "classes" and labels.codes is None:
        raise ValueError(f"{name} needs classes; the label {labels.name!r} is a quantity.")
    if kind == "a second table":
        return known, _second_table(labels)
    return known, labels.values.astype(np.float64) if labels.codes is None else labels.codes


def _second_table(labels: Labels) -> np.ndarray:
    """A quantity as one column; classes as a column of ones and zeros each, but the last, which the others imply."""
    if labels.codes is None:
        return labels.values.astype(np.float64)[:, None]
    ones = np.eye(max(labels.codes.max() + 1, 2))[np.maximum(labels.codes, 0)]
    return np.asarray(ones[:, :-1])

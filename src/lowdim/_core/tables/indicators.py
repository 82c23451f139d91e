"""Tables of numbers and categories as tables of numbers: one 0/1 (indicator) column for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Layout:
    """Which indicator columns stand for which column of the table; a column of numbers stands for itself."""

    categories: Sequence[Sequence[Any] | None]  # for each column of the table; None where it holds numbers
    parents: np.ndarray  # for each indicator column the column it stands for
    numeric: np.ndarray  # for each indicator column whether it holds numbers

    @classmethod
    def of(cls, categories: Sequence[Sequence[Any] | None]) -> Layout:
        widths = [1 if found is None else len(found) for found in categories]
        numeric = np.array([found is None for found in categories], dtype=bool)
        return cls(categories, np.repeat(np.arange(len(widths)), widths), np.repeat(numeric, widths))

    @property
    def n_questions(self) -> int:
        """Columns that hold categories; each takes one dimension, as its indicator columns sum to one."""
        return sum(found is not None for found in self.categories)

    def names(self, columns: Sequence[str]) -> list[str]:
        """`column` for numbers, `column=category` for categories."""
        parts = zip(columns, self.categories, strict=True)
        return [
            name
            for column, found in parts
            for name in ([column] if found is None else [f"{column}={c}" for c in found])
        ]

    def spread(self, coded: np.ndarray) -> np.ndarray:
        """Numbers and indicator columns; NaN in all columns of a missing cell."""
        parts = []
        for column, found in zip(coded.T, self.categories, strict=True):
            cells = column[:, None]
            if found is not None:
                cells = np.where(np.isnan(cells), np.nan, cells == np.arange(len(found)))
            parts.append(cells)
        return np.hstack(parts).astype(np.float64)

    def gather(self, D: np.ndarray) -> np.ndarray:
        """Numbers, and the most likely category of each question: the inverse of `spread`."""
        coded = np.empty((len(D), len(self.categories)))
        for j, found in enumerate(self.categories):
            mine = D[:, self.parents == j]
            coded[:, j] = mine[:, 0] if found is None else mine.argmax(axis=1)
        return coded

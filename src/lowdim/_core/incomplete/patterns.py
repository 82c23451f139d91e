"""A stream of incomplete rows as a small weighted table with the same moments for every pattern of missing cells.

The likelihood of a normal model, and every step of a completion by principal components, depend on the rows only
through the number, the mean and the scatter of the rows of each pattern. Few weighted rows can have these: with o
observed columns, c rows of mean m and scatter L L' become the o + 1 rows m + sqrt((o + 1) / c) L h_i of weight
c / (o + 1), where the h_i are the corners of a regular simplex (orthonormal columns that sum to 0). Fits of the table
are those of all rows. Patterns with few rows keep their rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import helmert

from lowdim._core.runtime import memory
from lowdim._core.spectrum import Moments

Array = np.ndarray


class ByPattern:
    """Rows of each pattern of missing cells: themselves while they are few, then their moments.

    Parameters
    ----------
    owner : str
        Name of the caller, for messages.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.kept: dict[bytes, list[Array]] = {}
        self.moments: dict[bytes, Moments] = {}
        self.cells = 0

    @property
    def incomplete(self) -> bool:
        """Whether any cell was missing."""
        return any(any(pattern) for pattern in (*self.kept, *self.moments))

    @property
    def weight(self) -> float:
        """Number of rows."""
        return sum(part.weight for part in self.moments.values()) + sum(len(rows) for rows in self.kept.values())

    def add(self, rows: Array) -> None:
        """A batch; NaN is a missing cell."""
        patterns, which = np.unique(np.isnan(rows), axis=0, return_inverse=True)
        for i, pattern in enumerate(patterns):
            self._add(pattern.tobytes(), rows[which.reshape(-1) == i][:, ~pattern].astype(np.float64))
        memory.check(self.owner, {"incomplete rows": 8 * self.cells}, "Drop columns that are seldom observed.")

    def _add(self, pattern: bytes, rows: Array) -> None:
        if pattern not in self.moments:
            own = self.kept.setdefault(pattern, [])
            own.extend(rows)
            self.cells += rows.size
            if len(own) <= 2 * (rows.shape[1] + 1):
                return
            rows = np.array(self.kept.pop(pattern))
            self.cells -= rows.size - rows.shape[1] * (rows.shape[1] + 1)
        part = Moments.of(rows)
        self.moments[pattern] = self.moments[pattern] + part if pattern in self.moments else part

    def __add__(self, other: ByPattern) -> ByPattern:
        """Rows of both; neither is changed."""
        both = ByPattern(self.owner)
        both.kept = {pattern: list(rows) for pattern, rows in self.kept.items()}
        both.moments, both.cells = dict(self.moments), self.cells
        for pattern, rows in other.kept.items():
            both._add(pattern, np.array(rows))
        for pattern, part in other.moments.items():
            if pattern in both.kept:
                few = np.array(both.kept.pop(pattern))
                both.cells -= few.size
                part = Moments.of(few) + part
            both.cells += 0 if pattern in both.moments else part.scatter.size + part.mean.size
            both.moments[pattern] = both.moments[pattern] + part if pattern in both.moments else part
        memory.check(self.owner, {"incomplete rows": 8 * both.cells}, "Drop columns that are seldom observed.")
        return both

    def joined(self, complete: Moments) -> ByPattern:
        """With the moments of complete rows that came before."""
        if complete.weight:
            pattern = np.zeros(len(complete.mean), dtype=bool).tobytes()
            for rows in self.kept.pop(pattern, ()):
                complete = complete + Moments(1.0, rows, np.zeros_like(complete.scatter))
            self.moments[pattern] = self.moments[pattern] + complete if pattern in self.moments else complete
        return self

    def table(self) -> tuple[Array, Array]:
        """Rows and their weights."""
        parts = [*self._rows(), *self._simplices()]
        return np.vstack([rows for rows, _ in parts]), np.concatenate([weights for _, weights in parts])

    def _rows(self) -> Iterator[tuple[Array, Array]]:
        for pattern, rows in self.kept.items():
            yield _spread(np.array(rows), pattern), np.ones(len(rows))

    def _simplices(self) -> Iterator[tuple[Array, Array]]:
        for pattern, part in self.moments.items():
            o = len(part.mean)
            values, vectors = np.linalg.eigh(part.scatter)
            L = vectors * np.sqrt(np.maximum(values, 0.0))
            rows = part.mean + np.sqrt((o + 1) / part.weight) * helmert(o + 1).T @ L.T
            yield _spread(rows, pattern), np.full(o + 1, part.weight / (o + 1))


def _spread(rows: Array, pattern: bytes) -> Array:
    """Observed columns in their places among the missing ones."""
    hole = np.frombuffer(pattern, dtype=bool)
    table = np.full((len(rows), len(hole)), np.nan)
    table[:, ~hole] = rows
    return table

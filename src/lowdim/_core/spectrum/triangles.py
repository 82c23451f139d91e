"""QR decomposition of rows that come in blocks (TSQR: tall and skinny QR), centred before they are multiplied.

The triangle R of all rows stands for them in every decomposition that needs only their inner products, and nothing is
squared: singular values of 1e-14 of the first are still there, where the covariance ends at 1e-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sla

from lowdim._core.runtime import threads
from lowdim._core.spectrum.moments import mean_and_variance

Array = np.ndarray

OTHER_KIND = (
    "these sums are not of the same kind as those before: go on with the settings that the first batches had, or begin "
    "anew: sklearn.base.clone(model)."
)


@dataclass(frozen=True, eq=False)
class Triangle:
    """Number of rows, their mean, and R with R'R their scatter; `a + b` is that of both (Demmel and others, 2012).

    R is upper triangular, with as many rows as there are, at most as columns. Neither summand is changed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2) ** 2
    >>> both = Triangle.of(X[:2]) + Triangle.of(X[2:])
    >>> bool(np.allclose(both.R.T @ both.R / 5, np.cov(X.T)))
    True
    """

    goes_on: ClassVar[bool] = True

    owner: str
    weight: float
    mean: Array
    R: Array
    dtype: str

    @property
    def has_file(self) -> bool:
        """Whether a model file can hold it."""
        return True

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @classmethod
    def of(cls, X: Array, owner: str = "Triangle") -> Triangle:
        """That of dense, complete rows."""
        mean, _ = mean_and_variance(X)
        parts = threads.blocks(len(X), max(4 * X.shape[1], 2**18 // max(1, X.shape[1])))
        R = triangle(np.subtract(X[rows], mean, dtype=np.float64) for rows in parts)
        return cls(owner, float(len(X)), mean, R, X.dtype.name)

    def __add__(self, other: Any) -> Triangle:
        if not isinstance(other, Triangle):
            raise ValueError(f"{self.owner}: {OTHER_KIND}")
        if other.width != self.width:
            raise ValueError(f"{self.owner}: every batch of X must have {self.width} columns; got {other.width}.")
        weight, step = self.weight + other.weight, other.mean - self.mean
        between = step * np.sqrt(self.weight * other.weight / weight)
        R = triangle([np.vstack([self.R, other.R, between])])
        mean = self.mean + step * (other.weight / weight)
        return Triangle(self.owner, weight, mean, R, np.promote_types(self.dtype, other.dtype).name)

    def moments(self) -> Triangle:
        """Itself: there are no patterns of missing cells."""
        return self

    def about_origin(self) -> Array:
        """R of the rows as they are."""
        return triangle([np.vstack([self.R, np.sqrt(self.weight) * self.mean])])

    def squares(self) -> Array:
        """The sum of squares of each centred column."""
        return np.square(self.R).sum(axis=0)


def triangle(parts: Iterable[Array]) -> Array:
    """R of the rows of all parts, which may be overwritten."""
    R: Array | None = None
    for part in parts:
        stack = part if R is None else np.vstack([R, part])
        R = threads.lapack(sla.qr, stack, mode="r", overwrite_a=True, check_finite=False)[0][: stack.shape[1]]
    assert R is not None  # there are rows
    return np.ascontiguousarray(R)

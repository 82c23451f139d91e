"""Min-max scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim.linear.in_blocks.sums import rows_of


def _is_range(value: Any) -> bool:
    number = params.real(-np.inf)
    return np.shape(value) == (2,) and all(number.accepts(v) for v in value) and value[0] < value[1]


@dataclass(frozen=True, eq=False)
class _Ends:
    """The smallest and the largest cell of each column of some rows."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, batch: Any) -> _Ends:
        """Of a batch; NaN is a missing cell."""
        X = rows_of(batch, "MinMax", None, nan=True)
        return cls(np.fmin.reduce(X, axis=0).astype(np.float64), np.fmax.reduce(X, axis=0).astype(np.float64))

    def __add__(self, other: _Ends) -> _Ends:
        if len(other.low) != len(self.low):
            raise ValueError(f"MinMax: every batch of X must have {len(self.low)} columns; got {len(other.low)}.")
        return _Ends(np.fmin(self.low, other.low), np.fmax(self.high, other.high))


class MinMax(OneToOneFeatureMixin, Reducer):
    """Min-max scaling: a linear map of each column, after which its cells run from the lower to the upper end.

    z = low + (x - min) / (max - min) (high - low), with the smallest and largest cell of the fitted rows. New rows may
    lie outside of the range. One outlying cell compresses all others of its column.

    Parameters
    ----------
    feature_range : tuple of two numbers
        The lower and the upper end.
    clip : bool
        Move cells of new rows that are outside of the range to its nearer end. Then they cannot be inverted.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    data_min_, data_max_ : ndarray of shape (n_features,)
        The smallest and the largest observed cell of each column.
    data_range_ : ndarray of shape (n_features,)
        Their difference.

    Notes
    -----
    A constant column goes to the lower end; a new cell that differs from the constant goes as far from the lower end as
    if the range of the column was 1. Missing cells (NaN) stay missing. Sparse rows are an error: subtracting the
    smallest cell would fill their zeros.

    References
    ----------
    Han, Kamber and Pei, Data Mining: Concepts and Techniques, 2012.

    Examples
    --------
    >>> import lowdim
    >>> model = lowdim.MinMax().fit([[1.0, 10.0], [2.0, 40.0], [5.0, 20.0]])
    >>> model.transform([[2.0, 40.0], [7.0, 10.0]])
    array([[0.25, 1.  ],
           [1.5 , 0.  ]])
    """

    _rules: ClassVar = {
        "feature_range": params.Rule("two numbers, the smaller one first", _is_range),
        "clip": params.flag(),
    }
    _takes_nan = True
    _missing_stays = True
    _keeps_embedding = False
    _min_rows = 1
    _block_rows = 16384
    _ways_out = "Scale the rows in parts: fit on rows that hold the extremes, then transform part by part."

    def __init__(self, feature_range=(0, 1), *, clip=False, n_jobs=None):
        self.feature_range = feature_range
        self.clip = clip
        self.n_jobs = n_jobs

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[Any, np.dtype]:
        if sparse.issparse(X):
            raise TypeError(
                f"MinMax: X must be dense; got a sparse matrix of shape {X.shape}, and subtracting the smallest cell "
                "of a column would fill its zeros. Divide by the largest magnitudes instead "
                "(sklearn.preprocessing.MaxAbsScaler), or make it dense if memory allows: X.toarray()."
            )
        return super()._check_rows(X, fitting=fitting)

    def _embed(self, X: np.ndarray) -> None:
        self.data_min_ = np.fmin.reduce(X, axis=0).astype(np.float64)
        self.data_max_ = np.fmax.reduce(X, axis=0).astype(np.float64)
        self.data_range_ = self.data_max_ - self.data_min_
        self._n_features_out = X.shape[1]

    def _embed_batches(self, batches: Any) -> None:
        found = batches.gather(_Ends.of)
        if found is None:
            raise ValueError("MinMax: the batches must hold at least 1 rows together.")
        self.data_min_, self.data_max_ = found.low, found.high
        self.data_range_ = self.data_max_ - self.data_min_
        self.n_features_in_ = self._n_features_out = len(found.low)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        low, high = map(float, self.feature_range)
        # Subtract, then divide: so the ends are met exactly.
        Z = X - self.data_min_
        Z /= self._divisor()
        Z *= high - low
        Z += low
        return np.clip(Z, low, high, out=Z) if self.clip else Z

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        low, high = map(float, self.feature_range)
        return self.data_min_ + (Z - low) / (high - low) * self._divisor()

    def _divisor(self) -> np.ndarray:
        return np.where(self.data_range_ > 0, self.data_range_, 1.0)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return {"ranges": 4 * d * 8}  # the rows are scaled by `transform`

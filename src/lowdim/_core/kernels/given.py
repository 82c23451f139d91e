"""Kernels given by the user: a matrix of values, or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.kernels.algebra import Kernel
from lowdim._core.kernels.widths import Rows


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values computed elsewhere: X holds k(x, y), a row for each x, a column for each fitted row y.

    ``k(X)`` and ``k(X, Y)`` return a copy of X; Y, the fitted rows, only says how many columns there must be.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> lowdim.KernelPCA(2, kernel="precomputed").fit_transform(X @ X.T).shape
    (20, 2)
    """

    is_psd = None
    pairwise = True

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        if Y is not None and X.shape[1] != Y.shape[0]:
            raise ValueError(
                f"Precomputed: X must have {Y.shape[0]} columns, one for each fitted row; got {X.shape[1]}."
            )
        return X.toarray() if sparse.issparse(X) else X.copy()

    def diag(self, X: Rows, values: Rows | None = None) -> np.ndarray:
        """Values k(x, x): the diagonal of the symmetric matrix X, or `values` for new rows.

        The values k(x, y) of new rows x against fitted rows y do not contain k(x, x): give those as `values`.
        """
        if values is None:
            return super().diag(X)
        X = self._checked_rows(X, None)[0]
        own = np.asarray(values, X.dtype)
        if own.shape == (X.shape[0],):
            return own.copy()
        raise ValueError(f"Precomputed: values must hold one k(x, x) for each of {X.shape[0]} rows; got {own.shape}.")

    def _own(self, X: Rows) -> np.ndarray:
        K = self._block(X, None)
        if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-5, atol=1e-6 * np.abs(K).max(initial=0.0)):
            raise ValueError(
                f"Precomputed: X must be symmetric for its diagonal to hold k(x, x); got a matrix of shape "
                f"{K.shape} that is not. For new rows, give k(x, x) as diag(X, values)."
            )
        return K.diagonal().copy()


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel from a function of your own.

    Parameters
    ----------
    f : callable
        ``f(x, y) -> float`` for two rows, symmetric; or ``f(X, Y) -> array`` for two blocks of rows.
    blockwise : bool
        Whether `f` takes blocks, which is much faster.

    Examples
    --------
    >>> k = Custom(lambda X, Y: np.minimum(X[:, None], Y).sum(axis=2), blockwise=True)
    >>> k([[1.0, 2.0]], [[0.0, 5.0], [3.0, 1.0]])
    array([[2., 2.]])
    """

    f: Callable[..., Any]
    blockwise: bool = False
    is_psd = None

    def __post_init__(self) -> None:
        if not callable(self.f) or isinstance(self.f, type):
            raise TypeError(f"Custom: f must be a function of two rows, or of two blocks of rows; got {self.f!r}.")

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        if self.blockwise:
            return self._checked(
                self.f(X, X if Y is None else Y), (X.shape[0], (X if Y is None else Y).shape[0]), X.dtype
            )
        if sparse.issparse(X) or sparse.issparse(Y):
            raise TypeError("Custom: rows must be dense unless blockwise=True; got sparse rows. Use X.toarray().")
        if Y is not None:
            return self._checked([[self.f(x, y) for y in Y] for x in X], (X.shape[0], Y.shape[0]), X.dtype)
        half = [[self.f(X[i], X[j]) if j <= i else 0.0 for j in range(X.shape[0])] for i in range(X.shape[0])]
        K = self._checked(half, (X.shape[0], X.shape[0]), X.dtype)
        return K + np.tril(K, -1).T

    def _own(self, X: Rows) -> np.ndarray:
        if self.blockwise:
            rows = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self._checked(self.f(x, x), (1, 1), X.dtype)[0, 0] for x in rows], X.dtype)
        return self._checked([self.f(x, x) for x in X], (X.shape[0],), X.dtype)

    def _checked(self, values: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        try:
            found = np.asarray(values)
        except ValueError:  # rows of different lengths
            found = np.asarray(None)
        if found.shape == shape and not self.blockwise and found.dtype.kind not in "biuf":
            odd = next((v for v in found.ravel().tolist() if not isinstance(v, Real)), None)
            raise ValueError(f"Custom: f must return a number for two rows; got {odd!r} ({type(odd).__name__}).")
        if found.shape != shape or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
            what = "values that are not finite" if found.shape == shape else f"shape {found.shape}"
            raise ValueError(f"Custom: f must return finite numbers of shape {shape} here; got {what}.")
        return found.astype(dtype)

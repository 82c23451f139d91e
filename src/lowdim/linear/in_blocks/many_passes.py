"""Principal axes and singular vectors of blocks of rows that can be read again, without a matrix of pairs of columns.

One pass gives mean and variance of each column. Then block Lanczos asks for Xc'(Xc B) with a narrow B, one pass a
step: each block of rows contributes a table of d x width, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from lowdim._core.spectrum import Eigenpairs, eigenpairs, mean_and_variance
from lowdim._core.tables.form import canonical
from lowdim.linear._decompose import Spectrum, divisors, rank_tolerance
from lowdim.linear.in_blocks.sums import rows_of

Array = np.ndarray

WIDE = 5000  # columns from which a matrix of their pairs (200 MB a sum) is not added up block by block


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Number of rows, and mean and sum of squares about it of each column; `a + b` are those of both."""

    weight: float
    mean: Array
    squares: Array
    dtype: np.dtype

    def __add__(self, other: ColumnSums) -> ColumnSums:
        if len(other.mean) != len(self.mean):
            raise ValueError(f"every batch of X must have {len(self.mean)} columns; got {len(other.mean)}.")
        weight, step = self.weight + other.weight, other.mean - self.mean
        squares = self.squares + other.squares + step**2 * (self.weight * other.weight / weight)
        mean = self.mean + step * (other.weight / weight)
        return ColumnSums(weight, mean, squares, np.promote_types(self.dtype, other.dtype))


def decompose(
    blocks: Any,
    k: int,
    least: int,
    *,
    scale: bool,
    ddof: int,
    tol: float,
    rng: np.random.Generator,
    owner: str = "PCA",
) -> Spectrum:
    """The k largest eigenvalues and loadings of the covariance of all blocks of complete rows."""
    sums = sums_of_columns(blocks, least, owner)
    n, d, divisor = int(sums.weight), len(sums.mean), sums.weight - ddof
    k = min(k, n, d)
    variance = sums.squares / divisor
    divide = divisors(variance, sums.mean, n, sums.dtype) if scale else None
    variance = variance if divide is None else variance / divide**2
    total = float(variance.sum())
    settings: dict[str, Any] = {"tol": max(tol, 1e-8), "rng": rng, "owner": owner}
    pairs = leading(blocks, k, mean=sums.mean, divide=divide, norm=total * divisor, **settings)
    values = np.maximum(pairs.values, 0.0) / divisor
    tolerance, most = rank_tolerance(n, d, sums.dtype), min(n - 1, d)
    made = values, pairs.vectors.T, sums.mean, divide, ddof, divisor, variance, total
    return Spectrum(*made, tolerance, most, "randomized")


def sums_of_columns(blocks: Any, least: int, owner: str) -> ColumnSums:
    """Means and squares of the columns of all blocks, which must have so many rows."""
    sums: ColumnSums | None = blocks.gather(partial(column_sums, owner=owner))
    if sums is None or sums.weight < least:
        raise ValueError(f"{owner}: the batches must hold at least {least} rows together.")
    return sums


def leading(
    blocks: Any, k: int, *, mean: Array, divide: Array | None, norm: float, tol: float, rng: Any, owner: str
) -> Eigenpairs:
    """The k largest eigenpairs of Xc'Xc, X less `mean` and over `divide`, whose trace is `norm`."""
    d = len(mean)

    def times(B: Array) -> Array:
        B = np.asarray(B).reshape(d, -1)
        return blocks.gather(partial(scatter_times, mean=mean, divide=divide, B=B, owner=owner))

    operator = LinearOperator((d, d), matvec=times, matmat=times, rmatvec=times, rmatmat=times, dtype=np.float64)
    return eigenpairs(operator, k, solver="block", norm=norm, tol=tol, rng=rng, owner=owner)


def column_sums(block: Any, owner: str = "PCA") -> ColumnSums:
    """Those of a block of complete rows, dense or sparse."""
    X = complete_rows(block, owner)
    mean, variance = mean_and_variance(X)
    dtype = X.dtype if X.dtype == np.float32 else np.dtype(np.float64)
    return ColumnSums(float(X.shape[0]), mean, variance * X.shape[0], dtype)


def scatter_times(block: Any, mean: Array, divide: Array | None, B: Array, owner: str = "PCA") -> Array:
    """Xc'(Xc B) of a block, whose sparse rows are not filled."""
    X = complete_rows(block, owner)
    narrow = B if divide is None else B / divide[:, None]
    scores = X @ narrow - mean @ narrow
    found = X.T @ scores - np.outer(mean, scores.sum(axis=0))
    return found if divide is None else found / divide[:, None]


def complete_rows(block: Any, owner: str) -> Any:
    """A block of complete rows, dense or sparse."""
    if sparse.issparse(block):
        block = canonical(sparse.csr_array(block))
        rows_of(block.data.reshape(1, -1) if block.nnz else np.zeros((1, 1)), owner, None)
        return block
    return rows_of(block, owner, None)

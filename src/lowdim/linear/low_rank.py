"""Two uses of the singular value decomposition: the best approximation of given rank, and the pseudo-inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core import params
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum import SVD, svd
from lowdim._core.tables.arrays import FLOATS, native
from lowdim._core.tables.brief import brief
from lowdim._core.tables.form import canonical
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.missing import admit, refuse, refuse_disguised, undisguised
from lowdim._core.validate import in_precision
from lowdim._core.vocabulary import SHARED
from lowdim.linear.soft_impute import shrunken, soft_impute


@dataclass(frozen=True, eq=False)
class LowRank:
    """X ≈ U diag(values) Vt, the best approximation of X of its rank; `to_array` multiplies it out.

    Attributes
    ----------
    U : ndarray of shape (n, r)
        Orthonormal columns.
    values : ndarray of shape (r,)
        The largest singular values, decreasing.
    Vt : ndarray of shape (r, d)
        Orthonormal rows; the entry of largest magnitude is positive.
    error : float
        Sum of squared errors over all observed cells; without a penalty the sum of the squared singular values left
        out.
    n_iter : int
        Steps, where cells were missing.
    converged : bool
        Whether they converged.
    """

    U: np.ndarray
    values: np.ndarray
    Vt: np.ndarray
    error: float
    n_iter: int = 1
    converged: bool = True

    __repr__ = brief

    def to_array(self) -> np.ndarray:
        """The approximation as a table."""
        return (self.U * self.values) @ self.Vt


@params.checked("low_rank")
def low_rank(X: Any, n_components: int, *, penalty: float = 0.0, max_iter: int = 5000, tol: float = 1e-8) -> LowRank:
    """The best approximation of a table by one of rank r, in factors.

    No table of rank r is nearer to X in the sum of squares, nor in the largest singular value of the difference
    (Eckart and Young, 1936). Nothing is centred: with centred rows this is PCA, U diag(values) being the scores.

    With a penalty, the table Z that minimises (1/2) sum (x - z)² + penalty sum_k s_k(Z) over the observed cells: each
    singular value is lowered by it, and those that reach 0 are removed. Then cells may be missing, and as the problem
    is convex the minimum is global (where r does not bind), whatever is missing.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The table. Sparse ones are not filled. NaN is a missing cell, which needs a penalty.
    n_components : int
        The rank r, at most min(n, d); with a penalty the largest it may be.
    penalty : float
        Weight of the sum of the singular values (nuclear norm).
    max_iter : int
        Maximum number of iterations, each a decomposition. Only with missing cells.
    tol : float
        Convergence tolerance: relative change of Z in a step. Only with missing cells.

    Returns
    -------
    LowRank
        ``U``, ``values``, ``Vt``, the squared ``error``, and ``to_array()``.

    References
    ----------
    Mazumder, Hastie and Tibshirani, Spectral regularization algorithms for learning large incomplete matrices, 2010.

    Examples
    --------
    >>> import lowdim
    >>> found = lowdim.low_rank([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], 1)
    >>> found.to_array().round(6)
    array([[1., 2.],
           [2., 4.],
           [3., 6.]])
    """
    params.check("low_rank", {"penalty": penalty, "max_iter": max_iter, "tol": tol}, _RULES)
    X, unit = _table(X, "low_rank", holes=penalty > 0, way=" Give a penalty to approximate what is observed.")
    params.check("low_rank", {"n_components": n_components}, {"n_components": params.whole(1, min(X.shape))})
    price, run = penalty / unit, None
    if not sparse.issparse(X) and np.isnan(X).any():
        found, run = soft_impute(X, int(n_components), price, tol=tol, max_iter=max_iter, owner="low_rank")
        left = run.state.error
    else:
        whole = svd(X, int(n_components), owner="low_rank")
        left = _left_out(X, whole) + float((np.minimum(whole.values, price) ** 2).sum())
        found = shrunken(whole, price)
    root = float(np.sqrt(left)) * float(unit)
    if not np.isfinite(root * root):
        raise ValueError("low_rank: the squared error is out of the range of float64. Multiply X by a constant first.")
    values = in_precision(found.values * unit, X.dtype, "low_rank", "singular values")
    U, Vt = (part.astype(X.dtype, copy=False) for part in (found.U, found.Vt))
    steps = (1, True) if run is None else (run.n_iter, run.converged)
    return LowRank(U, values, Vt, root * root, *steps)


_RULES = {
    "penalty": params.real(0),
    **{name: SHARED[name].rule for name in ("max_iter", "tol")},
}


def _left_out(X: Any, found: SVD) -> float:
    """Sum of the squared singular values that were not kept."""
    total = float(np.square((X.data if sparse.issparse(X) else X).ravel(), dtype=np.float64).sum())
    left = total - float((found.values**2).sum())
    if sparse.issparse(X) or left > 1e-6 * total:
        return max(left, 0.0)
    # The difference of two nearly equal sums is rounding: compute it from the cells.
    parts = (X[rows] - (found.U[rows] * found.values) @ found.Vt for rows in blocks(len(X), max(1, 2**20 // len(X[0]))))
    return float(sum(np.square(part).sum() for part in parts))


@params.checked("pseudo_inverse")
def pseudo_inverse(X: Any, *, tol: float | None = None) -> np.ndarray:
    """The Moore-Penrose pseudo-inverse, V diag(1/s) U' over the singular values that are not zero.

    It is the inverse where that exists; otherwise ``pseudo_inverse(X) @ b`` is the shortest of the least-squares
    solutions of X a = b (Penrose, 1955).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The table, of any shape and rank. The answer is dense.
    tol : float or None
        Singular values up to this share of the largest count as zero. None: max(n, d) times the rounding of X's
        precision.

    Returns
    -------
    ndarray of shape (d, n)
        The pseudo-inverse.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.pseudo_inverse([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  , 0.  ],
           [0.  , 0.  , 0.25]])
    """
    X, unit = _table(X, "pseudo_inverse")
    rule = params.real(0, 1, open_high=True) | params.none()
    params.check("pseudo_inverse", {"tol": tol}, {"tol": rule})
    found = svd(X.toarray() if sparse.issparse(X) else X, solver="lapack", owner="pseudo_inverse")
    share = max(X.shape) * float(np.finfo(X.dtype).eps) if tol is None else tol
    keep = found.values > share * found.values[0]
    B = (found.Vt[keep].T / found.values[keep]) @ found.U[:, keep].T
    with np.errstate(over="ignore"):
        B = (B / unit).astype(X.dtype, copy=False)
    if not np.isfinite(B).all():
        raise ValueError(
            f"pseudo_inverse: the numbers of X are too small: their inverses are beyond the range of {X.dtype}. "
            "Multiply X by a constant first."
        )
    return B


def _table(X: Any, owner: str, holes: bool = False, way: str = "") -> tuple[Any, float]:
    """A finite table in float32 or float64, in units (a power of two) in which its squares are in range."""
    X = undisguised(X, owner) if holes else X
    refuse_disguised(X, owner)
    with naming_text(X, owner):
        X = canonical(check_array(native(X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False))
    largest = admit(X, owner) if holes and not sparse.issparse(X) else refuse(X, owner, way=way)
    if largest == 0 or 1e-12 < largest < 1e12:
        return X, 1.0
    unit = 2.0 ** (np.frexp(largest)[1] - 1)
    return X / X.dtype.type(unit), unit

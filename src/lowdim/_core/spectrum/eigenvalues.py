"""Eigenvalues alone, and what to do with those that are not positive. Part of the front door `spectrum`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator

if TYPE_CHECKING:
    from lowdim._core.spectrum import Eigenpairs

_DENSE = 300  # below this the full unsymmetric problem takes a tenth of a second


def all_eigenvalues(A: np.ndarray, *, owner: str) -> np.ndarray:
    """Every eigenvalue of a dense symmetric matrix, decreasing; costs a seventh of the vectors."""
    if not np.isfinite(A.sum(dtype=np.float64)):
        raise ValueError(f"{owner}: the matrix must be finite; it holds NaN or infinity (or overflows).")
    A = A.astype(np.float64, copy=False)
    return threads.lapack(np.linalg.eigvalsh, A)[::-1]


def largest_real_part(product: Callable[[np.ndarray], np.ndarray], size: int, *, owner: str) -> float:
    """The largest real part among the eigenvalues of an unsymmetric matrix, given by its product with a vector."""
    if size <= _DENSE:
        M = np.column_stack([product(e) for e in np.eye(size)])
        return float(sla.eigvals(M, check_finite=False).real.max())
    start = generator(0).standard_normal(size)
    operator = LinearOperator((size, size), matvec=lambda v: product(np.ravel(v)), dtype=np.float64)
    try:
        found = eigs(operator, k=4, which="LR", v0=start, return_eigenvectors=False, maxiter=50 * size, tol=1e-12)
    except ArpackNoConvergence as error:
        raise np.linalg.LinAlgError(
            f"{owner}: the largest eigenvalue of the additive-constant problem was not found."
        ) from error
    return float(found.real.max())


def positive_part(
    pairs: Eigenpairs,
    n_components: int | None,
    *,
    total: float | None = None,
    rounding: float = 0.0,
    owner: str,
    quiet: bool = False,
) -> Eigenpairs:
    """The pairs with a positive eigenvalue, filled up to `n_components` axes with zeros (and a warning).

    An eigenvalue counts as positive above rounding: n eps times the largest (or the `total`, where the eigenvalues are
    squares of singular values of a matrix with that sum of squares), and above the `rounding` of a matrix that centring
    made small. None keeps the positive ones and fills nothing; `quiet` does not warn.
    """
    n = pairs.vectors.shape[0]
    largest = max(float(pairs.values.max(initial=0.0)), 0.0)
    eps = np.finfo(np.float64).eps
    floor = n * eps * largest if total is None else (n * eps) ** 2 * max(total, 0.0)
    good = pairs.values > max(floor, rounding)
    if n_components is None:
        good[0] |= not good.any()  # at least one axis, of zeros if need be
        n_components = int(good.sum())
    values = np.zeros(n_components)
    vectors = np.zeros((n, n_components))
    count = int(good.sum())
    values[:count], vectors[:, :count] = np.maximum(pairs.values[good], 0.0), pairs.vectors[:, good]
    if count < n_components and not quiet:
        warn(f"{owner}: {count} of {n_components} axes have a positive eigenvalue; the others are zero.")
    return replace(pairs, values=values, vectors=vectors)

"""Power iteration, one eigenvector after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import Eigenpairs


def power_pairs(
    product: Callable[[np.ndarray], np.ndarray],
    size: int,
    k: int,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    owner: str,
) -> tuple[Eigenpairs, int, bool]:
    """The k largest eigenpairs of a positive semidefinite matrix given by its product with a vector.

    v <- Av / |Av| with every vector found before projected out (deflation). Stops on |Av - rho v| <= tol rho_1. The
    error shrinks by lambda_2 / lambda_1 a step; on a tie the residual still goes to 0 and v lies in the tied plane.

    Returns
    -------
    pairs : Eigenpairs
    n_iter : int
        Steps of the slowest vector.
    converged : bool
    """
    values, residuals = np.zeros(k), np.zeros(k)
    V = np.zeros((size, k))
    slowest, failed = 0, 0
    for j in range(k):
        start = rng.standard_normal(size)
        values[j], V[:, j], residuals[j], steps = _one(
            product, V[:, :j], start, tol * max(values[0], 0.0), tol, max_iter
        )
        slowest = max(slowest, steps)
        failed += steps >= max_iter and residuals[j] > tol * max(values[0], 0.0)
    if failed:
        warn(
            f"{owner}: power iteration stopped at max_iter={max_iter} for {failed} of {k} components (largest residual "
            f"{residuals.max():.2g}); their eigenvalues lie close together. Use another solver or raise max_iter.",
            ConvergenceWarning,
        )
    order = np.argsort(-values, kind="stable")
    return Eigenpairs(values[order], V[:, order], residuals[order], "power"), slowest, failed == 0


def _one(
    product: Callable[[np.ndarray], np.ndarray],
    found: np.ndarray,
    v: np.ndarray,
    enough: float,
    tol: float,
    max_iter: int,
) -> tuple[float, np.ndarray, float, int]:
    """One eigenpair orthogonal to `found`; `enough` is the residual to reach (0: relative to its own value)."""
    v = _unit(v - found @ (found.T @ v))
    rho, residual = 0.0, np.inf
    for step in range(1, max_iter + 1):  # noqa: B007 (returned)
        w = product(v)
        w = w - found @ (found.T @ w)
        w = w - found @ (found.T @ w)  # twice is enough
        rho = float(v @ w)
        residual = float(np.linalg.norm(w - rho * v))
        if residual <= max(enough, tol * abs(rho)) or not np.any(w):
            break
        v = _unit(w)
    return rho, v, residual, step


def _unit(v: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(v)
    return v / norm if norm > 0 else v

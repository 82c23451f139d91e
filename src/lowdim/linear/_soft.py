"""A table of low rank with a price on its singular values, for tables with missing cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core.iterate import Run, iterate
from lowdim._core.spectrum import SVD, svd

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class _State:
    factors: SVD
    Z: Array
    ahead: Array  # where the next step starts: Z carried on in the direction it came from
    momentum: float
    objective: float


def soft_impute(X: Array, r: int, penalty: float, *, tol: float, max_iter: int, owner: str) -> tuple[SVD, Run]:
    """The minimum over Z of (1/2) sum over observed cells of (x - z)² + penalty times the singular values of Z.

    Missing cells are filled with what Z says of them and the singular values of the filled table lowered by the penalty
    (Mazumder, Hastie and Tibshirani, 2010), each step carried on in its direction (Nesterov) until that stops paying.
    """
    holes = X != X

    def step(state: _State) -> tuple[_State, float]:
        found = shrunken(np.where(holes, state.ahead, X), r, penalty, owner)
        Z = (found.U * found.values) @ found.Vt
        gaps = np.where(holes, 0.0, X - Z)
        objective = 0.5 * float(np.vdot(gaps, gaps)) + penalty * float(found.values.sum())
        moved = float(np.linalg.norm(Z - state.Z)) / (float(np.linalg.norm(Z)) or 1.0)
        if objective > state.objective:  # carried too far: start over from the last place
            return _State(state.factors, state.Z, state.Z, 1.0, state.objective), 1.0 if moved else 0.0
        momentum = (1 + np.sqrt(1 + 4 * state.momentum**2)) / 2
        ahead = Z + (state.momentum - 1) / momentum * (Z - state.Z)
        return _State(found, Z, ahead, momentum, objective), moved

    zero = np.zeros(X.shape)
    first = _State(shrunken(zero, 1, 1.0, owner), zero, zero, 1.0, np.inf)
    run = iterate(step, first, max_iter=max_iter, tol=0.0, owner=owner, callback=lambda i, s, moved: moved <= tol)
    return run.state.factors, run


def shrunken(X: Array, r: int, penalty: float, owner: str) -> SVD:
    """The first r singular values, each lowered by the penalty; those that reach 0 are left out."""
    found = svd(X, r, owner=owner)
    values = found.values - penalty
    kept = values > 0
    return SVD(found.U[:, kept], values[kept], found.Vt[kept], found.residuals[kept], found.solver)

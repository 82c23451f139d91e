"""Soft-impute: a low-rank approximation of an incomplete table with a penalty on its singular values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowdim._core.iterate import Run, iterate
from lowdim._core.spectrum import SVD, svd

Array = np.ndarray

SMALL = 50_000  # cells


@dataclass(frozen=True, eq=False)
class _State:
    found: SVD | None
    Z: Array
    ahead: Array  # where the next step starts: Z extrapolated along its last step
    momentum: float
    objective: float
    error: float  # squared, over the observed cells
    moved: float  # length of the last step, over that of Z


def soft_impute(
    X: Array,
    r: int,
    penalty: float,
    *,
    tol: float,
    max_iter: int,
    owner: str,
    start: Array | None = None,
    quiet: bool = False,
) -> tuple[SVD, Run]:
    """The minimum over Z of (1/2) sum over observed cells of (x - z)² + penalty times the singular values of Z.

    Missing cells are filled from Z and the singular values of the filled table lowered by the penalty (Mazumder, Hastie
    and Tibshirani, 2010), with Nesterov's momentum, which starts again from 1 where it raises the objective. `start` is
    a first Z, such as the solution for a larger penalty; `quiet` says nothing where `max_iter` was not enough.
    """
    holes, zero = X != X, np.zeros(X.shape) if start is None else start

    def step(state: _State) -> tuple[_State, float]:
        found = shrunken(decomposed(np.where(holes, state.ahead, X), r, owner), penalty)
        Z = (found.U * found.values) @ found.Vt
        gaps = np.where(holes, 0.0, X - Z)
        error = float(np.vdot(gaps, gaps))
        objective = 0.5 * error + penalty * float(found.values.sum())
        if objective > state.objective and state.momentum > 1:  # extrapolated too far: restart from the last Z
            return replace(state, ahead=state.Z, momentum=1.0, moved=np.inf), error
        momentum = (1 + float(np.sqrt(1 + 4 * state.momentum**2))) / 2
        ahead = Z + (state.momentum - 1) / momentum * (Z - state.Z)
        moved = float(np.linalg.norm(Z - state.Z)) / (float(np.linalg.norm(Z)) or 1.0)
        return _State(found, Z, ahead, momentum, objective, error, moved), error

    run = iterate(
        step,
        _State(None, zero, zero, 1.0, np.inf, np.inf, np.inf),
        max_iter=max_iter,
        tol=0.0,
        owner=owner,
        warn=not quiet,
        until=lambda i, state, loss: state.moved <= tol,
    )
    found = run.state.found
    assert found is not None
    return found, replace(run, converged=run.converged or run.state.moved <= tol)


def decomposed(X: Array, r: int, owner: str) -> SVD:
    """The first r singular values; of a small table without the interrupts and the choice that large ones need."""
    if X.size > SMALL:
        return svd(X, r, owner=owner)
    U, values, Vt = np.linalg.svd(X.astype(np.float64), full_matrices=False)
    sign = np.where(np.take_along_axis(Vt, np.abs(Vt).argmax(axis=1)[:, None], axis=1) < 0, -1.0, 1.0)
    U, Vt = U * sign.T, Vt * sign
    return SVD(U[:, :r], values[:r], Vt[:r], np.zeros(min(r, len(values))), "lapack")


def shrunken(found: SVD, penalty: float) -> SVD:
    """Singular values lowered by the penalty; those that reach 0 are left out."""
    if penalty == 0:
        return found
    values = found.values - penalty
    kept = values > 0
    return SVD(found.U[:, kept], values[kept], found.Vt[kept], found.residuals[kept], found.solver)

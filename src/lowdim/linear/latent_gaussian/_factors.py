"""Maximum-likelihood factors of a correlation matrix."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.iterate import Callback, Run, iterate
from lowdim._core.runtime.threads import lapack, single_blas
from lowdim._core.spectrum import eigenpairs

Array = np.ndarray

_SMALL = 300


@dataclass(frozen=True, eq=False)
class _Fit:
    """Noise (as logs) with the best loadings for it: the eigenpairs of A = psi^-1/2 R psi^-1/2 know both."""

    log_psi: Array
    values: Array  # descending
    vectors: Array  # (d, d)
    rank: int  # factors: of the r largest eigenvalues those above 1

    @property
    def loadings(self) -> Array:
        top = slice(self.rank)
        return np.exp(0.5 * self.log_psi)[:, None] * self.vectors[:, top] * np.sqrt(self.values[top] - 1.0)

    @property
    def loss(self) -> float:
        """Minus the log-likelihood per cell, without constants."""
        top, rest = self.values[: self.rank], self.values[self.rank :]
        return float(self.log_psi.sum() + (np.log(top) + 1.0).sum() + rest.sum()) / (2 * len(self.log_psi))

    @property
    def gradient(self) -> Array:
        """Of 2 d loss, by log psi."""
        return self.vectors[:, self.rank :] ** 2 @ (1.0 - self.values[self.rank :])

    @property
    def hessian(self) -> Array:
        """Of 2 d loss, by log psi, from d theta_k = -theta_k v_k² and the rotation of the eigenvectors."""
        V, theta, r = self.vectors[:, self.rank :], self.values[self.rank :], self.rank
        H = (V @ V.T) * ((V * theta) @ V.T)
        for v, value in zip(self.vectors[:, :r].T, self.values[:r], strict=True):
            gap = np.maximum(value - theta, 1e-12 * value)
            H += np.outer(v, v) * ((V * ((1.0 - theta) * (theta + value) / gap)) @ V.T)
        return H


def factors(
    R: Array,
    r: int,
    *,
    floor: float,
    tol: float,
    max_iter: int,
    owner: str,
    verbose: int | bool = 0,
    callback: Callback | None = None,
) -> tuple[Array, Array, Run]:
    """Loadings (d, r) and noise (d,) that make R most likely, by Newton's method on the logarithms of the noise.

    Given psi, the best loadings come from the r largest eigenpairs of psi^-1/2 R psi^-1/2 (Joreskog, 1967). A step that
    does not gain is damped until it does. psi stays between `floor` and 1; the losses are minus the log-likelihood
    per cell. The callback sees the loadings of R so far.
    """
    low, d = np.log(floor), len(R)

    def at(log_psi: Array) -> _Fit:
        log_psi = np.clip(log_psi, low, 0.0)
        scale = np.exp(-0.5 * log_psi)
        pairs = eigenpairs(scale[:, None] * R * scale, d, owner=owner)
        return _Fit(log_psi, pairs.values, pairs.vectors, int((pairs.values[:r] > 1.0).sum()))

    def step(now: _Fit) -> tuple[_Fit, float]:
        g = now.gradient
        free = np.flatnonzero(~(((now.log_psi <= low) & (g > 0)) | ((now.log_psi >= 0) & (g < 0))))
        H, damping = now.hessian[np.ix_(free, free)], 1e-10
        while len(free) and damping < 1e8:
            move = np.zeros(d)
            move[free] = _solve(H + damping * np.eye(len(free)), -g[free])
            found = at(now.log_psi + np.clip(move, -2.0, 2.0))
            if found.loss <= now.loss and move.any():
                return found, found.loss
            damping = max(30 * damping, 1e-4)
        return now, now.loss

    start = at(np.log((1 - 0.5 * r / d) / np.diag(lapack(np.linalg.inv, R + 1e-4 * np.eye(d)))))
    settings: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "owner": owner, "verbose": verbose}
    settings |= {"callback": callback, "show": lambda fit: _padded(fit.loadings, r)}
    # Small eigenproblems are faster on one thread of BLAS.
    with single_blas() if d <= _SMALL else nullcontext():
        run = iterate(step, start, criterion="absolute", monotone=True, **settings)
    return _padded(run.state.loadings, r), np.exp(run.state.log_psi), run


def _padded(L: Array, r: int) -> Array:
    """Loadings of r factors, 0 for those that the data does not support."""
    return np.hstack([L, np.zeros((len(L), r - L.shape[1]))])


def _solve(H: Array, b: Array) -> Array:
    """H^-1 b where H is positive definite, else no move."""
    try:
        root = lapack(np.linalg.cholesky, H)
    except np.linalg.LinAlgError:
        return np.zeros_like(b)
    return lapack(np.linalg.solve, root.T, lapack(np.linalg.solve, root, b))


def canonical(W: Array, psi: Array) -> Array:
    """The same model with W'W / psi diagonal."""
    return W @ np.linalg.svd(W / np.sqrt(psi)[:, None], full_matrices=False)[2].T

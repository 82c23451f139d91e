"""Weights of sparse kernel PCA: a covariance in feature space that is a sum over few rows (Tipping 2001).

The model: features are drawn from a Gaussian with covariance C = s²I + sum of w_i phi_i phi_i'. With the other weights
fixed, the likelihood is highest at

    w_i = (q_i / (n a_i) - 1) / a_i  where q_i > n a_i, else exactly 0,

a_i = phi_i' C_i^-1 phi_i, q_i = sum over rows of (phi' C_i^-1 phi_i)², C_i being C without row i. One weight is updated
at a time, the one that gains most: the likelihood never falls, and weights become exactly zero, while updates of all
weights together only converge towards zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime.notices import warn

Array = np.ndarray
GAIN = 1e-5  # log likelihood per row; the iteration stops where no step gains more
MAX_ITER = 20_000


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights (zero for rows that are not kept), the noise variance s², and how the iteration ended.

    `capped`: the limit on the number of rows was reached.
    """

    weights: Array
    noise: float
    n_iter: int
    converged: bool
    capped: bool = False


def fit_weights(K: Array, noise: float, most: int | None = None, *, owner: str, max_iter: int = MAX_ITER) -> Weights:
    """Weights of the highest likelihood for a centred kernel matrix, at most `most` of them not zero.

    A loop of its own instead of `iterate`: the state is an n x n matrix that is updated in place.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Centred, float64.
    noise : float
        s²: the larger, the fewer rows are kept; at least one is.
    most : int or None
        Rows kept at most.
    owner : str
        The estimator, for messages.
    max_iter : int
        Steps, one weight each.

    Returns
    -------
    Weights
    """
    n = len(K)
    E = np.asfortranarray(K / noise)  # phi_i' C^-1 phi_j
    w, capped, steps = np.zeros(n), False, 0
    while steps < max_iter:
        best, gain, own = _best(E, w, n)
        if most is not None and np.count_nonzero(w) >= most:
            capped |= bool(gain[w == 0].max(initial=0.0) > GAIN * n)
            gain[w == 0] = 0.0
        i = int(np.argmax(gain))
        if not gain[i] > GAIN * n:
            break
        change = best[i] - w[i]
        row = E[:, i].copy()
        dger(-change / (1 + change * own[i]), row, row, a=E, overwrite_a=1)
        w[i] = best[i]
        steps += 1
    else:
        warn(
            f"{owner}: the weights of sparse kernel PCA did not converge after {max_iter} steps. Use more noise.",
            ConvergenceWarning,
        )
        return Weights(w, noise, max_iter, False, capped)
    if not w.any():  # more noise than the rows have variance
        w[np.argmax(np.diagonal(K))] = 1 / n
    return Weights(w, noise, steps, True, capped)


def weights_of_few(K: Array, variance: float, most: int, *, owner: str) -> Weights:
    """Weights with the least noise under which at most `most` rows are kept, in steps of a factor two.

    `variance` is that of the first axis. A limit on the rows alone is not enough: with little noise, few rows cannot
    explain the others.
    """
    found = fit_weights(K, variance / 2, most, owner=owner)
    for halving in range(2, 20):
        less = fit_weights(K, variance / 2**halving, most, owner=owner)
        if found.capped or less.capped:
            break
        found = less
    return found


def _best(E: Array, w: Array, n: int) -> tuple[Array, Array, Array]:
    """The best value of each weight, what it gains, and phi_i' C^-1 phi_i."""
    own, squares = np.diagonal(E).copy(), np.einsum("ij,ij->j", E, E)
    without = np.maximum(1 - w * own, 1e-12)
    a, q = np.maximum(own / without, 1e-300), squares / without**2
    best = np.maximum(q / (n * a) - 1, 0.0) / a
    gain = _loss(w, a, q, n) - _loss(best, a, q, n)
    return best, gain, own


def _loss(w: Array, a: Array, q: Array, n: int) -> Array:
    """Minus twice the log likelihood as a function of one weight."""
    return n * np.log1p(w * a) - w * q / (1 + w * a)

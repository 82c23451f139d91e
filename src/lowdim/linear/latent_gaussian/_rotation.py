"""Varimax, quartimax and promax: rotations of loadings to a few large entries in each column or row."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lowdim._core.iterate import iterate

Array = np.ndarray


def varimax(
    L: Array,
    *,
    weight: float = 1.0,
    normalize: bool = True,
    tol: float = 1e-12,
    max_iter: int = 1000,
    owner: str = "varimax",
) -> tuple[Array, Array]:
    """Rotated loadings L T and the rotation T that maximises the variance of the squared loadings (Kaiser, 1958).

    Parameters
    ----------
    L : ndarray of shape (d, k)
        Loadings.
    weight : float
        Of the mean of the squares in their variance: 0 is quartimax, the sum of fourth powers (Neuhaus and Wrigley,
        1954), which wants few large entries in each row instead of each column.
    normalize : bool
        Kaiser's: every row counts the same, whatever its length.
    tol : float
        Relative change of the criterion at which to stop.
    max_iter : int
        Maximum number of steps.
    owner : str
        Who asks, for messages.

    Returns
    -------
    tuple of ndarray
        (d, k) and (k, k), orthogonal.

    Examples
    --------
    >>> import numpy as np
    >>> simple = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> np.abs(varimax(simple @ turn)[0]).round(6)
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """
    k = L.shape[1]
    length = np.sqrt((L**2).sum(axis=1)) if normalize else np.ones(len(L))
    A = L / np.where(length > 0, length, 1.0)[:, None]

    def step(T: Array) -> tuple[Array, float]:
        # Two factors at a time have a closed form (Kaiser, 1958); the usual iteration by singular vectors can cycle on
        # simple structure.
        B, T = A @ T, T.copy()
        for p, q in combinations(range(k), 2):
            pair = [p, q]
            turn = _planar(B[:, p], B[:, q], weight)
            B[:, pair], T[:, pair] = B[:, pair] @ turn, T[:, pair] @ turn
        return T, -float((B**4).mean(axis=0).sum() - weight * ((B**2).mean(axis=0) ** 2).sum())

    if k < 2 or not A.any():
        return L.copy(), np.eye(k)
    T = iterate(step, np.eye(k), max_iter=max_iter, tol=tol, owner=owner).state
    return L @ T, T


def _planar(x: Array, y: Array, weight: float) -> Array:
    """The rotation of two columns that maximises the variance of their squares, its mean weighted."""
    u, v = x**2 - y**2, 2 * x * y
    across = 2 * (u @ v) - 2 * weight * u.sum() * v.sum() / len(x)
    along = u @ u - v @ v - weight * (u.sum() ** 2 - v.sum() ** 2) / len(x)
    angle = np.arctan2(across, along) / 4
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def promax(L: Array, *, power: float = 4.0) -> tuple[Array, Array]:
    """Oblique loadings L T, T fitted so that they come near the signed powers of L (Hendrickson and White, 1964).

    Give it varimax loadings. The factors T^-1 z have unit variance and the correlations (T'T)^-1.

    Parameters
    ----------
    L : ndarray of shape (d, k)
        Loadings, usually rotated by `varimax`.
    power : float
        Larger powers give simpler loadings and more correlated factors.

    Returns
    -------
    tuple of ndarray
        (d, k) and (k, k).
    """
    target = L * np.abs(L) ** (power - 1.0)
    T = np.linalg.lstsq(L, target, rcond=None)[0]
    if np.linalg.matrix_rank(T) < L.shape[1]:  # a column without any loading has no direction of its own
        return L.copy(), np.eye(L.shape[1])
    T = T * np.sqrt(np.diag(np.linalg.inv(T.T @ T)))
    return L @ T, T

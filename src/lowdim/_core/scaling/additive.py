"""The smallest constant that makes dissimilarities Euclidean."""

from __future__ import annotations

import numpy as np

from lowdim._core.distances import own_points
from lowdim._core.scaling.centring import double_center
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import largest_real_part


def additive_constant(D: np.ndarray, kind: str, *, owner: str) -> float:
    """The constant c of Cailliez (D + c) or Lingoes (sqrt(D² + 2c)), 0 where D is Euclidean already.

    With B(M) = -1/2 HMH, Cailliez' c is the largest real eigenvalue of [[0, 2B(D²)], [-I, -4B(D)]]; Lingoes' is minus
    the smallest eigenvalue of B(D²).
    """
    largest = float(np.max(D, initial=0.0))
    unit = 2.0 ** int(np.frexp(largest)[1])  # the two blocks of the matrix have different units: all lengths around 1
    D = np.asarray(D, dtype=np.float64) / unit
    B = double_center(np.square(D))
    if kind == "lingoes":
        lowest = eigenpairs(B, 1, which="smallest", owner=owner).values[0]
        return -lowest * unit**2 if -lowest > 1e-12 else 0.0
    n, B1 = len(D), double_center(D.copy())

    def product(v: np.ndarray) -> np.ndarray:
        top, bottom = v[:n], v[n:]
        return np.concatenate([2.0 * (B @ bottom), -top - 4.0 * (B1 @ bottom)])

    constant = largest_real_part(product, 2 * n, owner=owner)
    return constant * unit if constant > 1e-9 else 0.0


def shift_distances(D: np.ndarray, constant: float, kind: str) -> np.ndarray:
    """The corrected distances among fitted rows; the diagonal stays 0."""
    shifted = _shift(np.asarray(D, dtype=np.float64), constant, kind)
    np.fill_diagonal(shifted, 0.0)
    return shifted


def shift_new_distances(D: np.ndarray, constant: float, kind: str) -> np.ndarray:
    """The corrected distances from new rows to fitted ones.

    A row at distance 0 from a fitted one is that row: its first zero stays 0, as the diagonal did, so that a fitted row
    given again keeps its coordinates.
    """
    shifted = _shift(np.asarray(D, dtype=np.float64), constant, kind)
    shifted[own_points(D)] = 0.0
    return shifted


def _shift(D: np.ndarray, constant: float, kind: str) -> np.ndarray:
    return D + constant if kind == "cailliez" else np.sqrt(np.square(D) + 2.0 * constant)

"""Eigenpairs, and the error of a solver that gives up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core.spectrum.problem import (
    Array,
)


class TooHard(np.linalg.LinAlgError):
    """Factors are too large and iterations too slow: see `give_up` of `eigenpairs`."""


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Eigenvalues at one end of the spectrum, wanted end first, with their vectors.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Descending for the largest, ascending for the smallest.
    vectors : ndarray of shape (n, k)
        Orthonormal (V' M V = I when there is a mass); the largest entry of each is positive.
    residuals : ndarray of shape (k,)
        ||A v - lambda M v|| in the norm of M^-1, relative to the norm of M^-1/2 A M^-1/2; without mass simply
        ||A v - lambda v|| / ||A||.
    solver : str
        The solver that found them.
    """

    values: Array
    vectors: Array
    residuals: Array
    solver: str

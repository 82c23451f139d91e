"""Sums over the whole spectrum without the whole spectrum. Part of the front door `spectrum`."""

from __future__ import annotations

import numpy as np

from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.eigenvalues import all_eigenvalues

EXACT = 2500  # rows up to which all eigenvalues are computed, in a second or two; the time grows with the cube
_PROBES, _STEPS = 32, 40


def signed_sums(A: np.ndarray, *, owner: str) -> tuple[float, float]:
    """The sum of the positive eigenvalues and the sum of the magnitudes of the negative ones.

    Exact up to EXACT rows. Beyond, the negative ones are summed by Lanczos quadrature from random vectors (Ubaru, Chen
    and Saad 2017), within a tenth and mostly closer, and the trace, which is exact, gives the positive ones: a matrix
    that has no negative eigenvalues has none here.
    """
    if len(A) <= EXACT:
        values = all_eigenvalues(A, owner=owner)
        return float(values[values > 0].sum()), float(np.abs(values[values < 0]).sum())
    negative = _negative_trace(A)
    return float(np.trace(A)) + negative, negative


def _negative_trace(A: np.ndarray) -> float:
    """The trace of max(-A, 0): the mean of z' max(-A, 0) z over random signs z, each by a Lanczos run of its own."""
    n = len(A)
    size = float(max(A.max(), -A.min())) or 1.0  # of the numbers, whose squares must not leave their range
    Q = generator(0).choice([-1.0, 1.0], (n, _PROBES)) / np.sqrt(n)
    diagonal, beside, before = np.empty((_STEPS, _PROBES)), np.zeros((_STEPS, _PROBES)), np.zeros_like(Q)
    for step in range(_STEPS):
        W = _product(A, Q / size)
        W -= before * beside[step - 1]
        diagonal[step] = np.einsum("ij,ij->j", W, Q)
        W -= Q * diagonal[step]
        beside[step] = np.sqrt(np.square(W).sum(axis=0))
        before, Q = Q, W / np.maximum(beside[step], 1e-300)
    values, vectors = np.linalg.eigh(_tridiagonal(diagonal, beside[:-1]))
    shares = np.square(vectors[:, 0]) * np.maximum(-values, 0.0)
    return float(shares.sum(axis=1).mean()) * n * size


def _tridiagonal(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Symmetric matrices (their lower triangles), one for each column."""
    steps, i = len(diagonal), np.arange(len(diagonal))
    T = np.zeros((diagonal.shape[1], steps, steps))
    T[:, i, i] = diagonal.T
    T[:, i[1:], i[:-1]] = beside.T
    return T


def _product(A: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """A Q, in blocks of rows whose bits do not depend on the number of threads."""
    return np.concatenate(threads.map_rows(lambda rows: A[rows] @ Q, len(A), max(1, 2**22 // len(A))))

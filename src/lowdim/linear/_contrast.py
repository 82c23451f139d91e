"""How far a source is from Gaussian: contrasts G of independent component analysis, with g = G' and g' = G''."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import _native

Array = np.ndarray
Sums = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Contrast:
    """`sums(Y)` turns a block Y (sources by samples) into g(Y), in place, and returns the sums of g'(y) and of G(y)."""

    sums: Callable[[Array], Sums]
    value: Callable[[Array], Array]  # G itself, for its mean over a Gaussian
    has_value: bool = True  # whether `sums` returns that of G

    def surprise(self, mean: Array, n: int) -> Array:
        """(E[G(y)] - E[G(gaussian)]) in standard errors, for y of mean 0 and variance 1 in the sample.

        Fixing the first two moments takes the part of G out of the error that is a polynomial of degree two.
        """
        nodes, weights = np.polynomial.hermite_e.hermegauss(120)
        weights = weights / weights.sum()
        G = self.value(nodes)
        basis = np.array([np.ones_like(nodes), nodes, (nodes**2 - 1) / np.sqrt(2)])
        rest = G - (basis @ (weights * G)) @ basis
        return np.sqrt(n) * (mean - weights @ G) / np.sqrt(weights @ rest**2)


def _log_cosh(Y: Array) -> Sums:
    slope, value = np.empty(len(Y)), np.empty(len(Y))
    _native.log_cosh(Y, slope, value)
    return slope, value


def _exp(Y: Array) -> Sums:
    squares = Y * Y
    bell = np.exp(-0.5 * squares)
    Y *= bell
    return _total((1 - squares) * bell), -_total(bell)


def _cube(Y: Array) -> Sums:
    squares = Y * Y
    Y *= squares
    return 3 * _total(squares), 0.25 * _total(squares * squares)


def _skew(Y: Array) -> Sums:
    slope, squares = 2 * _total(Y), Y * Y
    value = _total(squares * Y) / 3
    Y[...] = squares
    return slope, value


def _total(Y: Array) -> Array:
    return Y.sum(axis=1, dtype=np.float64)


CONTRASTS = {
    "logcosh": Contrast(_log_cosh, lambda y: np.logaddexp(y, -y) - np.log(2)),
    "exp": Contrast(_exp, lambda y: -np.exp(-0.5 * y**2)),
    "cube": Contrast(_cube, lambda y: y**4 / 4),
    "skew": Contrast(_skew, lambda y: y**3 / 3),
}


def custom(fun: Callable[[Array], Any]) -> Contrast:
    """A contrast from the user's g and g'; its own G is not known, and log cosh is used in its place."""

    def sums(Y: Array) -> Sums:
        answer = fun(Y.copy())
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError("ICA: fun must return two arrays, g(y) and its derivative g'(y).")
        g, slope = (np.asarray(part, dtype=np.float64) for part in answer)
        averaged = slope.shape == (len(Y),)  # the mean of g' over the samples, as scikit-learn has it
        if g.shape != Y.shape or not (averaged or slope.shape == Y.shape):
            raise ValueError(
                f"ICA: fun must return g(y) in the shape of y, {Y.shape}, and g'(y) in the same shape or its mean over "
                f"the samples, {(len(Y),)}; got {g.shape} and {slope.shape}."
            )
        Y[...] = g
        return slope * Y.shape[1] if averaged else _total(slope), np.zeros(len(Y))

    return Contrast(sums, CONTRASTS["logcosh"].value, has_value=False)


def gaussian(surprise: Array) -> Array:
    """Which sources cannot be distinguished from Gaussian ones by their contrast, in standard errors.

    Of m Gaussian directions ICA returns those that look least Gaussian by chance: the contrast is then a random
    polynomial on the sphere, whose local extremes lie near sqrt(3 m) standard deviations (2 sqrt((p - 1) m / p) for the
    degree p = 4 that rules even contrasts; Auffinger, Ben Arous and Cerny, 2013). Two more leave few false alarms. m is
    the number of sources in doubt, found from above.
    """
    doubtful = np.ones(len(surprise), dtype=bool)
    while True:
        fewer = np.abs(surprise) < 2 + np.sqrt(3 * doubtful.sum())
        if not (fewer < doubtful).any():
            return doubtful
        doubtful &= fewer

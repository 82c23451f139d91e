"""Gradients of kernels with respect to one of their rows.

Kernels are functions of squared distances and inner products, so that the gradient of k(z, x) is a (x - z) + b x with
two numbers a and b. Those of sums, products and powers of kernels follow from those of their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from lowdim._core.distances import pairwise
from lowdim._core.kernels import Kernel
from lowdim._core.kernels.algebra import parts_of

Array = np.ndarray
Slopes = tuple[Any, Any, Any]  # k, a and b; numbers where they are the same for all pairs


class Arguments:
    """What kernels are functions of: squared distances and inner products of points z and rows, computed on access."""

    def __init__(self, z: Array, rows: Any) -> None:
        self.z, self.rows = z, rows

    @cached_property
    def squares(self) -> Array:
        return pairwise(self.z, self.rows, squared=True)

    @cached_property
    def dots(self) -> Array:
        return np.asarray(safe_sparse_dot(self.z, self.rows.T, dense_output=True))


class OwnArguments(Arguments):
    """The same of each point with itself."""

    @cached_property
    def squares(self) -> Array:
        return np.zeros(len(self.z))

    @cached_property
    def dots(self) -> Array:
        return (self.z**2).sum(axis=1)


def _rbf(k: Any, at: Arguments) -> Slopes:
    value = np.exp(-k.gamma * at.squares)
    return value, 2 * k.gamma * value, 0.0


def _rational(k: Any, at: Arguments) -> Slopes:
    base = 1 + k.gamma / k.alpha * at.squares
    value = base**-k.alpha
    return value, 2 * k.gamma * value / base, 0.0


def _matern(k: Any, at: Arguments) -> Slopes:
    t = 2 * np.sqrt(k.nu * k.gamma * at.squares)
    decay = np.exp(-t)
    if k.nu == 1.5:
        return (1 + t) * decay, 6 * k.gamma * decay, 0.0
    return (1 + t + t * t / 3) * decay, 10 / 3 * k.gamma * (1 + t) * decay, 0.0


def _polynomial(k: Any, at: Arguments) -> Slopes:
    base = k.gamma * at.dots + k.coef0
    return base**k.degree, 0.0, k.degree * k.gamma * base ** (k.degree - 1)


def _scaled(k: Any, at: Arguments) -> Slopes:
    value, a, b = slopes(k.kernel, at)
    return k.scale * value, k.scale * a, k.scale * b


def _sum(k: Any, at: Arguments) -> Slopes:
    value, a, b = zip(*(slopes(term, at) for term in k.terms), strict=True)
    return sum(value), sum(a), sum(b)


def _product(k: Any, at: Arguments) -> Slopes:
    value, a, b = slopes(k.factors[0], at)
    for factor in k.factors[1:]:
        v, c, d = slopes(factor, at)
        value, a, b = value * v, a * v + value * c, b * v + value * d
    return value, a, b


def _power(k: Any, at: Arguments) -> Slopes:
    value, a, b = slopes(k.kernel, at)
    slope = k.exponent * value ** max(k.exponent - 1, 0)
    return value**k.exponent, slope * a, slope * b


# Kernels with a gradient everywhere, by the names of their classes. Laplace's is not differentiable at fitted rows,
# where an iteration would get stuck; nor is Matern's for nu = 1/2.
_SMOOTH: dict[str, Callable[[Any, Arguments], Slopes]] = {
    "RBF": _rbf,
    "RationalQuadratic": _rational,
    "Matern": _matern,
    "Linear": lambda k, at: (at.dots, 0.0, 1.0),
    "Polynomial": _polynomial,
    "Constant": lambda k, at: (k.value, 0.0, 0.0),
    "Scaled": _scaled,
    "Sum": _sum,
    "Product": _product,
    "Power": _power,
}


def slopes(kernel: Kernel, at: Arguments) -> Slopes:
    """k(z, x) and the a, b of its gradient, for all pairs."""
    return _SMOOTH[type(kernel).__name__](kernel, at)


def is_smooth(kernel: Kernel) -> bool:
    """Whether the gradient of the kernel is known."""
    return all(type(part).__name__ in _SMOOTH and getattr(part, "nu", 1.5) > 0.5 for part in parts_of(kernel))

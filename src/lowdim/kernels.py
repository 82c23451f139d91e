"""Kernels for KernelPCA and the other kernel methods, and the algebra that combines them.

A kernel k(x, y) says how similar two rows are, as an inner product of features that are never written down.

    >>> from lowdim.kernels import RBF, Linear, Polynomial
    >>> k = 0.5 * RBF(gamma=0.1) + Linear() * Polynomial(degree=2)
    >>> k([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[4.5   , 0.4094]])

Positive multiples, sums, products and non-negative integer powers of kernels are kernels. `bandwidth` finds a
starting value for ``gamma``.
"""

from lowdim._core.kernels import (
    RBF,
    Constant,
    Cosine,
    Custom,
    Kernel,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    bandwidth,
)

__all__ = [
    "RBF",
    "Constant",
    "Cosine",
    "Custom",
    "Kernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "bandwidth",
]

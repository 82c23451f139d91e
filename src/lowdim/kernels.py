"""Kernels for KernelPCA and the other kernel methods, and the algebra that combines them.

A kernel k(x, y) is a similarity of two rows: the inner product of their features, which are not computed.

    >>> from lowdim.kernels import RBF, Linear, Polynomial
    >>> k = 0.5 * RBF(gamma=0.1) + Linear() * Polynomial(degree=2)
    >>> k([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[4.5   , 0.4094]])

Positive multiples, sums, products and non-negative integer powers of kernels are kernels. `bandwidth` finds a
first value of ``gamma``, the parameter that stands for every width. Conventions of other texts and programs, with d
the distance:

    ================================  ====================  ==========================================
    written                           by                    here
    ================================  ====================  ==========================================
    exp(-d²/s²)                       some textbooks        RBF.from_width(s, "exp(-d2/s2)")
    exp(-d²/(2 s²))                   others, drtoolbox     RBF.from_width(s)
    exp(-d²/s)                        tapkee                RBF.from_width(s, "exp(-d2/s)")
    exp(-s d²)                        kernlab, rbfdot       RBF(gamma=s)
    exp(-g d²), g = 1/columns         scikit-learn          RBF(gamma=g), bandwidth(X, "features")
    exp(-s d), Euclidean d            kernlab, laplacedot   Laplace(gamma=s, norm="l2")
    exp(-g d), sum of |x_j - y_j|     scikit-learn          Laplace(gamma=g)
    (s x'y + c)^n                     kernlab, polydot      Polynomial(degree=n, coef0=c, gamma=s)
    (1 + d²/(2 a s²))^-a              scikit-learn's GP     RationalQuadratic.from_width(s, alpha=a)
    besseldot(s, order, n)            kernlab               Bessel(gamma=s, order=order, degree=n)
    anovadot(s, n)                    kernlab               ANOVA(gamma=s, degree=n)
    ================================  ====================  ==========================================
"""

from lowdim._core.kernels import (
    ANOVA,
    RBF,
    Bessel,
    Chi2,
    Constant,
    Cosine,
    Custom,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    bandwidth,
)

__all__ = [
    "ANOVA",
    "RBF",
    "Bessel",
    "Chi2",
    "Constant",
    "Cosine",
    "Custom",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "RationalQuadratic",
    "Sigmoid",
    "bandwidth",
]

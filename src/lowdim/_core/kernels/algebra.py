"""The base class of kernels, and the algebra that makes new ones: ``2*k1 + k2*k3**2``.

Positive multiples, sums, products and natural powers of kernels are kernels again: a sum joins the features of its
terms, a product makes all products of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.extmath import row_norms

from lowdim._core.distances import as_rows
from lowdim._core.kernels.widths import Rows
from lowdim._core.spectrum.eigenvalues import all_eigenvalues


class Kernel(ABC):
    """Base class of kernels: checks rows, and has the algebra ``2*k1 + k2*k3**2``.

    Attributes
    ----------
    is_psd : True or None
        True where every matrix ``k(X)`` is positive semi-definite by theory, None where that is not known or depends
        on the rows; `smallest_eigenvalue` computes it.
    pairwise : bool
        True where rows of X hold kernel values rather than features.

    Examples
    --------
    >>> import lowdim
    >>> k = 2 * lowdim.kernels.RBF(0.1) + lowdim.kernels.Linear() ** 2
    >>> k([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[ 27.   , 121.899],
           [121.899, 627.   ]])
    """

    __array_ufunc__ = None  # so that `np.float64(2) * k` calls `__rmul__`
    is_psd: bool | None = True
    pairwise: bool = False
    _relief: ClassVar[str] = ""  # advice, besides rescaling, where values overflow

    def __call__(self, X: Rows, Y: Rows | None = None) -> np.ndarray:
        """Values k(x, y) for the rows of X and of Y (X again when None), one row for each row of X."""
        X, Y = self._checked_rows(X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._finite(self._block(X, Y), X)

    def diag(self, X: Rows) -> np.ndarray:
        """Values k(x, x) for the rows of X."""
        X = self._checked_rows(X, None)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return self._finite(self._own(X), X)

    def smallest_eigenvalue(self, X: Rows) -> float:
        """The smallest eigenvalue of k(X): how far from positive semi-definite the kernel is on these rows.

        Examples
        --------
        >>> from lowdim.kernels import Sigmoid
        >>> round(Sigmoid(gamma=1.0, coef0=-1.0).smallest_eigenvalue([[0.0], [1.0]]), 2)
        -1.23
        """
        return float(all_eigenvalues(self(X), owner=type(self).__name__)[-1])

    @abstractmethod
    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        """k(x, y) of checked rows, in a fresh array."""

    @abstractmethod
    def _own(self, X: Rows) -> np.ndarray:
        """k(x, x) of checked rows, in a fresh array."""

    def _checked_rows(self, X: Rows, Y: Rows | None) -> tuple[Rows, Rows | None]:
        """X and Y as 2-D arrays of one floating-point type: float32 when both are, else float64."""
        owner = type(self).__name__
        X, Y = as_rows(X, owner, "X"), None if Y is None else as_rows(Y, owner, "Y")
        single = all(A is None or A.dtype == np.float32 for A in (X, Y))
        dtype = np.float32 if single else np.float64
        X, Y = X.astype(dtype, copy=False), None if Y is None else Y.astype(dtype, copy=False)
        if Y is not None and not self.pairwise and X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"{owner}: X and Y must have the same number of columns; got {X.shape[1]} and {Y.shape[1]}."
            )
        return X, Y

    def _finite(self, values: np.ndarray, X: Rows) -> np.ndarray:
        """The values themselves; ValueError with advice where they overflowed."""
        if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
            return values
        way_out = "Rescale the data, for example X / np.abs(X).max()"
        if np.isfinite(row_norms(X, squared=True)).all():
            way_out += self._relief
        raise ValueError(
            f"{type(self).__name__}: kernel values must be finite; got values too large for {values.dtype}. {way_out}."
        )

    def __add__(self, other: object) -> Kernel:
        other = _as_term(other)
        return NotImplemented if other is None else Sum((*_terms(self, Sum), *_terms(other, Sum)))

    def __radd__(self, other: object) -> Kernel:
        other = _as_term(other)
        return NotImplemented if other is None else other + self

    def __mul__(self, other: object) -> Kernel:
        if is_number(other):
            return _scale(other, self)
        if not isinstance(other, Kernel):
            return NotImplemented
        (a, left), (b, right) = _split(self), _split(other)
        product = Product((*_terms(left, Product), *_terms(right, Product)))
        return product if a is None and b is None else _scale((a or 1.0) * (b or 1.0), product)

    def __rmul__(self, other: object) -> Kernel:
        return self * other if is_number(other) else NotImplemented

    def __pow__(self, exponent: object) -> Kernel:
        return Power(self, exponent)  # type: ignore[arg-type]


# Parameters -------------------------------------------------------------------------------------------------


def is_number(value: object) -> bool:
    """Whether it is a real number, and not a bool."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def store(kernel: Kernel, name: str, rule: str, holds: Callable[[float], bool]) -> None:
    """Check one numeric parameter and keep it as a plain float, so that it prints and compares plainly."""
    value = getattr(kernel, name)
    if not is_number(value) or not math.isfinite(value) or not holds(value):
        raise ValueError(f"{type(kernel).__name__}: {name} must be {rule}; got {value!r}.")
    object.__setattr__(kernel, name, float(value))


def store_positive(kernel: Kernel, *names: str) -> None:
    """The same for parameters that must be positive."""
    for name in names:
        store(kernel, name, "a positive finite number", lambda value: value > 0)


def store_integer(kernel: Kernel, name: str, least: int, way_out: str = "") -> None:
    """The same for a whole number."""
    value = getattr(kernel, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        rule = f"an integer of at least {least}"
        raise ValueError(f"{type(kernel).__name__}: {name} must be {rule}; got {value!r}.{way_out}")
    object.__setattr__(kernel, name, int(value))


# The algebra: constants, sums, products, positive multiples, powers -------------------------------------------


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, y) = value, at least 0. Useful in sums, where it adds an intercept.

    Parameters
    ----------
    value : float
        The constant.

    Examples
    --------
    >>> import lowdim
    >>> (lowdim.kernels.Linear() + lowdim.kernels.Constant(1.0))([[1.0, 2.0], [3.0, 4.0]])
    array([[ 6., 12.],
           [12., 26.]])
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        store(self, "value", "a finite number of at least 0", lambda c: c >= 0)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return np.full((X.shape[0], (X if Y is None else Y).shape[0]), self.value, X.dtype)

    def _own(self, X: Rows) -> np.ndarray:
        return np.full(X.shape[0], self.value, X.dtype)


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """scale · k, the scale positive."""

    scale: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not is_number(self.scale) or not 0 < self.scale < math.inf:
            raise ValueError(
                f"Kernel: the scale must be positive and finite; got {self.scale!r}. "
                "Other multiples of a kernel are not kernels."
            )
        object.__setattr__(self, "scale", float(self.scale))
        _inherit(self, (self.kernel,))

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _fold(np.multiply, (self.kernel._block(X, Y), self.scale))

    def _own(self, X: Rows) -> np.ndarray:
        return _fold(np.multiply, (self.kernel.diag(X), self.scale))

    def __repr__(self) -> str:
        wrap = isinstance(self.kernel, (Sum, Scaled))
        return f"{self.scale!r}*({self.kernel!r})" if wrap else f"{self.scale!r}*{self.kernel!r}"


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """k1 + k2 + ...: the features of all terms side by side."""

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _inherit(self, self.terms)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _fold(np.add, (k._block(X, Y) for k in self.terms))

    def _own(self, X: Rows) -> np.ndarray:
        return _fold(np.add, (k.diag(X) for k in self.terms))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """k1 · k2 · ...: all products of one feature of each factor."""

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _inherit(self, self.factors)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _fold(np.multiply, (k._block(X, Y) for k in self.factors))

    def _own(self, X: Rows) -> np.ndarray:
        return _fold(np.multiply, (k.diag(X) for k in self.factors))

    def __repr__(self) -> str:
        return "*".join(f"({k!r})" if isinstance(k, (Sum, Scaled)) else repr(k) for k in self.factors)


@dataclass(frozen=True, repr=False)
class Power(Kernel):
    """k^exponent: a product of `exponent` copies; 1 everywhere for exponent 0."""

    kernel: Kernel
    exponent: int

    def __post_init__(self) -> None:
        store_integer(self, "exponent", 0, " Other powers of a kernel need not be kernels.")
        _inherit(self, (self.kernel,))

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _fold(np.power, (self.kernel._block(X, Y), self.exponent))

    def _own(self, X: Rows) -> np.ndarray:
        return _fold(np.power, (self.kernel.diag(X), self.exponent))

    def __repr__(self) -> str:
        wrap = isinstance(self.kernel, (Sum, Scaled, Product, Power))
        return f"({self.kernel!r})**{self.exponent}" if wrap else f"{self.kernel!r}**{self.exponent}"


def _inherit(composite: Kernel, parts: tuple[Kernel, ...]) -> None:
    """A combination is positive semi-definite when all its parts are; and takes X as they do."""
    for part in parts:
        if not isinstance(part, Kernel):
            raise TypeError(f"{type(composite).__name__}: every part must be a kernel; got {part!r}.")
    if len({part.pairwise for part in parts}) != 1:
        raise ValueError(
            "Precomputed: X must hold kernel values for all parts of a combination, or features for all; "
            f"got a mixture in {composite!r}. Combine the matrices themselves instead."
        )
    object.__setattr__(composite, "is_psd", True if all(part.is_psd for part in parts) else None)
    object.__setattr__(composite, "pairwise", parts[0].pairwise)


def _fold(operation: np.ufunc, values: Iterable[Any]) -> np.ndarray:
    """Combine blocks into the first one, each freed before the next is computed."""
    rest = iter(values)
    total = next(rest)
    for value in rest:
        operation(total, value, out=total)
    return total


def _as_term(value: object) -> Kernel | None:
    """A kernel as it is, a number as a constant kernel, anything else as None."""
    if isinstance(value, Kernel):
        return value
    return Constant(value) if is_number(value) else None  # type: ignore[arg-type]


def _terms(kernel: Kernel, kind: type[Sum] | type[Product]) -> tuple[Kernel, ...]:
    """The parts of a Sum or Product, so that brackets make no difference."""
    if not isinstance(kernel, kind):
        return (kernel,)
    return kernel.terms if isinstance(kernel, Sum) else kernel.factors


def _split(kernel: Kernel) -> tuple[float | None, Kernel]:
    return (kernel.scale, kernel.kernel) if isinstance(kernel, Scaled) else (None, kernel)


def _scale(factor: Any, kernel: Kernel) -> Scaled:
    before, inner = _split(kernel)
    return Scaled(factor if before is None else factor * before, inner)


def parts_of(kernel: Kernel) -> Iterator[Kernel]:
    """The kernels that an expression is made of."""
    if isinstance(kernel, (Sum, Product)):
        for part in kernel.terms if isinstance(kernel, Sum) else kernel.factors:
            yield from parts_of(part)
    elif isinstance(kernel, (Scaled, Power)):
        yield from parts_of(kernel.kernel)
    else:
        yield kernel

"""Kernels: what "similar" means, as small objects that hold parameters and nothing else.

``k(X, Y)`` is the block of values k(x, y) for the rows of X and Y, ``k.diag(X)`` the values k(x, x) without
that block. Kernels add, multiply, scale and take powers, because the results are kernels again: a sum joins
the features of its terms, a product makes all products of them.

    >>> from lowdim.kernels import RBF, Linear
    >>> 2 * RBF(gamma=0.5) + Linear() ** 2
    2.0*RBF(gamma=0.5) + Linear()**2

Every width is stored as ``gamma``, the factor of the (squared) distance in the exponent. Texts disagree about
what "sigma" is, so `RBF.from_width` asks which formula is meant. float32 rows give float32 values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from lowdim._core.distances import as_rows, compiled, excess, over_power, pairwise, row_scales, scaled
from lowdim._core.widths import NEIGHBORS, RULES, Rows, bandwidth


class Kernel:
    """What all kernels share: checked rows, and the algebra ``2*k1 + k2*k3**2``.

    Attributes
    ----------
    is_psd : True or None
        True where every matrix ``k(X)`` is positive semi-definite by theory, None where that is not known.
    pairwise : bool
        True where rows of X hold kernel values rather than features.
    """

    __array_ufunc__ = None  # numpy's scalars leave `np.float64(2) * k` to us
    is_psd: bool | None = True
    pairwise: bool = False

    def __call__(self, X: Rows, Y: Rows | None = None) -> np.ndarray:
        """Values k(x, y) for the rows of X and of Y (X again when None), one row for each row of X."""
        X, Y = _rows(self, X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(self, self._block(X, Y), X)

    def diag(self, X: Rows) -> np.ndarray:
        """Values k(x, x) for the rows of X."""
        X = _rows(self, X, None)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(self, self._own(X), X)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        raise NotImplementedError

    def _own(self, X: Rows) -> np.ndarray:
        raise NotImplementedError

    def __add__(self, other: object) -> Kernel:
        other = _as_term(other)
        return NotImplemented if other is None else Sum((*_terms(self, Sum), *_terms(other, Sum)))

    def __radd__(self, other: object) -> Kernel:
        other = _as_term(other)
        return NotImplemented if other is None else other + self

    def __mul__(self, other: object) -> Kernel:
        if _is_number(other):
            return _scale(other, self)
        if not isinstance(other, Kernel):
            return NotImplemented
        (a, left), (b, right) = _split(self), _split(other)
        product = Product((*_terms(left, Product), *_terms(right, Product)))
        return product if a is None and b is None else _scale((a or 1.0) * (b or 1.0), product)

    def __rmul__(self, other: object) -> Kernel:
        return self * other if _is_number(other) else NotImplemented

    def __pow__(self, exponent: object) -> Kernel:
        return Power(self, exponent)  # type: ignore[arg-type]


def _rows(kernel: Kernel, X: Rows, Y: Rows | None) -> tuple[Rows, Rows | None]:
    """X and Y as 2-D arrays of one floating-point type: float32 when both are, else float64."""
    owner = type(kernel).__name__
    X, Y = as_rows(X, owner, "X"), None if Y is None else as_rows(Y, owner, "Y")
    single = all(A is None or A.dtype == np.float32 for A in (X, Y))
    dtype = np.float32 if single else np.float64
    X, Y = X.astype(dtype, copy=False), None if Y is None else Y.astype(dtype, copy=False)
    if Y is not None and not kernel.pairwise and X.shape[1] != Y.shape[1]:
        raise ValueError(f"{owner}: X and Y must have the same number of columns; got {X.shape[1]} and {Y.shape[1]}.")
    return X, Y


def _finite(kernel: Kernel, values: np.ndarray, X: Rows) -> np.ndarray:
    """The values themselves; ValueError with what can help where they overflowed."""
    if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
        return values
    way_out = "Rescale the data, for example X / np.abs(X).max()"
    if isinstance(kernel, Polynomial) and np.isfinite(row_norms(X, squared=True)).all():
        way_out += ", or use a smaller gamma or degree"
    raise ValueError(
        f"{type(kernel).__name__}: kernel values must be finite; got values too large for {values.dtype}. {way_out}."
    )


def _dots(X: Rows, Y: Rows | None) -> np.ndarray:
    return np.asarray(safe_sparse_dot(X, (X if Y is None else Y).T, dense_output=True))


def _n_rows(X: Rows, Y: Rows | None) -> int:
    return (X if Y is None else Y).shape[0]


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _store(kernel: Kernel, name: str, rule: str, holds: Callable[[float], bool]) -> None:
    """Check one numeric parameter and keep it as a plain float, so that it prints and compares plainly."""
    value = getattr(kernel, name)
    if not _is_number(value) or not math.isfinite(value) or not holds(value):
        raise ValueError(f"{type(kernel).__name__}: {name} must be {rule}; got {value!r}.")
    object.__setattr__(kernel, name, float(value))


def _store_integer(kernel: Kernel, name: str, least: int, way_out: str = "") -> None:
    value = getattr(kernel, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        rule = f"an integer of at least {least}"
        raise ValueError(f"{type(kernel).__name__}: {name} must be {rule}; got {value!r}.{way_out}")
    object.__setattr__(kernel, name, int(value))


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, y) = x'y. Kernel methods with it are their linear counterparts."""

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _dots(X, Y)

    def _own(self, X: Rows) -> np.ndarray:
        return row_norms(X, squared=True)


@dataclass(frozen=True)
class Cosine(Kernel):
    """k(x, y) = x'y / (|x| |y|), and 0 where a row is zero."""

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _dots(_unit_rows(X), None if Y is None else _unit_rows(Y))

    def _own(self, X: Rows) -> np.ndarray:
        return (row_scales(X, "cosine") > 0).astype(X.dtype)


def _unit_rows(X: Rows) -> Rows:
    return scaled(X, row_scales(X, "cosine"))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, y) = (gamma x'y + coef0)^degree: products of up to `degree` columns (exactly that if coef0 is 0).

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float
        At least 0; a negative one does not give a kernel.
    gamma : float
        Positive.
    """

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _store_integer(self, "degree", 1)
        _store(self, "coef0", "a finite number of at least 0", lambda c: c >= 0)
        _store(self, "gamma", "a positive finite number", lambda g: g > 0)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return self._raise(_dots(X, Y))

    def _own(self, X: Rows) -> np.ndarray:
        return self._raise(row_norms(X, squared=True))

    def _raise(self, dots: np.ndarray) -> np.ndarray:
        dots *= self.gamma
        dots += self.coef0
        return np.power(dots, self.degree, out=dots)


# The spellings of a Gaussian's width in the literature, and the gamma each of them means.
_WIDTHS: dict[str, Callable[[float], float]] = {
    "exp(-d2/(2*s2))": lambda s: 0.5 / s / s,
    "exp(-d2/s2)": lambda s: 1.0 / s / s,
    "exp(-d2/s)": lambda s: 1.0 / s,
}


@dataclass(frozen=True)
class RBF(Kernel):
    """The Gaussian k(x, y) = exp(-gamma |x - y|²).

    Parameters
    ----------
    gamma : float
        Positive. See `from_width` for a width, `bandwidth` for a rule that finds one.
    """

    gamma: float

    def __post_init__(self) -> None:
        _store(self, "gamma", "a positive finite number", lambda g: g > 0)

    @classmethod
    def from_width(cls, width: float, convention: str = "exp(-d2/(2*s2))") -> RBF:
        """The Gaussian of a given width s, in the formula you name.

        Parameters
        ----------
        width : float
            Positive.
        convention : {"exp(-d2/(2*s2))", "exp(-d2/s2)", "exp(-d2/s)"}
            The formula, d2 being the squared distance and s2 the squared width.

        Returns
        -------
        RBF
            With gamma = 1/(2 s²), 1/s² or 1/s.

        Examples
        --------
        >>> RBF.from_width(2.0), RBF.from_width(2.0, "exp(-d2/s2)")
        (RBF(gamma=0.125), RBF(gamma=0.25))
        """
        if convention not in _WIDTHS:
            raise ValueError(f"RBF: convention must be one of {', '.join(_WIDTHS)}; got {convention!r}.")
        return cls(_WIDTHS[convention](_positive(width, "RBF", "width")))

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        # Squares of float32 rows beyond 2**63 would overflow; a power of two is taken out and given to gamma.
        exponent = excess(X if Y is None else Y, 50 if X.dtype == np.float32 else 300)
        A, B = over_power(X, exponent), None if Y is None else over_power(Y, exponent)
        return _decay(pairwise(A, B, squared=True), self.gamma, 2 * exponent)

    def _own(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0], X.dtype)


@dataclass(frozen=True)
class Laplace(Kernel):
    """k(x, y) = exp(-gamma |x - y|), rougher than the Gaussian and less sensitive to outlying rows.

    Parameters
    ----------
    gamma : float
        Positive.
    norm : {"l1", "l2"}
        Which length |x - y| is: the sum of absolute differences, or the Euclidean one.
    """

    gamma: float
    norm: str = "l1"

    def __post_init__(self) -> None:
        _store(self, "gamma", "a positive finite number", lambda g: g > 0)
        if self.norm not in ("l1", "l2"):
            raise ValueError(f"Laplace: norm must be 'l1' or 'l2'; got {self.norm!r}.")

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _decay(pairwise(X, Y, "manhattan" if self.norm == "l1" else "euclidean"), self.gamma)

    def _own(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0], X.dtype)


def _decay(D: np.ndarray, gamma: float, power: int = 0) -> np.ndarray:
    """exp(-gamma 2**power D), written over D."""
    with np.errstate(over="ignore", under="ignore"):  # an infinite exponent is the right limit: similarity 0
        factor = min(float(np.ldexp(gamma, power)), np.finfo(np.float64).max)
        if 1e-30 < factor < 1e30:
            flat = D.reshape(-1)
            compiled.decay(flat, factor)  # numpy's exp is four times slower where vectors are not 512 bits wide
            return flat.reshape(D.shape)
        # The factor itself may leave float32, or meet an infinite distance as 0.
        np.minimum(D, np.finfo(D.dtype).max, out=D)
        np.multiply(D, -factor, out=D, dtype=np.float64, casting="same_kind")
        return np.exp(D, out=D)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, y) = tanh(gamma x'y + coef0). Not positive semi-definite: eigenvalues may be negative.

    Parameters
    ----------
    gamma : float
        Slope.
    coef0 : float
        Shift.
    """

    gamma: float
    coef0: float = 1.0
    is_psd = None

    def __post_init__(self) -> None:
        for name in ("gamma", "coef0"):
            _store(self, name, "a finite number", math.isfinite)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return self._squash(_dots(X, Y))

    def _own(self, X: Rows) -> np.ndarray:
        return self._squash(row_norms(X, squared=True))

    def _squash(self, dots: np.ndarray) -> np.ndarray:
        dots *= self.gamma
        dots += self.coef0
        return np.tanh(dots, out=dots)


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, y) = value, at least 0. Useful in sums, where it adds an intercept.

    Parameters
    ----------
    value : float
        The constant.
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        _store(self, "value", "a finite number of at least 0", lambda c: c >= 0)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return np.full((X.shape[0], _n_rows(X, Y)), self.value, X.dtype)

    def _own(self, X: Rows) -> np.ndarray:
        return np.full(X.shape[0], self.value, X.dtype)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values computed elsewhere: X holds k(x, y), a row for each x, a column for each fitted row y.

    ``k(X)`` and ``k(X, Y)`` return a copy of X; Y, the fitted rows, only says how many columns there must be.
    """

    is_psd = None
    pairwise = True

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        if Y is not None and X.shape[1] != Y.shape[0]:
            raise ValueError(
                f"Precomputed: X must have {Y.shape[0]} columns, one for each fitted row; got {X.shape[1]}."
            )
        return X.toarray() if sparse.issparse(X) else X.copy()

    def diag(self, X: Rows, values: Rows | None = None) -> np.ndarray:
        """Values k(x, x): the diagonal of the symmetric matrix X, or `values` for new rows.

        The values k(x, y) of new rows x against fitted rows y do not contain k(x, x): give those as `values`.
        """
        X = _rows(self, X, None)[0]
        if values is not None:
            own = np.asarray(values, X.dtype)
            if own.shape == (X.shape[0],):
                return own.copy()
            raise ValueError(
                f"Precomputed: values must hold one k(x, x) for each of {X.shape[0]} rows; got {own.shape}."
            )
        K = self._block(X, None)
        if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-5, atol=1e-6 * np.abs(K).max(initial=0.0)):
            raise ValueError(
                f"Precomputed: X must be symmetric for its diagonal to hold k(x, x); got a matrix of shape "
                f"{K.shape} that is not. For new rows, give k(x, x) as diag(X, values)."
            )
        return K.diagonal().copy()


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel from a function of your own.

    Parameters
    ----------
    f : callable
        ``f(x, y) -> float`` for two rows, symmetric; or ``f(X, Y) -> array`` for two blocks of rows.
    blockwise : bool
        Whether `f` takes blocks, which is much faster.

    Examples
    --------
    >>> k = Custom(lambda X, Y: np.minimum(X[:, None], Y).sum(axis=2), blockwise=True)
    >>> k([[1.0, 2.0]], [[0.0, 5.0], [3.0, 1.0]])
    array([[2., 2.]])
    """

    f: Callable[..., Any]
    blockwise: bool = False
    is_psd = None

    def __post_init__(self) -> None:
        if not callable(self.f) or isinstance(self.f, type):
            raise TypeError(f"Custom: f must be a function of two rows, or of two blocks of rows; got {self.f!r}.")

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        if self.blockwise:
            return self._checked(self.f(X, X if Y is None else Y), (X.shape[0], _n_rows(X, Y)), X.dtype)
        if sparse.issparse(X) or sparse.issparse(Y):
            raise TypeError("Custom: rows must be dense unless blockwise=True; got sparse rows. Use X.toarray().")
        if Y is not None:
            return self._checked([[self.f(x, y) for y in Y] for x in X], (X.shape[0], Y.shape[0]), X.dtype)
        half = [[self.f(X[i], X[j]) if j <= i else 0.0 for j in range(X.shape[0])] for i in range(X.shape[0])]
        K = self._checked(half, (X.shape[0], X.shape[0]), X.dtype)
        return K + np.tril(K, -1).T

    def _own(self, X: Rows) -> np.ndarray:
        if self.blockwise:
            rows = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self._checked(self.f(x, x), (1, 1), X.dtype)[0, 0] for x in rows], X.dtype)
        return self._checked([self.f(x, x) for x in X], (X.shape[0],), X.dtype)

    def _checked(self, values: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        try:
            found = np.asarray(values)
        except ValueError:  # rows of different lengths
            found = np.asarray(None)
        if found.shape == shape and not self.blockwise and found.dtype.kind not in "biuf":
            odd = next((v for v in found.ravel().tolist() if not isinstance(v, Real)), None)
            raise ValueError(f"Custom: f must return a number for two rows; got {odd!r} ({type(odd).__name__}).")
        if found.shape != shape or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
            what = "values that are not finite" if found.shape == shape else f"shape {found.shape}"
            raise ValueError(f"Custom: f must return finite numbers of shape {shape} here; got {what}.")
        return found.astype(dtype)


# The algebra: sums, products, positive multiples, powers -------------------------------------------------


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """scale · k, the scale positive."""

    scale: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not _is_number(self.scale) or not 0 < self.scale < math.inf:
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
        _store_integer(self, "exponent", 0, " Other powers of a kernel need not be kernels.")
        _inherit(self, (self.kernel,))

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _fold(np.power, (self.kernel._block(X, Y), self.exponent))

    def _own(self, X: Rows) -> np.ndarray:
        return _fold(np.power, (self.kernel.diag(X), self.exponent))

    def __repr__(self) -> str:
        wrap = isinstance(self.kernel, (Sum, Scaled, Product, Power))
        return f"({self.kernel!r})**{self.exponent}" if wrap else f"{self.kernel!r}**{self.exponent}"


def _inherit(composite: Kernel, parts: tuple[Kernel, ...]) -> None:
    """A composite is known to be positive semi-definite when all its parts are; and reads X as they do."""
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
    """Combine blocks into the first one, each freed before the next is made."""
    rest = iter(values)
    total = next(rest)
    for value in rest:
        operation(total, value, out=total)
    return total


def _as_term(value: object) -> Kernel | None:
    """A kernel as it is, a number as a constant kernel, anything else as None."""
    if isinstance(value, Kernel):
        return value
    return Constant(value) if _is_number(value) else None  # type: ignore[arg-type]


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


def _positive(value: Any, owner: str, name: str) -> float:
    if not _is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{owner}: {name} must be a positive finite number; got {value!r}.")
    return float(value)


_NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "rbf": RBF,
    "gaussian": RBF,
    "laplacian": Laplace,
    "sigmoid": Sigmoid,
    "tanh": Sigmoid,
    "cosine": Cosine,
    "constant": Constant,
    "precomputed": Precomputed,
}


def make_kernel(
    kernel: Any,
    X: Rows,
    *,
    width: float | str = "median",
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 1.0,
    params: Mapping[str, Any] | None = None,
    owner: str = "make_kernel",
) -> Kernel:
    """The kernel object behind what users pass: a name, a kernel object or a function of two rows.

    `gamma` wins over `width`. A number as `width` is the s of exp(-d²/(2 s²)) (of exp(-d/s) for "laplacian"),
    a word one of the rules of `bandwidth`. Without gamma, "polynomial" takes 1 and "sigmoid" 1 / columns.
    `params` are further arguments of the kernel's class, or keyword arguments of the function.
    """
    extra = dict(params or {})
    if isinstance(kernel, Kernel):
        if gamma is not None or extra:
            raise ValueError(
                f"{owner}: gamma and params must be left out with a kernel object; got them with {kernel!r}."
            )
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(partial(kernel, **extra) if extra else kernel)
    if not isinstance(kernel, str) or kernel not in _NAMES:
        raise ValueError(
            f"{owner}: kernel must be one of {', '.join(_NAMES)}, a kernel object such as RBF(gamma=0.5), "
            f"or a function of two rows; got {kernel!r}."
        )
    named = _NAMES[kernel]
    accepted = {field.name for field in fields(named)}  # type: ignore[arg-type]
    if unknown := set(extra) - accepted:
        raise ValueError(f"{owner}: params must be among {sorted(accepted)} for {kernel!r}; got {sorted(unknown)}.")
    arguments = {"degree": degree, "coef0": coef0} | ({} if gamma is None else {"gamma": gamma}) | extra
    arguments = {name: value for name, value in arguments.items() if name in accepted}
    if "gamma" in accepted and "gamma" not in arguments:
        arguments["gamma"] = _default_gamma(named, X, width, extra.get("norm", "l1"), owner)
    try:
        return named(**arguments)
    except ValueError as error:  # the user named a word, not a class: the message begins with who was asked
        raise ValueError(str(error).replace(f"{named.__name__}: ", f"{owner}: ", 1)) from None


def _default_gamma(named: type[Kernel], X: Rows, width: Any, norm: str, owner: str) -> float:
    if named is Polynomial:
        return 1.0
    if named is Sigmoid:
        return 1.0 / X.shape[1]
    if isinstance(width, str):
        _check_rule(width, X, owner)
        metric = "manhattan" if named is Laplace and norm == "l1" else "euclidean"
        return bandwidth(X, width, metric=metric, power=2 if named is RBF else 1, owner=owner)
    width = _positive(width, owner, "width")
    return RBF.from_width(width).gamma if named is RBF else 1.0 / width


def _check_rule(width: str, X: Rows, owner: str) -> None:
    if width not in RULES:
        raise ValueError(f"{owner}: width must be a positive number or one of {', '.join(RULES)}; got {width!r}.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if width == "neighbors" and n <= NEIGHBORS:
        raise ValueError(
            f"{owner}: width='neighbors' must have more than {NEIGHBORS} rows to measure; got {n}. Use "
            "width='median', or pass a number."
        )

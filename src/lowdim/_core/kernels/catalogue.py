"""The named kernels: functions of inner products, of distances, and of single columns.

Every width is stored as ``gamma``, the factor of the (squared) distance in the exponent; `from_width` takes widths in
the other conventions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import hyp0f1
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from lowdim import _native
from lowdim._core.distances import excess, over_power, pairwise, row_scales, scaled
from lowdim._core.kernels.algebra import Kernel, is_number, store, store_integer, store_positive
from lowdim._core.kernels.widths import Rows

# Functions of the inner product -----------------------------------------------------------------------------


class DotKernel(Kernel):
    """A function of x'y alone."""

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return self._of_dots(_dots(X, Y))

    def _own(self, X: Rows) -> np.ndarray:
        return self._of_dots(row_norms(X, squared=True))

    @abstractmethod
    def _of_dots(self, dots: np.ndarray) -> np.ndarray:
        """The kernel's values where x'y is `dots`, which may be overwritten."""


def _dots(X: Rows, Y: Rows | None) -> np.ndarray:
    return np.asarray(safe_sparse_dot(X, (X if Y is None else Y).T, dense_output=True))


@dataclass(frozen=True)
class Linear(DotKernel):
    """k(x, y) = x'y. Kernel methods with it are their linear counterparts.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Linear()([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[ 5., 11.],
           [11., 25.]])
    """

    def _of_dots(self, dots: np.ndarray) -> np.ndarray:
        return dots


@dataclass(frozen=True)
class Polynomial(DotKernel):
    """k(x, y) = (gamma x'y + coef0)^degree: products of up to `degree` columns (exactly that if coef0 is 0).

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float
        At least 0; a negative one does not give a kernel.
    gamma : float
        Positive.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Polynomial(2)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[ 36., 144.],
           [144., 676.]])
    """

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0
    _relief: ClassVar[str] = ", or use a smaller gamma or degree"

    def __post_init__(self) -> None:
        store_integer(self, "degree", 1)
        store(self, "coef0", "a finite number of at least 0", lambda c: c >= 0)
        store_positive(self, "gamma")

    def _of_dots(self, dots: np.ndarray) -> np.ndarray:
        dots *= self.gamma
        dots += self.coef0
        return np.power(dots, self.degree, out=dots)


@dataclass(frozen=True)
class Sigmoid(DotKernel):
    """k(x, y) = tanh(gamma x'y + coef0). Not positive semi-definite: eigenvalues may be negative.

    Parameters
    ----------
    gamma : float
        Slope.
    coef0 : float
        Shift.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Sigmoid(0.1)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[0.905, 0.97 ],
           [0.97 , 0.998]])
    """

    gamma: float
    coef0: float = 1.0
    is_psd = None

    def __post_init__(self) -> None:
        for name in ("gamma", "coef0"):
            store(self, name, "a finite number", math.isfinite)

    def _of_dots(self, dots: np.ndarray) -> np.ndarray:
        dots *= self.gamma
        dots += self.coef0
        return np.tanh(dots, out=dots)


@dataclass(frozen=True)
class Cosine(Kernel):
    """k(x, y) = x'y / (|x| |y|), and 0 where a row is zero.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Cosine()([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.984],
           [0.984, 1.   ]])
    """

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        return _dots(_unit_rows(X), None if Y is None else _unit_rows(Y))

    def _own(self, X: Rows) -> np.ndarray:
        return (row_scales(X, "cosine") > 0).astype(X.dtype)


def _unit_rows(X: Rows) -> Rows:
    return scaled(X, row_scales(X, "cosine"))


# Functions of the distance ----------------------------------------------------------------------------------

# The conventions for the width of a Gaussian in the literature, and the gamma of each.
_WIDTHS: dict[str, Callable[[float], float]] = {
    "exp(-d2/(2*s2))": lambda s: 0.5 / s / s,
    "exp(-d2/s2)": lambda s: 1.0 / s / s,
    "exp(-d2/s)": lambda s: 1.0 / s,
}


def positive(value: object, owner: str, name: str) -> float:
    """A positive number as a float; ValueError for anything else."""
    if not is_number(value) or not 0 < value < math.inf:  # type: ignore[operator]
        raise ValueError(f"{owner}: {name} must be a positive finite number; got {value!r}.")
    return float(value)  # type: ignore[arg-type]


def _gamma_of(width: float, convention: str, owner: str) -> float:
    if not isinstance(convention, str) or convention not in _WIDTHS:
        raise ValueError(f"{owner}: convention must be one of {', '.join(_WIDTHS)}; got {convention!r}.")
    return _WIDTHS[convention](positive(width, owner, "width"))


class DistanceKernel(Kernel):
    """A function of the Euclidean distance alone, 1 at distance 0."""

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        # Squares of float32 rows beyond 2**63 would overflow; a power of two is moved from the rows to gamma.
        exponent = excess(X if Y is None else Y, 50 if X.dtype == np.float32 else 300)
        A, B = over_power(X, exponent), None if Y is None else over_power(Y, exponent)
        return self._of_squares(pairwise(A, B, squared=True), 2 * exponent)

    def _own(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0], X.dtype)

    @abstractmethod
    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        """The kernel's values at squared distances 2**power D2; D2 may be overwritten."""


@dataclass(frozen=True)
class RBF(DistanceKernel):
    """The Gaussian k(x, y) = exp(-gamma |x - y|²).

    Parameters
    ----------
    gamma : float
        Positive. See `from_width` for a width, `bandwidth` for a rule that finds one.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.RBF(0.1)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.449],
           [0.449, 1.   ]])
    """

    gamma: float

    def __post_init__(self) -> None:
        store_positive(self, "gamma")

    @classmethod
    def from_width(cls, width: float, convention: str = "exp(-d2/(2*s2))") -> RBF:
        """The Gaussian of a given width s, in the formula that `convention` names.

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
        return cls(_gamma_of(width, convention, cls.__name__))

    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        return _decay(D2, self.gamma, power)


@dataclass(frozen=True)
class RationalQuadratic(DistanceKernel):
    """k(x, y) = (1 + gamma |x - y|² / alpha)^-alpha: a sum of Gaussians of many widths, with heavy tails.

    It tends to RBF(gamma) as alpha grows; alpha = 1 is the Cauchy kernel 1 / (1 + gamma |x - y|²).

    Parameters
    ----------
    gamma : float
        Positive.
    alpha : float
        Positive; the smaller, the heavier the tails.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.RationalQuadratic(2.0)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.059],
           [0.059, 1.   ]])
    """

    gamma: float
    alpha: float = 1.0

    def __post_init__(self) -> None:
        store_positive(self, "gamma", "alpha")

    @classmethod
    def from_width(cls, width: float, convention: str = "exp(-d2/(2*s2))", *, alpha: float = 1.0) -> RationalQuadratic:
        """The kernel of a given width s, given by that of the Gaussian that it tends to as alpha grows.

        Parameters
        ----------
        width : float
            Positive; the length scale of scikit-learn's Gaussian processes under the first convention.
        convention : {"exp(-d2/(2*s2))", "exp(-d2/s2)", "exp(-d2/s)"}
            The formula of that Gaussian.
        alpha : float
            Positive.

        Returns
        -------
        RationalQuadratic
            With gamma = 1/(2 s²), 1/s² or 1/s.

        Examples
        --------
        >>> RationalQuadratic.from_width(2.0, alpha=0.5)
        RationalQuadratic(gamma=0.125, alpha=0.5)
        """
        return cls(_gamma_of(width, convention, cls.__name__), alpha)

    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        t = _stretched(D2, self.gamma, power)
        t /= self.alpha
        return np.exp(-self.alpha * np.log1p(t, out=t)).astype(D2.dtype)


@dataclass(frozen=True)
class Matern(DistanceKernel):
    """Matérn's kernel: between the rough Laplace and the smooth Gaussian.

    With t = 2 sqrt(nu gamma) |x - y|: exp(-t) for nu = 1/2, (1 + t) exp(-t) for 3/2, (1 + t + t²/3) exp(-t) for 5/2.
    It would tend to RBF(gamma) as nu grows.

    Parameters
    ----------
    gamma : float
        Positive.
    nu : {0.5, 1.5, 2.5}
        Smoothness.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Matern(2.0, nu=1.5)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.001],
           [0.001, 1.   ]])
    """

    gamma: float
    nu: float = 1.5

    def __post_init__(self) -> None:
        store_positive(self, "gamma")
        store(self, "nu", "0.5, 1.5 or 2.5 (RBF is its limit for large nu)", lambda v: v in (0.5, 1.5, 2.5))

    @classmethod
    def from_width(cls, width: float, convention: str = "exp(-d2/(2*s2))", *, nu: float = 1.5) -> Matern:
        """The kernel of a given width s, given by that of the Gaussian that it tends to as nu grows.

        Parameters
        ----------
        width : float
            Positive; the length scale of scikit-learn's Gaussian processes under the first convention.
        convention : {"exp(-d2/(2*s2))", "exp(-d2/s2)", "exp(-d2/s)"}
            The formula of that Gaussian.
        nu : {0.5, 1.5, 2.5}
            Smoothness.

        Returns
        -------
        Matern
            With gamma = 1/(2 s²), 1/s² or 1/s.
        """
        return cls(_gamma_of(width, convention, cls.__name__), nu)

    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        t = np.minimum(2.0 * np.sqrt(self.nu * _stretched(D2, self.gamma, power)), 1e4)  # exp(-1e4) is 0
        growth = {0.5: 1.0, 1.5: 1.0 + t, 2.5: 1.0 + t + t * t / 3.0}[self.nu]
        return (growth * np.exp(-t)).astype(D2.dtype)


@dataclass(frozen=True)
class Laplace(DistanceKernel):
    """k(x, y) = exp(-gamma |x - y|), rougher than the Gaussian and less sensitive to outlying rows.

    Parameters
    ----------
    gamma : float
        Positive.
    norm : {"l1", "l2"}
        The norm |x - y|: the sum of absolute differences, as in scikit-learn, or the Euclidean norm, as in kernlab.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Laplace(0.1)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.  , 0.67],
           [0.67, 1.  ]])
    """

    gamma: float
    norm: str = "l1"

    def __post_init__(self) -> None:
        store_positive(self, "gamma")
        if self.norm not in ("l1", "l2"):
            raise ValueError(f"Laplace: norm must be 'l1' or 'l2'; got {self.norm!r}.")

    @classmethod
    def from_width(cls, width: float, norm: str = "l1") -> Laplace:
        """The kernel exp(-|x - y| / s) of a given width s.

        Parameters
        ----------
        width : float
            Positive.
        norm : {"l1", "l2"}
            The norm |x - y|.

        Returns
        -------
        Laplace
            With gamma = 1/s.

        Examples
        --------
        >>> Laplace.from_width(4.0, "l2")
        Laplace(gamma=0.25, norm='l2')
        """
        return cls(1.0 / positive(width, cls.__name__, "width"), norm)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        if self.norm == "l1":
            return _decay(pairwise(X, Y, "manhattan"), self.gamma)
        return super()._block(X, Y)

    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        return _decay(np.sqrt(D2, out=D2), self.gamma, power // 2)


@dataclass(frozen=True)
class Bessel(DistanceKernel):
    """k(x, y) = (Γ(order + 1) (2/t)^order J_order(t))^degree with t = gamma |x - y| and J the Bessel function.

    kernlab's besseldot, 1 at distance 0; order -1/2 would be the cosine, 1/2 is sin(t)/t. It oscillates, and is
    positive semi-definite for rows of at most 2 order + 2 columns: there it is the Fourier transform of a mass on a
    ball. With more columns it is not for degree 1, and not known to be for others.

    Parameters
    ----------
    gamma : float
        Positive; what kernlab calls sigma.
    order : float
        At least 0.
    degree : int
        At least 1.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Bessel(0.1)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.  , 0.99],
           [0.99, 1.  ]])
    """

    gamma: float
    order: float = 1.0
    degree: int = 1
    is_psd = None

    def __post_init__(self) -> None:
        store_positive(self, "gamma")
        store(self, "order", "a finite number of at least 0", lambda v: v >= 0)
        store_integer(self, "degree", 1)

    def _of_squares(self, D2: np.ndarray, power: int = 0) -> np.ndarray:
        t = self.gamma * np.sqrt(_stretched(D2, 1.0, power))
        far = t > 1e15  # the phase of J is lost there, and J nearly 0
        values = hyp0f1(self.order + 1.0, -0.25 * np.where(far, 0.0, t) ** 2)
        return (np.where(far, 0.0, values) ** self.degree).astype(D2.dtype)


def _decay(D: np.ndarray, gamma: float, power: int = 0) -> np.ndarray:
    """exp(-gamma 2**power D), written over D."""
    with np.errstate(over="ignore", under="ignore"):  # an infinite exponent is the right limit: similarity 0
        factor = min(float(np.ldexp(gamma, power)), np.finfo(np.float64).max)
        if 1e-30 < factor < 1e30:
            flat = D.reshape(-1)
            _native.decay(flat, factor)  # numpy's exp is four times slower where vectors are not 512 bits wide
            return flat.reshape(D.shape)
        # The factor itself may leave float32, or meet an infinite distance as 0.
        np.minimum(D, np.finfo(D.dtype).max, out=D)
        np.multiply(D, -factor, out=D, dtype=np.float64, casting="same_kind")
        return np.exp(D, out=D)


def _stretched(D: np.ndarray, gamma: float, power: int) -> np.ndarray:
    """gamma 2**power D in float64, at most the largest finite number."""
    most = float(np.finfo(np.float64).max)
    with np.errstate(over="ignore", under="ignore"):
        product = np.minimum(D, most, dtype=np.float64) * min(float(np.ldexp(gamma, power)), most)
        return np.minimum(product, most, out=product)


# Sums over columns ------------------------------------------------------------------------------------------


def _columns(X: Rows, Y: Rows | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each column of X and that of Y, in float64; one at a time, so that sparse rows are never made dense."""
    tables = [A.tocsc() if sparse.issparse(A) else A for A in (X, X if Y is None else Y)]
    for j in range(X.shape[1]):
        found = [A[:, [j]].toarray().ravel() if sparse.issparse(A) else A[:, j] for A in tables]
        yield found[0].astype(np.float64), found[1].astype(np.float64)


@dataclass(frozen=True)
class ANOVA(Kernel):
    """k(x, y) = (sum over columns j of exp(-gamma (x_j - y_j)²))^degree: a sum of Gaussians of single columns.

    kernlab's anovadot: for additive effects of the columns and, by `degree`, their interactions of up to that many.
    k(x, x) is columns^degree.

    Parameters
    ----------
    gamma : float
        Positive; what kernlab calls sigma.
    degree : int
        At least 1.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.ANOVA(0.5, degree=2)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[4.   , 0.073],
           [0.073, 4.   ]])
    """

    gamma: float
    degree: int = 1
    _relief: ClassVar[str] = ", or use a smaller degree"

    def __post_init__(self) -> None:
        store_positive(self, "gamma")
        store_integer(self, "degree", 1)

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        total = np.zeros((X.shape[0], (X if Y is None else Y).shape[0]))
        with np.errstate(over="ignore", under="ignore"):
            for x, y in _columns(X, Y):
                gaps = np.subtract.outer(x, y)
                gaps *= gaps
                total += _decay(gaps, self.gamma)
        return (total**self.degree).astype(X.dtype)

    def _own(self, X: Rows) -> np.ndarray:
        return np.full(X.shape[0], float(X.shape[1]) ** self.degree, X.dtype)


@dataclass(frozen=True)
class Chi2(Kernel):
    """k(x, y) = exp(-gamma sum over columns of (x_j - y_j)² / (x_j + y_j)), for histograms (no negative cells).

    Columns that are 0 in both rows are ignored.

    Parameters
    ----------
    gamma : float
        Positive.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.kernels.Chi2(0.5)([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.435],
           [0.435, 1.   ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        store_positive(self, "gamma")

    def _block(self, X: Rows, Y: Rows | None) -> np.ndarray:
        total = np.zeros((X.shape[0], (X if Y is None else Y).shape[0]))
        for x, y in _columns(X, Y):
            least = min(x.min(initial=0.0), y.min(initial=0.0))
            if least < 0:
                raise ValueError(f"Chi2: rows must not be negative; got {least:g}. Use RBF for such rows.")
            gaps, sums = np.subtract.outer(x, y), np.add.outer(x, y)
            gaps *= np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0)
            total += gaps
        return _decay(total, self.gamma).astype(X.dtype, copy=False)

    def _own(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0], X.dtype)

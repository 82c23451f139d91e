"""Kernels: what "similar" means, as small objects that hold parameters and nothing else.

``k(X, Y)`` is the block of values k(x, y) for the rows of X and Y, ``k.diag(X)`` the values k(x, x) without
that block. Kernels add, multiply, scale and take powers, because the results are kernels again.

    >>> from lowdim.kernels import RBF, Linear
    >>> 2 * RBF(gamma=0.5) + Linear() ** 2
    2.0*RBF(gamma=0.5) + Linear()**2

The algebra is in `algebra`, the formulas are in `catalogue`; here is `make_kernel`, for what users pass: a name, an
object or a function. float32 rows give float32 values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

from lowdim._core.kernels.algebra import Constant, Kernel, Power, Product, Scaled, Sum
from lowdim._core.kernels.catalogue import (
    ANOVA,
    RBF,
    Bessel,
    Chi2,
    Cosine,
    DistanceKernel,
    DotKernel,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    positive,
)
from lowdim._core.kernels.given import Custom, Precomputed
from lowdim._core.kernels.widths import NEIGHBORS, RULES, Rows, bandwidth

if TYPE_CHECKING:
    from lowdim._core.incomplete.kernels import KernelHoles

__all__ = [
    "ANOVA",
    "RBF",
    "Bessel",
    "Chi2",
    "Constant",
    "Cosine",
    "Custom",
    "DistanceKernel",
    "DotKernel",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Rows",
    "Scaled",
    "Sigmoid",
    "Sum",
    "bandwidth",
    "make_kernel",
]

NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "rbf": RBF,
    "gaussian": RBF,
    "rational-quadratic": RationalQuadratic,
    "matern": Matern,
    "laplacian": Laplace,
    "bessel": Bessel,
    "anova": ANOVA,
    "chi2": Chi2,
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
    holes: KernelHoles | None = None,
    owner: str = "make_kernel",
) -> Kernel:
    """The kernel object behind what users pass: a name, a kernel object or a function of two rows.

    `gamma` takes precedence over `width`. A number as `width` is the standard deviation s of exp(-d²/(2 s²)) (the s of
    d/s for "laplacian" and "bessel"), a text one of the rules of `bandwidth`. Without gamma, "polynomial" and "chi2"
    take 1 and "sigmoid" 1 / columns. `params` are further arguments of the kernel's class, or keyword arguments of the
    function. With `holes`, X is their table of incomplete rows, and the kernel one on such tables.
    """
    extra = dict(params or {})
    if isinstance(kernel, Kernel):
        if gamma is not None or extra:
            raise ValueError(
                f"{owner}: gamma and params must be left out with a kernel object; got them with {kernel!r}."
            )
        found = kernel
    elif callable(kernel) and not isinstance(kernel, type):
        found = Custom(partial(kernel, **extra) if extra else kernel)
    else:
        given = {"degree": degree, "coef0": coef0} | ({} if gamma is None else {"gamma": gamma})
        found = _by_name(kernel, X, width, given, extra, holes, owner)
    return found if holes is None else holes.kernel(found, owner)


def _by_name(
    name: Any, X: Rows, width: Any, given: dict[str, Any], extra: dict[str, Any], holes: Any, owner: str
) -> Kernel:
    if not isinstance(name, str) or name not in NAMES:
        raise ValueError(
            f"{owner}: kernel must be one of {', '.join(NAMES)}, a kernel object such as RBF(gamma=0.5), "
            f"or a function of two rows; got {name!r}."
        )
    named = NAMES[name]
    accepted = {field.name for field in fields(named)}  # type: ignore[arg-type]
    if unknown := set(extra) - accepted:
        raise ValueError(f"{owner}: params must be among {sorted(accepted)} for {name!r}; got {sorted(unknown)}.")
    arguments = {key: value for key, value in (given | extra).items() if key in accepted}
    if "gamma" in accepted and "gamma" not in arguments:
        arguments["gamma"] = _default_gamma(named, X, width, extra.get("norm", "l1"), holes, owner)
    try:
        return named(**arguments)
    except ValueError as error:  # the user gave a name, not a class: the message begins with the estimator
        raise ValueError(str(error).replace(f"{named.__name__}: ", f"{owner}: ", 1)) from None


def _default_gamma(named: type[Kernel], X: Rows, width: Any, norm: str, holes: Any, owner: str) -> float:
    if named in (Polynomial, Chi2):
        return 1.0
    columns = (X if holes is None else holes.rows(X)).shape[1]
    if named is Sigmoid:
        return 1.0 / columns
    power = 1 if named in (Laplace, Bessel) else 2
    if not isinstance(width, str):
        width = positive(width, owner, "width")
        return RBF.from_width(width).gamma if power == 2 else 1.0 / width
    _check_rule(width, X, owner)
    metric = "manhattan" if named is Laplace and norm == "l1" else "euclidean"
    measure = bandwidth if holes is None else holes.bandwidth
    gamma = measure(X, width, metric=metric, power=power, owner=owner)
    return gamma * columns if named is ANOVA else gamma  # distances of ANOVA are those of single columns


def _check_rule(width: str, X: Rows, owner: str) -> None:
    if width not in RULES:
        raise ValueError(f"{owner}: width must be a positive number or one of {', '.join(RULES)}; got {width!r}.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if width == "neighbors" and n <= NEIGHBORS:
        raise ValueError(
            f"{owner}: width='neighbors' must have more than {NEIGHBORS} rows; got {n}. Use "
            "width='median', or pass a number."
        )

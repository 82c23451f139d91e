"""Which functions of two rows are kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.kernels import RBF, Linear, Polynomial, Sigmoid
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Kernel functions: least over largest eigenvalue of the kernel matrix"
SOURCE = (
    "A talk on generalised PCA: linear, polynomial, Gaussian and hyperbolic tangent kernels; multiples, sums, products "
    "and powers of kernels are kernels (positive semidefinite)."
)
ROWS = 150
PUBLISHED = {"tanh(x'y/2 - 1)": "called a kernel"}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` draws of rows."""
    published = dict.fromkeys(_kernels(), ">= 0") | PUBLISHED
    published["linear kernel: largest difference of kernel PCA from PCA, up to sign"] = "0"
    return averaged(repeats, rng, advance, _least, published), NOTES


def _kernels() -> dict[str, lowdim.kernels.Kernel]:
    gaussian, cubic = RBF(0.5), Polynomial(3, coef0=1.0)
    return {
        "linear": Linear(),
        "polynomial (x'y + 1)³": cubic,
        "Gaussian": gaussian,
        "2.5 times the Gaussian": 2.5 * gaussian,
        "Gaussian + polynomial": gaussian + cubic,
        "Gaussian times polynomial": gaussian * cubic,
        "Gaussian to the power 3": gaussian**3,
        "tanh(x'y/2 - 1)": Sigmoid(0.5, coef0=-1.0),
    }


def _least(rng: np.random.Generator) -> dict[str, float]:
    X = rng.standard_normal((ROWS, 3))
    found = {}
    for name, kernel in _kernels().items():
        values = np.linalg.eigvalsh(np.asarray(kernel(X), dtype=float))
        found[name] = float(values[0] / np.abs(values).max())
    Z, Y = lowdim.KernelPCA(2, kernel=Linear()).fit_transform(X), lowdim.PCA(2).fit_transform(X)
    found["linear kernel: largest difference of kernel PCA from PCA, up to sign"] = float(
        np.abs(np.abs(Z) - np.abs(Y)).max()
    )
    return found


NOTES = [
    f"{ROWS} rows of three standard normal columns; values below 0 by 1e-12 or so are rounding.",
    "The hyperbolic tangent is no kernel: its matrix has negative eigenvalues for most parameters. The talk lists it "
    "with the others.",
]

"""Principal components of a printed covariance matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Principal components of three car prices with a given covariance matrix"
SOURCE = (
    "A lecture's worked example: eigenvalues 2.38, 0.42 and 0.2; axes (0.54, 0.59, -0.59), (0.84, -0.39, 0.39) and "
    "(0, 0.71, 0.71)."
)
REPEATS = 1
ROWS = 12
COVARIANCE = np.array(
    [[1.0, 2 / np.sqrt(10), -2 / np.sqrt(10)], [2 / np.sqrt(10), 1.0, -0.8], [-2 / np.sqrt(10), -0.8, 1.0]]
)
AXES = ((0.54, 0.59, -0.59), (0.84, -0.39, 0.39), (0.0, 0.71, 0.71))
VALUES = (2.38, 0.42, 0.2)
NAMES = ("Jeep", "Toyota", "Benz")


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Eigenvalues and axes; the rows are drawn, their covariance is not."""
    published = {f"variance of component {i + 1}": f"{value:g}" for i, value in enumerate(VALUES)}
    for i, axis in enumerate(AXES):
        published |= {f"component {i + 1}, {name}": f"{w:g}" for name, w in zip(NAMES, axis, strict=True)}
    return averaged(repeats, rng, advance, _numbers, published), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    model = lowdim.PCA(3).fit(_months(rng))
    found = {f"variance of component {i + 1}": float(v) for i, v in enumerate(model.explained_variance_)}
    for i, (axis, printed) in enumerate(zip(model.components_, AXES, strict=True)):
        axis = axis * np.sign(axis @ printed)  # the sign of an axis is not determined
        found |= {f"component {i + 1}, {name}": float(w) for name, w in zip(NAMES, axis, strict=True)}
    found["share of the variance of component 1"] = float(model.explained_variance_ratio_[0])
    return found


def _months(rng: np.random.Generator) -> np.ndarray:
    """Rows whose covariance is the printed one to rounding."""
    X = lowdim.Whitening().fit_transform(rng.standard_normal((ROWS, 3)))
    return X @ np.linalg.cholesky(COVARIANCE).T


NOTES = [
    f"{ROWS} artificial months with exactly the printed covariance; the prices themselves are not given. The first "
    "component carries 79 % of the variance, the printed 'large part'.",
]

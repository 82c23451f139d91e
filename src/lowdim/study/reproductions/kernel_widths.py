"""R_NX of kernel PCA over the width of a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.kernels import RBF, bandwidth
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Area under R_NX of kernel PCA of a Swiss roll over the width of its Gaussian kernel"
SOURCE = "A talk on generalised PCA: the slide 'Parameter tuning - Gaussian kernel', a curve without numbers."
ROWS = 400
REPEATS = 5
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)  # of the median rule


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Areas over `repeats` rolls."""
    return averaged(repeats, rng, advance, _curve, {}), NOTES


def _curve(rng: np.random.Generator) -> dict[str, float]:
    X = lowdim.datasets.swiss_roll(ROWS, random_state=rng).X
    gamma, areas = bandwidth(X), {}
    for factor in FACTORS:
        Z = lowdim.KernelPCA(3, kernel=RBF(gamma / factor**2)).fit_transform(X)
        for k in (2, 3):
            what = f"width {factor:g} times the median rule, {k} components"
            areas[what] = float(lowdim.quality.rnx_auc(X, Z[:, :k]))
    areas["PCA, 2 components"] = float(lowdim.quality.rnx_auc(X, lowdim.PCA(2).fit_transform(X)))
    return areas


NOTES = [
    f"{ROWS} rows; the reference is the straight distances. The talk prints neither its widths nor the number of "
    "components.",
    "Wide kernels end at PCA: with three components that is all of the roll. A maximum at a wide kernel is therefore "
    "no sign of a good width; compare at the same number of components, and with distances along the data.",
]

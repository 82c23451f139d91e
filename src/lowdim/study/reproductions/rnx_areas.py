"""Areas under R_NX of PCA and kernel PCA on a Swiss roll, land on a globe and images of a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import lowdim
from lowdim.kernels import RBF
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Area under R_NX of PCA and kernel PCA on the Swiss roll, World and Clock"
SOURCE = "A talk on generalised PCA: two areas for each method and data set, whose settings are not printed."
ROWS = 600
REPEATS = 5
THIN = 0.5 / 30.0  # height of the thin roll, as a part of the usual one
WIDE = 1e-5  # gamma of a Gaussian kernel that is next to linear on the roll
PUBLISHED = {
    "Swiss roll, PCA, 2 components": "0.52",
    "thin Swiss roll, PCA, 2 components": "0.95",
    "World, PCA, 2 components": "0.62 and 0.73",
    "Clock, PCA, 2 components": "0.29 and 0.73",
    "Swiss roll, kernel PCA, median width, 2 components": "0.56",
    "Swiss roll, kernel PCA, next to linear, 3 components": "0.999",
    "Clock, kernel PCA, median width, 2 components": "0.93 and 0.91",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Areas over `repeats` draws of the data."""
    return averaged(repeats, rng, advance, lambda rng: dict(_areas(rng)), PUBLISHED), NOTES


def _areas(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """What, and the area of R_NX with the straight distances of the rows."""
    roll = lowdim.datasets.swiss_roll(ROWS, random_state=rng).X
    land = lowdim.datasets.world(ROWS, random_state=rng).X
    clock = lowdim.datasets.clock(ROWS // 2, noise=0.05, random_state=rng).X
    for name, X in (("Swiss roll", roll), ("thin Swiss roll", roll * [1.0, THIN, 1.0]), ("World", land)):
        Z = lowdim.PCA(2, scale=name == "Swiss roll").fit_transform(X)
        yield f"{name}, PCA, 2 components", lowdim.quality.rnx_auc(X, Z)
    yield "Clock, PCA, 2 components", lowdim.quality.rnx_auc(clock, lowdim.PCA(2).fit_transform(clock))
    for k in (2, 3):
        Z = lowdim.KernelPCA(k, kernel=RBF(WIDE)).fit_transform(roll)
        yield f"Swiss roll, kernel PCA, next to linear, {k} components", lowdim.quality.rnx_auc(roll, Z)
    for name, X in (("Swiss roll", roll), ("Clock", clock)):
        Z = lowdim.KernelPCA(2).fit_transform(X)
        yield f"{name}, kernel PCA, median width, 2 components", lowdim.quality.rnx_auc(X, Z)


NOTES = [
    f"{ROWS} rows of the roll (standardised for PCA) and of land, {ROWS // 2} images; the reference is the straight "
    "distances between rows. The talk does not say what World and Clock are, how many rows they have, what the second "
    "number of a pair is, or which kernel widths were used: ours are sets of the same names, so that only the roll can "
    "be compared.",
    "0.999 needs three components: a Gaussian kernel so wide that it is linear copies the three dimensions of the "
    "roll. That is no reduction; with two components it has the area of PCA. 0.95 is reached by PCA on a roll that is "
    "next to a spiral curve: only the height, which two components lose, was made small.",
]

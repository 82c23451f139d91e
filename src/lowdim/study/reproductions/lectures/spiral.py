"""A spiral in the plane and one in space: which methods find the length along it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Spirals: rank correlation of one component with the length along the curve"
SOURCE = (
    "Lecture notes, figures 3 and 4: PCA fails on a spiral in the plane, nonlinear methods find the coordinate of one "
    "in space. Pictures without numbers."
)
ROWS, NOISE, NEIGHBORS = 400, 0.1, 12
REPEATS = 3
PUBLISHED: dict[str, str] = {}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` draws of both spirals."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    found = {}
    for dim, where in ((2, "in the plane"), (3, "in space")):
        data = lowdim.datasets.spiral(ROWS, noise=NOISE, random_state=rng, dim=dim)
        length = data.isometric_coordinates
        assert length is not None
        for name, model in _models().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of single maps; they are compared here
                z = model.fit_transform(data.X)[:, 0]
            found[f"{where}: {name}"] = abs(float(spearmanr(z, length[:, 0])[0]))
    return found


def _models() -> dict[str, Any]:
    return {
        "PCA": lowdim.PCA(1),
        "kernel PCA, Gaussian of the median width": lowdim.KernelPCA(1),
        "Isomap": lowdim.Isomap(1, n_neighbors=NEIGHBORS),
        "LLE": lowdim.LLE(1, n_neighbors=NEIGHBORS, random_state=0),
        "Laplacian eigenmaps": lowdim.LaplacianEigenmaps(1, n_neighbors=NEIGHBORS, random_state=0),
    }


NOTES = [
    f"{ROWS} rows, noise {NOISE}, {NEIGHBORS} neighbours. 1 means that the order along the curve is found. The turns "
    "lie over each other on every line through the plane, so that no linear component can have it; a Gaussian "
    "kernel's first components are waves along the curve. Methods on neighbour graphs follow the curve; with 8 "
    "neighbours the graph falls apart in a third of the draws, and in a quarter of the others LLE has half of the "
    "order or less.",
]

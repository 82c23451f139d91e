"""Two concentric spheres by PCA and kernel PCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Two concentric spheres in two components: errors of the best line between them"
SOURCE = (
    "A lecture with slides on kernel PCA: PCA 'is unable to separate the points', a polynomial kernel of degree 5 'is "
    "not linearly separable', a Gaussian kernel of width 20 separates them 'really well'. No numbers."
)
ROWS = 400
REPEATS = 5
METHODS: dict[str, tuple[str, Callable[[], Any]]] = {
    "PCA": ("not separated", lambda: lowdim.PCA(2)),
    "kernel PCA, polynomial of degree 5": (
        "not separable",
        lambda: lowdim.KernelPCA(2, kernel="poly", degree=5),
    ),
    "kernel PCA, Gaussian of width 1.5": ("separated", lambda: lowdim.KernelPCA(2, width=1.5)),
    "kernel PCA, Gaussian of width 20": ("-", lambda: lowdim.KernelPCA(2, width=20.0)),
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Share of wrongly classified points over `repeats` draws."""
    return averaged(repeats, rng, advance, _errors, {name: text for name, (text, _) in METHODS.items()}), NOTES


def _errors(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression

    shells = lowdim.datasets.concentric_spheres(ROWS, random_state=rng, radii=(1.0, 3.0))
    errors = {}
    for name, (_, make) in METHODS.items():
        Z = make().fit_transform(shells.X)
        Z = Z / Z.std(axis=0)
        errors[name] = 1.0 - LogisticRegression(C=100.0, max_iter=1000).fit(Z, shells.labels).score(Z, shells.labels)
    return errors


NOTES = [
    f"{ROWS} points on spheres of radius 1 and 3; the error is that of a logistic regression on the points it was "
    "fitted to. The radii, the number of points and the convention of the width in the lecture are not known.",
    "A width is large or small only beside the data: 20 is next to linear for radii 1 and 3 and separates nothing; "
    "what separates lies between the distance of neighbours on a sphere and the distance of the spheres.",
]

"""A Swiss roll by PCA, LLE, Isomap and t-SNE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "A Swiss roll by PCA, LLE, Isomap and t-SNE: does the map unroll it?"
SOURCE = "A survey of nonlinear methods and a lecture: pictures of the roll under each method, without numbers."
ROWS = 1000
REPEATS = 3
METHODS: dict[str, Callable[[], Any]] = {
    "PCA": lambda: lowdim.PCA(2),
    "LLE": lambda: lowdim.LLE(2, n_neighbors=12, random_state=0),
    "Isomap": lambda: lowdim.Isomap(2, n_neighbors=7, random_state=0),
    "t-SNE": lambda: lowdim.TSNE(2, random_state=0),
}
SHOWN = {"PCA": "folded", "LLE": "unrolled", "Isomap": "unrolled", "t-SNE": "torn"}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Agreement with the flat sheet over `repeats` rolls."""
    published = {f"{name}: R_NX area, sheet": text for name, text in SHOWN.items()}
    return averaged(repeats, rng, advance, lambda rng: dict(_maps(rng)), published), NOTES


def _maps(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    from scipy.spatial.distance import pdist

    roll = lowdim.datasets.swiss_roll(ROWS, random_state=rng)
    sheet = np.asarray(roll.isometric_coordinates)
    for name, make in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a graph or a map that is reported here
            Z = make().fit_transform(roll.X)
        yield f"{name}: R_NX area, sheet", float(lowdim.quality.rnx_auc(sheet, Z))
        yield f"{name}: correlation of distances, sheet", float(np.corrcoef(pdist(sheet), pdist(Z))[0, 1])


NOTES = [
    f"{ROWS} rows, noise 0.05. The reference is the flat sheet that was rolled up (arc length and height). 'folded', "
    "'unrolled' and 'torn' say what the pictures show; their data and settings are not given.",
    "Isomap has 7 neighbours, as in its paper: from 10 on, edges between the turns (short circuits) fold some of "
    "these rolls. LLE keeps neighbours but not the proportions of the sheet, so that its distances agree less than its "
    "neighbourhoods; t-SNE keeps neighbourhoods and tears the sheet into pieces.",
]

"""Rows that are projected on axes that they had no part in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Supplementary rows and columns of PCA"
SOURCE = "A talk on generalised PCA names FactoMineR's supplementary individuals and variables; it shows no numbers."
PUBLISHED = {
    "largest difference of a supplementary row's coordinates from transform": "0",
    "largest difference of a supplementary column's arrow from its correlations": "0",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` choices of the supplementary rows."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_wine

    X = load_wine().data
    order = rng.permutation(len(X))
    extra, active = order[:20], order[20:]
    model = lowdim.PCA(2, scale=True).fit(X[active][:, :12])
    found = lowdim.FactorMap(model, X[active][:, :12], rows=X[extra][:, :12], columns={"proline": X[active][:, 12]})
    rows, columns = found.individuals, found.variables
    Z, placed = model.transform(X[active][:, :12]), model.transform(X[extra][:, :12])
    given = np.array([np.corrcoef(X[active][:, 12], z)[0, 1] for z in Z.T])
    with_them = lowdim.PCA(2, scale=True).fit(X[order][:, :12])
    turned = np.degrees(np.arccos(np.clip(np.linalg.svd(model.components_ @ with_them.components_.T)[1].min(), 0, 1)))
    return {
        "largest difference of a supplementary row's coordinates from transform": float(
            np.abs(rows.coordinates[~rows.active] - placed).max()
        ),
        "largest difference of a supplementary column's arrow from its correlations": float(
            np.abs(columns.correlations[~columns.active][0] - given).max()
        ),
        "mean squared cosine of active rows on two axes": float(rows.cos2[rows.active].sum(axis=1).mean()),
        "mean squared cosine of supplementary rows on two axes": float(rows.cos2[~rows.active].sum(axis=1).mean()),
        "angle in degrees by which the plane turns if they are made active": float(turned),
    }


NOTES = [
    "Ours: the standardised wines that come with scikit-learn, 20 rows drawn as supplementary ones, and the last "
    "column as a supplementary one. FactoMineR's example (decathlon) does not come with this library.",
]

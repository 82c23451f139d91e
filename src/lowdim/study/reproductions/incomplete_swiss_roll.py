"""PCA of a Swiss roll with missing cells: EM, regularised and NIPALS."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim
from lowdim.study.reproductions import Line

TITLE = "Area under R_NX of two principal components of a Swiss roll with missing cells"
SOURCE = (
    "A talk on generalised PCA: R_NX areas of complete, iterative and regularised iterative PCA at three missing "
    "shares that are not printed."
)
ROWS = 600
WAYS = {"em": "iterative (EM)", "regularized": "regularised", "nipals": "NIPALS"}
# The shares that fit the printed numbers best; where a share is not one of them the talk has no number.
PUBLISHED = {
    (0.05, "em"): "0.43",
    (0.05, "regularized"): "0.43",
    (0.05, "nipals"): "0.41",
    (0.17, "em"): "0.30",
    (0.17, "regularized"): "0.33",
    (0.5, "em"): "0.10",
    (0.5, "regularized"): "0.13",
}
SHARES = (0.05, 0.1, 0.17, 0.3, 0.5)


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Areas over `repeats` rolls, for the complete table and for each share and way of filling."""
    areas: dict[tuple[float, str], list[float]] = {}
    for repeat in range(repeats):
        advance(f"roll {repeat + 1}", repeat, repeats)
        X = lowdim.datasets.swiss_roll(ROWS, random_state=rng).X
        areas.setdefault((0.0, ""), []).append(_area(X, X, "error"))
        for share in SHARES:
            incomplete = lowdim.datasets.hide_cells(X, share, random_state=rng).X
            for way in WAYS:
                areas.setdefault((share, way), []).append(_area(X, incomplete, way))
    lines = [
        Line(_what(*key), "0.52" if not key[0] else PUBLISHED.get(key, "-"), float(np.mean(a)), float(np.std(a)))
        for key, a in areas.items()
    ]
    return lines, NOTES


def _what(share: float, way: str) -> str:
    return f"{share:.0%} missing, {WAYS[way]}" if way else "complete"


def _area(X: np.ndarray, incomplete: np.ndarray, way: str) -> float:
    """R_NX area of two components of the standardised incomplete table, with distances of the complete roll."""
    model: Any = lowdim.PCA(2, scale=True, missing=way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the share of missing cells
        Z = model.fit_transform(incomplete)
    return float(lowdim.quality.rnx_auc(X, Z))


NOTES = [
    f"{ROWS} rows, noise 0.05, columns standardised, cells missing completely at random; the reference is the "
    "Euclidean distances of the complete roll. The talk prints neither its number of rows nor its shares: 5, 17 and "
    "50 % are the shares at which our numbers come closest.",
    "The order is that of the talk: regularised above iterative, the more so the more cells are missing. NIPALS "
    "divides by sums over observed cells only; without this it would be PCA of the table filled with column means.",
]

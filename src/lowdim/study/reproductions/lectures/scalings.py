"""Raw, centred, standardised and whitened rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Raw, centred, standardised and whitened rows: covariance and nearest neighbours"
SOURCE = "A lecture on dimensionality reduction, figure 2: a picture of the four, and whitening as D^-1 U'X."
REPEATS = 1
PUBLISHED = {
    "whitened: largest difference of the covariance from the identity": "0",
    "D^-1 U'X as printed: largest variance": "1",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """The same rows in every run: nothing is drawn."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    centred = X - X.mean(axis=0)
    white = lowdim.Whitening().fit_transform(X)
    tables = {"raw": X, "centred": centred, "standardised": centred / X.std(axis=0, ddof=1), "whitened": white}
    found = {}
    for name, T in tables.items():
        C = np.cov(T.T)
        found[f"{name}: largest mean of a column, without its sign"] = float(np.abs(T.mean(axis=0)).max())
        found[f"{name}: largest over least variance of a column"] = float(C.diagonal().max() / C.diagonal().min())
        found[f"{name}: error of the nearest neighbour"] = float(lowdim.quality.knn_error(T, y))
    different = np.abs(np.cov(white.T) - np.eye(X.shape[1])).max()
    found["whitened: largest difference of the covariance from the identity"] = float(different)
    scores = np.linalg.svd(centred, full_matrices=False)[0]
    found["D^-1 U'X as printed: largest variance"] = float(scores.var(axis=0, ddof=1).max())
    return found


NOTES = [
    "Ours: the wines that come with scikit-learn (178 rows, 13 columns of different units, three classes); the error "
    "is that of leave-one-out classification by the nearest row.",
    "As printed, D^-1 U'X has singular values 1, so that its variances are 1/(n - 1) and not 1: sqrt(n - 1) is "
    "missing. Whitening is not always an improvement: it gives directions that are only noise the same weight.",
]

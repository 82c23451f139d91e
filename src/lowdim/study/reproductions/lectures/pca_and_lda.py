"""Directions of largest variance and directions that separate classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "One component by PCA and by LDA: errors of the nearest class mean"
SOURCE = "A lecture compares PCA and LDA in words and a sketch: two long groups side by side. No numbers."
ROWS = 300
PUBLISHED = {"long groups, PCA": "mixed", "long groups, LDA": "separated"}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Errors of new rows over `repeats` draws."""
    return averaged(repeats, rng, advance, _errors, PUBLISHED), NOTES


def _errors(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_wine

    wine, kinds = load_wine(return_X_y=True)
    order = rng.permutation(len(wine))
    sets = {
        "long groups": (*_groups(rng), *_groups(rng)),
        "wines": (wine[order[:90]], kinds[order[:90]], wine[order[90:]], kinds[order[90:]]),
    }
    found = {}
    for name, (X, y, new, labels) in sets.items():
        models = {"PCA": lowdim.PCA(1, scale=name == "wines").fit(X), "LDA": lowdim.LDA(1).fit(X, y)}
        for method, model in models.items():
            found[f"{name}, {method}"] = _error(model.transform(X), y, model.transform(new), labels)
    X, y = sets["long groups"][:2]
    within = np.cov(X[y == 0].T) + np.cov(X[y == 1].T)
    w = np.linalg.solve(within, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    Z = lowdim.LDA(1).fit(X, y).transform(X)[:, 0]
    found["correlation of LDA with the closed form (S+ + S-)^-1 (m+ - m-)"] = abs(np.corrcoef(X @ w, Z)[0, 1])
    return found


def _groups(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two groups that are long in the direction in which their means agree."""
    y = np.repeat([0, 1], ROWS // 2)
    X = rng.standard_normal((len(y), 2)) * [5.0, 0.5] + np.outer(y, [0.0, 2.5])
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    return X @ turn, y


def _error(Z: np.ndarray, y: np.ndarray, new: np.ndarray, labels: np.ndarray) -> float:
    means = np.array([Z[y == c, 0].mean() for c in np.unique(y)])
    return float(np.mean(np.unique(y)[np.abs(new - means).argmin(axis=1)] != labels))


NOTES = [
    f"{ROWS} rows of two Gaussian groups, and the wines that come with scikit-learn (standardised for PCA); the "
    "classes of new rows by the nearest mean along the component. The data of the lecture's sketch are not known.",
    "For two classes LDA is the closed form that the lecture derives.",
]

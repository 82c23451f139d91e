"""Columns selected by a filter, a wrapper and an embedded method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Columns kept by a filter, a wrapper and an embedded method, among columns of noise"
SOURCE = "A lecture on dimensionality reduction, figure 1: the three kinds of selection as a diagram, without numbers."
REPEATS = 3
KEPT = 5
NOISY = 30  # columns of noise beside the 13 of the table
CRITERIA = {
    "variance": "filter, variance",
    "mutual-information": "filter, mutual information",
    "rfe": "wrapper, recursive elimination",
    "forest-importance": "embedded, random forest",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` draws of the columns of noise and of the split."""
    return averaged(repeats, rng, advance, _numbers, {}), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    own = X.shape[1]
    X = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), 1.5 * rng.standard_normal((len(X), NOISY))])
    order = rng.permutation(len(X))
    train, test = order[:100], order[100:]
    found = {"all columns: test error": _error(X[train], y[train], X[test], y[test])}
    for criterion, name in CRITERIA.items():
        model = lowdim.ColumnSelection(KEPT, criterion=criterion, random_state=rng).fit(X[train], y[train])
        Z = model.transform(X)
        found[f"{name}: kept columns that are noise"] = float(np.sum(model.selected_ >= own))
        found[f"{name}: test error"] = _error(Z[train], y[train], Z[test], y[test])
    return found


def _error(X: np.ndarray, y: np.ndarray, new: np.ndarray, labels: np.ndarray) -> float:
    from sklearn.neighbors import KNeighborsClassifier

    return float(np.mean(KNeighborsClassifier(5).fit(X, y).predict(new) != labels))


NOTES = [
    f"Ours: the standardised wines that come with scikit-learn and {NOISY} columns of noise with a larger variance; "
    f"{KEPT} columns are kept, chosen on 100 rows, and five nearest neighbours classify the others.",
    "The variance sees no labels and keeps what varies most, here the noise. The lecture's statement that filters are "
    "unsupervised holds for the variance only: mutual information is a filter with labels.",
]

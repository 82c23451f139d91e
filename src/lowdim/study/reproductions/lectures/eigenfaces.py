"""Principal components of images before a support vector machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Test errors of a support vector machine on principal components of images"
SOURCE = (
    "A lecture refers to scikit-learn's example of eigenfaces and a support vector machine on Labeled Faces in the "
    "Wild; it prints no number of its own."
)
REPEATS = 5
ROWS = 1200  # to train
NUMBERS = (2, 5, 10, 20, 40)


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Errors over `repeats` splits."""
    return averaged(repeats, rng, advance, _errors, {}), NOTES


def _errors(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(X))
    train, test = order[:ROWS], order[ROWS:]
    errors = {"all 64 pixels": _error(X[train], y[train], X[test], y[test])}
    whole = lowdim.PCA(max(NUMBERS), whiten=True).fit(X[train])
    for k in NUMBERS:
        Z = whole.transform(X)[:, :k]
        errors[f"{k} whitened components"] = _error(Z[train], y[train], Z[test], y[test])
        kept = lowdim.PCA(k).fit(X[train])
        lost = np.square(kept.inverse_transform(kept.transform(X[test])) - X[test]).sum()
        errors[f"{k} components: share of the variance of test images that is lost"] = (
            lost / np.square(X[test] - X[train].mean(axis=0)).sum()
        )
    return errors


def _error(X: np.ndarray, y: np.ndarray, new: np.ndarray, labels: np.ndarray) -> float:
    from sklearn.svm import SVC

    return float(np.mean(SVC(C=10.0, gamma="scale").fit(X, y).predict(new) != labels))


NOTES = [
    f"Ours: the 1,797 digits of 8 x 8 pixels that come with scikit-learn, not faces, since no set of faces comes with "
    f"it; {ROWS} to train, the others to test, axes from the training rows alone. Gaussian kernel, C = 10, whitened "
    "components, as in the example referred to.",
    "What it shows: some twenty components do as well as all pixels, and the axes never see the test images.",
]

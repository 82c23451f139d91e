"""PCA of images of one digit: eigenvalues and reconstructions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Eigenvalues and reconstruction errors of PCA of handwritten threes"
SOURCE = (
    "A lecture with figures 12.3 and 12.5 of Bishop, Pattern recognition and machine learning, 2006: images of the "
    "digit three, 28 x 28 pixels, the four largest eigenvalues, reconstructions from 1, 10, 50 and 250 components."
)
REPEATS = 1
DIGIT = 3
NUMBERS = (1, 4, 10, 20, 40)
# Of the four eigenvalues in the figure (3.4, 2.8, 2.4 and 1.6 times 10^5), as remembered.
PUBLISHED = {
    "eigenvalue 2 over eigenvalue 1": "~0.82",
    "eigenvalue 3 over eigenvalue 1": "~0.71",
    "eigenvalue 4 over eigenvalue 1": "~0.47",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """The same rows in every run: nothing is drawn."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X[y == DIGIT]
    values = lowdim.PCA(4).fit(X).explained_variance_
    found = {f"eigenvalue {j + 1} over eigenvalue 1": float(values[j] / values[0]) for j in range(1, 4)}
    total = np.square(X - X.mean(axis=0)).sum()
    for k in NUMBERS:
        model = lowdim.PCA(k).fit(X)
        error = np.square(model.inverse_transform(model.transform(X)) - X).sum() / total
        found[f"{k} components: share of the variance that is lost"] = float(error)
        found[f"{k} components: sum of the eigenvalues left out, over all"] = 1.0 - float(
            model.explained_variance_ratio_.sum()
        )
    return found


NOTES = [
    "Ours: the 183 threes of 8 x 8 pixels that come with scikit-learn; the book's are larger images, so that only the "
    "fall of the eigenvalues can be compared. The book's numbers are as remembered.",
    "The error of the reconstructions is the sum of the eigenvalues left out, to rounding, as the lectures derive.",
]

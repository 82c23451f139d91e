"""Noisy digits cleaned by PCA and kernel PCA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Squared error of noisy digits cleaned by PCA and by kernel PCA"
SOURCE = (
    "A lecture shows digits, the digits with Gaussian noise, and both reconstructions: kernel PCA's are cleaner. The "
    "experiment is that of Mika, Schölkopf, Smola, Müller, Scholz and Rätsch, 1998, on USPS. No numbers in the lecture."
)
ROWS = 600  # to fit; as many to choose the number of components by, the others to test on
REPEATS = 3
NOISE = 0.3  # of pixels between 0 and 1
NUMBERS = (5, 10, 15, 20, 30, 60)


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Errors of test images, over `repeats` draws of rows and noise."""
    return averaged(repeats, rng, advance, _errors, {"kernel PCA": "below PCA"}), NOTES


def _errors(rng: np.random.Generator) -> dict[str, float]:
    from sklearn.datasets import load_digits

    X = load_digits().data[rng.permutation(1797)] / 16
    noisy = X + NOISE * rng.standard_normal(X.shape)
    train, choose, test = (slice(i * ROWS, (i + 1) * ROWS) for i in range(3))
    gamma = lowdim.kernels.bandwidth(X[train])
    models = {
        "PCA": [lowdim.PCA(k) for k in NUMBERS],
        "kernel PCA": [lowdim.KernelPCA(k, gamma=gamma, preimage="fixed_point") for k in NUMBERS],
    }
    errors = {"as they are": _error(noisy[test], X[test])}
    for name, candidates in models.items():
        fitted = [model.fit(X[train]) for model in candidates]
        best = min(fitted, key=lambda model: _error(_cleaned(model, noisy[choose]), X[choose]))
        errors[name] = _error(_cleaned(best, noisy[test]), X[test])
    return errors


def _cleaned(model: lowdim.PCA | lowdim.KernelPCA, X: np.ndarray) -> np.ndarray:
    return np.asarray(model.inverse_transform(model.transform(X)))


def _error(found: np.ndarray, clean: np.ndarray) -> float:
    """Mean over images of the sum over pixels."""
    return float(np.square(found - clean).sum(axis=1).mean())


NOTES = [
    f"The 1,797 digits of 8 x 8 pixels that come with scikit-learn, pixels from 0 to 1, noise of standard deviation "
    f"{NOISE:g}; axes from {ROWS} clean images, the number of components ({NUMBERS[0]} to {NUMBERS[-1]}) chosen on as "
    "many noisy ones, errors on the others. The images, the noise and the settings of the lecture are not known.",
]

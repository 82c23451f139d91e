"""The learned inverse transform: rows from coordinates, for methods that have no exact inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.landmarks.choose import choose
from lowdim._core.neighbors import nearest
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import eigenpairs

_MOST_CENTRES = 1000  # kernel ridge costs centres^2 n; a thousand keeps it within seconds
_MOST_TRIED = 500  # rows on which width and penalty are chosen: six eigenproblems of that size


@dataclass(frozen=True, eq=False)
class LearnedInverse:
    """Rows from coordinates: an affine map plus Gaussian kernel ridge regression of its residuals.

    Width and penalty are chosen by leave-one-out error, which kernel ridge has in closed form. The affine map alone is
    kept unless a width does clearly better, so that the inverse of a linear embedding is that of PCA. `spacing` is the
    usual distance between neighbours in the embedding (95th percentile), the unit of "how far outside".
    """

    affine: np.ndarray  # (k + 1, d): last row is the constant
    centres: np.ndarray
    coefficients: np.ndarray  # (m, d); empty where the affine map alone did best
    gamma: float
    embedding: np.ndarray
    spacing: float

    @classmethod
    def fit(cls, Z: np.ndarray, X: Any, random_state: int = 0, tried: int = _MOST_TRIED) -> LearnedInverse:
        """The map from coordinates Z to rows X; width and penalty are chosen on at most `tried` of them."""
        with threads.single_blas():  # for problems of a few hundred rows more threads are slower
            return cls._fit(Z, X, generator(random_state), tried)

    @classmethod
    def _fit(cls, Z: np.ndarray, X: Any, rng: np.random.Generator, tried: int) -> LearnedInverse:
        Z = np.asarray(Z, dtype=np.float64)
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        affine = np.linalg.lstsq(_with_one(Z), X, rcond=None)[0]
        left = X - _with_one(Z) @ affine
        spacing = _spacing(Z)
        sample = np.sort(rng.permutation(len(Z))[:tried])
        unit = 2.0 ** np.frexp(np.abs(X).max(initial=0.0))[1]  # squares of cells in other units could overflow
        rounding = 1e-20 * float(np.square(X[sample] / unit).sum())
        gamma, alpha = _choose_ridge(Z[sample], left[sample] / unit, spacing, rounding)
        if gamma is None:
            empty = np.empty((0, X.shape[1]))
            return cls(affine, np.empty((0, Z.shape[1])), empty, 0.0, Z, spacing)
        if len(Z) <= _MOST_CENTRES:
            centres = Z
            coefficients = np.linalg.solve(_gaussian(Z, Z, gamma) + alpha * np.eye(len(Z)), left)
        else:
            centres = Z[choose(Z, _MOST_CENTRES, method="kmeans++", rng=rng)]
            coefficients = _reduced_ridge(Z, centres, left, gamma, alpha)
        return cls(affine, centres, coefficients, gamma, Z, spacing)

    @classmethod
    def smooth(cls, Z: np.ndarray, X: Any, noise: float) -> LearnedInverse:
        """The smooth map from coordinates to rows of which a given part is noise.

        The posterior mean of a Gaussian process: its width is the median distance in the embedding, and `noise` the
        variance of the noise relative to that of the process. Leave-one-out error cannot find this number, as the
        coordinates have the same noise as the rows.
        """
        Z, X = np.asarray(Z, dtype=np.float64), np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        constant = np.vstack([np.zeros((Z.shape[1], X.shape[1])), X.mean(axis=0)])
        rng = generator(0)
        some = Z[np.sort(rng.permutation(len(Z))[:_MOST_CENTRES])]
        apart = pairwise(some, some)[np.triu_indices(len(some), 1)]
        width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
        gamma, left = 0.5 / width**2, X - X.mean(axis=0)
        centres = Z if len(Z) <= _MOST_CENTRES else Z[choose(Z, _MOST_CENTRES, method="kmeans++", rng=rng)]
        if len(centres) == len(Z):
            coefficients = np.linalg.solve(_gaussian(Z, Z, gamma) + noise * np.eye(len(Z)), left)
        else:
            coefficients = _reduced_ridge(Z, centres, left, gamma, noise)
        return cls(constant, centres, coefficients, gamma, Z, _spacing(Z))

    def __call__(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Z = np.asarray(Z, dtype=np.float64)
        X = _with_one(Z) @ self.affine
        if len(self.centres):
            X += _gaussian(Z, self.centres, self.gamma) @ self.coefficients
        gap = nearest(self.embedding, 1, queries=Z).distances[:, 0]
        return X, gap / self.spacing


def _with_one(Z: np.ndarray) -> np.ndarray:
    return np.hstack([Z, np.ones((len(Z), 1))])


def _gaussian(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * pairwise(A, B, squared=True))


def _spacing(Z: np.ndarray) -> float:
    if len(Z) < 2:
        return 1.0
    gaps = nearest(Z, 1).distances[:, 0]
    positive = gaps[gaps > 0]
    return float(np.quantile(positive, 0.95)) if len(positive) else 1.0


def _choose_ridge(Z: np.ndarray, Y: np.ndarray, spacing: float, rounding: float) -> tuple[float | None, float]:
    """Width and penalty with the least leave-one-out error; (None, 0) where none is clearly below predicting 0.

    With G = (K + alpha I)^-1, the leave-one-out residual of row i is (G Y)_i / G_ii. Of sixty candidates some are below
    by chance: the gain over the rows has to be more than twice its standard error. A sum of squares up to `rounding`
    is rounding error, and nothing is fitted to it.
    """
    plain = (Y**2).sum(axis=1)
    if len(Z) < 4 or plain.sum() <= rounding:
        return None, 0.0
    best: tuple[np.ndarray, float | None, float] = (plain, None, 0.0)
    for width in spacing * np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]):
        gamma = 0.5 / width**2
        pairs = eigenpairs(_gaussian(Z, Z, gamma), len(Z), owner="inverse_transform")
        projected = pairs.vectors.T @ Y
        for alpha in 10.0 ** np.arange(-8, 2):
            shrink = 1.0 / (np.maximum(pairs.values, 0.0) + alpha)
            residual = pairs.vectors @ (shrink[:, None] * projected)
            leverage = np.einsum("ij,j,ij->i", pairs.vectors, shrink, pairs.vectors)
            error = ((residual / leverage[:, None]) ** 2).sum(axis=1)
            if error.sum() < best[0].sum():
                best = (error, gamma, float(alpha))
    gain = plain - best[0]
    return (best[1], best[2]) if gain.sum() > 2 * np.sqrt(len(gain)) * gain.std(ddof=1) else (None, 0.0)


def _reduced_ridge(Z: np.ndarray, centres: np.ndarray, Y: np.ndarray, gamma: float, alpha: float) -> np.ndarray:
    """Kernel ridge on few centres: (K'K + alpha Kc) b = K'Y, accumulated over blocks of rows."""
    m = len(centres)
    gram, target = np.zeros((m, m)), np.zeros((m, Y.shape[1]))
    for start in range(0, len(Z), 4096):
        K = _gaussian(Z[start : start + 4096], centres, gamma)
        gram += K.T @ K
        target += K.T @ Y[start : start + 4096]
    penalty = alpha * _gaussian(centres, centres, gamma) + 1e-10 * np.trace(gram) / m * np.eye(m)
    return np.linalg.solve(gram + penalty, target)

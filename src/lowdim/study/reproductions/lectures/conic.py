"""A conic in two dimensions is a plane among the products of its coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "The conic a x² + b xy + c y² + d = 0 is a plane in (x², sqrt(2) xy, y²)"
SOURCE = (
    "A talk on generalised PCA, after Vidal, Ma and Sastry, 2016, p. 127: the plane a z1 + b/sqrt(2) z2 + c z3 + d = 0."
)
ROWS = 200
CONIC = (1.0, 0.8, 2.0, -4.0)  # an ellipse that is not parallel to the axes
NORMAL = np.array([CONIC[0], CONIC[1] / np.sqrt(2), CONIC[2]])
PUBLISHED = {
    "a over c, from the plane": f"{CONIC[0] / CONIC[2]:.3f}",
    "b over c, from the plane": f"{CONIC[1] / CONIC[2]:.3f}",
    "d over c, from the plane": f"{CONIC[3] / CONIC[2]:.3f}",
    "least over largest eigenvalue of kernel PCA, kernel (x'y)²": "0",
    "positive eigenvalues of kernel PCA, kernel (x'y)²": "2",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` draws of points of the conic."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    X = _points(rng)
    features = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    model = lowdim.PCA(3).fit(features)
    a, b, c = model.components_[-1]
    kernel = lowdim.KernelPCA(3, kernel="poly", degree=2, coef0=0.0, gamma=1.0)
    values = np.linalg.eigvalsh(_centred(np.square(X @ X.T)))[::-1][:3]
    Z = kernel.set_params(n_components=2).fit_transform(X)
    return {
        "a over c, from the plane": a / c,
        "b over c, from the plane": np.sqrt(2) * b / c,
        "d over c, from the plane": float(-(model.mean_ @ [a, b, c]) / c),
        "least over largest eigenvalue of kernel PCA, kernel (x'y)²": float(abs(values[2]) / values[0]),
        "positive eigenvalues of kernel PCA, kernel (x'y)²": float(np.sum(values > 1e-9 * values[0])),
        "largest difference of kernel PCA from PCA of the features, up to sign": float(
            np.abs(np.abs(Z) - np.abs(model.transform(features)[:, :2])).max()
        ),
        "largest eigenvalue ratio of PCA of the points themselves": float(
            np.divide(*lowdim.PCA(2).fit(X).explained_variance_)
        ),
    }


def _points(rng: np.random.Generator) -> np.ndarray:
    """Points of the conic: z'Mz = -d, from points of a circle."""
    a, b, c, d = CONIC
    root = np.linalg.cholesky(np.array([[a, b / 2], [b / 2, c]]))
    t = 2 * np.pi * rng.random(ROWS)
    return np.linalg.solve(root.T, np.sqrt(-d) * np.array([np.cos(t), np.sin(t)])).T


def _centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


NOTES = [
    f"{ROWS} points of the ellipse with a, b, c, d = {', '.join(f'{v:g}' for v in CONIC)}; the talk gives none. The "
    "axis without variance among the three features is the normal of the plane, so that PCA finds the conic; kernel "
    "PCA with the kernel (x'y)² is PCA of these features without computing them.",
]

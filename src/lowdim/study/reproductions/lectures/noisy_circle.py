"""Hastie and Stuetzle's principal curve on rows around a circle, pass by pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "A principal curve of a noisy circle, pass by pass: distance of the rows to it"
SOURCE = (
    "A survey, figure 3: the algorithm of Hastie and Stuetzle on noisy rows along a circle, after each of four passes. "
    "A picture without numbers."
)
ROWS, NOISE, PASSES = 200, 0.12, 4
REPEATS = 3
PUBLISHED: dict[str, str] = {}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` circles."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    X = lowdim.datasets.noisy_circle(ROWS, noise=NOISE, random_state=rng).X
    axis = lowdim.PCA(1).fit(X)
    found = {"the start, the first principal axis": _mean_square(X - axis.inverse_transform(axis.transform(X)))}
    for k in range(1, PASSES + 1):
        found[f"after pass {k}"] = float(np.square(_fitted(X, max_iter=k).distance_).mean())
    found["settled"] = float(np.square(_fitted(X).distance_).mean())
    closed, corrected = _fitted(X, closed=True), _fitted(X, closed=True, bias_correction=True)
    found["closed"] = float(np.square(closed.distance_).mean())
    found["closed, bias corrected"] = float(np.square(corrected.distance_).mean())
    found["mean radius of the closed curve"] = _radius(closed)
    found["mean radius of the corrected curve"] = _radius(corrected)
    return found


def _fitted(X: np.ndarray, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged: it is stopped on purpose
        return lowdim.PrincipalCurve(**settings).fit(X)


def _mean_square(gaps: np.ndarray) -> float:
    return float(np.square(gaps).sum(axis=1).mean())


def _radius(model: Any) -> float:
    return float(np.linalg.norm(model.curve_, axis=1).mean())


NOTES = [
    f"{ROWS} rows around the unit circle, noise {NOISE} in both directions: mean squared distance to the circle itself "
    f"{NOISE**2:.4f}. An open curve begins and ends somewhere, which leaves a gap. A smoother averages rows along a "
    "bend, and their mean is inside of it: the closed curve is too small; adding the smoothed residuals corrects it.",
]

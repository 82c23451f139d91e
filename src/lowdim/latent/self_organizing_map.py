"""A self-organising map of rows with missing cells: distances and means are over the observed cells.

Its neighbourhood is wide at first, which keeps the fitted surface from folding. That makes it a good initialisation for
networks, whose own training would stop in a local minimum with folds. It can also complete rows by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
UNITS = {1: 50, 2: 10, 3: 5}  # of each axis
STEPS = 60


class Map(NamedTuple):
    """Units of the map: their coordinates on the grid, their prototypes, and the unit of each row."""

    grid: Array
    prototypes: Array
    units: Array


def organize(
    X: Array,
    observed: Array,
    n_components: int,
    rng: np.random.Generator,
    *,
    ring: bool = False,
    steps: int = STEPS,
    last: float = 1.0,
) -> Map:
    """Batch self-organising map (Kohonen, 1995) of scaled rows, in which missing cells are 0.

    Prototypes start on a plane of random direction. The neighbourhood shrinks from a third of the grid to `last` units
    in `steps` steps; with `ring` the grid is closed along every axis.
    """
    m = UNITS.get(n_components, 3)
    axes = np.meshgrid(*(np.arange(m, dtype=np.float64),) * n_components, indexing="ij")
    grid = np.stack([axis.ravel() for axis in axes], axis=1)
    apart = np.abs(grid[:, None] - grid)
    apart = np.minimum(apart, m - apart) if ring else apart
    near = np.square(apart).sum(axis=2)
    P = _plane(grid, m, X.shape[1], rng, ring)
    for width in np.geomspace(m / 3, min(last, m / 4), steps):
        H = np.exp(-near[matched(X, observed, P)] / (2 * width**2))
        P = (H.T @ X) / np.maximum(H.T @ observed, 1e-12)
    return Map(grid, P, matched(X, observed, P))


def matched(X: Array, observed: Array, P: Array) -> Array:
    """The nearest prototype of each row, over its observed cells."""
    return np.argmin(observed @ np.square(P).T - 2 * (X @ P.T), axis=1)


def _plane(grid: Array, m: int, d: int, rng: np.random.Generator, ring: bool) -> Array:
    """Prototypes on a plane of random direction (an ellipse for each closed axis), with the variance of the rows."""
    shares = grid / m
    codes = np.concatenate([np.cos(2 * np.pi * shares), np.sin(2 * np.pi * shares)], axis=1) if ring else 2 * shares - 1
    directions = rng.standard_normal((codes.shape[1], d))
    directions /= np.sqrt(np.square(directions).sum(axis=1, keepdims=True))
    return codes @ directions + 0.01 * rng.standard_normal((len(grid), d))

"""Volumes, corners and densities in many dimensions."""

from __future__ import annotations

from collections.abc import Callable
from math import gamma, pi

import numpy as np

from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "The curse of dimensionality: balls in cubes, points to cover a share of space, densities"
SOURCE = (
    "A lecture: the volume of a ball over that of its cube, pi^(d/2) / (d 2^(d-1) Gamma(d/2)); 20 points in cells of "
    "side 4 have densities 5, 1.25 and 0.31; corners of a cube; how many points cover 20 % of the space?"
)
POINTS = 20000
DIMENSIONS = (2, 3, 4, 8)
COVERED = 0.2
PUBLISHED = {
    "20 points, side 4, 1 dimension: points per unit": "5",
    "20 points, side 4, 2 dimensions: points per unit": "1.25",
    "20 points, side 4, 3 dimensions: points per unit": "0.31",
    "corners of a cube in 2 dimensions": "4",
    "corners of a cube in 3 dimensions": "8",
    "corners of a cube in 4 dimensions": "256 (2^8 as printed)",
    **{f"ball over cube in {d} dimensions, sampled": "" for d in DIMENSIONS},
}


def ball_over_cube(d: int) -> float:
    """The volume of the ball inside a cube, over that of the cube."""
    return pi ** (d / 2) / (d * 2 ** (d - 1) * gamma(d / 2))


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Shares over `repeats` draws of points."""
    published = PUBLISHED | {
        f"ball over cube in {d} dimensions, sampled": f"{ball_over_cube(d):.3f}" for d in DIMENSIONS
    }
    return averaged(repeats, rng, advance, _numbers, published), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    found = {}
    for d in DIMENSIONS:
        X = rng.uniform(-1.0, 1.0, (POINTS, d))
        found[f"ball over cube in {d} dimensions, sampled"] = float(np.mean(np.square(X).sum(axis=1) <= 1))
    for d in (1, 2, 3):
        plural = "s" * (d > 1)
        found[f"20 points, side 4, {d} dimension{plural}: points per unit"] = 20 / 4**d
    for d in (2, 3, 4):
        found[f"corners of a cube in {d} dimensions"] = 2.0**d
    for d in (1, 2, 3, 10):
        plural = "s" * (d > 1)
        found[f"side of a cube that covers 20 % of the unit cube, {d} dimension{plural}"] = COVERED ** (1 / d)
        found[f"cells of side 0.1 in 20 % of the unit cube, {d} dimension{plural}"] = COVERED * 10.0**d
    few = rng.uniform(0.0, 1.0, (200, 100))
    for d in (2, 10, 100):
        gaps = np.sqrt(np.square(few[:1, :d] - few[1:, :d]).sum(axis=1))
        found[f"farthest over nearest of 199 points, {d} dimensions"] = float(gaps.max() / gaps.min())
    return found


NOTES = [
    f"{POINTS:,} uniform points of a cube for each share. The densities of the lecture are those of 1, 2 and 3 "
    "dimensions: 20 / 4, 20 / 16, 20 / 64.",
    "A cube in 4 dimensions has 2^4 = 16 corners; the printed 2^8 = 256 is that of 8 dimensions.",
]

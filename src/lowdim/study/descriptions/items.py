"""What is in a table of distances between items: their size, unknown ones, and whether a map can show them exactly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum.eigenvalues import all_eigenvalues

MOST_ITEMS = 1500  # of which all eigenvalues are computed
MOST_TRIANGLES = 100_000  # looked at; a sample of more
ROUNDING = 1e-9
NOTABLE = 1e-3  # share of negative eigenvalues that rounding of a file does not explain


@dataclass(frozen=True, eq=False)
class ItemDescription:
    """What is in a table of distances.

    Attributes
    ----------
    names : list of str
        The items.
    unknown : int
        Pairs without a distance.
    smallest, median, largest : float
        Of the known distances between different items.
    equal : int
        Pairs of different items at distance 0.
    triangles : float
        Share of triangles in which one side is longer than the two others together.
    negative : float or None
        Share of the negative eigenvalues in the inner products of classical scaling, 0 for distances between points of
        a Euclidean space; None where distances are unknown or items are too many.
    """

    names: list[str]
    unknown: int
    smallest: float
    median: float
    largest: float
    equal: int
    triangles: float
    negative: float | None

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "items": len(self.names), "names": self.names, "unknown_pairs": self.unknown, "smallest": self.smallest,
            "median": self.median, "largest": self.largest, "pairs_at_zero": self.equal,
            "triangles_violated": self.triangles, "negative_eigenvalues": self.negative,
        }  # fmt: skip

    def sentences(self) -> list[str]:
        """The same in words."""
        n = len(self.names)
        span = f"{self.smallest:.4g} to {self.largest:.4g}, half of them below {self.median:.4g}"
        found = [f"distances between {n:,} items: {span}"]
        unknown = f"{self.unknown:,} of {n * (n - 1) // 2:,} pairs have no distance" if self.unknown else ""
        found.append(unknown or "every pair has a distance")
        if self.equal:
            found.append(f"{self.equal:,} pairs of different items are at distance 0")
        if self.triangles:
            found.append(
                f"in {self.triangles:.1%} of the triangles one side is longer than the two others together: no map can "
                "show these distances exactly"
            )
        if self.negative is not None:
            found.append(self._on_eigenvalues())
        return found

    def _on_eigenvalues(self) -> str:
        if self.negative is None or self.negative < NOTABLE:
            nearly = ", but for rounding" if self.negative else ""
            return f"they are distances between points of a Euclidean space{nearly}"
        return (
            f"they are not distances between points of a Euclidean space: {self.negative:.1%} of the eigenvalues (by "
            "size) are negative"
        )


def describe_distances(D: np.ndarray, names: list[str] | None) -> ItemDescription:
    """What is in a square table of distances, NaN where one is unknown."""
    n = len(D)
    pairs = D[np.triu_indices(n, 1)]
    known = pairs[~np.isnan(pairs)]
    low, middle, high = np.quantile(known, [0, 0.5, 1]).tolist() if len(known) else (np.nan,) * 3
    called = names or [str(i + 1) for i in range(n)]
    exact = len(known) == len(pairs) and 2 < n <= MOST_ITEMS
    return ItemDescription(
        called, len(pairs) - len(known), low, middle, high, int((known == 0).sum()), _violated(D),
        _negative(D) if exact else None,
    )  # fmt: skip


def _violated(D: np.ndarray) -> float:
    """The share of triangles, or of a sample of them, that break the triangle inequality."""
    n = len(D)
    if n * (n - 1) * (n - 2) // 6 <= MOST_TRIANGLES:
        corners = np.array(list(combinations(range(n), 3)), dtype=int).reshape(-1, 3)
    else:
        corners = generator(0).integers(n, size=(MOST_TRIANGLES, 3))
    i, j, k = corners.T
    sides = np.sort(np.column_stack([D[i, j], D[j, k], D[i, k]]), axis=1)
    sides = sides[~np.isnan(sides).any(axis=1)]
    broken = sides[:, 2] > (sides[:, 0] + sides[:, 1]) * (1 + ROUNDING)
    return float(broken.mean()) if len(sides) else 0.0


def _negative(D: np.ndarray) -> float:
    values = all_eigenvalues(inner_products(D)[0], owner="describe")
    small = -values[values < -ROUNDING * np.abs(values).max()].sum()
    return float(small / np.abs(values).sum())

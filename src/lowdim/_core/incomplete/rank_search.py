"""Which ranks of a low-rank model are tried, and with how much work: all of them would take hours of many columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.incomplete.completion import complete
from lowdim._core.runtime.rng import generator

Array = np.ndarray

EACH = 8  # up to so many components each number is tried
PATIENCE = 5  # numbers in a row that are no better than the best, after which the search ends
EARLY_TOL, EARLY_ITER = 1e-5, 50
LEAST_ITER = 5
WORK = 4e9  # multiplications for one number of components, about a second; what needs more gets fewer steps
MOST_WORK = 20 * WORK  # numbers of components that need more for their few steps are not tried
FILLS = 3  # of a step: two updates and what is extrapolated from them
LIKE_TRIES = 20  # permutations of the rows to leave cells out by
SMALL = 1e-10  # of the largest eigenvalue: columns depend on each other exactly, but for rounding


@dataclass(frozen=True, eq=False)
class Effort:
    """What the work of a completion grows with: cells, incomplete rows, and their missing or observed cells, of each
    row whichever are fewer."""

    cells: int
    rows: int
    fewer: int

    @classmethod
    def of(cls, X: Array) -> Effort:
        holes = np.count_nonzero(np.isnan(X), axis=1)
        return cls(X.size, int((holes > 0).sum()), int(np.minimum(holes, X.shape[1] - holes).sum()))

    def step(self, q: int) -> float:
        """Multiplications of a step: each incomplete row has its own q equations."""
        return FILLS * (2.0 * self.cells * q + self.fewer * q**2 / 2 + self.rows * q**3 / 6)

    def steps(self, q: int) -> int:
        """How many steps q components may take."""
        return int(np.clip(WORK / max(self.step(q), 1.0), LEAST_ITER, EARLY_ITER))

    def seconds(self, limit: int) -> float:
        """Processor time of a search up to `limit`, if it is not ended before, and of the numbers beside the best."""
        beside = 2 * int(np.ceil(np.log2(max(1, limit // 4))))
        return (sum(map(self.work, numbers(limit))) + beside * self.work(limit)) / WORK

    def work(self, q: int) -> float:
        """Multiplications of a fit of q components."""
        return self.steps(q) * self.step(q)

    def most(self, limit: int) -> int:
        """The largest number up to `limit` that is worth the work."""
        return max((q for q in range(limit + 1) if LEAST_ITER * self.step(q) <= MOST_WORK), default=0)


def numbers(limit: int) -> Iterator[int]:
    """All up to `EACH`, from there on about a quarter more each time."""
    q = 0
    while q <= limit:
        yield q
        q += 1 if q < EACH else max(1, q // 4)


def few(criterion: Callable[[int], float], limit: int) -> Array:
    """The criterion of few numbers of components, NaN for the others; a local minimum does not end the search.

    Those of `numbers` until `PATIENCE` in a row are no better than the best; then those next to the best.
    """
    found = np.full(limit + 1, np.nan)
    best = worse = 0
    for q in numbers(limit):
        found[q] = criterion(q)
        best, worse = (q, 0) if found[q] <= found[best] else (best, worse + 1)
        if worse == PATIENCE:
            break
    while True:  # halve the gaps around the best
        lower = max((p for p in range(best) if found[p] == found[p]), default=best)
        upper = min((p for p in range(best + 1, limit + 1) if found[p] == found[p]), default=best)
        gaps = [(lower + best) // 2, (best + upper + 1) // 2]
        untried = [p for p in dict.fromkeys(gaps) if found[p] != found[p]]
        if not untried:
            return found
        for p in untried:
            found[p] = criterion(p)
        best = int(np.nanargmin(found))


def by_left_out_cells(X: Array, most: int, rng: Any = None, **settings: Any) -> int:
    """The rank that fills observed cells best, left out as cells are missing: a row loses those that another one lacks.

    Slower than `gcv` and needed where columns depend on each other exactly and are missing together, as the indicator
    columns of a category are: generalised cross-validation takes the rank of the dependency, which predicts nothing.
    Few numbers are tried, as `few` does it, and only those that do not take minutes.
    """
    table = without_cells_like_the_missing(X, generator(rng))
    hidden = np.isnan(table) & ~np.isnan(X)
    effort = Effort.of(table)

    def error(q: int) -> float:
        options = {"tol": EARLY_TOL, "max_iter": effort.steps(q), **settings}
        return float((((complete(table, q, quiet=True, **options).completed) - X)[hidden] ** 2).sum())

    return int(np.nanargmin(few(error, effort.most(most))))


def without_cells_like_the_missing(X: Array, rng: np.random.Generator) -> Array:
    """A copy without cells that other rows lack, at most a tenth of them; every row and column keeps a cell."""
    seen = ~np.isnan(X)
    left, counts, wanted = seen.copy(), seen.sum(axis=0), max(1, int(seen.sum()) // 10)
    for _ in range(LIKE_TRIES):
        gone = left & ~seen[rng.permutation(len(X))]
        for i in rng.permutation(np.flatnonzero(gone.any(axis=1))):
            if wanted > 0 and (left[i] & ~gone[i]).any() and (counts[gone[i]] > 2).all():
                left[i] &= ~gone[i]
                counts -= gone[i]
                wanted -= int(gone[i].sum())
    return np.where(left, X, np.nan).astype(X.dtype, copy=False)


def exact_dependencies(X: Array) -> int:
    """How many linear equations the columns obey exactly, those of an equation being missing together.

    As the indicator columns of a category do, which sum to 1. They make the covariance over pairs of observed cells
    singular; an equation between columns of which some are missing alone does not, and is not counted.
    """
    seen = ~np.isnan(X)
    Z = np.where(seen, X - np.nanmean(X, axis=0), 0.0)
    counts = seen.T.astype(float) @ seen
    values = np.abs(np.linalg.eigvalsh(Z.T @ Z / np.maximum(counts, 1.0)))
    return int((values <= SMALL * values.max(initial=0.0)).sum())

"""Data or map as a space in which a group of rows is judged: edges to other rows, and densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.neighbors import Neighbors, nearest
from lowdim._core.ranks.reference import Reference
from lowdim.select import intrinsic_dimension
from lowdim.trust.modes import Modes, modes, outer_dimension, saddle

Array = NDArray[Any]

SAMPLED = 2000  # rows of a group whose density is looked at
PARTS = 10  # a neighbourhood for densities holds this part of the group
LEAST = 8  # rows of a peak, and of a group beside the one that is judged
HALF = 0.5  # of the rows of the largest group beside it: a group that has fewer there is not looked at
AROUND = 100  # rows that are looked at around a group, if it has fewer


@dataclass(frozen=True, eq=False)
class Space:
    """Data or map: its rows, distances and the nearest neighbours of each row."""

    rows: Any
    metric: Any
    distances: Reference
    near: Array
    radii: Array  # distance to the last of them
    n_jobs: int | None

    @classmethod
    def of(cls, rows: Any, metric: Any, distances: Reference, k: int, n_jobs: int | None) -> Space:
        """With the k nearest neighbours of each row."""
        found = nearest(rows, k, metric=metric, n_jobs=n_jobs, approximate=None, owner="trust.groups")
        return cls(rows, metric, distances, found.indices, np.asarray(found.distances[:, -1], float), n_jobs)

    def inside(self, chosen: Array) -> float:
        """Share of the neighbours of the chosen rows that are chosen too."""
        return float(chosen[self.near[chosen]].mean())

    def conductance(self, chosen: Array) -> float:
        """Edges between the chosen rows and the rest over all edges of the smaller side."""
        of_row = np.repeat(chosen, self.near.shape[1])
        to = chosen[self.near.ravel()]
        cut = float((of_row != to).sum())
        volume = float(of_row.sum() + to.sum())
        return cut / max(1.0, min(volume, 2.0 * of_row.size - volume))

    def border(self, chosen: Array, members: Array, around: Array, codes: Array) -> float:
        """How far the density drops between the chosen rows and those around them, in standard deviations.

        Of several groups around them the one that is least apart counts. A few rows of a group that begins there are
        on the slope of another one, and say nothing.
        """
        if not (chosen[self.near] != chosen[:, None]).any():
            return np.inf
        both = np.concatenate([members, around])
        beside, counts = np.unique(codes[around], return_counts=True)
        counts = np.where(beside >= 0, counts, 0)
        others = beside[counts >= max(LEAST, HALF * counts.max(initial=0))]
        if not len(others):
            return self.drop(both, np.arange(len(both)) >= len(members))
        sides = np.concatenate([np.zeros(len(members), int), 1 + np.searchsorted(others, codes[around])])
        sides[len(members) :][~np.isin(codes[around], others)] = -1
        return self.drop(both, sides)

    def drop(self, members: Array, sides: Array) -> float:
        """How far the density drops between the rows of side 0 and each other side, in standard deviations."""
        rows = self._rows(members)
        near = self._near(rows, len(members))
        return saddle(np.asarray(near.distances, float), near.indices, self._dimension(rows, near), sides.astype(int))

    def around(self, chosen: Array) -> Array:
        """The rows around the chosen ones, by steps to neighbours: as many as these or more, if there are so many.

        The densest row of all others would not do: it may be far away, where no path of these rows leads.
        """
        count = int(chosen.sum())
        wanted, reached = count + max(count, AROUND), chosen
        while reached.sum() < wanted:
            more = reached | reached[self.near].any(axis=1)
            more[self.near[reached]] = True
            if more.sum() == reached.sum():
                break
            reached = more
        return np.flatnonzero(reached & ~chosen)

    def _rows(self, members: Array) -> Any:
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        return self.rows[np.ix_(members, members)] if given else self.rows[members]

    def modes(self, members: Array) -> Modes:
        """Pieces and peaks of density of a set of rows."""
        rows = self._rows(members)
        near = self._near(rows, len(members))
        dimension = self._dimension(rows, near)
        return modes(np.asarray(near.distances, float), near.indices, dimension, max(LEAST, len(members) // 20))

    def _near(self, rows: Any, count: int) -> Neighbors:
        k = min(count - 1, int(np.clip(count // PARTS, 8, 128)))
        return nearest(rows, k, metric=self.metric, n_jobs=self.n_jobs, approximate=None, owner="trust.groups")

    def _dimension(self, rows: Any, near: Neighbors) -> float:
        """That of 20 neighbours, or where it is less that of the outer neighbours, which the densities come from.

        Along a noisy curve small neighbourhoods have more dimensions than large ones, and with too many of them the
        density of the rows seems to vary more than by chance.
        """
        try:
            found = intrinsic_dimension(rows, correct=False, metric=self.metric, n_jobs=self.n_jobs).estimates["mle"][0]
        except ValueError:  # nearly all rows are copies: any dimension will do
            return 1.0
        return min(found, outer_dimension(np.asarray(near.distances, float)))


def some(rows: Array, rng: np.random.Generator) -> Array:
    return rows if len(rows) <= SAMPLED else np.sort(rng.choice(rows, SAMPLED, replace=False))

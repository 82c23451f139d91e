"""Distances between rows with holes, under two readings of what a missing cell means.

"pairwise": over the columns both rows have, scaled up to all of them: d² = d/|O_ij| sum over O_ij of (x_ik - x_jk)².
It takes a missing cell to be as far off as the others are. Two rows that share no column are taken to be as far apart
as two rows are on average.

"expected": the expectation of the squared distance under a Gaussian model of the rows. With m_i the conditional mean
of row i given its observed cells and v_i the sum of the conditional variances of its missing ones,
E|x_i - x_j|² = |m_i - m_j|² + v_i + v_j: a row of which little is known is not drawn close to everything, as it is
when the holes are filled in and then forgotten.

Both are given to the distance, neighbour and graph functions as plain finite tables under a metric of their own:
rows of "pairwise" carry their mask beside their cells (and that average), rows of "expected" their variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.distances.with_holes import METRICS
from lowdim._core.incomplete.em import fit_gaussian
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.rank import gcv, in_own_units, most_components
from lowdim._core.runtime.notices import warn
from lowdim._core.tables import missing

Array = np.ndarray

POLICIES = ("error", "pairwise", "expected")


@dataclass(frozen=True, eq=False)
class Holes:
    """How rows with holes become tables that distances can be measured in; made at fit, used for new rows too."""

    policy: str
    center: Array
    apart: float  # mean squared distance between two rows, by the variances of the columns
    model: Gaussian | None

    @classmethod
    def of(cls, X: Array, policy: str, rng: np.random.Generator, n_jobs: int | None, owner: str) -> Holes:
        """For "expected", fit the Gaussian model: latent factors by cross-validation, own noise for each column."""
        center = np.asarray(np.nanmean(X, axis=0, dtype=np.float64))
        apart = 2.0 * float(np.nanvar(X, axis=0, dtype=np.float64).sum())
        if policy == "pairwise" or X.shape[1] == 1:
            _warn_of_strangers(X, owner)
            return cls("pairwise", center, apart, None)
        most = min(10, most_components(X))
        r = max(1, gcv(in_own_units(X), most, scale=True, early=True, n_jobs=n_jobs).n_components)
        model, _ = fit_gaussian(X, r, noise="diagonal", tol=1e-7, rng=rng, n_jobs=n_jobs, owner=owner, warn=False)
        return cls(policy, center, apart, model)

    @property
    def metric(self) -> str:
        """The name under which `distances.pairwise` measures the tables made here."""
        return METRICS[self.policy]

    @property
    def partly_seen(self) -> bool:
        """Whether different rows may be at distance 0, as they are compared by the cells that both have."""
        return self.model is None

    def table(self, X: Array) -> Array:
        """Rows with holes as a finite table."""
        if self.model is None:
            seen = ~np.isnan(X)
            apart = np.full((len(X), 1), self.apart)
            return np.hstack([np.where(seen, X - self.center.astype(X.dtype), 0), seen, apart]).astype(X.dtype)
        rows, variance = self.model.conditional(X)
        return np.hstack([rows - self.center, variance.sum(axis=1, keepdims=True)]).astype(X.dtype)

    def rows(self, table: Array) -> Array:
        """The rows of such a table; cells that only a mask is known of are at the column's mean."""
        width = len(self.center)
        return (table[:, :width] + self.center).astype(table.dtype)

    def rows_among(self, table: Array, neighbors: Any, known: Array | None = None) -> Array:
        """The same; cells that only a mask is known of are a mean of the neighbours', nearer ones counting more.

        `neighbors` (indices and distances) are rows of the same table, or where given of the completed rows `known`.
        """
        rows, width = self.rows(table), len(self.center)
        if self.model is not None:
            return rows
        return missing.filled_from_neighbors(rows, table[:, width : 2 * width] > 0, self.center, neighbors, known)


def _warn_of_strangers(X: Array, owner: str) -> None:
    """Some pairs of rows may share no column."""
    if pairs := missing.pairs_that_share_nothing(~np.isnan(X)):
        warn(
            f"{owner}: {pairs} or more pairs of rows have no observed column in common; they are taken to be as far "
            "apart as two rows are on average. missing='expected' knows more about them."
        )

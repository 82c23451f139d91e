"""Multiple imputation: tables drawn about a model, so that they differ as much as the missing cells are uncertain.

Bootstrap: models of resampled rows or residuals differ by what is not known of the model; noise is added to each cell.
Its variance for a column is the squared error of the left-out cells of that column, less what the models differ by.
Bayes: the model given the cells and the cells given the model are drawn in turns; see the models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core.iterate import Progress
from lowdim.imputation.cells import Cells
from lowdim.imputation.left_out import Errors
from lowdim.imputation.models.model import Array, Model

PRIOR_CELLS = 10  # left-out cells of a column that weigh as much as all columns together
ENOUGH_RESIDUALS = 50  # of a column, from which its noise is drawn from them instead of a normal distribution
LEAST_NOISE = 0.25  # of the squared error: noise is left, however much the models differ


@dataclass(frozen=True, eq=False)
class Noise:
    """Of a cell about the model, for each column.

    `whole` says that the variance is that of the prediction error, the uncertainty of the model included.
    """

    variance: Array
    residuals: list[Array | None]  # of unit variance, to draw from; None: normal
    whole: bool

    @classmethod
    def normal(cls, deviation: Array) -> Noise:
        """Normal noise of these deviations, beside the uncertainty of the model."""
        return cls(deviation**2, [None] * len(deviation), False)

    @classmethod
    def of(cls, errors: Errors, d: int) -> Noise:
        """From the errors of left-out cells; columns with few of them borrow from the others."""
        numbers = errors.loss[errors.numeric]
        together = float(numbers.mean()) if len(numbers) else 0.0
        variance, residuals = np.empty(d), []
        for j in range(d):
            gaps = errors.gap[(errors.column == j) & errors.numeric]
            variance[j] = (float((gaps**2).sum()) + PRIOR_CELLS * together) / (len(gaps) + PRIOR_CELLS)
            spread = float(gaps.std()) if len(gaps) >= ENOUGH_RESIDUALS else 0.0
            residuals.append((gaps - gaps.mean()) / spread if spread > 0 else None)
        return cls(variance, residuals, True)

    def drawn(self, j: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Noise of unit variance for column j."""
        pool = self.residuals[j]
        return rng.standard_normal(shape) if pool is None else rng.choice(pool, size=shape)


def bootstrap_tables(
    model: Model,
    cells: Cells,
    setting: object,
    filled: Array,
    count: int,
    noise: Noise,
    rng: np.random.Generator,
    verbose: int | bool = 0,
) -> Array:
    """Coded tables: (count, n, d)."""
    tables = np.empty((count, *cells.coded.shape))
    with Progress("impute: tables", count, verbose) as progress:
        for table, D in zip(tables, model.bootstrap(cells, setting, filled, count, rng), strict=True):
            table[...] = _with_categories(cells, D, rng)
            progress.advance()
    for j in np.flatnonzero(cells.numeric & cells.holes.any(axis=0)):
        hole = cells.holes[:, j]
        part = tables[:, hole, j]
        variance = float(noise.variance[j])
        if noise.whole and count > 1:
            variance = max(variance - float(part.var(axis=0, ddof=1).mean()), LEAST_NOISE * variance)
        tables[:, hole, j] = part + np.sqrt(variance) * noise.drawn(int(j), part.shape, rng)
    return tables


def posterior_tables(
    model: Model,
    cells: Cells,
    setting: object,
    filled: Array,
    count: int,
    rng: np.random.Generator,
    verbose: int | bool = 0,
) -> Array:
    """Coded tables drawn from the posterior of the model: (count, n, d)."""
    tables = np.empty((count, *cells.coded.shape))
    with Progress("impute: tables", count, verbose) as progress:
        for table, D in zip(tables, model.posterior_draws(cells, setting, filled, count, rng), strict=True):
            table[...] = _with_categories(cells, D, rng)
            progress.advance()
    return tables


def _with_categories(cells: Cells, D: Array, rng: np.random.Generator) -> Array:
    """Numbers of the filled table, and categories drawn by their memberships; observed cells as they are."""
    coded = cells.layout.gather(D)
    for j in np.flatnonzero(~cells.numeric & cells.holes.any(axis=0)):
        hole = cells.holes[:, j]
        shares = np.cumsum(D[np.ix_(hole, np.flatnonzero(cells.layout.parents == j))], axis=1)
        coded[hole, j] = np.minimum((rng.random((len(shares), 1)) > shares).sum(axis=1), shares.shape[1] - 1)
    return np.where(cells.holes, coded, cells.coded)

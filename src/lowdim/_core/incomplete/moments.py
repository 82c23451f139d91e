"""Means and covariance of rows with missing cells, by EM under normal groups of equal covariance.

With P the inverse of the covariance, the missing cells m of a row have the conditional mean
mean_m - P_mm^-1 P_mo (x_o - mean_o) and the conditional covariance P_mm^-1: one small inverse for each pattern of
missing cells, and no inverse of what was observed. The expected scatter has both parts, as the variance of what was
filled in would be lost otherwise (Dempster, Laird and Rubin, 1977).

The covariance that predicts cells is shrunk towards uncorrelated columns by the share that oracle approximating
shrinkage finds (Chen, Wiesel, Eldar and Hero, 2010), which makes it regular also where rows are few: that is the
penalised likelihood that EM climbs. The moments themselves are not shrunk, so that those of complete rows are the
usual ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.accelerate import History, Point, accelerated
from lowdim._core.incomplete.em import observed_moments
from lowdim._core.iterate import Run, iterate
from lowdim._core.runtime import threads
from lowdim._core.spectrum import Moments

Array = np.ndarray

LEAST_SHRINKAGE = 1e-7  # keeps the covariance of dependent columns regular
TOL = 1e-9  # change of the log-likelihood per observed cell
MAX_ITER = 1000
ROUGH = 10  # steps before the shrinkage is found again
CELLS = 2**21  # of the small inverses kept at a time


@dataclass(frozen=True, eq=False)
class JointGaussian:
    """N(mean of the group, covariance), and what it says about rows of which some cells are missing (NaN).

    Attributes
    ----------
    means : ndarray of shape (g, d)
        One for each group; one row where there are no groups.
    covariance : ndarray of shape (d, d)
        The same for all groups, positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> model = JointGaussian(np.zeros((1, 2)), np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> model.conditional(np.array([[2.0, np.nan]]))
    array([[2., 1.]])
    """

    means: Array
    covariance: Array

    @classmethod
    def of_moments(cls, parts: tuple[Moments, ...], n: float | None = None) -> JointGaussian:
        """From the moments of each group; `n` is the number of rows they are worth, their weight where None."""
        total = sum(part.weight for part in parts)
        S = sum((part.scatter for part in parts), np.zeros_like(parts[0].scatter)) / total
        unit = _units(np.diag(S))
        share = shrinkage_of(S / unit[:, None] / unit, total if n is None else n)
        covariance = (1 - share) * S + share * np.diag(unit**2)
        return cls(np.array([part.mean for part in parts]), covariance)

    def marginal(self, columns: slice) -> JointGaussian:
        """Of some of the columns."""
        return JointGaussian(self.means[:, columns], self.covariance[columns, columns])

    def conditional(self, X: Array, groups: Array | None = None) -> Array:
        """Rows with the expectation of each missing cell filled in, given the number of each row's group (or 0)."""
        means = self._means(groups, len(X))
        return means + _expect(X - means, np.linalg.inv(self.covariance)).rows

    def log_density(self, X: Array) -> Array:
        """ln p(observed cells) of each row in each group: (n, g)."""
        P = np.linalg.inv(self.covariance)
        logdet = float(np.linalg.slogdet(self.covariance)[1])
        found = [-0.5 * (_expect(X - mean, P).twice_loss + logdet) for mean in self.means]
        return np.transpose(found) - 0.5 * np.log(2 * np.pi) * (~np.isnan(X)).sum(axis=1, keepdims=True)

    def known_share(self, hole: Array, matrix: Array) -> Array:
        """Share of the variance of the scores matrix (x - mean), all of variance 1, that the observed cells explain."""
        P = np.linalg.inv(self.covariance)
        unknown = np.zeros(len(hole))
        for rows, which, columns, C in _expect(np.where(hole, np.nan, 0.0), P).inverses:
            A = matrix.T[columns]  # (patterns, m, k)
            unknown[rows] = np.einsum("pik,pij,pjk->p", A, C, A, optimize=True)[which]
        return 1.0 - unknown / len(matrix)

    def _means(self, groups: Array | None, n: int) -> Array:
        return self.means[np.zeros(n, dtype=np.int64) if groups is None else groups]


@dataclass(frozen=True, eq=False)
class ExpectedMoments:
    """Moments of each group with missing cells at their expectation, the model, and how EM ended."""

    parts: tuple[Moments, ...]
    model: JointGaussian
    run: Run[Any]

    def completed(self, X: Array, groups: Array | None = None) -> Array:
        """The rows with missing cells at their conditional mean."""
        return self.model.conditional(X, groups)


def needs(n: int, d: int) -> dict[str, int]:
    """Bytes beside the rows that moments of incomplete ones take at their peak: name -> bytes."""
    return {"completed rows": 54 * n * d, "covariances of patterns": 16 * d * d * 8}


def expected_moments(
    X: Array, groups: Array | None = None, weights: Array | None = None, *, owner: str, n_jobs: int | None = None
) -> ExpectedMoments:
    """Moments of incomplete rows, of each group about its own mean, by accelerated EM.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; NaN is a missing cell. Every column has an observed one in every group.
    groups : ndarray of int of shape (n,), optional
        Number of each row's group, from 0; None: one group.
    weights : ndarray of shape (n,), optional
        Of rows; a whole number counts as so many copies.
    owner : str
        Name of the caller, for messages.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ExpectedMoments
        The run's losses are minus twice the penalised log-likelihood per observed cell; they never rise.
    """
    with threads.single_blas():  # the products are small: handing them out costs more than it saves
        return _by_em(_Table.of(X, groups, weights, n_jobs), owner)


def _by_em(table: _Table, owner: str) -> ExpectedMoments:
    S = table.scatter(table.start())[1].sum(axis=0) / table.weight  # missing cells at the means: a first guess
    first = _Climb(table, shrinkage_of(S, table.rows_worth))
    run = first.run(first.place(table.start(), first.shrunk(S)), ROUGH, owner, warn=False)
    means, covariance = first.model(run.state[-1].place)
    _, scatters, _ = table.expectations(means, covariance)
    last = _Climb(table, shrinkage_of(scatters.sum(axis=0) / table.weight, table.rows_worth))
    run = last.run(last.place(means, covariance), MAX_ITER, owner, warn=True)
    means, covariance = last.model(run.state[-1].place)
    centers, scatters, _ = table.expectations(means, covariance)
    model = JointGaussian(table.own_means(means), table.own_covariance(covariance))
    return ExpectedMoments(table.moments(centers, scatters), model, run)


def completed(X: Any, model: JointGaussian | None) -> Any:
    """New rows with missing cells at their conditional mean, in the precision of X; X where none is missing."""
    if model is None or sparse.issparse(X):
        return X
    holes = np.isnan(X).any(axis=1)
    if not holes.any():
        return X
    rows = X.copy()
    rows[holes] = model.conditional(X[holes].astype(np.float64))
    return rows


def shrinkage_of(S: Array, n: float) -> float:
    """Oracle approximating shrinkage towards uncorrelated columns, of a covariance in units of the deviations."""
    p = len(S)
    squares, trace = float((S**2).sum()), float(np.trace(S))
    spread = squares - trace**2 / p
    if spread <= 0 or n <= 1:
        return 1.0 if p > 1 else LEAST_SHRINKAGE
    share = ((1 - 2 / p) * squares + trace**2) / ((n + 1 - 2 / p) * spread)
    return float(np.clip(share, LEAST_SHRINKAGE, 1.0))


def _units(variance: Array) -> Array:
    """Deviations; 1 where a column does not vary."""
    return np.sqrt(np.where(variance > 0, variance, 1.0))


# The expectation step ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Expected:
    """Rows less their mean with missing cells at their expectation, and what is not known of them."""

    rows: Array  # (n, d)
    twice_loss: Array  # (n,) r'Pr + ln |P_mm| of each row
    inverses: list[tuple[Array, Array, Array, Array]]  # (rows, number of the pattern of each, columns, P_mm^-1)


def _expect(R: Array, P: Array) -> _Expected:
    """For rows R less their mean, NaN where missing, and the inverse P of the covariance."""
    hole = np.isnan(R)
    filled = np.where(hole, 0.0, R)
    slopes = filled @ P
    logs, inverses = np.zeros(len(R)), []
    for rows in _alike(hole):
        patterns, which = np.unique(hole[rows], axis=0, return_inverse=True)
        which = which.reshape(-1)
        columns = np.nonzero(patterns)[1].reshape(len(patterns), -1)
        block = P[columns[:, :, None], columns[:, None, :]]
        C = np.linalg.inv(block)
        own = columns[which]
        g = np.take_along_axis(slopes[rows], own, axis=1)
        np.put_along_axis(cells := filled[rows], own, -(C[which] @ g[:, :, None])[:, :, 0], axis=1)
        filled[rows] = cells
        logs[rows] = np.linalg.slogdet(block)[1][which]
        inverses.append((rows, which, columns, C))
    return _Expected(filled, np.einsum("ij,ij->i", filled @ P, filled) + logs, inverses)


def _alike(hole: Array) -> list[Array]:
    """Numbers of the incomplete rows in parts with equally many missing cells, equal patterns beside each other."""
    counts, parts = hole.sum(axis=1), []
    for m in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == m)
        rows = rows[np.lexsort(hole[rows].T)]
        parts += [rows[some] for some in threads.blocks(len(rows), max(1, int(CELLS // (m * m))))]
    return parts


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows in units of the observed deviations within groups, about the middle of what was observed."""

    Y: Array
    groups: Array
    weights: Array
    center: Array
    unit: Array
    cells: float  # observed, by weight

    @classmethod
    def of(cls, X: Array, groups: Array | None, weights: Array | None, n_jobs: int | None) -> _Table:
        X = np.asarray(X, dtype=np.float64)
        groups = np.zeros(len(X), dtype=np.int64) if groups is None else groups
        weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        center = observed_moments(X, n_jobs)[0]
        plain = cls(X - center, groups, weights, center, np.ones(X.shape[1]), 0.0)
        seen = ~np.isnan(X)
        squares = np.where(seen, plain.Y - plain.start()[groups], 0.0) ** 2
        unit = _units(weights @ squares / (weights @ seen))
        return cls(plain.Y / unit, groups, weights, center, unit, float(weights @ seen.sum(axis=1)))

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    @property
    def rows_worth(self) -> float:
        """How many complete rows, less the means, have as many cells."""
        return self.cells / len(self.unit) - int(self.groups.max())

    def start(self) -> Array:
        """Means of the observed cells of each group: (g, d)."""
        return self._per_group(np.where(np.isnan(self.Y), 0.0, self.Y)) / self._per_group(~np.isnan(self.Y))

    def _per_group(self, values: Array) -> Array:
        count = int(self.groups.max()) + 1
        return np.array([self.weights[self.groups == i] @ values[self.groups == i] for i in range(count)])

    def scatter(self, means: Array, covariances: Array | float = 0.0, rows: Array | None = None) -> tuple[Array, Array]:
        """Means of the groups, and their scatter about them; `rows` less `means`, missing cells at 0 where None."""
        R = np.where(np.isnan(self.Y), 0.0, self.Y - means[self.groups]) if rows is None else rows
        steps = self._per_group(R) / np.bincount(self.groups, self.weights)[:, None]
        scatters = []
        for i, step in enumerate(steps):
            own = self.groups == i
            C = (R[own] - step) * np.sqrt(self.weights[own])[:, None]
            scatters.append(C.T @ C)
        return means + steps, np.array(scatters) + covariances

    def expectations(self, means: Array, covariance: Array) -> tuple[Array, Array, float]:
        """New means and expected scatter of each group, and minus twice the log-likelihood of the observed cells."""
        found = _expect(self.Y - means[self.groups], np.linalg.inv(covariance))
        d = len(self.unit)
        unknown = np.zeros((len(means), d, d))
        for rows, which, columns, C in found.inverses:
            for i in np.unique(self.groups[rows]):
                own = self.groups[rows] == i
                weight = np.bincount(which[own], self.weights[rows][own], len(columns))
                np.add.at(unknown[i], (columns[:, :, None], columns[:, None, :]), C * weight[:, None, None])
        loss = self.weights @ found.twice_loss + self.weight * np.linalg.slogdet(covariance)[1]
        return *self.scatter(means, unknown, found.rows), float(loss)

    def own_means(self, means: Array) -> Array:
        return means * self.unit + self.center

    def own_covariance(self, covariance: Array) -> Array:
        return covariance * np.outer(self.unit, self.unit)

    def moments(self, means: Array, scatters: Array) -> tuple[Moments, ...]:
        sizes = np.bincount(self.groups, self.weights)
        own = self.own_means(means)
        return tuple(Moments(float(n), m, self.own_covariance(S)) for n, m, S in zip(sizes, own, scatters, strict=True))


# The climb --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Climb:
    """EM with a given shrinkage; a place holds the means and the Cholesky factor, its diagonal as logarithms."""

    table: _Table
    share: float

    def shrunk(self, S: Array) -> Array:
        return (1 - self.share) * S + self.share * np.eye(len(S))

    def place(self, means: Array, covariance: Array) -> Array:
        L = np.linalg.cholesky(covariance)
        below = np.tril_indices(len(L), -1)
        return np.concatenate([means.ravel(), L[below], np.log(np.diag(L))])

    def model(self, place: Array) -> tuple[Array, Array]:
        d = len(self.table.unit)
        count = int(self.table.groups.max()) + 1
        L = np.diag(np.exp(np.clip(place[-d:], -30.0, 30.0)))
        L[np.tril_indices(d, -1)] = place[count * d : -d]
        return place[: count * d].reshape(count, d), L @ L.T

    def evaluate(self, place: Array) -> Point:
        table, (means, covariance) = self.table, self.model(place)
        new, scatters, loss = table.expectations(means, covariance)
        penalty = np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.inv(covariance))
        loss = ((1 - self.share) * loss + self.share * table.weight * penalty) / table.cells
        image = self.place(new, self.shrunk(scatters.sum(axis=0) / table.weight))
        return Point(place, image, float(loss))

    def run(self, start: Array, steps: int, owner: str, *, warn: bool) -> Run[History]:
        first: History = (self.evaluate(start),)
        return iterate(
            accelerated(self.evaluate),
            first,
            max_iter=steps,
            tol=TOL,
            owner=owner,
            criterion="absolute",
            monotone=True,
            warn=warn,
        )

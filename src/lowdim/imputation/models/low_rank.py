"""Low-rank models: regularised iterative PCA, soft-thresholded singular values, factors, and FAMD for categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from lowdim._core.incomplete.completion import Completion, complete
from lowdim._core.incomplete.em import fit_gaussian
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.rank import free_cells, most_components
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.noise_variance import observed_ridge, shrinking_variance
from lowdim._core.tables.deviations import deviations
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model, growing, resample
from lowdim.linear.mixed.completion import completed, completed_by, most_axes
from lowdim.linear.soft_impute import decomposed, soft_impute

NUMBERS = "needs numbers, and the table has categories"
FACTOR_COLUMNS = 200  # beyond, a step of EM costs more than the other models together
DRAWN_FACTORS = 1e-4, 50  # tolerance and steps of EM for a bootstrap sample
PENALTIES = 16  # along the path of soft thresholds
LEAST_PENALTY = 0.001  # the last of them, as a share of the largest singular value
SOFT_TOL = 1e-5  # the same for every fit: a small penalty converges slowly, and stopping early would shrink more
BURN_IN, THINNING = 50, 10  # steps of data augmentation before the first table, and between two


class PCA(Model):
    """Iterative PCA: missing cells are what the (shrunken) components of the completed table predict."""

    name: ClassVar[str] = "regularized"
    words: ClassVar[str] = "regularised PCA"
    method: ClassVar[str] = "regularized"
    posterior: ClassVar[bool] = True

    def refusal(self, cells: Cells) -> str:
        if not cells.only_numbers:
            return NUMBERS
        return "" if most_components(cells.coded) else "needs at least 3 rows and 2 columns"

    def path(self, cells: Cells) -> list[int]:
        """Those that have fewer parameters than there are observed cells, at least 1."""
        n, d = cells.coded.shape
        known = int(np.count_nonzero(~cells.holes))
        return [r for r in growing(most_components(cells.coded)) if r == 1 or free_cells(known, n, d, r) > 0]

    def model(self, X: Array, r: int, **options: Any) -> Completion:
        """The completion of X by r components."""
        e = self.effort
        ridge = observed_ridge(X, r) if e.ridge is None else e.ridge
        options = {"quiet": True, **options}
        settings: dict[str, Any] = {"tol": e.tol, "max_iter": e.max_iter, "n_jobs": e.n_jobs, "owner": "impute"}
        return complete(X, r, method=self.method, scale=e.scale, ridge=ridge, **settings, **options)

    def fill(self, cells: Cells, setting: int, start: Array | None = None) -> Array:
        return self.model(cells.coded, setting).completed

    def bootstrap(
        self, cells: Cells, setting: int, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Of the residuals (Josse, Pages and Husson, 2011): noise on the fitted values in place of observed cells."""
        first = self.model(cells.coded, setting)
        noise = noise_of(first)
        for _ in range(count):
            again = np.where(cells.holes, np.nan, fitted(first) + noise * rng.standard_normal(filled.shape))
            yield cells.only(fitted(self.model(again, setting)))

    def posterior_draws(
        self, cells: Cells, setting: int, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Data augmentation (Audigier, Husson and Josse, 2016): the model given the cells, cells given the model."""
        D = filled
        for step in range(BURN_IN + count * THINNING):
            D = np.where(cells.holes, drawn_about(D, setting, self.effort.scale, rng), cells.coded)
            if step >= BURN_IN and (step - BURN_IN) % THINNING == THINNING - 1:
                yield D

    def said(self, setting: int) -> str:
        return f"{setting} component{'s' * (setting != 1)}"


class EM(PCA):
    """The same without shrinkage."""

    name: ClassVar[str] = "em"
    words: ClassVar[str] = "PCA by EM"
    method: ClassVar[str] = "em"
    posterior: ClassVar[bool] = False


def fitted(model: Completion) -> Array:
    """The fitted value of every cell under the shrunken model."""
    fit = (model.scores * model.shrinkage) @ model.loadings.T
    return model.mean + (fit if model.scale is None else fit * model.scale)


def noise_of(model: Completion) -> Array:
    """The deviation of a cell about the model, for each column."""
    scale = np.ones(len(model.mean)) if model.scale is None else model.scale
    return np.asarray(np.sqrt(model.noise_variance) * scale)


def drawn_about(X: Array, r: int, scale: bool, rng: np.random.Generator) -> Array:
    """Every cell drawn from its posterior given the completed table X under a model of r components.

    With s2 the noise of a cell and f the shrinkage of component k, the part of a cell that is due to the component has
    the posterior mean f times its least-squares value and the variance f s2 / min(n - 1, d).
    """
    (n, d), mean = X.shape, X.mean(axis=0)
    Z = X - mean
    unit = deviations((Z**2).mean(axis=0), mean, n) if scale else np.ones(d)
    found = decomposed(Z / unit, r + 1, "impute")
    values, total = found.values**2 / n, float(((Z / unit) ** 2).sum()) / n
    eigen = shrinking_variance(values, total, n, d, 1.0)
    shrink = np.maximum(values[:r] - eigen, 0.0) / np.where(values[:r] > 0, values[:r], 1.0)
    free = (n - 1 - r) * (d - r)
    noise = n * max(total - float(values[:r].sum()), 0.0) / rng.chisquare(free)
    fit = (found.U[:, :r] * (found.values[:r] * shrink)) @ found.Vt[:r]
    deviation = np.sqrt(noise * (1.0 + float(shrink.sum()) / min(n - 1, d)))
    return mean + unit * (fit + deviation * rng.standard_normal(X.shape))


class SoftThreshold(Model):
    """Singular values lowered by a penalty: the convex relative of PCA, better where many components are weak."""

    name: ClassVar[str] = "soft"
    words: ClassVar[str] = "soft-thresholded singular values"

    def refusal(self, cells: Cells) -> str:
        return "" if cells.only_numbers else NUMBERS

    def path(self, cells: Cells) -> list[float]:
        """Penalties as shares of the largest singular value of the table with means in its holes."""
        return np.geomspace(0.5, LEAST_PENALTY, PENALTIES).round(5).tolist()

    def fill(self, cells: Cells, setting: float, start: Array | None = None) -> Array:
        return cells.only(self._fitted(cells.coded, setting, start))

    def _fitted(self, X: Array, share: float, start: Array | None) -> Array:
        mean = np.nanmean(X, axis=0)
        centred = X - mean
        largest = float(np.linalg.norm(np.where(np.isnan(centred), 0.0, centred), 2))
        if not largest > 0:
            return np.broadcast_to(mean, X.shape)
        steps: dict[str, Any] = {"tol": SOFT_TOL, "max_iter": self.effort.max_iter}
        first = None if start is None else start - mean
        found, _ = soft_impute(centred, min(X.shape), share * largest, owner="impute", start=first, quiet=True, **steps)
        return mean + (found.U * found.values) @ found.Vt

    def bootstrap(
        self, cells: Cells, setting: float, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Residuals of the observed cells, resampled within their columns, on the fitted values."""
        fit = self._fitted(cells.coded, setting, filled)
        for _ in range(count):
            again = np.full(filled.shape, np.nan)
            for j, hole in enumerate(cells.holes.T):
                gaps = (cells.coded[:, j] - fit[:, j])[~hole]
                again[~hole, j] = fit[~hole, j] + rng.choice(gaps - gaps.mean(), size=len(gaps))
            yield cells.only(self._fitted(again, setting, fit))

    def said(self, setting: float) -> str:
        return f"penalty {setting:g} of the largest singular value"


class Factors(Model):
    """Factor analysis by EM on the observed cells: each column has a noise of its own."""

    name: ClassVar[str] = "factors"
    words: ClassVar[str] = "factor analysis"

    def refusal(self, cells: Cells) -> str:
        if not cells.only_numbers:
            return NUMBERS
        n, d = cells.coded.shape
        if d > FACTOR_COLUMNS:
            return f"is slow for more than {FACTOR_COLUMNS} columns"
        return "" if min(n - 1, d) >= 2 else "needs at least 3 rows and 2 columns"

    def path(self, cells: Cells) -> list[int]:
        n, d = cells.coded.shape
        return growing(min(n - 1, d) - 1)

    def _model(self, X: Array, r: int, tol: float = 0.0, most_steps: int = 300) -> Gaussian:
        e = self.effort
        options: dict[str, Any] = {
            "floor": 0.005, "tol": 0.1 * max(e.tol, tol), "max_iter": min(e.max_iter, most_steps),
        }  # fmt: skip
        return fit_gaussian(
            X, r, noise="diagonal", rng=generator(e.seed), n_jobs=e.n_jobs, owner="impute", warn=False, **options
        )[0]

    def fill(self, cells: Cells, setting: int, start: Array | None = None) -> Array:
        return self._model(cells.coded, setting).conditional(cells.coded)[0]

    def bootstrap(
        self, cells: Cells, setting: int, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Models of resampled rows, fitted as roughly as they differ."""
        for _ in range(count):
            rows = cells.coded[resample(cells, rng)]
            yield self._model(rows, setting, *DRAWN_FACTORS).conditional(cells.coded)[0]

    def said(self, setting: int) -> str:
        return f"{setting} factor{'s' * (setting != 1)}"


class MixedAxes(Model):
    """FAMD (of categories alone: MCA), regularised: the completed table's own axes predict its missing cells."""

    name: ClassVar[str] = "famd"
    words: ClassVar[str] = "regularised FAMD"

    def refusal(self, cells: Cells) -> str:
        return "is regularised PCA where all columns are numbers" if cells.only_numbers else ""

    def path(self, cells: Cells) -> list[int]:
        return growing(most_axes(cells.spread, cells.layout))

    def fill(self, cells: Cells, setting: int, start: Array | None = None) -> Array:
        e = self.effort
        ridge = 1.0 if e.ridge is None else e.ridge
        D = completed(
            cells.spread, cells.layout, setting, ridge=ridge, tol=e.tol, max_iter=e.max_iter, n_jobs=e.n_jobs,
            owner="impute", start=start,
        )  # fmt: skip
        return cells.only(D)

    def bootstrap(
        self, cells: Cells, setting: int, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        for _ in range(count):
            rows = rng.integers(len(filled), size=len(filled))
            found = completed_by(cells.spread, cells.layout, setting, filled, rows, n_jobs=self.effort.n_jobs)
            yield cells.only(found)

    def said(self, setting: int) -> str:
        return f"{setting} ax{'es' if setting != 1 else 'is'}"

"""The result of imputation: completed tables, their spread, the model and why it was chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2
from scipy.stats import t as student

from lowdim._core import params
from lowdim._core.tables.align import procrustes
from lowdim.imputation.candidates import Choice
from lowdim.imputation.table import Given


class Pooled(NamedTuple):
    """An estimate over several completed tables, by Rubin's rules (1987)."""

    estimate: Any
    variance: Any  # within + (1 + 1/M) between
    missing_information: Any  # the share of the variance that is due to missing cells


class Ellipses(NamedTuple):
    """Confidence ellipses in the plane of the first two components: points c + a cos t u + b sin t w."""

    centers: np.ndarray  # (m, 2)
    covariances: np.ndarray  # (m, 2, 2)
    axes: np.ndarray  # (m, 2, 2): half axes as rows, the longer first


@dataclass(frozen=True, eq=False, repr=False)
class Imputation:
    """A completed table, draws of what it may have been, and the model behind both.

    Parameters
    ----------
    tables : ndarray of shape (n_imputations, n_samples, n_features)
        Each a draw of what the table may have been; observed cells are the same, bit for bit, in all. An array of
        objects where columns hold categories.
    mean : ndarray of shape (n_samples, n_features)
        The completed table: for each missing cell what the model expects, of categories the most likely one.
    std : ndarray of shape (n_samples, n_features)
        Standard deviation of the draws of a number (of one draw alone: that of left-out cells); 0 for observed cells,
        NaN for missing categories.
    observed : ndarray of bool
        Which cells were observed.
    method : str
        How the cells were filled.
    n_components : int
        Of the model that filled them; 0 where it has none.
    noise_variance : float
        Of a cell about the model, in units of its column's deviation where scaled.
    scale : bool
        Whether columns were divided by their standard deviations; the scores and ellipses follow it.
    agreement : ndarray of shape (n_samples, n_features), or None
        Share of the draws that give the category in `mean`; NaN for numbers. None where all columns are numbers.
    draws : str
        How tables were drawn: "bootstrap", "bayes", or "none".
    choice : Choice or None
        The models that were compared, with their errors on left-out cells. None where nothing was chosen.
    """

    tables: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    observed: np.ndarray
    method: str
    n_components: int
    noise_variance: float
    scale: bool
    agreement: np.ndarray | None = None
    draws: str = "none"
    choice: Choice | None = None
    given: Given | None = None

    @property
    def completed(self) -> Any:
        """The completed table as it was given: a data frame with the same names and types, or an array."""
        return self.mean if self.given is None else self.given.in_form(self.mean)

    def completed_tables(self) -> list[Any]:
        """The draws, each as the table was given."""
        return [table.copy() if self.given is None else self.given.in_form(table) for table in self.tables]

    def intervals(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of each missing number (both the number itself where observed).

        Student's t with as many degrees of freedom as the draws give; NaN for categories.

        Parameters
        ----------
        confidence : float
            Share of the true values that the bounds enclose.

        Returns
        -------
        tuple of two ndarrays of shape (n_samples, n_features)
        """
        params.check("intervals", {"confidence": confidence}, {"confidence": params.share()})
        m = len(self.tables)
        reach = student.ppf((1 + confidence) / 2, m - 1 if m > 2 else np.inf) * np.sqrt(1 + 1 / m if m > 2 else 1.0)
        numeric = np.ones(self.mean.shape[1], bool) if self.given is None else self.given.numeric
        center = np.full(self.mean.shape, np.nan)
        center[:, numeric] = self.mean[:, numeric].astype(np.float64)
        return center - reach * self.std, center + reach * self.std

    def __repr__(self) -> str:
        n, d = self.mean.shape
        lost = int((~self.observed).sum())
        how = self.method if self.choice is None else self.choice.why
        return f"<Imputation of {lost} missing cells in {n} x {d}, {len(self.tables)} draws ({self.draws}); {how}>"

    def pool(self, analysis: Callable[[np.ndarray], tuple[Any, Any]]) -> Pooled:
        """Run an analysis on every table and combine the estimates by Rubin's rules.

        Parameters
        ----------
        analysis : callable
            Takes a completed table as it was given (an array or a data frame), gives an estimate and its variance
            (numbers or arrays).

        Returns
        -------
        Pooled
            Mean estimate, its variance, and the share of it that is due to missing cells.
        """
        found = [analysis(table) for table in self.completed_tables()]
        estimates, variances = (np.array([pair[k] for pair in found], dtype=np.float64) for k in (0, 1))
        m, within = len(found), variances.mean(axis=0)
        between = estimates.var(axis=0, ddof=1) if m > 1 else np.zeros_like(within)
        total = within + (1 + 1 / m) * between
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(total > 0, (1 + 1 / m) * between / total, 0.0)
        return Pooled(estimates.mean(axis=0), total, share)

    def scores(self, n_components: int = 2) -> np.ndarray:
        """Principal scores of every table, rotated to those of the mean table: (n_imputations, n, n_components).

        Of tables with categories they are those of FAMD, of categories alone those of MCA.

        Parameters
        ----------
        n_components : int
            Axes to keep.
        """
        return self._clouds(n_components)[0]

    def row_ellipses(self, confidence: float = 0.95) -> Ellipses:
        """Confidence ellipse of each row in the plane of the first two components, given what is missing.

        Parameters
        ----------
        confidence : float
            Share of the places of a row that its ellipse holds.
        """
        return _ellipses(self._clouds(2)[0], confidence)

    def axis_ellipses(self, confidence: float = 0.95) -> Ellipses:
        """Confidence ellipse of the end of each column's arrow (its covariances with the standardised components)."""
        self._only_numbers("arrows of columns")
        return _ellipses(self._clouds(2)[1], confidence)

    def distortion(self) -> dict[str, np.ndarray | float]:
        """How completion changed variances and correlations: completion without noise makes columns less variable.

        Returns
        -------
        dict
            ``variance_ratio`` (n_features,): variance of the completed column over that of its observed cells, mean
            over the tables; ``correlation_shift``: mean absolute change of the correlations against those of the
            pairwise observed cells (at least three of them); NaN where no pair of columns has a correlation.
        """
        self._only_numbers("distortion")
        given = np.where(self.observed, self.mean, np.nan)
        before = np.nanvar(given, axis=0, dtype=np.float64)
        after = np.mean([table.var(axis=0, dtype=np.float64) for table in self.tables], axis=0)
        known = _pairwise_correlations(given)
        with np.errstate(invalid="ignore", divide="ignore"):
            gaps = [np.abs(np.corrcoef(table, rowvar=False) - known) for table in self.tables]
            ratio = np.where(before > 0, after / before, 1.0)
        shift = [float(np.nanmean(gap)) for gap in gaps if not np.isnan(gap).all()]
        return {"variance_ratio": ratio, "correlation_shift": float(np.mean(shift)) if shift else float("nan")}

    def _clouds(self, r: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and arrows of every table, each rotated to the mean table's by Procrustes (no scaling)."""
        most = min(self.mean.shape)
        if not 1 <= r <= most:
            raise ValueError(f"Imputation: n_components must be between 1 and {most}; got {r}.")
        goal, _ = self._axes(self.mean, r)
        rows, columns = [], []
        for table in self.tables:
            Z, arrows = self._axes(table, r)
            turn = procrustes(goal, Z, scale=False, translate=False).rotation
            rows.append(Z @ turn)
            columns.append(arrows @ turn)
        return np.array(rows), np.array(columns)

    def _axes(self, table: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores (n, r) and the arrows of the columns: by PCA, by FAMD, or by MCA where there are no numbers."""
        if self.agreement is None:
            return _principal(table, r, self.scale)
        from lowdim.linear.mixed.famd import FAMD
        from lowdim.linear.mixed.mca import MCA

        numbers = np.isnan(self.agreement).all(axis=0)
        model = (FAMD(r) if numbers.any() else MCA(r)).fit(table)
        return model.row_coordinates_, model.column_coordinates_

    def _only_numbers(self, what: str) -> None:
        if self.agreement is not None:
            raise ValueError(
                f"Imputation: X must hold numbers for {what}; it has categories. Use lowdim.FAMD on the tables of "
                "completed_tables()."
            )


def _principal(X: np.ndarray, r: int, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, r), and the columns' arrows (d, r): loadings times the deviation of their component."""
    Z = X - X.mean(axis=0, dtype=np.float64)
    if scale:
        deviation = Z.std(axis=0)
        Z /= np.where(deviation > 0, deviation, 1.0)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return U[:, :r] * s[:r], Vt[:r].T * s[:r] / np.sqrt(len(X))


def _ellipses(clouds: np.ndarray, confidence: float) -> Ellipses:
    params.check("ellipses", {"confidence": confidence}, {"confidence": params.share()})
    if len(clouds) < 3:
        raise ValueError(f"ellipses: n_imputations must be at least 3 to estimate a covariance; got {len(clouds)}.")
    centers = clouds.mean(axis=0)
    gaps = clouds - centers
    covariances = np.einsum("mik,mil->ikl", gaps, gaps) / (len(clouds) - 1)
    values, vectors = np.linalg.eigh(covariances)
    lengths = np.sqrt(np.maximum(values, 0.0) * chi2.ppf(confidence, 2))
    axes = (vectors * lengths[:, None, :]).transpose(0, 2, 1)[:, ::-1]
    return Ellipses(centers, covariances, axes)


def _pairwise_correlations(X: np.ndarray) -> np.ndarray:
    """Correlation of each pair of columns over the rows that have both; NaN for fewer than three."""
    seen = ~np.isnan(X)
    d = X.shape[1]
    found = np.full((d, d), np.nan)
    for j in range(d):
        for k in range(j + 1, d):
            both = seen[:, j] & seen[:, k]
            if both.sum() >= 3:
                with np.errstate(invalid="ignore", divide="ignore"):
                    found[j, k] = found[k, j] = np.corrcoef(X[both, j], X[both, k])[0, 1]
    return found

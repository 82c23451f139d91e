"""Multiple imputation: several completed tables, whose differences show the uncertainty of missing cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2
from sklearn.utils.validation import check_array

from lowdim._core import params
from lowdim._core.incomplete.completion import Completion, complete
from lowdim._core.incomplete.rank import gcv, in_own_units, most_components
from lowdim._core.iterate import Progress
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables import missing
from lowdim._core.tables.align import procrustes
from lowdim._core.tables.arrays import FLOATS
from lowdim._core.tables.kinds import naming_text
from lowdim._core.vocabulary import SHARED
from lowdim.linear._baselines import by_means, by_regression

BASELINES = {"mean": by_means, "regression": by_regression}


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


@dataclass(frozen=True, eq=False)
class Imputation:
    """Completed tables, their mean and their spread.

    Parameters
    ----------
    tables : ndarray of shape (n_imputations, n_samples, n_features)
        Each a draw of what the table may have been; observed cells are the same, bit for bit, in all.
    mean, std : ndarray of shape (n_samples, n_features)
        Over the tables; `std` is 0 for observed cells.
    observed : ndarray of bool
        Which cells were observed.
    method : str
        How the cells were filled.
    n_components : int
        Of the model that filled them; 0 for the baselines.
    noise_variance : float
        Of a cell about the model, in units of its column's deviation where scaled.
    scale : bool
        Whether columns were divided by their standard deviations; the scores and ellipses follow it.
    """

    tables: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    observed: np.ndarray
    method: str
    n_components: int
    noise_variance: float
    scale: bool

    def pool(self, analysis: Callable[[np.ndarray], tuple[Any, Any]]) -> Pooled:
        """Run an analysis on every table and combine the estimates by Rubin's rules.

        Parameters
        ----------
        analysis : callable
            Takes a completed table, gives an estimate and its variance (numbers or arrays).

        Returns
        -------
        Pooled
            Mean estimate, its variance, and the share of it that is due to missing cells.
        """
        found = [analysis(table.copy()) for table in self.tables]
        estimates, variances = (np.array([pair[k] for pair in found], dtype=np.float64) for k in (0, 1))
        m, within = len(found), variances.mean(axis=0)
        between = estimates.var(axis=0, ddof=1) if m > 1 else np.zeros_like(within)
        total = within + (1 + 1 / m) * between
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(total > 0, (1 + 1 / m) * between / total, 0.0)
        return Pooled(estimates.mean(axis=0), total, share)

    def scores(self, n_components: int = 2) -> np.ndarray:
        """Principal scores of every table, rotated to those of the mean table: (n_imputations, n, n_components)."""
        return self._clouds(n_components)[0]

    def row_ellipses(self, confidence: float = 0.95) -> Ellipses:
        """Confidence ellipse of each row in the plane of the first two components, given what is missing."""
        return _ellipses(self._clouds(2)[0], confidence)

    def axis_ellipses(self, confidence: float = 0.95) -> Ellipses:
        """Confidence ellipse of the end of each column's arrow (its covariances with the standardised components)."""
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
        goal, _ = _principal(self.mean, r, self.scale)
        rows, columns = [], []
        for table in self.tables:
            Z, arrows = _principal(table, r, self.scale)
            turn = procrustes(goal, Z, scale=False, translate=False).rotation
            rows.append(Z @ turn)
            columns.append(arrows @ turn)
        return np.array(rows), np.array(columns)


def impute(
    X: Any,
    n_imputations: int = 20,
    *,
    method: str = "regularized",
    n_components: int | None = None,
    scale: bool = True,
    ridge: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Imputation:
    """Multiple imputation: several completed tables, drawn so that they differ as much as missing cells are uncertain.

    A low-rank model is fitted by (regularised) iterative PCA. For each table, residuals of the size of the model's are
    added to its fitted values, the same cells are removed, the model is fitted again (uncertainty of the model), and
    each missing cell is drawn about the new model (noise of a cell). Cells are taken to be missing at random: whether
    one is missing may depend on observed cells, not on its own value.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows with NaN for missing cells; every row and column has an observed one.
    n_imputations : int
        Tables to draw; 1 for the baselines.
    method : {"regularized", "em", "mean", "regression"}
        "em" does not shrink and overfits where many cells are missing. "mean" and "regression" (each column on the
        others) are baselines for comparison: they bias variances and correlations, see `Imputation.distortion`.
    n_components : int or None
        Rank of the model; None chooses it by generalised cross-validation.
    scale : bool
        Divide columns by their standard deviations; use it where they have different units.
    ridge : float
        Multiplies the noise variance that shrinks the components.
    max_iter : int
        Maximum number of iterations of each fit.
    tol : float
        Convergence tolerance: relative change of the criterion of each fit.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Returns
    -------
    Imputation
        Tables, their mean and spread per cell; `pool` for analyses, `row_ellipses` and `axis_ellipses` for plots.

    References
    ----------
    Josse, Pagès and Husson, Multiple imputation in principal component analysis, 2011. Rubin, Multiple Imputation for
    Nonresponse in Surveys, 1987.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> X[3, 1] = np.nan
    >>> found = lowdim.impute(X, 5, n_components=2, random_state=0)
    >>> found.tables.shape, int((found.std > 0).sum())
    ((5, 100, 3), 1)
    """
    X = _checked(X, locals())
    observed = ~np.isnan(X)
    if method in BASELINES:
        filled = BASELINES[method](X)[None]
        return Imputation(filled, filled[0], np.zeros(X.shape), observed, method, 0, np.nan, scale)
    settings: dict[str, Any] = {"method": method, "scale": scale, "ridge": ridge, "tol": tol, "max_iter": max_iter}
    settings["n_jobs"] = n_jobs
    r = _rank(X, n_components, settings)
    first = complete(X, r, owner="impute", **settings)
    if not np.isfinite(first.noise_variance):
        raise ValueError(
            f"impute: n_components must leave cells to estimate the noise from; {r} components have as many parameters "
            "as there are observed cells. Use fewer, or more rows."
        )
    rng, tables = generator(random_state), np.empty((n_imputations, *X.shape), X.dtype)
    with Progress("impute: tables", n_imputations, verbose) as progress:
        for table in tables:
            table[...] = _draw(X, observed, first, r, settings, rng)
            progress.advance()
    mean = np.where(observed, X, tables.mean(axis=0, dtype=np.float64)).astype(X.dtype)
    std = np.where(observed, 0.0, tables.std(axis=0, ddof=1, dtype=np.float64) if n_imputations > 1 else 0.0)
    return Imputation(tables, mean, std, observed, method, r, first.noise_variance, scale)


_RULES = {
    "n_imputations": params.whole(1),
    "method": params.one_of("regularized", "em", *BASELINES),
    "n_components": params.whole(0) | params.none(),
    "scale": params.flag(),
    "ridge": params.real(0),
    **{name: SHARED[name].rule for name in ("max_iter", "tol", "random_state", "n_jobs", "verbose")},
}


def _checked(X: Any, given: dict[str, Any]) -> np.ndarray:
    given = params.check("impute", {name: given[name] for name in _RULES}, _RULES)
    if given["method"] in BASELINES and given["n_imputations"] != 1:
        raise ValueError(
            f"impute: n_imputations must be 1 with method={given['method']!r}, which draws nothing; got "
            f"{given['n_imputations']}."
        )
    with naming_text(X, "impute"):
        X = check_array(
            missing.undisguised(X, "impute"),
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=3,
            estimator="impute",
        )
    missing.admit(X, "impute")
    memory.check(
        "impute", {"tables": given["n_imputations"] * X.nbytes, "fits": 8 * X.size * 8}, "Use fewer imputations."
    )
    return X


def _rank(X: np.ndarray, n_components: int | None, settings: dict[str, Any]) -> int:
    most = most_components(X)
    if n_components is None:
        r = gcv(in_own_units(X) if settings["scale"] else X, most, early=True, **settings).n_components
        none = ": none predicts cells better than column means, and cells are drawn about those"
        warn(f"impute: {r} components, chosen by generalised cross-validation{'' if r else none}.")
        return r
    if n_components > most:
        raise ValueError(f"impute: n_components must be at most min(n - 2, d - 1) = {most}; got {n_components}.")
    return n_components


def _draw(
    X: np.ndarray, observed: np.ndarray, first: Completion, r: int, settings: dict[str, Any], rng: np.random.Generator
) -> np.ndarray:
    """One table: the model fitted to a bootstrap of its residuals, and cells drawn about it."""
    deviation = np.sqrt(first.noise_variance) * (1.0 if first.scale is None else first.scale)
    again = np.where(observed, _fitted(first) + deviation * rng.standard_normal(X.shape), np.nan)
    model = complete(again, r, owner="impute", quiet=True, **settings)
    drawn = _fitted(model) + deviation * rng.standard_normal(X.shape)
    return np.where(observed, X, drawn)


def _fitted(model: Completion) -> np.ndarray:
    """The fitted value of every cell under the shrunken model."""
    fit = (model.scores * model.shrinkage) @ model.loadings.T
    return model.mean + (fit if model.scale is None else fit * model.scale)


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

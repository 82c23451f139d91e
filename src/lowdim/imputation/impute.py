"""Imputation of missing cells by the model that fills left-out cells best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core import params
from lowdim._core.incomplete.rank import most_components
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.vocabulary import SHARED
from lowdim.imputation.candidates import Choice
from lowdim.imputation.cells import Cells
from lowdim.imputation.choice import choose
from lowdim.imputation.draws import Noise, bootstrap_tables, posterior_tables
from lowdim.imputation.models.blend import Blend
from lowdim.imputation.models.chains import RidgeChain
from lowdim.imputation.models.forests import ForestChain
from lowdim.imputation.models.low_rank import EM, PCA, Factors, MixedAxes, SoftThreshold, noise_of
from lowdim.imputation.models.means import Means
from lowdim.imputation.models.model import Array, Effort, Model
from lowdim.imputation.models.neighbors import NearestRows
from lowdim.imputation.result import Imputation
from lowdim.imputation.table import Given
from lowdim.linear.regression_fill import by_regression

CANDIDATES: tuple[type[Model], ...] = (
    Means, PCA, SoftThreshold, MixedAxes, NearestRows, RidgeChain, Factors, ForestChain,
)  # fmt: skip
MODELS: dict[str, type[Model]] = {**{model.name: model for model in CANDIDATES}, EM.name: EM}
WITH_COMPONENTS = ("regularized", "em", "factors", "famd")
BASELINES = ("mean", "regression")
CHOICE_TOL = 1e-4  # of the fits that are compared


@params.checked("impute")
def impute(
    X: Any,
    n_imputations: int = 20,
    *,
    method: str = "auto",
    n_components: int | None = None,
    scale: bool = True,
    ridge: float | None = None,
    draws: str = "bootstrap",
    budget: float = 60.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Imputation:
    """Fill missing cells by the model that fills left-out cells best, and draw tables that show the uncertainty.

    Models of several kinds fill observed cells that were left out; the one with the lowest error fills the missing
    ones, or a weighted mean of several where that has a lower error still (stacking; ``method`` is then "blend").
    ``found.choice`` lists all of them with their errors and standard errors, and why others were not tried. Then
    tables are drawn that differ as much as missing cells are uncertain: by the model (bootstrap or posterior) and by
    the noise of a cell. Cells are taken to be missing at random: whether one is missing may depend on observed cells,
    not on its own value.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Numbers and categories (text, truth values), with NaN or None for missing cells; every row and column has an
        observed one.
    n_imputations : int
        Tables to draw; 1 for the baselines.
    method : {"auto", "regularized", "em", "soft", "factors", "famd", "ridge", "forest", "neighbors", "mean", \
"regression"}
        "auto" chooses among all but "em" and "regression". "regularized": regularised PCA; "em" is the same without
        shrinkage and overfits where many cells are missing. "soft": singular values lowered by a penalty. "factors":
        factor analysis. "famd": FAMD, for tables with categories (MCA where there are only such). "ridge" and
        "forest": each column predicted from the others by ridge regression or extremely randomised trees, in turns.
        "neighbors": means of the nearest rows. "mean" and "regression" (a single linear regression on the others)
        are baselines for comparison: they bias variances and correlations, see `Imputation.distortion`.
    n_components : int or None
        Components, factors or axes of "regularized", "em", "factors" and "famd"; None chooses them by left-out cells.
        With "auto" a number means "regularized", or "famd" where the table has categories.
    scale : bool
        Divide columns by their standard deviations; use it where they have different units.
    ridge : float or None
        Multiplies the noise variance that shrinks the components of "regularized" and "famd". None: 1, and for
        components that were chosen what corrects for the filled cells, as in `PCA`.
    draws : {"bootstrap", "bayes"}
        How the uncertainty of the model enters the tables: by models of resampled rows or residuals, or by draws from
        the posterior (data augmentation), which "regularized" and "ridge" have; "auto" chooses between these then.
    budget : float
        Seconds of processor time, over all threads, after which no further model is tried, so that a busy machine
        chooses as an idle one does. Where that ends the choice, a warning and `choice` say so.
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
        The completed table (``completed``, as it was given; ``mean``, as an array), its spread per cell, the draws;
        `intervals`; `pool` for analyses; `row_ellipses` and `axis_ellipses` for plots.

    References
    ----------
    Josse, Pagès and Husson, Multiple imputation in principal component analysis, 2011. Audigier, Husson and Josse,
    Multiple imputation for continuous variables using a Bayesian principal component analysis, 2016. Stekhoven and
    Buehlmann, MissForest, 2012. Breiman, Stacked regressions, 1996. Rubin,
    Multiple Imputation for Nonresponse in Surveys, 1987.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> X[3, 1] = np.nan
    >>> found = lowdim.impute(X, 5, method="regularized", n_components=2, random_state=0)
    >>> found.tables.shape, int((found.std > 0).sum())
    ((5, 100, 3), 1)
    """
    asked = {name: value for name, value in locals().items() if name != "X"}
    asked |= params.check("impute", asked, _RULES)
    n_imputations, n_components = asked["n_imputations"], asked["n_components"]
    _refuse_combinations(method, n_imputations, n_components, draws)
    given = Given.of(X, "impute", scale=scale)
    _check_memory(given, n_imputations)
    if method == "regression":
        return _regression(given, scale)
    cells, rng = given.cells, generator(random_state)
    effort = Effort(tol, max_iter, n_jobs, scale, ridge, int(rng.integers(2**31)))
    if not cells.holes.any():
        return _complete(given, n_imputations, method, scale)
    found = _chosen(cells, asked, effort, rng)
    return _imputed(given, cells, found, asked, rng)


_RULES = {
    "n_imputations": params.whole(1),
    "method": params.one_of("auto", *MODELS, "regression"),
    "n_components": params.whole(0) | params.none(),
    "scale": params.flag(),
    "ridge": params.real(0) | params.none(),
    "draws": params.one_of("bootstrap", "bayes"),
    "budget": params.real(0, open_low=True),
    **{name: SHARED[name].rule for name in ("max_iter", "tol", "random_state", "n_jobs", "verbose")},
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model for the final fit, its setting, and what is known of its errors."""

    model: Model
    setting: Any
    choice: Choice | None


def _refuse_combinations(method: str, n_imputations: int, n_components: int | None, draws: str) -> None:
    if method in BASELINES and n_imputations != 1:
        raise ValueError(
            f"impute: n_imputations must be 1 with method={method!r}, which draws nothing; got {n_imputations}."
        )
    if n_components is not None and method not in ("auto", *WITH_COMPONENTS):
        ways = ", ".join(map(repr, WITH_COMPONENTS))
        raise ValueError(f"impute: n_components must be None with method={method!r}; got {n_components}. Use {ways}.")
    able = [name for name, model in MODELS.items() if model.posterior and name not in BASELINES]
    if draws == "bayes" and method not in ("auto", *able):
        ways = ", ".join(map(repr, able))
        raise ValueError(f"impute: method must be 'auto', {ways} with draws='bayes'; got {method!r}.")


def _check_memory(given: Given, n_imputations: int) -> None:
    n, width = len(given.coded), sum(1 if c is None else len(c) for c in given.categories)
    needs = {"tables": n_imputations * given.coded.size * 8, "fits": 8 * n * width * 8}
    memory.check("impute", needs, "Use fewer imputations.")


def _chosen(cells: Cells, asked: dict[str, Any], effort: Effort, rng: np.random.Generator) -> Chosen:
    """The model named, or the best of all; its setting as given, or that of the lowest error."""
    method, r = asked["method"], asked["n_components"]
    if method == "auto" and r is not None:
        method = "regularized" if cells.only_numbers else "famd"
    if method in BASELINES:
        return Chosen(MODELS[method](effort), None, None)
    if r is not None:
        effort = replace(effort, ridge=1.0 if effort.ridge is None else effort.ridge)
        _check_rank(cells, method, r)
        if method in ("regularized", "em"):
            return Chosen(MODELS[method](effort), r, None)
    rough = replace(effort, tol=max(effort.tol, CHOICE_TOL))
    kinds = CANDIDATES if method == "auto" else (MODELS[method],)
    if asked["draws"] == "bayes":
        kinds = tuple(kind for kind in kinds if kind.posterior)
    models = [_fixed(kind, r)(rough) for kind in kinds]
    choice = choose(cells, models, rng, budget=asked["budget"], verbose=asked["verbose"])
    return Chosen(_finer(choice.model, effort), choice.setting, choice)


def _finer(model: Model, effort: Effort) -> Model:
    """The model with the tolerances of the final fit."""
    if isinstance(model, Blend):
        return replace(model, parts=tuple((_finer(part, effort), own, weight) for part, own, weight in model.parts))
    return MODELS[model.name](effort)


def _fixed(kind: type[Model], r: int | None) -> type[Model]:
    """The model with one setting to try, where it is given."""
    return kind if r is None else type(kind.__name__, (kind,), {"path": lambda self, cells: [r]})


def _check_rank(cells: Cells, method: str, r: int) -> None:
    if method in ("regularized", "em"):
        most, rule = most_components(cells.coded), "min(n - 2, d - 1)"
        if not cells.only_numbers:
            raise ValueError(f"impute: X must hold numbers with method={method!r}; it has categories. Use 'famd'.")
    else:
        path = MODELS[method](Effort()).path(cells)
        most, rule = (max(path) if path else 0), "what the table determines,"
    if r > most:
        raise ValueError(f"impute: n_components must be at most {rule} = {most}; got {r}.")


def _imputed(given: Given, cells: Cells, found: Chosen, asked: dict[str, Any], rng: np.random.Generator) -> Imputation:
    """The filled table, and tables drawn about it."""
    model, setting, count = found.model, found.setting, asked["n_imputations"]
    filled = _warned(model, cells, setting)
    noise = _noise(model, cells, setting, found.choice)
    draws = "none" if model.name in BASELINES and found.choice is None else asked["draws"]
    if draws == "none":
        tables = cells.layout.gather(filled)[None]
    elif draws == "bayes" and model.posterior:
        tables = posterior_tables(model, cells, setting, filled, count, rng, asked["verbose"])
    else:
        tables = bootstrap_tables(model, cells, setting, filled, count, noise, rng, asked["verbose"])
    return _result(given, cells, found, filled, tables, noise, asked["scale"], draws)


def _warned(model: Model, cells: Cells, setting: Any) -> Array:
    """The filled table; PCA says here what is doubtful about it."""
    if isinstance(model, PCA):
        return model.model(cells.coded, setting, quiet=False).completed
    return model.fill(cells, setting)


def _noise(model: Model, cells: Cells, setting: Any, choice: Choice | None) -> Noise:
    d = cells.coded.shape[1]
    if choice is not None:
        return Noise.of(choice.errors, d)
    if not isinstance(model, PCA):
        return Noise.normal(np.zeros(d))
    first = model.model(cells.coded, setting)
    if not np.isfinite(first.noise_variance):
        raise ValueError(
            f"impute: n_components must leave cells to estimate the noise from; {setting} components have as many "
            "parameters as there are observed cells. Use fewer, or more rows."
        )
    return Noise.normal(noise_of(first))


def _result(
    given: Given, cells: Cells, found: Chosen, filled: Array, tables: Array, noise: Noise, scale: bool, draws: str
) -> Imputation:
    point = np.where(cells.holes, cells.layout.gather(filled), cells.coded)
    deviation = tables.std(axis=0, ddof=1) if len(tables) > 2 else np.broadcast_to(np.sqrt(noise.variance), point.shape)
    agreement = None
    if given.mixed:
        agreement = np.where(given.numeric, np.nan, (tables == point).mean(axis=0))
    numbers = noise.variance[cells.numeric & cells.holes.any(axis=0)]
    components = found.setting if found.model.name in WITH_COMPONENTS else 0
    return Imputation(
        np.array([given.restored(table) for table in tables]),
        given.restored(point),
        given.spreads(deviation),
        given.observed,
        found.model.name,
        int(components),
        float(numbers.mean()) if len(numbers) and draws != "none" else float("nan"),
        scale,
        agreement,
        draws,
        found.choice,
        given,
    )


def _complete(given: Given, count: int, method: str, scale: bool) -> Imputation:
    """Nothing is missing: the table itself, as often as asked."""
    table = given.restored(given.cells.coded)
    agreement = np.where(given.numeric, np.nan, 1.0) * np.ones(given.coded.shape) if given.mixed else None
    tables, zero = np.array([table] * count), np.zeros(given.coded.shape)
    return Imputation(
        tables, table, zero, given.observed, method, 0, float("nan"), scale, agreement, "none", None, given
    )


def _regression(given: Given, scale: bool) -> Imputation:
    if given.mixed:
        raise ValueError("impute: X must hold numbers with method='regression'; it has categories. Use 'ridge'.")
    coded = by_regression(given.cells.coded)
    table, zero = given.restored(coded), np.zeros(coded.shape)
    return Imputation(
        table[None], table, zero, given.observed, "regression", 0, float("nan"), scale, None, "none", None, given
    )

"""PCA of rows with missing cells, and the scores of incomplete new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim._core.extend import Linear
from lowdim._core.incomplete import cells, completion
from lowdim._core.incomplete.rank import gcv, in_own_units, most_components, without_cells
from lowdim._core.incomplete.rank_search import Effort, by_left_out_cells, exact_dependencies
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.noise_variance import not_zero, observed_ridge
from lowdim.linear.pca import _nipals_fit
from lowdim.linear.pca._agreement import agreement
from lowdim.linear.pca._fitted import FittedPCA, cell_variances, divisor_of, observed_error, resolution_of
from lowdim.linear.pca._settings import IncompleteSettings

Array = np.ndarray

JUDGED_ROWS, JUDGED_COLUMNS = 300, 300  # of the table on which EM is compared with column means
EXACT, EXACT_FROM = 1e-6, 10  # share of the criterion that components leave, and how many: columns that are dependent
EXACT_ROWS, EXACT_COLUMNS = 1000, 1000  # of larger tables so many rows are drawn; of more columns nobody asks before
EXACT_SHARE = 0.1  # equations that columns obey, over their number: indicators of categories of up to ten kinds
EXACTLY = "columns depend on each other exactly; a comparison on left-out cells"
LEAST_JUDGED = 20  # cells left out for a verdict
JUDGED_CELLS, JUDGED_TABLES = 100, 10  # enough of them, and tables with cells left out at most


def memory_of(n: int, d: int, itemsize: int, missing: str) -> dict[str, int]:
    """Bytes beside X at the peak."""
    table = n * d * itemsize
    if missing == "nipals":
        return {"rows left to explain": n * d * 8, "observed cells": n * d * 9, "completed rows": 2 * table}
    return {"completed rows": table, "variances of cells": table, "sums": 16 * min(d, 400) ** 2 * 8}


def fit(X: Array, weights: Array | None, settings: IncompleteSettings, incomplete: bool) -> FittedPCA:
    """PCA of rows with missing cells, or by NIPALS of complete ones (`incomplete` False)."""
    r = _rank(X, weights, settings, incomplete)
    if settings.missing == "nipals" and r:
        found = _nipals_fit.fit(X, weights, settings, r, incomplete)
    else:
        found = _by_completion(X, weights, settings, r)
        if settings.missing == "em" and r:
            _warn_of_overfitting(X if weights is None else X[weights > 0], settings, r)
        if settings.missing == "nipals":  # no component predicts: column means fill the cells, and one gives scores
            one = _nipals_fit.fit(X, weights, settings, 1, incomplete)
            found = replace(one, completed=found.completed, completed_variance=found.completed_variance)
    if not incomplete:
        return found
    assert found.completed is not None
    return replace(
        found,
        agreement=agreement(X, weights, found, settings.n_jobs),
        completed=cells.within_reach(X, found.completed, settings.reach, "PCA"),
    )


def place(
    X: Array,
    mean: Array,
    scale: Array | None,
    components: Array,
    variances: Array,
    noise_variance: float,
    n_jobs: int | None,
) -> Array:
    """Scores of incomplete rows: those of the row completed at the conditional mean of the model."""
    completed, _ = cells.fill(X, mean, scale, components.T, variances, noise_variance, n_jobs=n_jobs)
    return Linear(mean, scale, components.T)(completed)


def _rank(X: Array, weights: Array | None, settings: IncompleteSettings, incomplete: bool) -> int:
    """How many components fill the cells: as given, or by generalised cross-validation; 0 where none predicts."""
    if incomplete:
        most = _most(X, None if settings.missing == "nipals" else weights)
    else:
        most = min(X.shape)
    if settings.rank is not None:
        if settings.rank > most:
            what = "incomplete rows can have" if incomplete else "the rows can have"
            warn(f"PCA: n_components={settings.rank} is more than {what}; keeping {most}.")
        return min(settings.rank, most)
    if not incomplete:
        return most  # the rule is applied to all of them
    chosen, how = _chosen_rank(in_own_units(X) if settings.scale else X, most, weights, settings)
    none = "finds none that predicts cells better than column means, which fill them; 1 is kept for the scores"
    keeps = f"keeps {chosen} components" if chosen else none
    warn(
        f"PCA: X has missing cells, so that shares of variance are unknown; {how} {keeps}. Give "
        "n_components as a whole number to choose them yourself."
    )
    return chosen


def _chosen_rank(X: Array, most: int, weights: Array | None, settings: IncompleteSettings) -> tuple[int, str]:
    """By generalised cross-validation, and by left-out cells where the columns depend on each other exactly."""
    options: dict[str, Any] = {"method": settings.method, "scale": settings.scale, "ridge": settings.own_ridge}
    part = _some_rows(X, weights)
    if not _are_indicators(part):
        found = gcv(X, most, early=True, weights=weights, n_jobs=settings.n_jobs, **options)
        criterion, chosen = found.criterion, found.n_components
        if chosen < EXACT_FROM or criterion[chosen] > EXACT * criterion[0]:
            limit = Effort.of(X).most(most)
            beyond = f" (numbers beyond {limit} would take minutes each)" if chosen == limit < most else ""
            return chosen, f"generalised cross-validation{beyond}"
    return by_left_out_cells(part, min(most, most_components(part)), 0, n_jobs=settings.n_jobs, **options), EXACTLY


def _some_rows(X: Array, weights: Array | None) -> Array:
    """Some of the rows that count, with cells in every row and column."""
    X = X if weights is None else X[weights > 0]
    part = X[np.sort(generator(0).choice(len(X), min(len(X), EXACT_ROWS), replace=False))]
    part = part[:, ~np.isnan(part).all(axis=0)]
    return part[~np.isnan(part).all(axis=1)]


def _are_indicators(X: Array) -> bool:
    """Whether so many columns depend on each other exactly that generalised cross-validation would take just that."""
    d = X.shape[1]
    if d > EXACT_COLUMNS:
        return False
    equations = exact_dependencies(X)
    return equations >= max(2, EXACT_SHARE * d) and d - equations >= EXACT_FROM


def _warn_of_overfitting(X: Array, settings: IncompleteSettings, r: int) -> None:
    """EM does not shrink: a rough fit to few rows with cells left out tells whether column means fill them better."""
    rng = generator(0)
    rows = np.sort(rng.choice(len(X), min(len(X), JUDGED_ROWS), replace=False))
    part = np.ascontiguousarray(X[rows][:, :JUDGED_COLUMNS])
    part = part[~np.isnan(part).all(axis=1)]
    part = part[:, ~np.isnan(part).all(axis=0)]
    if min(part.shape) < 2 or r > most_components(part):
        return
    unit = np.nanstd(part, axis=0) if settings.scale else np.ones(part.shape[1])
    unit = np.where(unit > 0, unit, 1.0)
    squares, count = np.zeros(2), 0
    for _ in range(JUDGED_TABLES):
        if count >= JUDGED_CELLS:
            break
        table = without_cells(part, 0.1, rng)
        left_out = np.isnan(table) & ~np.isnan(part)
        filled = completion.complete(
            table, r, method="em", scale=settings.scale, tol=1e-6, max_iter=300, n_jobs=settings.n_jobs, quiet=True
        ).completed
        means = np.broadcast_to(np.nanmean(table, axis=0), table.shape)
        squares += [float((((guess - part) / unit)[left_out] ** 2).sum()) for guess in (filled, means)]
        count += int(left_out.sum())
    error, plain = np.sqrt(squares)
    if count >= LEAST_JUDGED and error > plain > 0:
        warn(
            f"PCA: missing='em' with {r} components fills {count} left-out cells worse than column means "
            f"do, with {error / plain:.2g} times their error: it overfits. Use missing='regularized', fewer "
            "components, or lowdim.impute, which chooses a model."
        )


def _most(X: Array, weights: Array | None) -> int:
    """The largest rank of incomplete rows; weights count as copies of them."""
    most = most_components(X, weights)
    if most >= 1:
        return most
    if most_components(X) >= 1:
        raise ValueError(
            "PCA: sample_weight must sum to 3 or more for incomplete rows, as a weight counts as so many copies of its "
            f"row; got {weights.sum() if weights is not None else len(X):g}. Multiply the weights by a constant."
        )
    raise ValueError(
        "PCA: X must have at least 3 rows and 2 columns where cells are missing; got "
        f"{X.shape[0]} rows and {X.shape[1]} columns."
    )


def _by_completion(X: Array, weights: Array | None, settings: IncompleteSettings, r: int) -> FittedPCA:
    chosen = settings.ridge is None and settings.rank is None
    found = completion.complete(
        X,
        r,
        shown=1,
        method=settings.method,
        scale=settings.scale,
        ddof=settings.ddof,
        ridge=observed_ridge(X, r, weights) if chosen else settings.own_ridge,
        tol=settings.tol,
        max_iter=settings.max_iter,
        weights=weights,
        n_jobs=settings.n_jobs,
        owner="PCA",
        leverage=True,
        callback=settings.callback,
        verbose=settings.verbose,
    )
    values, total = found.eigenvalues, found.total_variance
    return FittedPCA(
        components=np.ascontiguousarray(found.loadings.T),
        mean=found.mean,
        scale=found.scale,
        explained_variance=values,
        explained_variance_ratio=values / total if total > 0 else np.zeros(len(values)),
        singular_values=np.sqrt(values * divisor_of(X, weights, settings.ddof)),
        reconstruction_error=observed_error(X, found.mean, found.scale, found.loadings, found.scores, weights),
        noise_variance=found.sigma2 if settings.missing == "em" else not_zero(found.sigma2, values),
        missing_share=float(np.count_nonzero(np.isnan(X))) / X.size,
        solver=settings.missing,
        resolution=resolution_of(X),
        n_iter=found.run.n_iter,
        converged=found.run.converged,
        completed=found.completed,
        completed_variance=cell_variances(X, found.leverage, found.noise_variance, found.scale),
        shrinkage=found.shrinkage,
    )

"""PCA of rows with missing cells: what `PCA` keeps of a completion, and where it places incomplete rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.extend import Linear
from lowdim._core.incomplete import cells, completion
from lowdim._core.incomplete.rank import gcv, in_own_units, most_components
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables import missing
from lowdim.linear.pca import _nipals_fit
from lowdim.linear.pca._agreement import agreement
from lowdim.linear.pca._decompose import Spectrum
from lowdim.linear.pca._fitted import common, divisor_of, variances

Array = np.ndarray


def needs(n: int, d: int, itemsize: int, route: str) -> dict[str, int]:
    """Bytes beside X at the peak."""
    table = n * d * itemsize
    if route == "nipals":
        return {"rows left to explain": n * d * 8, "observed cells": n * d * 9, "completed rows": 2 * table}
    return {"completed rows": table, "variances of cells": table, "sums": 16 * min(d, 400) ** 2 * 8}


def has_holes(model: Any, X: Any) -> bool:
    """Whether cells of X are missing, and taken: known during a fit, looked for before."""
    if "_incomplete" in vars(model):
        return bool(model._incomplete)
    return bool(model._takes_nan and missing.has_holes(X))


def shrinks_by(model: Any, values: Array, r: int, found: Spectrum) -> float:
    """The noise variance of complete rows, by which the scores of incomplete new ones are shrunk."""
    if model.missing != "regularized" or r < 1:
        return 0.0
    total, n, d = found.total_variance, found.divisor + model.ddof, len(found.mean)
    bound = values[r] if len(values) > r else min(values[r - 1], max(total - float(values.sum()), 0.0))
    ridge = _given(model.ridge)
    return _at_least(completion.shrinking_variance(np.append(values[:r], bound), total, n, d, ridge), values)


def fit(model: Any, X: Array, weights: Array | None) -> dict[str, Any]:
    """The fitted attributes of `model`, a PCA, from rows with holes (or by NIPALS)."""
    holes = bool(np.isnan(X).any()) if model.missing == "nipals" else True
    r = _rank(model, X, holes, weights)
    kept = {} if model.missing == "nipals" and r else _by_completion(model, X, weights, r, _ridge(model, X, weights, r))
    if model.missing == "nipals":
        filled = {name: value for name, value in kept.items() if name.startswith("completed_")}
        kept = _nipals_fit.fit(model, X, weights, max(1, r), holes) | filled
    if holes:
        kept["agreement_"] = agreement(model, X, weights, kept)
        kept["completed_"] = cells.within_reach(X, kept["completed_"], model.reach, "PCA")
    return kept


def place(model: Any, X: Array) -> Array:
    """Scores of incomplete rows: those of the row completed at the conditional mean of the model."""
    completed, _ = cells.fill(
        X,
        model.mean_,
        model.scale_,
        model.components_.T,
        model.explained_variance_,
        model.noise_variance_,
        n_jobs=model.n_jobs,
    )
    return Linear(model.mean_, model.scale_, model.components_.T)(completed)


def _rank(model: Any, X: Array, holes: bool, weights: Array | None) -> int:
    """How many components fill the cells: as asked for, or by generalised cross-validation where that needs a
    spectrum; none where it finds none that predicts."""
    most = _most(X, None if model.missing == "nipals" else weights) if holes else min(X.shape)
    if isinstance(model.n_components, (int, np.integer)) and model.max_error is None:
        if model.n_components > most:
            warn(
                f"PCA: n_components={model.n_components} is more than {'incomplete rows' if holes else 'the rows'} can "
                f"carry; keeping {most}."
            )
        return min(int(model.n_components), most)
    if not holes:
        return most  # `_kept` looks at all of them
    method = "em" if model.missing == "em" else "regularized"
    settings = {"method": method, "scale": model.scale, "ridge": _given(model.ridge), "weights": weights}
    rows = in_own_units(X) if model.scale else X
    chosen = gcv(rows, most, early=True, n_jobs=model.n_jobs, **settings).n_components
    none = "finds none that predicts cells better than column means, which fill them; 1 is kept for the scores"
    keeps = f"keeps {chosen} components" if chosen else none
    warn(
        f"PCA: X has missing cells, so that shares of variance are unknown; generalised cross-validation {keeps}. Give "
        "n_components as a whole number to choose them yourself."
    )
    return chosen


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
        f"PCA: incomplete rows need at least 3 rows and 2 columns; got {X.shape[0]} rows and {X.shape[1]} columns."
    )


def _given(ridge: float | None) -> float:
    return 1.0 if ridge is None else ridge


def _ridge(model: Any, X: Array, weights: Array | None, r: int) -> float:
    """As asked for; else, where the rank is chosen, what turns the noise of all cells into that of the observed."""
    if model.ridge is not None or not model._needs_spectrum():
        return _given(model.ridge)
    return completion.observed_ridge(X, r, weights)


def _by_completion(model: Any, X: Array, weights: Array | None, r: int, ridge: float) -> dict[str, Any]:
    found = completion.complete(
        X,
        r,
        shown=1,
        method="em" if model.missing == "em" else "regularized",
        scale=model.scale,
        ddof=model.ddof,
        ridge=ridge,
        tol=model.tol,
        max_iter=model.max_iter,
        rng=generator(model.random_state),
        weights=weights,
        n_jobs=model.n_jobs,
        owner="PCA",
        leverage=True,
    )
    values, divisor = found.eigenvalues, divisor_of(model, X, weights)
    scale, total = found.scale, found.total_variance
    return {
        **common(model, X, found.mean, scale, found.loadings, found.scores, weights),
        "explained_variance_": values,
        "explained_variance_ratio_": values / total if total > 0 else np.zeros(len(values)),
        "singular_values_": np.sqrt(values * divisor),
        "noise_variance_": found.sigma2 if model.missing == "em" else _at_least(found.sigma2, values),
        "shrinkage_": found.shrinkage,
        "completed_": found.completed,
        "completed_variance_": variances(X, found.leverage, found.noise_variance, scale),
        "n_iter_": found.run.n_iter,
        "converged_": found.run.converged,
    }


def _at_least(sigma2: float, values: Array) -> float:
    """Next to nothing instead of nothing: of the scores that fit a row with few cells, the likeliest is taken."""
    return max(sigma2, 1e-12 * float(values[0]))

"""PCA of rows with missing cells: what `PCA` keeps of a completion, and where it places incomplete rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import iterative_pca, nipals
from lowdim._core.component_choice import gcv, most_components
from lowdim._core.extend import Linear
from lowdim._core.notices import warn
from lowdim._core.rng import generator
from lowdim._core.spectrum import Moments
from lowdim.linear._decompose import decompose_moments

MANY_HOLES = 0.1  # share of missing cells above which NIPALS is known to be unstable
ENOUGH_ROWS = 5  # complete rows per component, for a PCA of them alone to be worth comparing with

Array = np.ndarray


def needs(n: int, d: int, itemsize: int, route: str) -> dict[str, int]:
    """Bytes beside X at the peak."""
    table = n * d * itemsize
    if route == "nipals":
        return {"rows left to explain": n * d * 8, "observed cells": n * d * 9, "completed rows": 2 * table}
    return {"completed rows": table, "variances of cells": table, "sums": 16 * min(d, 400) ** 2 * 8}


def fit_incomplete(model: Any, X: Array, weights: Array | None) -> dict[str, Any]:
    """The fitted attributes of `model`, a PCA, from rows with holes (or by NIPALS)."""
    holes = bool(np.isnan(X).any()) if model.missing == "nipals" else True
    r = _rank(model, X, holes, weights)
    if model.missing == "nipals":
        kept = _by_nipals(model, X, weights, r, holes)
    else:
        kept = _by_completion(model, X, weights, r)
    if holes:
        kept["agreement_"] = _agreement(model, X, weights, kept)
    return kept


def place_incomplete(model: Any, X: Array) -> Array:
    """Scores of incomplete rows: those of the row completed at the conditional mean of the model."""
    completed, _ = iterative_pca.fill(
        X,
        model.mean_,
        model.scale_,
        model.components_.T,
        model.explained_variance_,
        model.noise_variance_,
        n_jobs=model.n_jobs,
    )
    return Linear(model.mean_, model.scale_, model.components_.T)(completed)


def place_by_regression(model: Any, X: Array) -> Array:
    """Scores by the regressions of NIPALS, component after component."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return nipals.place(X, model.mean_, model.scale_, model.components_.T, model._parts["mixing"], "PCA")


def _rank(model: Any, X: Array, holes: bool, weights: Array | None) -> int:
    """How many components: as asked for, or by generalised cross-validation where that needs a spectrum."""
    most = _most(X, None if model.missing == "nipals" else weights) if holes else min(X.shape)
    if isinstance(model.n_components, (int, np.integer)) and model.max_error is None:
        if model.n_components > most:
            warn(
                f"PCA: n_components={model.n_components} is more than {'incomplete rows' if holes else 'the rows'} can "
                f"carry; keeping {most}."
            )
        return min(int(model.n_components), most)
    if not holes:
        return _rank_by_spectrum(model, X, weights, most)
    method = "em" if model.missing == "em" else "regularized"
    settings = {"method": method, "scale": model.scale, "ridge": model.ridge}
    chosen = max(1, gcv(X, most, early=True, weights=weights, n_jobs=model.n_jobs, **settings).n_components)
    warn(
        f"PCA: X has missing cells, so that shares of variance are unknown; generalised cross-validation keeps "
        f"{chosen} components. Give n_components as a whole number to choose them yourself."
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


def _rank_by_spectrum(model: Any, X: Array, weights: Array | None, most: int) -> int:
    """For complete rows the rules mean what they mean without NIPALS."""
    from lowdim.linear.pca import choose_r

    if model.n_components is None and model.max_error is None:
        return most
    found = model._decompose(X, weights, most, model._solver(*X.shape, False))
    return choose_r(found.variances, found.total_variance, model.n_components, model.max_error, found.most)


def _by_completion(model: Any, X: Array, weights: Array | None, r: int) -> dict[str, Any]:
    found = iterative_pca.complete(
        X,
        r,
        method=model.missing,
        scale=model.scale,
        ddof=model.ddof,
        ridge=model.ridge,
        tol=model.tol,
        max_iter=model.max_iter,
        rng=generator(model.random_state),
        weights=weights,
        n_jobs=model.n_jobs,
        owner="PCA",
    )
    values, divisor = found.eigenvalues, _divisor(model, X, weights)
    scale, total = found.scale, found.total_variance
    table = {"leverage": True, "completed": found.completed, "n_jobs": model.n_jobs}
    completed, leverage = iterative_pca.fill(X, found.mean, scale, found.loadings, values, found.sigma2, **table)
    return {
        **_common(model, X, found.mean, scale, found.loadings, found.scores, weights),
        "explained_variance_": values,
        "explained_variance_ratio_": values / total if total > 0 else np.zeros(r),
        "singular_values_": np.sqrt(values * divisor),
        "noise_variance_": _noise(found.sigma2, values, model.missing),
        "shrinkage_": found.shrinkage,
        "completed_": completed,
        "completed_variance_": _variances(X, leverage, found.noise_variance, scale),
        "n_iter_": found.run.n_iter,
        "converged_": found.run.converged,
    }


def _by_nipals(model: Any, X: Array, weights: Array | None, r: int, holes: bool) -> dict[str, Any]:
    share = float(np.isnan(X).mean())
    if share > MANY_HOLES:
        warn(
            f"PCA: {share:.0%} of the cells are missing, and NIPALS is unstable above {MANY_HOLES:.0%}; "
            "missing='regularized' is not."
        )
    settings = {"tol": model.tol, "max_iter": model.max_iter, "weights": weights, "owner": "PCA"}
    found = nipals.nipals(X, r, scale=model.scale, ddof=model.ddof, orthogonalize=model.orthogonalize, **settings)
    if found.scores.shape[1] < r:
        _say_fewer(found.scores.shape[1], r)
    if not found.converged.all():
        slow = ", ".join(str(h + 1) for h in np.flatnonzero(~found.converged))
        warn(
            f"PCA: NIPALS is not converged after max_iter={model.max_iter} steps for component {slow}. Raise max_iter "
            "or tol.",
            ConvergenceWarning,
        )
    T, P, divisor = found.scores, found.loadings, _divisor(model, X, weights)
    squares = (T**2).sum(axis=0) if weights is None else weights @ T**2
    kept = {
        **_common(model, X, found.mean, found.scale, P, T, weights),
        "explained_variance_": squares / divisor,
        "explained_variance_ratio_": -np.diff(found.errors) / found.errors[0],
        "singular_values_": np.sqrt(squares),
        "noise_variance_": 0.0,
        "n_iter_": int(found.n_iter.max(initial=0)),
        "converged_": bool(found.converged.all()),
        "_parts": {"mixing": found.mixing},
    }
    return kept | (_cells_by_nipals(X, found, weights) if holes else {})


def _say_fewer(kept: int, wanted: int) -> None:
    if kept == 0:
        raise ValueError("PCA: missing='nipals' needs rows that vary; all are equal. Use missing='regularized'.")
    warn(f"PCA: NIPALS keeps {kept} of {wanted} components; after them nothing is left to explain.")


def _cells_by_nipals(X: Array, found: nipals.Nipals, weights: Array | None) -> dict[str, Any]:
    """Missing cells at T P', with the variances of a regression on the observed loadings."""
    ones = np.ones(found.loadings.shape[1])
    _, leverage = iterative_pca.fill(X, found.mean, found.scale, found.loadings, ones, 0.0, leverage=True)
    fit = found.scores @ found.loadings.T
    fit = found.mean + (fit if found.scale is None else fit * found.scale)
    completed = np.where(np.isnan(X), fit, X).astype(X.dtype, copy=False)
    n, d, r = *X.shape, found.loadings.shape[1]
    free = np.count_nonzero(~np.isnan(X)) - d - r * (n - 1 + d - r)
    noise = found.errors[-1] / free if free > 0 else np.nan
    return {
        "completed_": completed,
        "completed_variance_": _variances(X, leverage, noise, found.scale),
    }


def _common(
    model: Any, X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None
) -> dict[str, Any]:
    r = V.shape[1]
    return {
        "n_components_": r,
        "_n_features_out": r,
        "components_": np.ascontiguousarray(V.T),
        "mean_": mean,
        "scale_": scale,
        "reconstruction_error_": _error(X, mean, scale, V, Z, weights),
        "missing_share_": float(np.count_nonzero(np.isnan(X))) / X.size,
        "completed_": None,
        "completed_variance_": None,
        "shrinkage_": None,
        "agreement_": None,
        "solver_": model.missing,
    }


def _error(X: Array, mean: Array, scale: Array | None, V: Array, Z: Array, weights: Array | None) -> float:
    """Squared error of the observed cells of mean + scale V z, in scaled units."""
    total = 0.0
    divide = 1.0 if scale is None else scale
    for start in range(0, len(X), 4096):
        rows = slice(start, start + 4096)
        gaps = (X[rows] - mean) / divide - Z[rows] @ V.T
        gaps[np.isnan(gaps)] = 0.0
        squares = np.einsum("ij,ij->i", gaps, gaps)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
    return total


def _noise(sigma2: float, values: Array, route: str) -> float:
    """What shrinks the scores of incomplete rows; next to nothing keeps the likeliest of those that fit."""
    return sigma2 if route == "em" else max(sigma2, 1e-12 * float(values[0]))


def _variances(X: Array, leverage: Array | None, noise: float, scale: Array | None) -> Array:
    """noise (1 + leverage) in the units of X for missing cells, 0 for observed ones; changes `leverage`."""
    assert leverage is not None
    for start in range(0, len(X), 4096):
        part, holes = leverage[start : start + 4096], np.isnan(X[start : start + 4096])
        part += 1.0
        part *= noise if scale is None else noise * scale**2
        part[~holes] = 0.0
    return leverage


def _divisor(model: Any, X: Array, weights: Array | None) -> float:
    return float(len(X) if weights is None else weights.sum()) - model.ddof


def _agreement(model: Any, X: Array, weights: Array | None, kept: dict[str, Any]) -> dict[str, Any] | None:
    """How the model compares with PCA of the complete rows alone, where there are enough of them."""
    whole = ~np.isnan(X).any(axis=1)
    if weights is not None:
        whole &= weights > 0
    r, n = kept["n_components_"], int(whole.sum())
    if r < 1 or n < max(ENOUGH_ROWS * r, r + 3):
        return None
    rows = X[whole] if kept["scale_"] is None else X[whole] / kept["scale_"]
    moments = Moments.of(rows, None if weights is None else weights[whole], n_jobs=model.n_jobs)
    alone = decompose_moments(moments, r, scale=False, ddof=0, dtype=X.dtype)
    V, W = kept["components_"].T, alone.loadings.T
    Z, ours = (rows - rows.mean(axis=0)) @ W, (rows - rows.mean(axis=0)) @ V
    spread = Z.std(axis=0) * ours.std(axis=0)
    matched = np.abs((Z * ours).mean(axis=0))
    return {
        "n_rows": n,
        "angle": float(np.degrees(subspace_angles(W, V).max())),
        "correlation": np.divide(matched, spread, out=np.zeros(r), where=spread > 0),
    }

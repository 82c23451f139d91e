"""PCA by NIPALS: what `PCA` keeps of it, and where it places rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.incomplete import cells
from lowdim._core.incomplete.completion import RUNAWAY
from lowdim._core.runtime.notices import warn
from lowdim.linear.pca import _nipals
from lowdim.linear.pca._component_rule import choose_r
from lowdim.linear.pca._fitted import common, divisor_of, variances

MANY_HOLES = 0.1  # share of missing cells above which NIPALS is known to be unstable

Array = np.ndarray


def place(model: Any, X: Array) -> Array:
    """Scores by the regressions of NIPALS, component after component."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return _nipals.place(X, model.mean_, model.scale_, model.components_.T, model._parts["mixing"], "PCA")


def fit(model: Any, X: Array, weights: Array | None, r: int, holes: bool) -> dict[str, Any]:
    share = float(np.isnan(X).mean())
    if share > MANY_HOLES:
        warn(
            f"PCA: {share:.0%} of the cells are missing, and NIPALS is unstable above {MANY_HOLES:.0%}; "
            "missing='regularized' is not."
        )
    settings = {"tol": model.tol, "max_iter": model.max_iter, "weights": weights, "owner": "PCA"}
    found = _nipals.nipals(X, r, scale=model.scale, ddof=model.ddof, orthogonalize=model.orthogonalize, **settings)
    if found.scores.shape[1] < r:
        _say_fewer(found.scores.shape[1], r)
    if not found.converged.all():
        slow = ", ".join(str(h + 1) for h in np.flatnonzero(~found.converged))
        warn(
            f"PCA: NIPALS is not converged after max_iter={model.max_iter} steps for component {slow}. Raise max_iter "
            "or tol.",
            ConvergenceWarning,
        )
    squares = (found.scores**2).sum(axis=0) if weights is None else weights @ found.scores**2
    divisor = divisor_of(model, X, weights)
    if not holes:
        found, squares = _kept(model, found, squares)
    T, P = found.scores, found.loadings
    kept = {
        **common(model, X, found.mean, found.scale, P, T, weights),
        "explained_variance_": squares / divisor,
        "explained_variance_ratio_": -np.diff(found.errors) / found.errors[0],
        "singular_values_": np.sqrt(squares),
        "noise_variance_": 0.0,
        "n_iter_": int(found.n_iter.max(initial=0)),
        "converged_": bool(found.converged.all()),
        "_parts": {"mixing": found.mixing},
    }
    return kept | (_cells_by_nipals(X, found, weights) if holes else {})


def _kept(model: Any, found: _nipals.Nipals, squares: Array) -> tuple[_nipals.Nipals, Array]:
    """The components of complete rows that the rule in `n_components` keeps."""
    h = choose_r(squares, float(found.errors[0]), model.n_components, model.max_error, len(squares))
    return replace(
        found,
        loadings=found.loadings[:, :h],
        scores=found.scores[:, :h],
        mixing=found.mixing[:h, :h],
        errors=found.errors[: h + 1],
    ), squares[:h]


def _say_fewer(k: int, r: int) -> None:
    if k == 0:
        raise ValueError("PCA: missing='nipals' needs rows that vary; all are equal. Use missing='regularized'.")
    warn(f"PCA: NIPALS keeps {k} of {r} components; after them nothing is left to explain.")


def _cells_by_nipals(X: Array, found: _nipals.Nipals, weights: Array | None) -> dict[str, Any]:
    """Missing cells at T P', with the variances of a regression on the observed loadings."""
    ones = np.ones(found.loadings.shape[1])
    _, leverage = cells.fill(X, found.mean, found.scale, found.loadings, ones, 0.0, leverage=True)
    fit = found.scores @ found.loadings.T
    fit = found.mean + (fit if found.scale is None else fit * found.scale)
    completed = np.where(np.isnan(X), fit, X).astype(X.dtype, copy=False)
    _warn_of_runaway(X, completed)
    n, d, r = *X.shape, found.loadings.shape[1]
    free = np.count_nonzero(~np.isnan(X)) - d - r * (n - 1 + d - r)
    noise = found.errors[-1] / free if free > 0 else np.nan
    return {
        "completed_": completed,
        "completed_variance_": variances(X, leverage, noise, found.scale),
    }


def _warn_of_runaway(X: Array, completed: Array) -> None:
    """A row whose few observed cells have small loadings is divided by their squares: its scores have no bound."""
    before, after = np.nanstd(X, axis=0, dtype=np.float64), completed.std(axis=0, dtype=np.float64)
    times = np.divide(after, before, out=np.ones(len(before)), where=before > 0)
    if times.max() > RUNAWAY:
        warn(
            f"PCA: the column {int(times.argmax())} completed by NIPALS varies {times.max():.3g} times as much as its "
            "observed cells do: rows with few cells cannot be placed by it. Use missing='regularized', or fewer "
            "components."
        )

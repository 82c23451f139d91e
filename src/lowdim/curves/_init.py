"""Initialisation of a principal curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.incomplete.em import check_varies, fit_gaussian
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.singular import svd
from lowdim.curves._polyline import Polyline

Array = np.ndarray

ELLIPSE = 200  # vertices of an initial closed curve


def completed(X: Array, dtype: Any, incomplete: bool, n_jobs: int | None) -> Array:
    """The rows, missing cells at their expectations under a Gaussian model: for the initialisation only."""
    mean, variance = np.nanmean(X, axis=0), float(np.nanvar(X, axis=0).mean())
    check_varies(mean, variance, dtype, "PrincipalCurve")
    if not incomplete:
        return X
    r = max(1, min(2, X.shape[1] - 1))
    settings: Any = {"tol": 1e-6, "max_iter": 200, "rng": generator(0), "n_jobs": n_jobs, "warn": False}
    return fit_gaussian(X, r, owner="PrincipalCurve", **settings)[0].conditional(X)[0]


def initial_curve(X: Array, init: Any, closed: bool) -> Polyline:
    """The first principal axis within the range of the rows, an ellipse along the first two, or the given vertices."""
    if not isinstance(init, str):
        return _given(init, X.shape[1], closed)
    if closed and X.shape[1] < 2:
        raise ValueError("PrincipalCurve: X must have two columns or more for a closed curve; got 1.")
    mean = X.mean(axis=0)
    axes = svd(X, min(2, *X.shape), center=mean, owner="PrincipalCurve")
    if not closed:
        scores = (X - mean) @ axes.Vt[0]
        return Polyline(mean + np.array([[scores.min()], [scores.max()]]) * axes.Vt[:1])
    if len(axes.values) < 2 or not axes.values[1] > 1e-9 * axes.values[0]:
        raise ValueError("PrincipalCurve: the rows of X must not lie on a line for a closed curve. Use closed=False.")
    angle = 2 * np.pi * np.arange(ELLIPSE) / ELLIPSE
    radii = np.sqrt(2.0 / len(X)) * axes.values
    return Polyline(mean + np.column_stack([np.cos(angle), np.sin(angle)]) * radii @ axes.Vt, True)


def _given(init: Any, d: int, closed: bool) -> Polyline:
    vertices = np.array(init, dtype=np.float64)
    if len(vertices) < (3 if closed else 2) or vertices.shape[1] != d or not np.isfinite(vertices).all():
        raise ValueError(
            f"PrincipalCurve: init must be {3 if closed else 2} or more finite vertices with {d} columns; got shape "
            f"{vertices.shape}."
        )
    return Polyline(vertices, closed)

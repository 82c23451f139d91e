"""Correspondence analysis: a map of the rows and columns of a table of counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import svd
from lowdim._core.tables.arrays import FLOATS
from lowdim.linear.mixed._counts import complete, fill_rows, shrinkage
from lowdim.linear.mixed._weighted import FillSettings


class CA(Reducer):
    """Correspondence analysis: rows and columns of a table of counts, close where they are associated.

    With P = X / sum(X), row masses r and column masses c, the singular value decomposition of
    diag(r)^-1/2 (P - r c') diag(c)^-1/2 = U diag(s) V' gives the rows diag(r)^-1/2 U s and the columns
    diag(c)^-1/2 V s. Distances between rows are chi-squared distances of their profiles (the row divided by its sum).

    Parameters
    ----------
    n_components : int
        Axes to keep; of incomplete tables also those that fill the missing counts.
    ridge : float
        Multiplies the noise variance by which "regularized" shrinks the axes.
    missing : {"error", "regularized", "em"}
        Missing counts (NaN), at fit and in new rows: an error; or iterative correspondence analysis, in which a missing
        count is what the axes of the completed table give for it, each axis shrunk by the noise, or without shrinkage.
    max_iter : int
        Maximum number of iterations of the completion.
    tol : float
        Convergence tolerance: relative change of the squared error of the observed counts.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the completed table so far.
    random_state : int, generator or None
        Seed; the same int gives the same result. Not used, as nothing here is random; there for pipelines.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it. Not used; there for pipelines.

    Attributes
    ----------
    row_coordinates_, column_coordinates_ : ndarray of shape (n_samples or n_features, n_components_)
        Coordinates of rows and columns.
    row_contributions_, contributions_ : ndarray of the same shapes
        Share of each row and of each column in each axis, in percent.
    row_cos2_, cos2_ : ndarray of the same shapes
        Share of the squared distance to the origin that lies along each axis.
    row_masses_, column_masses_ : ndarray
        Share of each row and column in the total.
    eigenvalues_ : ndarray of shape (n_components_,)
        Inertia along the axes kept; with all axes, their sum times the total count is the chi-squared statistic.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Share of the inertia.
    n_components_ : int
        Axes kept.
    shrinkage_ : ndarray of shape (n_components_,)
        The part of each axis that goes into a missing count.
    completed_ : ndarray of shape (n_samples, n_features) or None
        The table with its missing counts filled; None where none is missing.
    n_iter_, converged_ : int and bool
        Of the completion.

    References
    ----------
    Greenacre, Correspondence Analysis in Practice, 2007. Josse, Chavent, Liquet and Husson, Handling missing values
    with regularized iterative multiple correspondence analysis, 2012.

    Examples
    --------
    >>> import lowdim
    >>> counts = [[20, 5, 1], [4, 18, 6], [2, 7, 25]]
    >>> model = lowdim.CA(2).fit(counts)
    >>> model.row_coordinates_.shape, model.transform([[40, 10, 2]]).shape
    ((3, 2), (1, 2))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "ridge": params.real(0),
        "missing": params.one_of("error", "regularized", "em"),
    }
    _hole_policies = ("regularized", "em")
    _keeps_embedding = False
    _block_rows = 65536

    def __init__(
        self,
        n_components=2,
        *,
        ridge=1.0,
        missing="error",
        max_iter=1000,
        tol=1e-8,
        callback=None,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs

    def transform_columns(self, X: Any) -> np.ndarray:
        """Coordinates of supplementary columns of the fitted table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Their counts in the fitted rows.

        Returns
        -------
        Z : ndarray of shape (n_columns, n_components_)
            Their coordinates.
        """
        check_is_fitted(self)
        with np.errstate(over="ignore", invalid="ignore"):  # it adds up what may be large
            X = check_array(X, dtype=FLOATS, ensure_all_finite="allow-nan" if self._takes_nan else True)
        if len(X) != len(self.row_masses_):
            raise ValueError(f"CA: X must have {len(self.row_masses_)} rows, those of the fitted table; got {len(X)}.")
        standard = self.row_coordinates_ / np.sqrt(self.eigenvalues_)
        return _profiles(fill_rows(X.T, self.row_masses_, standard, self.shrinkage_), "column") @ standard

    def _probe(self) -> np.ndarray:
        return np.ones((1, self.n_features_in_))

    def _embed(self, X: np.ndarray) -> None:
        X = X.astype(np.float64)
        if X.shape[1] < 2:
            raise ValueError("CA: X must have at least 2 columns; got 1 feature(s).")
        for axis, what in ((1, "row"), (0, "column")):
            _profiles(np.nan_to_num(X if axis else X.T, nan=0.0), what)
        self.completed_, self.n_iter_, self.converged_ = None, 1, True
        if self._incomplete:
            run = complete(X, self.n_components, self._settings())
            X = self.completed_ = run.state
            self.n_iter_, self.converged_ = run.n_iter, run.converged
        P = X / X.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        S = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
        found = svd(S, owner="CA")
        k = self._count(found.values**2, X.shape)
        values = found.values[: min(X.shape) - 1] ** 2
        self.row_masses_, self.column_masses_ = r, c
        self.eigenvalues_, self.explained_variance_ratio_ = values[:k], values[:k] / float((S**2).sum())
        self.n_components_ = self._n_features_out = k
        U, V, s = found.U[:, :k], found.Vt[:k].T, found.values[:k]
        self.row_coordinates_, self.row_contributions_ = U * s / np.sqrt(r)[:, None], 100 * U**2
        self.column_coordinates_, self.contributions_ = V * s / np.sqrt(c)[:, None], 100 * V**2
        self.shrinkage_ = shrinkage(values, k, X.shape, self._settings().ridge)
        self.row_cos2_ = _shares(U * s, (S**2).sum(axis=1))
        self.cos2_ = _shares(V * s, (S**2).sum(axis=0))

    def _settings(self) -> FillSettings:
        ridge = 0.0 if self.missing == "em" else self.ridge
        return FillSettings(ridge, self.max_iter, self.tol, "CA", self.n_jobs, self.callback)

    def _count(self, values: np.ndarray, shape: tuple[int, ...]) -> int:
        # The trivial singular value, of the margins, is 1: values below this are rounding errors of it.
        rounding = 8 * max(shape) * float(np.finfo(np.float64).eps)
        rank = int((values[: min(shape) - 1] > rounding**2).sum())
        if not rank:
            raise ValueError("CA: X must have rows with different profiles; its rows and columns are independent.")
        if self.n_components > rank:
            warn(f"CA: n_components={self.n_components} is more than the rank of the table; keeping {rank}.")
        return min(self.n_components, rank)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        standard = self.column_coordinates_ / np.sqrt(self.eigenvalues_)
        X = fill_rows(X, self.column_masses_, standard, self.shrinkage_) if self._takes_nan else X
        return _profiles(X, "row") @ standard

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        """Profiles: rows that sum to one."""
        return self.column_masses_ * (1 + Z / np.sqrt(self.eigenvalues_) @ self.column_coordinates_.T)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return {"residuals": 4 * n * d * 8, "axes": (3 * (n + d) + 11 * min(n, d)) * min(n, d) * 8}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _profiles(X: np.ndarray, what: str) -> np.ndarray:
    """Rows divided by their sum."""
    if X.min() < 0:
        raise ValueError(f"CA: Negative values in data passed to CA: X must hold counts; the smallest is {X.min():g}.")
    sums = X.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ValueError(f"CA: every {what} must have a count above 0; {what} {int(np.argmin(sums))} has none.")
    return X / sums


def _shares(parts: np.ndarray, squares: np.ndarray) -> np.ndarray:
    return parts**2 / np.where(squares > 0, squares, 1.0)[:, None]

"""Canonical correlation analysis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params, views
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear
from lowdim._core.incomplete.moments import JointGaussian, completed, expected_moments
from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import Moments, Triangle, fix_signs
from lowdim._core.tables.missing import admit
from lowdim._core.views import Setting, Views, permutation, second_table
from lowdim.linear.in_blocks.sums import PairSums, Sums, pair_sums

_RIDGE = params.Rule(
    "a number >= 0 or one for each table",
    lambda v: (
        params.real(0).accepts(v)
        or (isinstance(v, (tuple, list)) and len(v) == 2 and all(params.real(0).accepts(r) for r in v))
    ),
)


class CCA(Reducer):
    """Canonical correlation analysis: what two tables of the same rows have in common.

    Weights a and b make the scores X a and Y b correlate as much as possible; further pairs do so among all that are
    uncorrelated with the earlier ones. With whitened tables Ux and Uy the correlations are the singular values of
    Ux'Uy. They do not change under an invertible affine map of either table.

    Parameters
    ----------
    n_components : int or None
        Pairs to keep. None: all, the smaller of the two ranks.
    ridge : float or pair of floats
        Added to the diagonal of the covariances of X and of Y: maximise a'Cxy b with a'(Cxx + ridge I) a = 1. Needed
        where the rows are few for the columns, as then some correlations are 1 whatever the data.
    scale : bool
        Divide columns by their standard deviation first, so that the ridge is in units of correlation. Without a
        ridge it makes no difference.
    solver : {"auto", "covariance", "svd"}
        "covariance" makes one pass over the rows; "svd" does not square them and keeps the digits of nearly dependent
        columns. "auto" takes the first for tall tables unless it is too inaccurate there.
    missing : {"error", "em"}
        Missing cells (NaN), at fit and in new rows: an error; or the covariances of both tables by EM under one normal
        distribution of all columns, so that a cell may be missing in either table. New rows are transformed at their
        conditional mean given the observed cells of the same table alone, so that what X says about Y is not counted
        as a score of Y.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components_,)
        Canonical correlations, decreasing. With a ridge the regularised ones, a'Cxy b.
    score_correlations_ : ndarray of shape (n_components_,)
        Correlations of the scores of the fitted rows; the same without a ridge.
    x_weights_, y_weights_ : ndarray of shape (n_columns, n_components_)
        Weights a and b in the columns' own units. Without a ridge the scores have unit variance (divisor n - 1);
        R's cancor scales them to a unit sum of squares instead, sqrt(n - 1) times smaller.
    x_mean_, y_mean_ : ndarray of shape (n_columns,)
        What is subtracted.
    x_loadings_, y_loadings_ : ndarray of shape (n_columns, n_components_)
        Least-squares coefficients of the columns on the scores of their own table. `inverse_transform` is
        x_mean_ + x_loadings_ z: the rows that fit the scores best on average.
    coef_ : ndarray of shape (n_targets, n_features)
        Least-squares prediction of Y through the scores of X, see `predict`.
    n_components_ : int
        Number of pairs kept.
    target_shape_ : tuple
        Shape of one row of Y: empty where Y was a vector.
    solver_ : str
        The solver that was used.

    References
    ----------
    Hotelling, Relations between two sets of variates, 1936. Björck and Golub, Numerical methods for computing angles
    between linear subspaces, 1973. Winkler et al., Permutation inference for canonical correlation analysis, 2020.

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.datasets import load_linnerud
    >>> exercises, body = load_linnerud(return_X_y=True)
    >>> model = lowdim.CCA(n_components=2).fit(exercises, body)
    >>> model.correlations_.round(2)
    array([0.8, 0.2])
    >>> Zx, Zy = model.transform(exercises, body)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "ridge": _RIDGE,
        "scale": params.flag(),
        "solver": params.one_of("auto", "covariance", "svd"),
        "missing": params.one_of("error", "em"),
    }
    _hole_policies = ("em",)
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = 'Use solver="covariance", fit on an iterator of (X_batch, Y_batch) pairs, or reduce with PCA first.'

    def __init__(self, n_components=None, *, ridge=0.0, scale=False, solver="auto", missing="error", n_jobs=None):
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.solver = solver
        self.missing = missing
        self.n_jobs = n_jobs

    # ---- fit ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, Y: Any = None) -> CCA:
        """Fit to the rows of two tables.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or an iterator of (X_batch, Y_batch) pairs
            The first table. An iterator is read once, so the tables never have to be in memory.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table, row by row with the first. Required, except for an iterator.

        Returns
        -------
        self : CCA
            The fitted model.
        """
        if Y is None and not isinstance(X, Iterator):
            raise ValueError(
                "CCA: Y must be the second table; got None. CCA requires y to be passed, but the target y is None; "
                "for one table use PCA."
            )
        self._fit_rows(X, Y=Y)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, Y: Any = None) -> np.ndarray:
        """Fit to the rows of two tables and return the scores of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table, under the name that pipelines use.
        Y : array-like
            The same under the name that `fit` uses.

        Returns
        -------
        Zx : ndarray of shape (n_samples, n_components_)
            The scores of X alone, so that a pipeline can go on with them; `transform(X, Y)` gives those of both.
        """
        self._refuse_stream(X)
        if y is not None and Y is not None:
            raise TypeError("CCA: give the second table once, as y or as Y.")
        return self.fit(X, Y if y is None else y).transform(X)

    def _embed(self, X: np.ndarray, Y: Any = None) -> None:
        Y, self.target_shape_ = self._second(Y, len(X))
        if self._incomplete or np.isnan(Y).any():
            self._keep_incomplete(np.hstack([X, Y]), None, X.shape[1], np.result_type(X, Y))
            return
        self._keep(self._both(X, Y), len(X))
        if self._takes_nan:
            self._holes = _models((views.joint_moments(X, Y, self.n_jobs),), X.shape[1])

    def _second(self, Y: Any, n: int) -> tuple[np.ndarray, tuple[int, ...]]:
        return second_table(Y, n, "CCA", nan=self._takes_nan, policies=self._hole_policies)

    def _keep_incomplete(self, both: np.ndarray, weights: np.ndarray | None, d: int, dtype: Any) -> None:
        """From the expected moments of both tables side by side."""
        if self.solver == "svd":
            raise ValueError("CCA: solver must be 'covariance' or 'auto' for incomplete rows; got 'svd'.")
        admit(both[:, d:], "CCA", name="Y", rows=False)
        found = expected_moments(both, None, weights, owner="CCA", n_jobs=self.n_jobs)
        self._keep(self._from_moments(found.parts[0], d, dtype)[0], int(found.parts[0].weight))
        self._holes = (found.model.marginal(slice(0, d)), found.model.marginal(slice(d, None)))

    def partial_fit(self, X: Any, Y: Any) -> CCA:
        """Fit to one more batch of both tables: the same numbers as one fit to all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table; they are not kept, only sums over them.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The same rows of the second.

        Returns
        -------
        self : CCA
            The model fitted to all batches so far.
        """
        self._fit_further(X, (X, Y))
        return self

    def _embed_batches(self, batches: Any) -> None:
        if self.solver == "svd":
            self._keep_triangle(batches)
            return
        make = partial(Sums.of, owner="CCA", n_jobs=self.n_jobs)
        found = self._gathered(batches, make, nan=self._takes_nan, policies=self._hole_policies)
        d = self.n_features_in_
        total: Any = found.sums.moments()
        dtype = np.dtype(found.sums.dtype)
        if isinstance(total, ByPattern):
            self._keep_incomplete(*total.table(), d, dtype)
            return
        both, condition = self._from_moments(total, d, dtype)
        if self.solver == "auto" and batches.rereadable and condition <= np.sqrt(np.finfo(dtype).eps):
            self._keep_triangle(batches)
            return
        self._keep(both, int(total.weight))
        if self._takes_nan:
            self._holes = _models((total,), d)

    def _keep_triangle(self, batches: Any) -> None:
        """From the QR decomposition of both tables side by side."""
        found: Any = self._gathered(batches, partial(Triangle.of, owner="CCA"), nan=False, policies=()).sums
        self._keep(_vary(views.from_triangle(found, self.n_features_in_, self._setting())), int(found.weight))
        if self._takes_nan:
            self._holes = _models((Moments(found.weight, found.mean, found.R.T @ found.R),), self.n_features_in_)

    def _gathered(self, batches: Any, make: Any, **cells: Any) -> PairSums:
        """What `make` makes of the rows of both tables, over all blocks."""
        found: PairSums | None = batches.gather(partial(pair_sums, make=make, **cells))
        if found is None or found.weight < self._min_rows:
            raise ValueError(f"CCA: the batches must hold at least {self._min_rows} rows together.")
        self.n_features_in_, self.target_shape_ = found.width, found.shape
        return found

    def _setting(self) -> Setting:
        rx, ry = self.ridge if isinstance(self.ridge, (tuple, list)) else (self.ridge, self.ridge)
        return Setting(bool(self.scale), (float(rx), float(ry)), "CCA")

    def _both(self, X: np.ndarray, Y: np.ndarray) -> Views:
        """Both tables in their principal axes, from moments where these keep half of the digits, else from the rows."""
        dtype = np.result_type(X, Y)
        tall = len(X) >= 4 * (X.shape[1] + Y.shape[1])
        if self.solver == "covariance" or (self.solver == "auto" and tall):
            both, condition = self._from_moments(views.joint_moments(X, Y, self.n_jobs), X.shape[1], dtype)
            if self.solver == "covariance" or condition > np.sqrt(np.finfo(dtype).eps):
                return both
        memory.check("CCA", {"centred rows": 5 * (X.size + Y.size) * 8}, self._ways_out)
        return _vary(views.from_rows(X, Y, self._setting()))

    def _from_moments(self, moments: Moments, d: int, dtype: Any) -> tuple[Views, float]:
        both, condition = views.from_moments(moments, d, self._setting(), dtype)
        return _vary(both), condition

    def _keep(self, both: Views, n: int) -> None:
        """Set the fitted attributes."""
        x, y = both.x, both.y
        _warn_of_spurious(both, n)
        k = both.kept(self.n_components)
        P, rho, Q = both.solve(k)
        weights = x.weights(P)
        signs = np.where((fix_signs(weights) * weights).sum(axis=0) < 0, -1.0, 1.0)
        self.x_weights_, self.y_weights_ = weights * signs, y.weights(Q) * signs
        self.x_mean_, self.y_mean_, self.correlations_ = x.mean, y.mean, rho
        self.n_components_ = self._n_features_out = k
        self.solver_ = both.solver
        self._regress(both, x.filter[:, None] * P * signs, y.filter[:, None] * Q * signs)

    def _regress(self, both: Views, C: np.ndarray, D: np.ndarray) -> None:
        """Least squares of both tables on the scores sqrt(n - 1) Ux C and sqrt(n - 1) Uy D."""
        inverse = np.linalg.inv(C.T @ C)
        self.x_loadings_ = both.x.covariance_with(C) @ inverse
        self.y_loadings_ = both.y.covariance_with(D) @ np.linalg.inv(D.T @ D)
        self.coef_ = both.y.covariance_with(both.K.T @ C) @ inverse @ self.x_weights_.T
        spread = np.sqrt((C**2).sum(axis=0) * (D**2).sum(axis=0))
        self.score_correlations_ = np.clip((C * (both.K @ D)).sum(axis=0) / spread, -1.0, 1.0)

    # ---- new rows -------------------------------------------------------------------------------------------

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Scores of new rows, each on its own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,), or None
            The same rows of the second table.

        Returns
        -------
        Zx : ndarray of shape (n_samples, n_components_)
            Scores of X.
        Zy : ndarray of shape (n_samples, n_components_)
            Scores of Y; only where Y is given.
        """
        Zx = super().transform(X)
        if Y is None:
            return Zx
        Y, _ = self._second(Y, len(Zx))
        if Y.shape[1] != len(self.y_mean_):
            raise ValueError(f"CCA: Y must have {len(self.y_mean_)} columns, as at fit; got {Y.shape[1]}.")
        return Zx, Linear(self.y_mean_, None, self.y_weights_)(completed(Y, self._holes and self._holes[1]))

    def predict(self, X: Any) -> np.ndarray:
        """Y from X through the canonical scores, by least squares (reduced-rank regression).

        With all pairs and no ridge this is ordinary least squares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_targets), or (n_samples,) where Y was a vector
            The prediction.
        """
        check_is_fitted(self)
        X, dtype = self._check_rows(X, fitting=False)
        X = completed(X, self._holes and self._holes[0])
        parts = [(X[rows] - self.x_mean_) @ self.coef_.T for rows in threads.blocks(len(X), self._block_rows)]
        return (np.concatenate(parts) + self.y_mean_).reshape(len(X), *self.target_shape_).astype(dtype, copy=False)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return Linear(self.x_mean_, None, self.x_weights_)(completed(X, self._holes and self._holes[0]))

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return self.x_mean_ + Z @ self.x_loadings_.T

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """As for a second table as wide as the first."""
        if self._takes_nan and self._incomplete:
            return {"completed rows": 12 * n * d * 8, "covariances": 16 * (2 * d) ** 2 * 8}
        if self.solver == "covariance" or (self.solver == "auto" and n >= 8 * d):
            return {"covariances": 8 * (2 * d) ** 2 * 8, "blocks": min(2 * n * d, max(2**20, 8192 * d)) * 8}
        return {"centred rows": 5 * n * d * 8, "covariances": 5 * (2 * min(n, d)) ** 2 * 8}

    # ---- significance ---------------------------------------------------------------------------------------

    def permutation_test(self, X: Any, Y: Any, n_permutations: int = 999, random_state: Any = None) -> np.ndarray:
        """Probability of correlations as large as those found, had the two tables nothing in common.

        The statistic for pair k is Wilks's, -sum of log(1 - rho²) over the pairs from k on. The rows of one table are
        permuted in the space that the earlier pairs leave, since what they explain would otherwise count again
        (Winkler et al., 2020); p-values never decrease from one pair to the next, so that testing in order keeps the
        error rate. Does not need a fit and leaves the model as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table.
        n_permutations : int
            Random permutations; the smallest p-value is 1 / (n_permutations + 1).
        random_state : int, generator or None
            Source of the permutations.

        Returns
        -------
        p_values : ndarray of shape (n_components,)
            One for each pair.
        """
        values = {"n_permutations": n_permutations, "random_state": random_state, **self.get_params(deep=False)}
        rules = {"n_permutations": params.whole(1), "random_state": params.seed(), **self._rules}
        params.check("CCA", values, rules)
        model = type(self)(**{**self.get_params(deep=False), "missing": "error"})
        X, _ = model._check_rows(X, fitting=True)
        Y, _ = second_table(Y, len(X), "CCA")
        both = self._both(X, Y)
        _warn_of_spurious(both, len(X))
        P, rho, Q = both.solve()
        Gx, Gy = permutation.scores(both.x, X, P), permutation.scores(both.y, Y, Q)
        pairs = len(rho) if self.n_components is None else min(int(self.n_components), len(rho))
        return permutation.p_values(Gx, Gy, rho, pairs, n_permutations, random_state, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _models(parts: tuple[Moments, ...], d: int) -> tuple[JointGaussian, JointGaussian]:
    """The distribution of each table, for the missing cells of new rows."""
    both = JointGaussian.of_moments(parts)
    return both.marginal(slice(0, d)), both.marginal(slice(d, None))


def _vary(both: Views) -> Views:
    for name, view in (("X", both.x), ("Y", both.y)):
        if not len(view.s):
            raise ValueError(f"CCA: {name} must vary; all its rows are equal.")
    return both


def _warn_of_spurious(both: Views, n: int) -> None:
    """Two subspaces of dimensions r1 and r2 in n - 1 dimensions always share r1 + r2 - (n - 1) directions."""
    shared = len(both.x.s) + len(both.y.s) - (n - 1)
    if shared > 0 and not (both.x.ridge or both.y.ridge):
        warn(
            f"CCA: {n} rows are too few for {len(both.x.s)} + {len(both.y.s)} columns: {shared} correlations are 1 "
            "whatever the data. Use a ridge above 0 or reduce with PCA first, and see permutation_test."
        )

"""Linear discriminant analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear
from lowdim._core.incomplete.moments import expected_moments
from lowdim._core.incomplete.moments import needs as incomplete_needs
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.tables.weights import check_weights
from lowdim.linear import _discriminant as discriminant
from lowdim.linear._covariance_estimator import ESTIMATOR, SHARES, estimated_scatters, refuse_estimator
from lowdim.linear._discriminant import Classes, Labelled, Separation, WhitenedTotal, encode, refuse_one
from lowdim.linear.in_blocks.classes import LabelledBlocks
from lowdim.linear.in_blocks.wide_classes import WideSeparation

_LEAST = 1e-3  # shrinkage of a singular covariance where the estimate of Ledoit and Wolf is smaller


class LDA(LabelledBlocks, ClassifierMixin, Reducer):
    """Linear discriminant analysis: the directions along which the classes are furthest apart.

    With the covariance W within the classes and B between their means, the axes solve B a = l W a, largest l first.
    The scores z = A'(x - mean) have covariance I within the classes (A'WA = I); g classes have at most g - 1 axes.
    For two classes the axis is Fisher's, W^-1 (m1 - m0). In the scores the nearest class mean, corrected for the
    priors, is the Bayes rule for normal classes of equal covariance: that is `predict`.

    Parameters
    ----------
    n_components : int or None
        Axes to keep, at most min(classes - 1, columns). None: all. `predict` always uses all of them.
    priors : array-like of shape (n_classes,) or None
        Probability of each class. None: the shares of the rows, or equal with ``weighting="equal"``. They weigh the
        classes in B and in `predict`.
    shrinkage : float from 0 to 1, "auto" or None
        Move the correlations within the classes towards 0 by this share, W <- (1 - s) W + s diag(W). "auto" chooses
        it by Ledoit and Wolf. None: no shrinkage, unless W is singular (more columns than rows less classes): then
        "auto", with a warning.
    covariance_estimator : estimator or None
        Estimates the covariance within the classes instead of the moments of the rows: any object with ``fit(X)`` and
        then ``covariance_``, such as those of ``sklearn.covariance``. A copy of it is fitted to the rows of each class;
        W is the mean of what they find, weighted by the classes and without another divisor. For complete dense rows of
        equal weight. A model file cannot hold it: set it to None before `lowdim.save`.
    weighting : {"pooled", "equal"}
        "pooled": every row counts the same; W has the divisor n - classes, as in MASS (scikit-learn 1.9 divides by n).
        "equal": every class counts the same; W is the mean of the class covariances, each divided by its own count.
    solver : {"auto", "covariance", "svd"}
        "covariance" makes one pass over the rows; "svd" does not square them and keeps the digits of nearly dependent
        columns. "auto" takes the first for tall tables unless it is too inaccurate there.
    missing : {"error", "em"}
        Missing cells (NaN), at fit and in new rows: an error; or class means and the covariance within classes by EM
        under normal classes of equal covariance. New rows are classified by the density of their observed cells, and
        transformed at their conditional mean: that of each class, weighted by its probability.
    tol : float
        An axis along which the share of the variance within classes is below this counts as perfect separation, that
        is, W as singular.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    scalings_ : ndarray of shape (n_features, n_components_)
        The axes A; the entry of largest magnitude is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the class means weighted by the priors: what is subtracted (MASS's convention).
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    eigenvalues_ : ndarray of shape (n_components_,)
        l, the variance between over that within classes (both with divisor n). MASS's ``svd**2`` is
        l (n - g) / (g - 1); the canonical correlation with the class indicators is sqrt(l / (1 + l)).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Share of each l in the sum over all axes.
    loadings_ : ndarray of shape (n_features, n_components_)
        Least-squares coefficients of the rows on their scores. `inverse_transform` is mean_ + loadings_ z: the rows
        that fit the scores best on average, without the variance that the axes leave out.
    coef_, intercept_ : ndarray
        The rule of `predict` as linear functions of the columns, one per class (one in all for two classes).
    covariance_ : ndarray of shape (n_features, n_features)
        Within the classes, shrunk where `shrinkage_` says so: W, with the divisor n - classes where they are pooled
        (scikit-learn's has the divisor n); of a `covariance_estimator`, what it found. None for blocks of more than
        5,000 columns whose covariances do not fit the memory.
    shrinkage_ : float
        Shrinkage used.
    n_components_ : int
        Number of axes kept.
    solver_ : str
        The solver that was used.

    References
    ----------
    Fisher, The use of multiple measurements in taxonomic problems, 1936. Rao, The utilization of multiple
    measurements in problems of biological classification, 1948. Ledoit and Wolf, A well-conditioned estimator for
    large-dimensional covariance matrices, 2004.

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lowdim.LDA(n_components=2).fit(X, y)
    >>> model.transform(X).shape, round(model.score(X, y), 2)
    ((150, 2), 0.98)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "priors": SHARES | params.none(),
        "shrinkage": params.real(0, 1) | params.one_of("auto") | params.none(),
        "covariance_estimator": params.none() | ESTIMATOR,
        "weighting": params.one_of("pooled", "equal"),
        "solver": params.one_of("auto", "covariance", "svd"),
        "tol": params.real(0, 1, open_low=True, open_high=True),
        "missing": params.one_of("error", "em"),
    }
    _hole_policies = ("em",)
    _sparse_rows = True
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = 'Use solver="covariance", fit on an iterator of (X_batch, y_batch) pairs, or reduce with PCA first.'

    def __init__(
        self,
        n_components=None,
        *,
        priors=None,
        shrinkage=None,
        covariance_estimator=None,
        weighting="pooled",
        solver="auto",
        missing="error",
        tol=1e-10,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.priors = priors
        self.shrinkage = shrinkage
        self.covariance_estimator = covariance_estimator
        self.weighting = weighting
        self.solver = solver
        self.missing = missing
        self.tol = tol
        self.n_jobs = n_jobs

    # ---- fit ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LDA:
        """Fit to the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or an iterator of (X_batch, y_batch) pairs
            The rows. Sparse ones are not filled. An iterator is read once, so the table never has to be in memory; one
            covariance per class does.
        y : array-like of shape (n_samples,)
            Labels: numbers or text. Required, except for an iterator.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row; a whole number counts as so many copies of the row.

        Returns
        -------
        self : LDA
            The fitted model.
        """
        if y is None and not isinstance(X, Iterator):
            raise ValueError(
                "LDA: y must hold a label for each row; got None. LDA requires y to be passed, but the target y is "
                "None; without labels use PCA."
            )
        self._fit_rows(X, y=y, sample_weight=sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to the rows of X and their labels, and return the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The scores.
        """
        self._refuse_stream(X)
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def _embed(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        X, codes, weights = self._labelled(X, y, sample_weight)
        there = {"sparse rows": sparse.issparse(X), "sample_weight": weights is not None, "NaN": self._incomplete}
        refuse_estimator(self.covariance_estimator, self.shrinkage, there)
        if self._incomplete:
            self._embed_incomplete(X, codes, weights, X.dtype)
            return
        counts = np.bincount(codes, weights, len(self.classes_)).astype(np.float64)
        classes = self._weigh(counts, discriminant.class_means(X, codes, weights, counts))
        rows = Labelled(X, codes, classes.row_weights(codes, weights))
        scatters = discriminant.scatters_of_sparse(X, codes, weights) if sparse.issparse(X) else None
        if self.covariance_estimator is not None:
            scatters = estimated_scatters(X, codes, counts, self.covariance_estimator)
        if scatters is not None:
            what = "sparse rows" if sparse.issparse(X) else "a covariance estimator"
            self._from_scatters(scatters, classes, X.dtype, rows, what)
        else:
            self._from_rows(rows, classes)
        if self._takes_nan:
            self._holes = discriminant.joint(self.means_, self.covariance_, float(counts.sum()) - len(counts))

    def _from_rows(self, rows: Labelled, classes: Classes) -> None:
        """From dense rows, by the solver that suits them."""
        X = rows.X
        tall = len(X) >= 4 * X.shape[1]
        self.solver_ = "covariance" if self.solver == "covariance" or (self.solver == "auto" and tall) else "svd"
        within = rows.within(classes.means, self.n_jobs) if self.solver_ == "covariance" else None
        scale = self._scale(rows.variances(classes.means) if within is None else np.diag(within), classes, X.dtype)
        space = None if within is None else discriminant.whiten_moments(within, classes, scale, X.dtype)
        if space is None or (self.solver == "auto" and not discriminant.accurate(space, X.dtype)):
            self.solver_, space = "svd", discriminant.whiten_rows(rows, classes, scale)
        self._separate(space, classes, scale, rows)

    def _embed_incomplete(self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, dtype: Any) -> None:
        """From the expected moments of each class."""
        discriminant.refuse_unobserved(X, codes, self.classes_)
        found = expected_moments(X, codes, weights, owner="LDA", n_jobs=self.n_jobs)
        n, g = sum(part.weight for part in found.parts), len(found.parts)
        classes = self._weigh(np.array([p.weight for p in found.parts]), np.array([p.mean for p in found.parts]))
        filled = found.model.conditional(X.astype(np.float64), codes)
        rows = Labelled(filled, codes, classes.row_weights(codes, weights))
        self._from_scatters((part.scatter for part in found.parts), classes, dtype, rows, "incomplete rows")
        self._holes = replace(found.model, covariance=found.model.covariance * n / (n - g))

    def _refuse_svd(self, what: str) -> None:
        if self.solver == "svd":
            raise ValueError(f"LDA: solver must be 'covariance' or 'auto' for {what}; got 'svd'.")

    def _from_scatters(
        self,
        scatters: Iterable[np.ndarray],
        classes: Classes,
        dtype: Any,
        rows: Labelled | None,
        what: str = "",
        again: Callable[[], None] | None = None,
    ) -> None:
        """From the scatter of each class: of a stream, of incomplete rows, or of sparse rows, which are not filled.

        `again` fits another way, where squared rows lost too many digits.
        """
        if what:
            self._refuse_svd(what)
        parts = zip(classes.shares / classes.counts, scatters, strict=True)
        within = reduce(np.add, (share * scatter for share, scatter in parts))
        scale = self._scale(np.diag(within), classes, dtype)
        space = discriminant.whiten_moments(within, classes, scale, dtype)
        if again is not None and not discriminant.accurate(space, dtype):
            again()
            return
        self.solver_ = "covariance"
        self._separate(space, classes, scale, rows)

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Rows, class numbers and weights; rows of weight 0 are left out."""
        self.classes_, codes = encode(y, X.shape[0])
        if sample_weight is None:
            refuse_one(self.classes_)
            return X, codes, None
        weights = check_weights(sample_weight, X.shape[0], "LDA")
        seen = weights > 0
        present, codes = np.unique(codes[seen], return_inverse=True)
        self.classes_ = refuse_one(self.classes_[present])
        return X[seen], codes, weights[seen]

    def _weigh(self, counts: np.ndarray, means: np.ndarray) -> Classes:
        return discriminant.weigh(counts, means, self.weighting, self.priors)

    def _scale(self, within: np.ndarray, classes: Classes, dtype: Any) -> np.ndarray:
        scale = discriminant.units(within, classes, dtype)
        if np.isinf(scale).all():
            raise ValueError("LDA: X must vary; all rows are equal.")
        return scale

    def _separate(self, space: WhitenedTotal, classes: Classes, scale: np.ndarray, rows: Labelled | None) -> None:
        """Find the axes; shrink first where asked for, or where W is singular."""
        amount = 0.0 if self.shrinkage is None else self.shrinkage
        if amount == "auto":
            amount = self._shrinkage(rows, classes, scale)
        found = discriminant.separate(space, float(amount))
        if not amount and found.within.min(initial=1.0) <= self.tol:
            amount = max(self._shrinkage(rows, classes, scale), _LEAST)
            warn(
                f"LDA: the covariance within the classes is singular ({classes.counts.sum():g} rows, "
                f"{len(classes.counts)} classes, {np.isfinite(scale).sum()} columns that vary): without regularisation "
                f"the classes separate perfectly whatever the labels. Used shrinkage={amount:.3g} (Ledoit-Wolf); set "
                "shrinkage, or reduce with PCA first."
            )
            found = discriminant.separate(space, amount)
        if not len(found.within):
            raise ValueError("LDA: the class means are equal, so that no direction separates the classes.")
        self.shrinkage_ = float(amount)
        self._keep(found, classes, scale)

    def _shrinkage(self, rows: Labelled | None, classes: Classes, scale: np.ndarray) -> float:
        if rows is None:
            raise ValueError(
                "LDA: shrinkage must be a number such as 0.1 for a stream of batches whose covariance within the "
                "classes is singular, or instead of 'auto': it cannot be estimated from a stream."
            )
        return discriminant.ledoit_wolf(rows, classes, scale)

    def _keep(self, found: Separation | WideSeparation, classes: Classes, scale: np.ndarray) -> None:
        """Set the fitted attributes: the first axes for `transform`, all of them for `predict`."""
        n, g = float(classes.counts.sum()), len(classes.counts)
        own = self.covariance_estimator is not None
        size = np.sqrt((n - g) / n) if self.weighting == "pooled" and not own else 1.0
        most, d = len(found.within), classes.means.shape[1]
        if self.n_components is not None and self.n_components > most:
            warn(
                f"LDA: n_components={self.n_components} is more than the {most} axes that {g} classes in {d} columns "
                f"have (at most classes - 1 and the columns); keeping {most}."
            )
        r = self.n_components_ = self._n_features_out = min(self.n_components or most, most)
        ratios = found.between / found.within
        self.eigenvalues_, self.explained_variance_ratio_ = ratios[:r], ratios[:r] / ratios.sum()
        self.mean_, self.means_, self.priors_ = classes.center, classes.means, classes.priors
        axes, self.loadings_ = found.axes * size, found.loadings(r, scale) / size
        self.scalings_, self._extension = axes[:, :r], Linear(self.mean_, None, axes)
        covariance = found.covariance(scale)
        self.covariance_ = None if covariance is None else covariance / size**2

    @property
    def coef_(self) -> np.ndarray:
        """The rule of `predict`: weights of the columns for each class (of the second against the first for two)."""
        coef = self._extension(self.means_) @ self._extension.matrix.T
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> np.ndarray:
        """The constants of the linear functions whose weights are `coef_`."""
        offset = self._offsets()
        return (offset[1:] - offset[:1] if len(offset) == 2 else offset) - self.coef_ @ self.mean_

    def _offsets(self) -> np.ndarray:
        return np.log(self.priors_) - 0.5 * (self._extension(self.means_) ** 2).sum(axis=1)

    # ---- new rows -------------------------------------------------------------------------------------------

    def _extend(self, X: Any) -> np.ndarray:
        place = Linear(self.mean_, None, self.scalings_)
        if self._holes is None or sparse.issparse(X) or not (holes := np.isnan(X).any(axis=1)).any():
            return place(X)
        rows = X.copy()
        rows[holes] = discriminant.expected_rows(X[holes].astype(np.float64), self._holes, self.priors_)
        return place(rows)

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return self.mean_ + Z @ self.loadings_.T

    def decision_function(self, X: Any) -> np.ndarray:
        """Log of prior times density of each class at the rows, up to a constant for all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the log odds of the second.
        """
        scores = self._log_joint(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels out of `classes_`.
        """
        best = self._log_joint(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, for normal classes of equal covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            They add up to 1 in each row.
        """
        return softmax(self._log_joint(X), axis=1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of the probability of each class, exact also where that is tiny.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            The logarithms of `predict_proba`.
        """
        return log_softmax(self._log_joint(X), axis=1)

    def _log_joint(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        return np.concatenate([self._log_joint_of(X[rows]) for rows in threads.blocks(X.shape[0], self._block_rows)])

    def _log_joint_of(self, X: Any) -> np.ndarray:
        """ln (prior x density) of each class, up to a constant for all; of incomplete rows that of their cells."""
        scores = self._extension(X) @ self._extension(self.means_).T + self._offsets()
        if self._holes is not None and not sparse.issparse(X) and (holes := np.isnan(X).any(axis=1)).any():
            scores[holes] = self._holes.log_density(X[holes].astype(np.float64)) + np.log(self.priors_)
        return scores

    def _needs(self, X: Any) -> dict[str, int]:
        return incomplete_needs(*X.shape) if self._has_missing_cells(X) else super()._needs(X)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        blocks = min(n * d, 2**23) * 8
        if stored is not None:
            return {"covariances": 10 * d * d * 8, "rows": 24 * stored}
        if self.solver == "covariance" or (self.solver == "auto" and n >= 4 * d):
            return {"covariances": 8 * d * d * 8, "blocks": blocks}
        small = min(n, d)
        vectors = 2 * (n + d) * small * 8
        return {"centred rows": 3 * n * d * 8, "singular vectors": vectors, "covariances": 12 * small * small * 8}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

"""Principal component analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments
from lowdim.linear._batches import moments_of_stream
from lowdim.linear.pca import _incomplete as incomplete
from lowdim.linear.pca import _nipals_fit as nipals
from lowdim.linear.pca._component_rule import choose_r, whitenable
from lowdim.linear.pca._decompose import (
    SOLVERS,
    Rows,
    Spectrum,
    count_rows,
    decompose,
    decompose_moments,
    memory_of,
    pick_solver,
    refined,
)

_RULES = ("drop",)
_HOLE_POLICIES = ("regularized", "em", "nipals")


class PCA(Reducer):
    """Principal component analysis: the directions along which the rows vary most.

    With centred rows Xc and covariance C = Xc'Xc / (n - ddof), the loadings V solve C v = lambda v with the largest
    lambda first, a row's scores are z = V'(x - mean), and x is approximated by mean + V z. No other linear map to as
    many numbers loses less: the squared error over all rows is (n - ddof) times the sum of the eigenvalues left out.

    Parameters
    ----------
    n_components : int, float, "drop" or None
        How many components to keep. An int: that many (at most min(n, d)). A share such as 0.85: the fewest that carry
        more than that share of the variance. "drop": up to the largest drop of the spectrum on a log scale, refused
        where no eigenvalue is twice the next. None: all of them. With missing cells, everything but an int means the
        number that generalised cross-validation chooses, and a warning says which; where it chooses none, the column
        means fill the cells, and one component of the rows so filled is kept.
    max_error : float or None
        Instead of `n_components`: keep the fewest components that lose less than this share of the variance.
    solver : {"auto", "covariance", "svd", "gram", "randomized", "power"}
        "covariance" suits many rows of few features, "gram" few rows of many features, "svd" is the most accurate for
        the smallest components, "randomized" (block Krylov, residuals checked) suits few components of large tables,
        "power" is the textbook power iteration. "auto" chooses by shape, and where the components asked for are too
        small for the inner products of the rows (see `resolution_`) decomposes the rows themselves, unless that takes
        more than 2e9 multiplications; of such a table, ask for them with "svd".
    scale : bool
        Divide each column by its standard deviation first (PCA of the correlation matrix). Use it where columns have
        different units.
    ddof : {0, 1}
        The divisor of variances is n - ddof.
    whiten : bool
        Scale the scores to unit covariance.
    missing : {"regularized", "em", "nipals", "error"}
        What to do with missing cells (NaN), at the fit and in new rows. "regularized": the rows are completed by the
        model they give, again and again until both agree, each component shrunk by the noise. "em": the same without
        shrinkage; fits the observed cells best, and overfits where many are missing. "nipals": component by component,
        by regressions over the observed cells; used for complete rows too. "error": refuse. Without missing cells the
        first two are plain PCA.
    ridge : float or None
        Multiplies the noise variance that "regularized" shrinks by; 0 is "em". None: 1 where the number of components
        is given, as in missMDA, which takes the noise from all cells of the completed rows, filled ones too; where it
        is chosen, what makes it the noise of the observed cells (errors of 4 % less in the median of real tables).
    reach : float or None
        How far a filled cell may lie beyond the observed cells of its column, in ranges of these; what the model would
        put further is set to that bound in `completed_`, with a warning. A row known by a few extreme cells would else
        be extrapolated without measure. None: no bound.
    orthogonalize : bool
        Whether "nipals" keeps components orthogonal to the earlier ones where cells are missing.
    tol : float
        Accuracy asked of the iterative solvers, relative to the largest eigenvalue; with missing cells, relative change
        of the criterion.
    max_iter : int
        Most iterations of the iterative solvers.
    random_state : int, generator or None
        Start of the iterative solvers.
    n_jobs : int or None
        Threads for the covariance; None means all cores. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The loadings, one row a component; the entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the scores: the eigenvalues.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total variance.
    singular_values_ : ndarray of shape (n_components_,)
        Singular values of the centred (scaled, weighted) rows.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted and divided by; `scale_` is None without scaling.
    resolution_ : float
        Singular values below this part of the first one are rounding, and their components anything: about 1e-7 where
        the rows were squared (all solvers but "svd" and "power"), about 1e-13 where not.
    n_components_ : int
        Number of components kept.
    reconstruction_error_ : float
        Sum of squared errors over all fitted rows (in scaled units where `scale`), of their observed cells alone.
    noise_variance_ : float
        What "regularized" shrinks by: the variance of the components left out, per direction.
    missing_share_ : float
        Share of the cells that are missing.
    solver_ : str
        The solver that was used; with missing cells, the value of `missing`.
    n_iter_ : int
        Steps of the power iteration or the completion; 1 for the other solvers.
    converged_ : bool
        Whether it reached `tol`.
    completed_ : ndarray of shape (n_samples, n_features)
        The rows with their missing cells filled in, and the others bit for bit as given; this and what follows is
        None where no cell is missing.
    completed_variance_ : ndarray of shape (n_samples, n_features)
        How uncertain each filled cell is: s² (1 + h), s² the noise of an observed cell (squared error over observed
        cells less parameters) and h = v'(V_O'V_O + F^-1 - I)^-1 v for the loadings v of the cell, V_O those of the
        row's observed cells and F the shrinkage; 0 for observed cells, NaN where no noise can be estimated. It takes
        the loadings as known, so it is a lower bound.
    shrinkage_ : ndarray of shape (n_components_,)
        The part of each component that goes into a filled cell (None for "nipals").
    agreement_ : dict or None
        Comparison with PCA of the complete rows alone, where there are enough: `n_rows`, the largest `angle` between
        the subspaces in degrees, and the absolute `correlation` of the scores of those rows for each component.

    References
    ----------
    Jolliffe, Principal Component Analysis, 2002. Halko, Martinsson and Tropp, Finding structure with randomness, 2011.
    Josse and Husson, Handling missing values in exploratory multivariate data analysis methods, 2012. Wold, Estimation
    of principal components and related models by iterative least squares, 1966.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> model = lowdim.PCA(n_components=0.85).fit(X)
    >>> model.n_components_, model.transform(X).shape
    (3, (200, 3))
    >>> X[::7, 1] = float("nan")
    >>> model = lowdim.PCA(2).fit(X)
    >>> model.completed_.shape, round(model.missing_share_, 3), model.transform(X[:1]).shape
    ((200, 3), 0.048, (1, 2))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.share() | params.one_of(*_RULES) | params.none(),
        "max_error": params.share() | params.none(),
        "solver": params.one_of("auto", *SOLVERS),
        "scale": params.flag(),
        "ddof": params.whole(0, 1),
        "whiten": params.flag(),
        "missing": params.one_of(*_HOLE_POLICIES, "error"),
        "ridge": params.real(0) | params.none(),
        "reach": params.real(0) | params.none(),
        "orthogonalize": params.flag(),
        "tol": params.real(0, 1, open_low=True, open_high=True),
    }
    _sparse_rows = True
    _hole_policies = _HOLE_POLICIES
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = 'Use solver="randomized" with few components, or fit on an iterator of batches.'

    def __init__(
        self,
        n_components=None,
        *,
        max_error=None,
        solver="auto",
        scale=False,
        ddof=1,
        whiten=False,
        missing="regularized",
        ridge=None,
        reach=0.5,
        orthogonalize=True,
        tol=1e-8,
        max_iter=1000,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.max_error = max_error
        self.solver = solver
        self.scale = scale
        self.ddof = ddof
        self.whiten = whiten
        self.missing = missing
        self.ridge = ridge
        self.reach = reach
        self.orthogonalize = orthogonalize
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or an iterator of such batches
            The rows. An iterator is read once, in batches, so the table never has to be in memory.
        y : None
            Ignored; there for pipelines.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row; a whole number counts as so many copies of the row.

        Returns
        -------
        self : PCA
            The fitted model.
        """
        self._fit_rows(X, sample_weight=sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to the rows of X and return their scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored; there for pipelines.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The scores.
        """
        self._refuse_stream(X)
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _fit_rows(self, X: Any, **options: Any) -> Any:
        if self.max_error is not None and self.n_components is not None:
            raise ValueError("PCA: give n_components or max_error, not both.")
        return super()._fit_rows(X, **options)

    def _embed(self, X: Any, sample_weight: Any = None) -> None:
        weights = self._check_weights(sample_weight, X)
        if self.missing == "nipals" or self._incomplete:
            self._embed_incomplete(X, weights)
            return
        k, (n, d) = self._wanted(min(X.shape)), X.shape
        found = self._decompose(X, weights, k, self._solver(n, d, sparse.issparse(X)))
        if self.solver == "auto" and found.solver in ("covariance", "gram") and not sparse.issparse(X):
            wanted = choose_r(found.variances, found.total_variance, self.n_components, self.max_error, found.most)
            found = refined(found, wanted, k, X, weights, self.ddof)
        self._keep(found)

    def _decompose(self, X: Any, weights: np.ndarray | None, k: int, solver: str) -> Spectrum:
        settings: dict[str, Any] = {"scale": self.scale, "ddof": self.ddof}
        if solver == "covariance" and not sparse.issparse(X):
            moments, count = Moments.of(X, weights, n_jobs=self.n_jobs), count_rows(X, weights)
            return decompose_moments(moments, k, dtype=X.dtype, count=count, **settings)
        rows = Rows.of(X, weights, **settings)
        return decompose(rows, k, solver, self.tol, self.max_iter, generator(self.random_state))

    def _embed_incomplete(self, X: Any, weights: np.ndarray | None) -> None:
        if sparse.issparse(X):
            raise ValueError("PCA: missing='nipals' needs dense rows; use missing='error' or X.toarray().")
        for name, value in incomplete.fit(self, X, weights).items():
            setattr(self, name, value)
        if self.whiten and not (self.explained_variance_ > 0).all():
            raise ValueError("PCA: whiten=True needs components that vary; ask for fewer.")

    def _check_weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if weights.sum() <= self.ddof:
            raise ValueError(f"PCA: sample_weight must sum to more than ddof = {self.ddof}; got {weights.sum():g}.")
        return weights

    def _embed_batches(self, batches: Any) -> None:
        if self.solver not in ("auto", "covariance"):
            raise ValueError(f"PCA: a stream of batches needs solver='covariance' (or 'auto'); got {self.solver!r}.")
        if self.missing == "nipals":
            raise ValueError(
                "PCA: missing='nipals' must see the rows again and again, and a stream of batches is read once. Stack "
                "the batches first (np.concatenate), or use another `missing` for batches of complete rows."
            )
        moments, dtype = moments_of_stream(batches, self)
        wanted = self._wanted(min(int(moments.weight), len(moments.mean)))
        self._keep(decompose_moments(moments, wanted, scale=self.scale, ddof=self.ddof, dtype=dtype))

    def _solver(self, n: int, d: int, is_sparse: bool) -> str:
        whole = self._needs_spectrum()
        if self.solver == "auto":
            return pick_solver(n, d, None if whole else self.n_components, is_sparse)
        if whole and self.solver in ("randomized", "power"):
            raise ValueError(
                f"PCA: solver={self.solver!r} needs n_components as a whole number, as the rules that choose it look "
                "at the whole spectrum; use solver='svd', 'covariance' or 'gram'."
            )
        return self.solver

    def _needs_spectrum(self) -> bool:
        return self.max_error is not None or not isinstance(self.n_components, (int, np.integer))

    def _wanted(self, most: int) -> int:
        """How many components to compute."""
        if self._needs_spectrum():
            return most
        if self.n_components > most:
            warn(
                f"PCA: n_components={self.n_components} is more than min(n_samples, n_features) = {most}; "
                f"keeping {most}.",
            )
        return min(int(self.n_components), most)

    def _keep(self, found: Spectrum) -> None:
        """Choose how many components stay and set the fitted attributes."""
        values, total = found.variances, found.total_variance
        r = choose_r(values, total, self.n_components, self.max_error, min(found.most, found.varying))
        if not self._needs_spectrum() and r > found.most:
            warn(f"PCA: the rows vary in at most {found.most} directions; the components after that have no variance.")
        if self.whiten:
            r = whitenable(values, r, found.rank_tolerance)
        self.n_components_ = self._n_features_out = r
        self.components_ = found.loadings[:r]
        self.mean_, self.scale_ = found.mean, found.scale
        self.explained_variance_ = values[:r]
        self.explained_variance_ratio_ = values[:r] / total if total > 0 else np.zeros(r)
        self.singular_values_ = np.sqrt(values[:r] * found.divisor)
        self.reconstruction_error_ = float(max(total - values[:r].sum(), 0.0) * found.divisor)
        self.noise_variance_ = incomplete.shrinks_by(self, values, r, found)
        self.missing_share_ = 0.0
        self.completed_ = self.completed_variance_ = self.shrinkage_ = self.agreement_ = None
        self.solver_, self.resolution_ = found.solver, found.resolution
        self.n_iter_, self.converged_ = found.run

    def _extend(self, X: Any) -> np.ndarray:
        if self.solver_ == "nipals":
            Z = nipals.place(self, X)
        else:
            Z = Linear(self.mean_, self.scale_, self.components_.T)(X)
            holes = np.isnan(Z[:, 0])  # a missing cell shows in every score of its row
            if holes.any():
                Z[holes] = incomplete.place(self, X[holes])
        return Z / np.sqrt(self.explained_variance_).astype(Z.dtype) if self.whiten else Z

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        if self.whiten:
            Z = Z * np.sqrt(self.explained_variance_)
        X = Z @ self.components_
        return self.mean_ + (X if self.scale_ is None else X * self.scale_)

    def _needs(self, X: Any) -> dict[str, int]:
        if self.missing == "nipals" or incomplete.has_holes(self, X):
            itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
            return incomplete.needs(X.shape[0], X.shape[1], itemsize, self.missing)
        return super()._needs(X)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        solver = self._solver(n, d, stored is not None)
        k = min(n, d) if self._needs_spectrum() else min(int(self.n_components), n, d)
        return memory_of(solver, n, d, k, itemsize, stored)

"""Principal component analysis."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear
from lowdim._core.gpu import devices, wide
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.weights import check_weights
from lowdim.linear._decompose import (
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
from lowdim.linear.pca import _complete as complete
from lowdim.linear.pca import _incomplete as incomplete
from lowdim.linear.pca import _nipals as nipals
from lowdim.linear.pca._component_rule import choose_r
from lowdim.linear.pca._density import PCADensity
from lowdim.linear.pca._fitted import FittedPCA
from lowdim.linear.pca._in_blocks import PCAInBlocks
from lowdim.linear.pca._on_device import OnDevice
from lowdim.linear.pca._settings import IncompleteSettings

_COMPLETIONS = ("regularized", "em", "nipals")


class PCA(PCAInBlocks, PCADensity, OnDevice, Reducer):
    """Principal component analysis: the directions along which the rows vary most.

    With centred rows Xc and covariance C = Xc'Xc / (n - ddof), the loadings V solve C v = lambda v with the largest
    lambda first, a row's scores are z = V'(x - mean), and x is approximated by mean + V z. No other linear map to as
    many numbers loses less: the squared error over all rows is (n - ddof) times the sum of the eigenvalues left out.

    Parameters
    ----------
    n_components : int, float, "drop", "mle" or None
        How many components to keep. An int: that many (at most min(n, d)). A share such as 0.85: the fewest that
        explain more than that share of the variance. "drop": up to the largest drop of the spectrum on a log scale, an
        error where no eigenvalue is twice the next. "mle": the largest evidence of probabilistic PCA (Minka, 2000), for
        at least as many rows as columns; of linearly dependent columns, the rank. None: all of them. With missing
        cells, everything but an int means the number that generalised cross-validation chooses, with a warning that
        gives it; where it chooses none, the column means fill the cells, and one component of the rows so filled is
        kept.
    max_error : float or None
        Instead of `n_components`: keep the fewest components that lose less than this share of the variance.
    solver : {"auto", "covariance", "svd", "gram", "randomized", "power"}
        "covariance" suits many rows of few features, "gram" few rows of many features, "svd" is the most accurate for
        the smallest components, "randomized" (block Krylov, residuals checked) suits few components of large tables,
        "power" is the textbook power iteration. "auto" chooses by shape, and where the components asked for are too
        small for the inner products of the rows (see `resolution_`) decomposes the rows themselves, unless that takes
        more than 2e9 multiplications; of such a table, ask for them with "svd". Rows in blocks take "covariance" and
        "svd", which is one pass too (QR of the blocks), and "randomized" where they can be read again.
    scale : bool
        Divide each column by its standard deviation first (PCA of the correlation matrix). Use it where columns have
        different units.
    ddof : {0, 1}
        The divisor of variances is n - ddof.
    whiten : bool
        Scale the scores to unit covariance.
    ridge : float or None
        Multiplies the noise variance that "regularized" shrinks by; 0 is "em". None: 1 where the number of components
        is given, as in missMDA, which takes the noise from all cells of the completed rows, filled ones too; where it
        is chosen, what makes it the noise of the observed cells (errors of 4 % less in the median of real tables).
    reach : float or None
        How far a filled cell may lie beyond the observed cells of its column, in ranges of these; values of the model
        beyond that bound are set to it in `completed_`, with a warning. Rows with few, extreme observed cells would
        otherwise be extrapolated without limit. None: no bound.
    orthogonalize : bool
        Whether "nipals" keeps components orthogonal to the earlier ones where cells are missing.
    missing : {"regularized", "em", "nipals", "error"}
        Missing cells (NaN), at fit and in new rows: "regularized": iterative PCA: the rows are completed by the model
        fitted to them until both agree, each component shrunk by the noise. "em": the same without shrinkage; fits the
        observed cells best, and overfits where many are missing. "nipals": component by component, by regressions over
        the observed cells; used for complete rows too. "error": missing cells are an error. Complete rows are fitted
        by plain PCA under the first two.
    max_iter : int
        Maximum number of iterations of the iterative solvers and of the completion; for "nipals", per component.
    tol : float
        Convergence tolerance: of the iterative solvers, relative to the largest eigenvalue; with missing cells, the
        relative change of the criterion; for "nipals", of the scores.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the completed table so far.
        Called by the iterations that complete rows and by "nipals"; the solvers for complete rows do not call it.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for the covariance or Gram matrix of complete dense rows, for the products of "randomized", and where
        rows are tensors on it for `transform` and `inverse_transform`; the rest runs on the CPU.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the iterative solvers.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

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
        Singular values below this part of the first one are rounding errors, and their components arbitrary: about
        1e-7 where the rows were squared (all solvers but "svd" and "power"), about 1e-13 where not.
    n_components_ : int
        Number of components kept.
    reconstruction_error_ : float
        Mean squared error of an observed cell under the components kept, in the squared units of X.
    noise_variance_ : float
        What "regularized" shrinks by: the variance of the components left out, per direction.
    missing_share_ : float
        Share of the cells that are missing.
    solver_ : str
        The solver that was used; with missing cells, the value of `missing`.
    device_ : str
        Where the rows were multiplied.
    n_iter_ : int
        Steps of the power iteration or the completion; 1 for the other solvers.
    converged_ : bool
        Whether it reached `tol`.
    completed_ : ndarray of shape (n_samples, n_features)
        The rows with their missing cells filled in, and the others bit for bit as given; this and what follows is
        None where no cell is missing.
    completed_variance_ : ndarray of shape (n_samples, n_features)
        Variance of each filled cell: s² (1 + h), s² the noise of an observed cell (squared error over observed cells
        less parameters) and h = v'(V_O'V_O + F^-1 - I)^-1 v for the loadings v of the cell, V_O those of the row's
        observed cells and F the shrinkage; 0 for observed cells, NaN where no noise can be estimated. It takes the
        loadings as known, so it is a lower bound.
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
        "n_components": params.whole(1) | params.share() | params.one_of("drop", "mle") | params.none(),
        "max_error": params.share() | params.none(),
        "solver": params.one_of("auto", *SOLVERS),
        "scale": params.flag(),
        "ddof": params.whole(0, 1),
        "whiten": params.flag(),
        "ridge": params.real(0) | params.none(),
        "reach": params.real(0) | params.none(),
        "orthogonalize": params.flag(),
        "missing": params.one_of(*_COMPLETIONS, "error"),
    }
    _sparse_rows = True
    _hole_policies = _COMPLETIONS
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
        ridge=None,
        reach=0.5,
        orthogonalize=True,
        missing="regularized",
        max_iter=1000,
        tol=1e-8,
        callback=None,
        device="cpu",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.max_error = max_error
        self.solver = solver
        self.scale = scale
        self.ddof = ddof
        self.whiten = whiten
        self.ridge = ridge
        self.reach = reach
        self.orthogonalize = orthogonalize
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or an iterator of such batches
            The rows. An iterator is read once, in batches, so the table never has to be in memory. Of incomplete
            batches the moments of each pattern of missing cells are kept, which give the same fit as all rows
            (without `completed_`).
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
        weights, self.device_ = self._check_weights(sample_weight, X), "cpu"
        if self.missing == "nipals" or self._incomplete:
            self._keep(self._fit_incomplete(on_host(X), weights))
        else:
            self._keep_spectrum(self._fit_complete(X, weights))

    def _fit_complete(self, X: Any, weights: np.ndarray | None) -> Spectrum:
        k, (n, d) = self._wanted(min(count_rows(X, weights), X.shape[1])), X.shape  # as without rows of weight 0
        found = self._decompose(X, weights, k, self._solver(n, d, sparse.issparse(X)))
        if self.solver == "auto" and found.solver in ("covariance", "gram") and not sparse.issparse(X):
            rule = self.n_components, self.max_error, found.most, found.divisor + found.ddof
            wanted = choose_r(found.variances, found.total_variance, *rule)
            found = refined(found, wanted, k, X, weights)
        return found

    def _decompose(self, X: Any, weights: np.ndarray | None, k: int, solver: str) -> Spectrum:
        settings: dict[str, Any] = {"scale": self.scale, "ddof": self.ddof}
        if solver == "covariance" and not sparse.issparse(X):
            moments, count = self._moments(X, weights), count_rows(X, weights)
            return decompose_moments(moments, k, dtype=X.dtype, count=count, **settings)
        place = self._place(X) if solver in ("gram", "randomized") and not sparse.issparse(X) else None
        if place is None or not isinstance(X, DeviceRows):
            rows = Rows.of(on_host(X), weights, **settings)
        else:
            rows = devices.run(place, lambda on: Rows.there(on, X, weights, **settings), "PCA")
        wanted = rows, k, solver, self.tol, self.max_iter, generator(self.random_state)
        return decompose(*wanted) if place is None else devices.run(place, lambda on: decompose(*wanted, on), "PCA")

    def _fit_incomplete(self, X: Any, weights: np.ndarray | None) -> FittedPCA:
        if sparse.issparse(X):
            raise ValueError("PCA: missing='nipals' needs dense rows; use missing='error' or X.toarray().")
        given = {field.name: getattr(self, field.name) for field in fields(IncompleteSettings)}
        found = incomplete.fit(X, weights, IncompleteSettings(**given), bool(self._incomplete))
        if self.whiten and not (found.explained_variance > 0).all():
            raise ValueError("PCA: whiten=True needs components that vary; ask for fewer.")
        return found

    def _check_weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weights = check_weights(sample_weight, X.shape[0], "PCA")
        if weights.sum() <= self.ddof:
            raise ValueError(f"PCA: sample_weight must sum to more than ddof = {self.ddof}; got {weights.sum():g}.")
        return weights

    def _solver(self, n: int, d: int, is_sparse: bool) -> str:
        whole = self._needs_spectrum()
        if self.solver == "auto":
            there = not is_sparse and devices.find(self.device, "PCA") is not None and wide.solver_for(n, d)
            return there or pick_solver(n, d, None if whole else self.n_components, is_sparse)
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

    def _keep_spectrum(self, found: Spectrum) -> None:
        ridge = (1.0 if self.ridge is None else self.ridge) if self.missing == "regularized" else None
        rule = {"n_components": self.n_components, "max_error": self.max_error, "whiten": self.whiten}
        self._keep(complete.fitted(found, ridge=ridge, **rule))

    def _keep(self, found: FittedPCA) -> None:
        """Set the fitted attributes."""
        for field in fields(found):
            if field.name != "mixing":
                setattr(self, f"{field.name}_", getattr(found, field.name))
        self.n_components_ = self._n_features_out = len(found.components)
        if found.mixing is not None:
            self._parts = {"mixing": found.mixing}

    def _extend(self, X: Any) -> np.ndarray:
        model = self.mean_, self.scale_, self.components_
        if self.solver_ == "nipals":
            rows = X.toarray() if sparse.issparse(X) else X
            Z = nipals.place(rows, self.mean_, self.scale_, self.components_.T, self._parts["mixing"], "PCA")
        else:
            Z = Linear(self.mean_, self.scale_, self.components_.T)(X)
            holes = np.isnan(Z[:, 0])  # a missing cell shows in every score of its row
            if holes.any():
                noise = self.explained_variance_, self.noise_variance_
                Z[holes] = incomplete.place(X[holes], *model, *noise, n_jobs=self.n_jobs)
        return Z / np.sqrt(self.explained_variance_).astype(Z.dtype) if self.whiten else Z

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        if self.whiten:
            Z = Z * np.sqrt(self.explained_variance_)
        X = Z @ self.components_
        return self.mean_ + (X if self.scale_ is None else X * self.scale_)

    def _needs(self, X: Any) -> dict[str, int]:
        if self.missing == "nipals" or self._has_missing_cells(X):
            itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
            return incomplete.memory_of(X.shape[0], X.shape[1], itemsize, self.missing)
        return super()._needs(X)

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return wide.needs(n, d, itemsize)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        solver = self._solver(n, d, stored is not None)
        k = min(n, d) if self._needs_spectrum() else min(int(self.n_components), n, d)
        return memory_of(solver, n, d, k, itemsize, stored)

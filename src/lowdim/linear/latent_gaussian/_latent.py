"""What the three latent-variable models share once they are fitted: posteriors, likelihoods, samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core.incomplete.gaussian import BLOCK_BYTES, LANES, Gaussian
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import n_threads
from lowdim._core.spectrum import Moments
from lowdim._core.tables import missing
from lowdim._core.tables.arrays import extent
from lowdim.linear._decompose import Rows, Spectrum, decompose, decompose_moments, memory_of, pick_solver


class LatentGaussian:
    """Methods of a fitted N(mean, W W' + noise); beside `Reducer`, which checks and transforms rows."""

    _takes_nan = True
    _keeps_embedding = False
    _block_rows = 65536

    _tables: Any  # (n, d, itemsize, whether cells are missing) -> {name: bytes}
    completed_: np.ndarray | None
    completed_variance_: np.ndarray | None
    mean_: np.ndarray
    loadings_: np.ndarray
    noise_variance_: Any
    n_jobs: int | None
    _precision = "float64"  # of the rows at the fit, and of those drawn

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and covariance of the scores of each row, given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; NaN is a missing cell.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_components)
            The same as `transform`.
        covariance : ndarray of shape (n_samples, n_components, n_components)
            Larger for rows with fewer observed cells.
        """
        X, dtype = self._new_rows(X)
        turn = self._turn()
        mean, covariance = self._model().scores(X), self._model().score_covariance(X)
        if turn is not None:
            mean, covariance = mean @ turn.T, turn @ covariance @ turn.T
        return mean.astype(dtype, copy=False), covariance.astype(dtype, copy=False)

    def complete(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Fill the missing cells of rows with their expectation given the observed ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; NaN is a missing cell.

        Returns
        -------
        completed : ndarray of shape (n_samples, n_features)
            Observed cells as given, bit for bit.
        variance : ndarray of shape (n_samples, n_features)
            Variance of each filled cell under the model, 0 where observed. An analysis of a table completed once, as
            if it had been complete, understates the uncertainty.
        """
        X, dtype = self._new_rows(X)
        completed, variance = self._model().conditional(X)
        return completed.astype(dtype, copy=False), variance.astype(dtype, copy=False)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of each row, from its observed cells; low for rows unlike the fitted ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; NaN is a missing cell.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            In nats.
        """
        return self._model().log_likelihood(self._new_rows(X)[0])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; NaN is a missing cell.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        score : float
            In nats a row.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows from the fitted model.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, generator or None
            Of the draw.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows, in the precision of the fitted ones.
        """
        if not isinstance(n_samples, (int, np.integer)) or isinstance(n_samples, bool) or n_samples < 1:
            name = type(self).__name__
            raise ValueError(f"{name}: n_samples must be a whole number >= 1; got {n_samples!r}.")
        return self._model().sample(int(n_samples), generator(random_state)).astype(self._precision, copy=False)

    def get_covariance(self) -> np.ndarray:
        """Covariance of the rows under the model, W W' + noise.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Positive definite.
        """
        return self._model().covariance

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`, by inverting a matrix as large as the number of components only.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Positive definite.
        """
        model = self._model()
        noise = np.broadcast_to(np.asarray(model.noise, dtype=np.float64), model.mean.shape)
        B = model.loadings / noise[:, None]
        inner = np.eye(model.rank) + model.loadings.T @ B
        return np.diag(1.0 / noise) - B @ np.linalg.solve(inner, B.T)

    def _needs(self, X: Any) -> dict[str, int]:
        n, d, itemsize, _ = extent(X)
        return self._tables(n, d, itemsize, missing.has_holes(X))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Of complete rows; a shape alone does not say whether cells are missing."""
        return self._tables(n, d, itemsize, False)

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[np.ndarray, np.dtype]:
        X, dtype = super()._check_rows(X, fitting=fitting)  # type: ignore[misc]
        if fitting:
            self._precision = dtype.name
        return X, dtype

    def _new_rows(self, X: Any) -> tuple[np.ndarray, np.dtype]:
        check_is_fitted(self)
        return self._check_rows(X, fitting=False)

    def _model(self) -> Gaussian:
        check_is_fitted(self)
        return Gaussian(self.mean_, self.loadings_, self.noise_variance_, self.n_jobs)

    def _turn(self) -> np.ndarray | None:
        """The matrix from the model's latent coordinates to the scores, where they differ."""
        return None

    def _extend(self, X: np.ndarray) -> np.ndarray:
        Z, turn = self._model().scores(X), self._turn()
        return Z if turn is None else Z @ turn.T

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        turn = self._turn()
        return self._model().rows(Z if turn is None else np.linalg.solve(turn, Z.T).T)

    def _keep_completed(self, X: np.ndarray, holes: bool) -> None:
        """The completed table and the variance of each filled cell; None where no cell is missing."""
        self.completed_ = self.completed_variance_ = None
        if not holes:
            return
        completed, variance = self._model().conditional(X)
        self.completed_ = completed.astype(X.dtype, copy=False)
        self.completed_variance_ = variance.astype(X.dtype, copy=False)


def has_holes(X: np.ndarray) -> bool:
    """Whether a cell is missing; nothing as large as X is made where none is."""
    return bool(np.isnan(X.sum()) and np.isnan(X).any())


def working_memory(n: int, d: int, r: int, itemsize: int, n_jobs: int | None, *, holes: bool = True) -> dict[str, int]:
    """What EM takes: partial sums, r x r systems of each column, blocks of rows, and the completed table."""
    moments = d * (r + 1) ** 2 * 8
    return {
        "missing cells": n * d,
        "sums": (LANES // 2 + 4) * moments,
        "blocks": 4 * BLOCK_BYTES * n_threads(n_jobs),
        "completed rows": n * d * (16 if itemsize == 8 else 24) if holes else 0,
    }


def closed_memory(n: int, d: int, r: int, itemsize: int, n_jobs: int | None) -> dict[str, int]:
    """What the closed form takes: the spectrum, the loadings, and blocks of rows for their likelihood."""
    blocks = {"missing cells": n * d, "blocks": 4 * BLOCK_BYTES * n_threads(n_jobs)}
    return spectrum_memory(n, d, r, itemsize) | {"loadings": 4 * d * r * 8} | blocks


def most_components(shape: tuple[int, ...], wanted: int | None, owner: str) -> int:
    """How many latent coordinates n rows of d columns can have with some noise left."""
    n, d = shape
    most = min(n - 1, d) - 1
    if most < 1:
        raise ValueError(
            f"{owner}: X must have at least 3 rows and 2 columns, so that some noise is left beside a component; got "
            f"n_samples={n}, n_features={d}. PCA, which has no noise, takes fewer."
        )
    if wanted is not None and wanted > most:
        warn(
            f"{owner}: n_components={wanted} leaves no noise in {n} rows of {d} columns, and no likelihood; keeping "
            f"{most}. PCA keeps them all."
        )
    return most if wanted is None else min(int(wanted), most)


def spectrum(X: np.ndarray, k: int, random_state: Any, n_jobs: int | None) -> Spectrum:
    """The k largest eigenvalues (divisor n) of the covariance of complete rows; all of them where that is cheap."""
    n, d = X.shape
    solver = pick_solver(n, d, None, False)
    if solver == "svd":  # small ones come without cancellation
        k = min(n, d)
    else:
        solver = pick_solver(n, d, k, False)
    if solver == "covariance":
        return decompose_moments(Moments.of(X, n_jobs=n_jobs), k, scale=False, ddof=0, dtype=X.dtype)
    rows = Rows.of(X, None, scale=False, ddof=0)
    return decompose(rows, k, solver, 1e-8, 1000, generator(random_state))


def spectrum_memory(n: int, d: int, k: int, itemsize: int) -> dict[str, int]:
    """What `spectrum` takes, by route."""
    small, solver = min(n, d), pick_solver(n, d, None, False)
    if solver == "svd":
        return {"centred rows": 3 * n * d * 8, "singular vectors": 3 * (n + d) * small * 8}
    return memory_of(pick_solver(n, d, k, False), n, d, k, itemsize, None)


def warn_few_cells(X: np.ndarray, parameters: int, owner: str) -> None:
    """A warning where the model has more parameters than X has observed cells."""
    observed = X.size - int(np.isnan(X).sum())
    if observed < parameters:
        warn(
            f"{owner}: {observed} observed cells are fewer than the {parameters} parameters of the model, which "
            "will overfit. Use fewer components, or BayesianPCA, which chooses them."
        )

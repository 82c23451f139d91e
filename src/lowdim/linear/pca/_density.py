"""The normal distribution that a fitted PCA stands for: covariance, log-likelihood, and distances of rows from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.moments import JointGaussian


class PCADensity:
    """Methods of a fitted PCA as probabilistic PCA; beside `Reducer`, which checks rows."""

    mean_: np.ndarray
    scale_: np.ndarray | None
    components_: np.ndarray
    explained_variance_: np.ndarray
    explained_variance_ratio_: np.ndarray
    singular_values_: np.ndarray
    missing_share_: float
    resolution_: float
    ddof: int
    n_jobs: int | None
    _check_rows: Any

    def get_covariance(self) -> np.ndarray:
        """Covariance of the rows under the model: V (L - s²) V' + s² I, s² the mean variance of what is left out.

        Probabilistic PCA (Tipping and Bishop, 1999). With all components it is the covariance of the rows.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            In the units of X.
        """
        V, (spread, noise), unit = self.components_.T, self._variances(), self._unit()
        return ((V * (spread - noise)) @ V.T + noise * np.eye(len(V))) * np.outer(unit, unit)

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            In the inverse units of X.
        """
        V, (spread, noise), unit = self.components_.T, self._variances(), self._unit()
        null = self.resolution_**2 * spread.max(initial=0.0)  # less is rounding
        if not spread.min(initial=np.inf) > null or (noise == 0 and len(self.components_) < len(V)):
            raise ValueError(
                "PCA: get_precision must have a covariance of full rank; the rows do not vary in some direction. Fit "
                "with fewer n_components than directions that vary, so that the rest counts as noise."
            )
        rest = 0.0 if noise == 0 else 1.0 / noise
        return ((V * (1.0 / spread - rest)) @ V.T + rest * np.eye(len(V))) / np.outer(unit, unit)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of each row, from its observed cells; low for rows unlike the fitted ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            In nats.
        """
        check_is_fitted(self)
        X = np.asarray(self._check_rows(X, fitting=False)[0], dtype=np.float64)
        V, (spread, noise), unit = self.components_.T, self._variances(), self._unit()
        if noise > 0:
            W = V * np.sqrt(np.maximum(spread - noise, 0.0)) * unit[:, None]
            return Gaussian(self.mean_, W, noise * unit**2, self.n_jobs).log_likelihood(X)
        self.get_precision()  # an error where there is none
        return JointGaussian(self.mean_[None], self.get_covariance()).log_density(X)[:, 0]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        score : float
            In nats a row.
        """
        return float(self.score_samples(X).mean())

    def _unit(self) -> np.ndarray:
        return np.ones(len(self.mean_)) if self.scale_ is None else self.scale_

    def _variances(self) -> tuple[np.ndarray, float]:
        """Variances of the components, and the mean variance of the directions left out (0 where none is)."""
        check_is_fitted(self)
        kept = np.asarray(self.explained_variance_, dtype=np.float64)
        share = float(np.sum(self.explained_variance_ratio_))
        if share <= 0:
            return kept, 0.0
        rows = float(self.singular_values_[0] ** 2 / kept[0]) + self.ddof
        left = min(round(rows), len(self.mean_)) - len(kept)
        # Filled cells lie on the model: all of what is left out is in the observed ones.
        rest = max(kept.sum() * (1.0 / share - 1.0), 0.0) / (1.0 - self.missing_share_)
        return kept, rest / left if left > 0 and rest > 1e-14 * kept[0] else 0.0

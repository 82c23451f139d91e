"""Methods of other libraries without `fit_transform`, and maps that exist already, as entries of a comparison."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class OpenTSNE(BaseEstimator):
    """t-SNE of openTSNE, with the interface of scikit-learn."""

    def __init__(self, n_components=2, perplexity=30, random_state=None, n_jobs=None):
        self.n_components = n_components
        self.perplexity = perplexity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The embedding of the rows of X."""
        with warnings.catch_warnings():  # of its import, not of the fit
            warnings.simplefilter("ignore")
            from openTSNE import TSNE

        jobs = -1 if self.n_jobs is None else self.n_jobs
        options = {"n_components": self.n_components, "perplexity": self.perplexity, "n_jobs": jobs}
        return np.asarray(TSNE(random_state=self.random_state, **options).fit(np.asarray(X)))


class ReadyMade(BaseEstimator):
    """An embedding that exists already: the coordinates of the rows, made by any program."""

    needs_rows = False

    def __init__(self, embedding=None):
        self.embedding = embedding

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The embedding as it is; it must have a row for each row of X."""
        Z = np.array(self.embedding, dtype=np.float64)
        return Z[:, None] if Z.ndim == 1 else Z

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """No parameters: the coordinates are the result itself."""
        return {}

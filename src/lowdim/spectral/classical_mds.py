"""Classical (Torgerson-Gower) multidimensional scaling."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import pairwise
from lowdim._core.extend import Linear
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.runtime.rng import generator
from lowdim._core.scaling.additive import additive_constant, shift_distances, shift_new_distances
from lowdim._core.scaling.classical import scale_distances, scale_rows, scaling_bytes, warn_of_negative
from lowdim._core.tables.weights import check_weights


class ClassicalMDS(JudgedMap, Reducer):
    """Classical multidimensional scaling: points whose inner products match those of the given distances best.

    With D² the squared distances and H = I - 11'/n, the matrix B = -1/2 H D² H holds inner products; its largest
    eigenvalues l and vectors v give the coordinates sqrt(l) v. For Euclidean distances this is PCA of the rows, and
    it is computed as such, without any n x n matrix. For other distances B can have negative eigenvalues: a warning
    gives their share, and `correction` makes the distances Euclidean by the smallest constant.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding. Axes beyond the positive eigenvalues are zero, with a warning.
    correction : {None, "cailliez", "lingoes"}
        Add the smallest constant that makes the distances Euclidean: to the distances (Cailliez), or twice it to their
        squares (Lingoes). Rows of weight 0 are ignored in it.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. Names are those of `scipy.spatial.distance.cdist`; distances are a square
        table or a condensed vector.
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; distances over the columns that both rows have, scaled
        up; or the expected distance under a Gaussian model of the rows, so that a row with few known cells is not close
        to everything. Euclidean distances only; "pairwise" also Gower's. Under "expected", `transform` of an incomplete
        fitted row is that of another row with the same cells: (1 - v / eigenvalue) times its coordinate on each axis, v
        being the variance of its missing cells.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the iterative eigensolver.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates, centred.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of B of the axes kept.
    goodness_of_fit_ : tuple of two floats
        Sum of the kept eigenvalues over the sum of all magnitudes, and over the sum of the positive ones. Of distances
        between more than 2,500 rows the negative ones are estimated, within a tenth.
    negative_share_ : float
        Sum of the magnitudes of negative eigenvalues over the sum of all magnitudes; 0 for Euclidean distances.
    correction_ : float
        The constant that was added.

    References
    ----------
    Torgerson, Multidimensional scaling: I, 1952. Gower, Adding a point to vector diagrams, 1968. Cailliez, The
    analytical solution of the additive constant problem, 1983.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.helix(100, random_state=0).X
    >>> lowdim.ClassicalMDS(n_components=2, metric="manhattan", correction="cailliez").fit_transform(X).shape
    (100, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "correction": params.none() | params.one_of("cailliez", "lingoes"),
    }
    _sparse_rows = True
    _crowding_advice = "Drop these, or take logarithms or ranks of columns with long tails."
    _ways_out = "metric='euclidean' on rows needs no n x n matrix; or fit on a sample and transform the rest."

    def __init__(
        self,
        n_components=2,
        *,
        correction=None,
        metric="euclidean",
        metric_params=None,
        missing="error",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.correction = correction
        self.metric = metric
        self.metric_params = metric_params
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ClassicalMDS:
        """Fit to the rows of X, or to the dissimilarities in X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or dissimilarities
            The rows; with ``metric="precomputed"`` a square table (arrays, or frames whose labels name the same items)
            or a condensed vector.
        y : None
            Ignored; there for pipelines.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row: an integer weight is the same as so many equal rows. A row of weight 0 has no influence
            on the axes, and is embedded like a new row.

        Returns
        -------
        self : ClassicalMDS
            The fitted model.
        """
        self._fit_rows(X, sample_weight=sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to the rows of X and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or dissimilarities
            As in `fit`.
        y : None
            Ignored; there for pipelines.
        sample_weight : array-like of shape (n_samples,) or None
            Weight of each row.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        self._refuse_stream(X)
        return self._fit_rows(X, sample_weight=sample_weight)

    def _embed(self, X: Any, sample_weight: Any = None) -> np.ndarray:
        weights = self._check_weights(sample_weight, X)
        settings: dict[str, Any] = {"rng": generator(self.random_state), "owner": "ClassicalMDS", "weights": weights}
        self.correction_ = 0.0
        if self._euclidean():
            found = scale_rows(X, self.n_components, **settings)
        else:
            found = scale_distances(self._corrected(X, weights), self.n_components, **settings)

        self._rows, self._extension = self._own_rows(X), found.place
        self.eigenvalues_, self.goodness_of_fit_ = found.values, found.goodness
        self.negative_share_ = found.negative_share
        warn_of_negative(found.negative_share, "ClassicalMDS")
        return self._extension(X) if found.places is None else found.places

    def _corrected(self, X: Any, weights: np.ndarray | None) -> np.ndarray:
        """The dissimilarities with the constant of `correction` added (computed from the rows of positive weight)."""
        D = X if self._precomputed() else pairwise(X, metric=self._distance(), owner="ClassicalMDS")
        if self.correction is None:
            return D
        counted = D if weights is None or (weights > 0).all() else D[np.ix_(weights > 0, weights > 0)]
        self.correction_ = additive_constant(counted, self.correction, owner="ClassicalMDS")
        return shift_distances(D, self.correction_, self.correction)

    def _check_weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weights = check_weights(sample_weight, X.shape[0], "ClassicalMDS")
        if (weights > 0).sum() < 2:
            count = int((weights > 0).sum())
            raise ValueError(f"ClassicalMDS: sample_weight must be above zero for at least two rows; got {count}.")
        return weights

    def _euclidean(self) -> bool:
        return self.missing == "error" and self._metric() == "euclidean"

    def _extend(self, X: Any) -> np.ndarray:
        if isinstance(self._extension, Linear):
            return self._extension(X)
        D = X if self._precomputed() else pairwise(X, self._rows, metric=self._distance(), owner="ClassicalMDS")
        if self.correction is not None:
            D = shift_new_distances(D, self.correction_, self.correction)
        return self._extension(-0.5 * np.square(D, dtype=np.float64))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        if self._euclidean():
            table = n * d * itemsize if stored is None else 12 * stored
            width = min(n, d, 3 * (self.n_components + 30))
            return {"rows": table, "singular vectors": (n + d) * width * 8}
        inner = scaling_bytes(n, self.n_components)
        parts = {"rows": n * d * itemsize, "distances": n * n * itemsize, "inner products": inner}
        return parts | ({"corrected distances": n * n * 8} if self.correction is not None else {})

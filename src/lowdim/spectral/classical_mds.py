"""Classical (Torgerson-Gower) multidimensional scaling."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.additive import additive_constant, shift_distances, shift_new_distances
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric, pairwise
from lowdim._core.extend import Linear, Nystrom
from lowdim._core.incomplete import METRICS, POLICIES
from lowdim._core.notices import warn
from lowdim._core.rng import generator
from lowdim._core.scaling import inner_products
from lowdim._core.spectrum import Eigenpairs, eigenpairs, mean_and_variance, svd
from lowdim._core.values import all_eigenvalues, positive_part


class ClassicalMDS(Reducer):
    """Classical multidimensional scaling: points whose inner products match the given distances best.

    With D² the squared distances and H = I - 11'/n, the matrix B = -1/2 H D² H holds inner products; its largest
    eigenvalues l and vectors v give the coordinates sqrt(l) v. For Euclidean distances this is PCA of the rows, and
    it is computed as such, without any n x n matrix. For other distances B can have negative eigenvalues: they are
    reported, and `correction` makes the distances Euclidean by the smallest constant.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding. Axes beyond the positive eigenvalues are zero, with a warning.
    metric : str or callable
        Any metric of `scipy.spatial.distance.cdist`, a function of two rows, or "precomputed": X then holds
        dissimilarities, as a square matrix or a condensed vector.
    correction : {None, "cailliez", "lingoes"}
        Add the smallest constant that makes the distances Euclidean: to the distances (Cailliez), or twice it to their
        squares (Lingoes).
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; distances over the columns both rows have, scaled up; or the expected
        distance under a Gaussian model of the rows, which keeps a row of which little is known from being drawn close
        to everything. For Euclidean distances, at fit and for new rows.
        Under "expected" an incomplete fitted row given to `transform` counts as another row with the same cells;
        with v the variance of its missing ones it comes out at (1 - v / eigenvalue) times its place on each axis.
    random_state : int, generator or None
        Start of the iterative eigensolver.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates, centred.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of B of the axes kept.
    goodness_of_fit_ : tuple of two floats
        Sum of the kept eigenvalues over the sum of all magnitudes, and over the sum of the positive ones.
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
        "metric": params.text() | params.function(),
        "correction": params.none() | params.one_of("cailliez", "lingoes"),
        "missing": params.one_of(*POLICIES),
        "random_state": params.seed(),
        "n_jobs": params.jobs(),
    }
    _sparse_rows = True
    _hole_policies = tuple(METRICS)
    _ways_out = "metric='euclidean' on rows needs no n x n matrix; or fit on a sample and transform the rest."

    def __init__(
        self, n_components=2, *, metric="euclidean", correction=None, missing="error", random_state=None, n_jobs=None
    ):
        self.n_components = n_components
        self.metric = metric
        self.correction = correction
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _takes_nan(self) -> bool:
        return self.missing != "error"

    def _embed(self, X: Any) -> np.ndarray:
        self.correction_ = 0.0
        if self._euclidean():
            return self._embed_rows(X)
        D = X if self._precomputed() else pairwise(X, metric=self._distance())
        if self.correction is not None:
            self.correction_ = additive_constant(D, self.correction, owner="ClassicalMDS")
            D = shift_distances(D, self.correction_, self.correction)
        B, means = inner_products(D)
        spectrum = all_eigenvalues(B, owner="ClassicalMDS")
        pairs = eigenpairs(B, min(self.n_components, len(B)), rng=generator(self.random_state), owner="ClassicalMDS")
        pairs = positive_part(pairs, self.n_components, owner="ClassicalMDS")
        self._report(pairs.values, spectrum)
        self._rows = self._own_rows(X)
        self._extension: Linear | Nystrom = Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)
        return pairs.vectors * np.sqrt(pairs.values)

    def _euclidean(self) -> bool:
        return self.missing == "error" and check_metric(self.metric, "ClassicalMDS") == "euclidean"

    def _embed_rows(self, X: Any) -> np.ndarray:
        """Euclidean distances: B = Xc Xc', so the singular vectors of the rows give everything."""
        mean, variance = mean_and_variance(X)
        center, rows = (mean, X) if sparse.issparse(X) else (None, X - mean.astype(X.dtype))
        most, rng = min(self.n_components, *X.shape), generator(self.random_state)
        found = svd(rows, most, center=center, rng=rng, owner="ClassicalMDS")
        total = float(variance.sum()) * X.shape[0]
        pairs = Eigenpairs(found.values**2, found.Vt.T, found.residuals, found.solver)
        pairs = positive_part(pairs, self.n_components, total=total, owner="ClassicalMDS")
        self._report(pairs.values, np.array([total]))
        self._rows, place = self._own_rows(X), Linear(mean, None, pairs.vectors)
        self._extension = place
        return place(X)

    def _report(self, kept: np.ndarray, spectrum: np.ndarray) -> None:
        """Goodness of fit, and a word about negative eigenvalues where they matter."""
        positive, negative = spectrum[spectrum > 0].sum(), np.abs(spectrum[spectrum < 0]).sum()
        magnitude = positive + negative
        self.eigenvalues_ = kept
        self.goodness_of_fit_ = (
            float(kept.sum() / magnitude) if magnitude > 0 else 1.0,
            float(kept.sum() / positive) if positive > 0 else 1.0,
        )
        self.negative_share_ = float(negative / magnitude) if magnitude > 0 else 0.0
        if self.negative_share_ > 1e-6:
            warn(
                f"ClassicalMDS: the distances are not Euclidean; negative eigenvalues make up "
                f"{self.negative_share_:.2g} of the spectrum and are left out. correction='cailliez' or 'lingoes' "
                "makes them Euclidean.",
            )

    def _extend(self, X: Any) -> np.ndarray:
        if isinstance(self._extension, Linear):
            return self._extension(X)
        D = X if self._precomputed() else pairwise(X, self._rows, metric=self._distance())
        if self.correction is not None:
            D = shift_new_distances(D, self.correction_, self.correction)
        return self._extension(-0.5 * np.square(D, dtype=np.float64))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        if self._euclidean():
            table = n * d * itemsize if stored is None else 12 * stored
            width = min(n, d, 3 * (self.n_components + 30))
            return {"rows": 3 * table, "singular vectors": 3 * (n + d) * width * 8}
        parts = {"rows": n * d * itemsize, "distances": n * n * itemsize, "inner products": 3 * n * n * 8}
        return parts | ({"corrected distances": 2 * n * n * 8} if self.correction is not None else {})

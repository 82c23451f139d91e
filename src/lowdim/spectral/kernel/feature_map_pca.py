"""Nonlinear PCA through an explicit feature map."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear, centred
from lowdim._core.incomplete.kernels import Beliefs, KernelHoles
from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import mean_and_variance, svd
from lowdim.spectral.kernel._expected_features import expected_polynomials, mean_over_points, polynomial_features

_LARGEST, _SMALLEST = 1e150, 1e-150  # features whose squares are within the range of float64


class FeatureMapPCA(Reducer):
    """Nonlinear PCA: principal components of explicit features phi(x) of every row.

    The components are those of KernelPCA with k(x, y) = phi(x)'phi(y), and here they are explicit: with component w and
    offset b, w'phi(x) + b = score. Where a score hardly varies this is an equation that the rows satisfy. Points of a
    conic a x1² + b x1 x2 + c x2² + d = 0 lie on a plane after phi(x) = (x1², sqrt(2) x1 x2, x2²): their last component
    is (a, b/sqrt(2), c) up to a factor, its offset d times the same factor.

    Parameters
    ----------
    n_components : int or None
        Number of components; None keeps all min(rows, features) of them, those without variance too.
    feature_map : "polynomial" or callable
        "polynomial": all products of `degree` columns, or of up to `degree` where `coef0` is positive, weighted such
        that phi(x)'phi(y) = (x'y + coef0)^degree. A callable takes a block of rows and returns a table with as many.
    degree : int
        Of the polynomial.
    coef0 : float
        At least 0; weighs the products of fewer columns.
    missing : {"error", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; or the expected features of the row under a Gaussian
        model of the rows, given its observed cells: in closed form for polynomials, for a callable the mean over eight
        points.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the iterative solver, for wide tables of features.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the fitted rows.
    components_ : ndarray of shape (n_components, n_features_mapped_)
        Unit directions among the features; ``mean_ + Z @ components_`` are the features of scores Z.
    mean_ : ndarray of shape (n_features_mapped_,)
        Mean of the features.
    offsets_ : ndarray of shape (n_components,)
        -components_ @ mean_.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix: squared singular values of the centred features.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        eigenvalues_ / (n_samples - 1), and as shares of the variance of all features.
    n_features_mapped_ : int
        Number of features.
    feature_space_error_ : float
        Sum of squared errors of the features over all fitted rows: the sum of the eigenvalues left out.
    reconstruction_error_ : float
        The same number under its older name. It is an error of the features, not of the cells of X as in other
        estimators.

    References
    ----------
    Schölkopf, Smola and Müller, Nonlinear component analysis as a kernel eigenvalue problem, 1998. Vidal, Ma and
    Sastry, Generalized principal component analysis, 2005.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> t = np.linspace(0, 6, 50)
    >>> X = np.column_stack([2 * np.cos(t), np.sin(t)])  # x1² + 4 x2² - 4 = 0
    >>> model = lowdim.FeatureMapPCA(None, degree=2, coef0=0).fit(X)
    >>> equation = np.append(model.components_[-1], model.offsets_[-1])
    >>> (equation / equation[0]).round(6) + 0.0
    array([ 1.,  0.,  4., -4.])
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "feature_map": params.one_of("polynomial") | params.function(),
        "degree": params.whole(1),
        "coef0": params.real(0),
        "missing": params.one_of("error", "expected"),
    }
    _hole_policies = ("expected",)
    _reads_holes = KernelHoles
    _ways_out = "KernelPCA(kernel='poly') finds the same components without the features."

    def __init__(
        self,
        n_components=2,
        *,
        feature_map="polynomial",
        degree=2,
        coef0=1.0,
        missing="error",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.feature_map = feature_map
        self.degree = degree
        self.coef0 = coef0
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: np.ndarray) -> np.ndarray:
        F = self._features(X)
        self._check_size(F, X)
        self.n_features_mapped_ = F.shape[1]
        self.mean_, variance = mean_and_variance(F)
        total = float(variance.sum()) * len(F)

        found = svd(centred(F, self.mean_), self._wanted(min(F.shape)), rng=generator(self.random_state), owner=_OWNER)
        self.components_ = found.Vt
        self.offsets_ = -(found.Vt @ self.mean_)
        self.eigenvalues_ = found.values**2
        self._warn_of_flat_axes(total, max(F.shape) * float(np.finfo(F.dtype).eps))

        self.explained_variance_ = self.eigenvalues_ / (len(F) - 1)
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(len(found.values))
        self.feature_space_error_ = float(max(total - self.eigenvalues_.sum(), 0.0))
        self._rows = self._own_rows(X)
        return self._scores(F)

    def _wanted(self, most: int) -> int:
        if self.n_components is not None and self.n_components > most:
            warn(
                f"FeatureMapPCA: n_components={self.n_components} is more than min(rows, features) = {most}; "
                f"keeping {most}."
            )
        return most if self.n_components is None else min(self.n_components, most)

    def _warn_of_flat_axes(self, total: float, rounding: float) -> None:
        """Warn of axes without variance, unless all axes were asked for."""
        flat = int((self.eigenvalues_ <= rounding**2 * total).sum())
        if flat and self.n_components is not None:
            count = len(self.eigenvalues_)
            warn(f"FeatureMapPCA: {count - flat} of {count} axes have a positive eigenvalue; the others are constant.")

    @property
    def reconstruction_error_(self) -> float:
        return self.feature_space_error_

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return self._scores(self._features(X))

    def _scores(self, F: np.ndarray) -> np.ndarray:
        return Linear(self.mean_, None, self.components_.T)(F)

    def row_error(self, X: Any) -> np.ndarray:
        """Squared distance of the features of each row from the span of the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; large errors mark rows unlike the fitted ones.

        Returns
        -------
        error : ndarray of shape (n_samples,)
            Over the fitted rows they add up to `feature_space_error_`.
        """
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        parts = []
        for rows in threads.blocks(len(X), self._block_rows):
            F = self._features(X[rows])
            left = centred(F, self.mean_) - self._scores(F) @ self.components_.astype(F.dtype)
            parts.append(np.einsum("ij,ij->i", left, left, dtype=np.float64))
        return np.concatenate(parts)

    # ---- the map --------------------------------------------------------------------------------------------

    def _features(self, X: np.ndarray) -> np.ndarray:
        """phi of every row, computed in blocks."""
        first = self._mapped(X[: self._block_rows])
        if len(first) == len(X):
            return first
        memory.check(_OWNER, self._feature_memory(len(X), first.shape[1], first.itemsize), self._ways_out)
        F = np.empty((len(X), first.shape[1]), dtype=first.dtype)

        def fill(rows: slice) -> None:
            F[rows] = first if rows.start == 0 else self._mapped(X[rows])

        threads.map_rows(fill, len(X), self._block_rows, self.n_jobs if self.feature_map == "polynomial" else 1)
        return F

    def _mapped(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            F = self._phi(X) if self._holes is None else self._expected(X)
        largest = float(np.abs(F).max(initial=0.0))
        if not largest < _LARGEST:  # NaN as well
            hint = "Rescale the data, for example X / np.abs(X).max(), or change the map."
            raise ValueError(f"FeatureMapPCA: the features must be finite; got NaN or numbers too large. {hint}")
        return F

    @staticmethod
    def _check_size(F: np.ndarray, X: np.ndarray) -> None:
        """Products of small numbers vanish, and so does what is learned of them."""
        if (largest := float(np.abs(F).max(initial=0.0))) < _SMALLEST and X.any():
            raise ValueError(
                f"FeatureMapPCA: the features must reach {_SMALLEST:g}, as the squares of smaller ones are 0; got "
                f"{largest:.3g} at most. Rescale the data, for example X / np.abs(X).max()."
            )

    def _phi(self, X: np.ndarray) -> np.ndarray:
        """Features of complete rows."""
        return polynomial_features(X, self.degree, self.coef0) if self.feature_map == "polynomial" else self._called(X)

    def _expected(self, table: np.ndarray) -> np.ndarray:
        """Expected features of rows of which some cells are missing."""
        rows = Beliefs.of(table, self._holes)
        if self.feature_map == "polynomial":
            return expected_polynomials(rows, self.degree, self.coef0).astype(table.dtype)
        return mean_over_points(rows, self._called).astype(table.dtype)

    def _called(self, X: np.ndarray) -> np.ndarray:
        F = np.asarray(self.feature_map(X.copy()))
        count = getattr(self, "n_features_mapped_", None)
        if F.ndim != 2 or len(F) != len(X) or F.shape[1] != (count or F.shape[1]) or F.dtype.kind not in "biuf":
            wanted = f"{len(X)} rows of " + ("at least one number" if count is None else f"{count} numbers")
            raise ValueError(
                f"FeatureMapPCA: feature_map must return {wanted} here; got {F.dtype} values of shape {F.shape}."
            )
        return F.astype(X.dtype)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return {"rows": n * d * itemsize} | self._feature_memory(n, self._count(d), itemsize)

    def _count(self, d: int) -> int:
        """Number of features; that of a callable is not known before it is called, and taken to be d."""
        if self.feature_map != "polynomial":
            return d
        return comb(d + self.degree - (self.coef0 == 0), self.degree)

    def _feature_memory(self, n: int, count: int, itemsize: int) -> dict[str, int]:
        small = min(n, count)
        k = small if self.n_components is None else min(self.n_components, small)
        return {"features": 2 * n * count * itemsize, "components": 2 * (n + count) * k * 8}


_OWNER = "FeatureMapPCA"

"""Whitening: uncorrelated columns of unit variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import Linear
from lowdim._core.incomplete.moments import JointGaussian, completed, expected_moments
from lowdim._core.incomplete.moments import needs as incomplete_needs
from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments
from lowdim.linear._decompose import Rows, Spectrum, decompose, decompose_moments, pick_solver, refined
from lowdim.linear.in_blocks import many_passes, triangles
from lowdim.linear.in_blocks.sums import stream_of_rows


class Whitening(Reducer):
    """Whitening: a linear map after which the columns are uncorrelated and have unit variance.

    With the covariance C = V diag(l) V', z = diag(l)^-1/2 V'(x - mean) (kind "pca": principal scores, each scaled to
    one) or z = V diag(l)^-1/2 V'(x - mean) (kind "zca"), which rotates back afterwards: of all whitening maps the one
    that changes the rows least, so that each column still stands for the same variable or pixel.

    Parameters
    ----------
    n_components : int or None
        Principal axes to keep, the largest first. None: all that vary. Kind "pca" gives as many columns, kind "zca"
        always all columns, of this rank.
    kind : {"pca", "zca"}
        Principal scores scaled to unit variance, or those rotated back to the columns.
    ridge : float
        Added to the eigenvalues before the root is taken, so that noise along axes of tiny variance is not amplified to
        unit variance. Without it, axes without variance are left out.
    ddof : {0, 1}
        The divisor of the covariance is n - ddof.
    missing : {"error", "em"}
        Missing cells (NaN), at fit and in new rows: an error; or mean and covariance by EM under a normal distribution
        of the rows, and each row at its conditional mean given its observed cells.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    whitening_ : ndarray of shape (n_features, n_columns)
        The map: z = (x - mean_) whitening_.
    coloring_ : ndarray of shape (n_columns, n_features)
        The inverse map, x = mean_ + z coloring_: exact where all axes are kept.
    mean_ : ndarray of shape (n_features,)
        What is subtracted.
    eigenvalues_ : ndarray of shape (n_components_,)
        Variances along the principal axes kept.
    n_components_ : int
        Number of principal axes kept.

    References
    ----------
    Bell and Sejnowski, The independent components of natural scenes are edge filters, 1997. Kessy, Lewin and
    Strimmer, Optimal whitening and decorrelation, 2018.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> Z = lowdim.Whitening(kind="zca").fit_transform(X)
    >>> bool(np.allclose(np.cov(Z.T), np.eye(3)))
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "kind": params.one_of("pca", "zca"),
        "ridge": params.real(0),
        "ddof": params.whole(0, 1),
        "missing": params.one_of("error", "em"),
    }
    _hole_policies = ("em",)
    _sparse_rows = True
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = "Fit on an iterator of batches, or reduce the columns with PCA(whiten=True) first."

    def __init__(self, n_components=None, *, kind="pca", ridge=0.0, ddof=1, missing="error", n_jobs=None):
        self.n_components = n_components
        self.kind = kind
        self.ridge = ridge
        self.ddof = ddof
        self.missing = missing
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> None:
        n, d = X.shape
        if self._incomplete:
            self._keep_incomplete(X, None, X.dtype)
            return
        if sparse.issparse(X):
            rows = Rows.of(X, None, scale=False, ddof=self.ddof)
            self._keep(decompose_moments(rows.moments(), d, scale=False, ddof=self.ddof, dtype=X.dtype))
            return
        solver = pick_solver(n, d, None, is_sparse=False)
        if solver == "covariance":
            moments = Moments.of(X, n_jobs=self.n_jobs)
            found = decompose_moments(moments, d, scale=False, ddof=self.ddof, dtype=X.dtype)
        else:
            rows = Rows.of(X, None, scale=False, ddof=self.ddof)
            found = decompose(rows, min(n, d), solver, 1e-8, 1, generator(0))
        wanted = min(n, d) if self.n_components is None else int(self.n_components)
        self._keep(refined(found, wanted, min(n, d), X, None))
        if self._takes_nan:
            self._holes = JointGaussian.of_moments((Moments.of(X, n_jobs=self.n_jobs),))

    def partial_fit(self, X: Any, y: Any = None) -> Whitening:
        """Fit to one more batch: the same numbers as one fit to all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; they are not kept, only sums over them.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : Whitening
            The model fitted to all batches so far.
        """
        self._fit_further(X, X)
        return self

    def _embed_batches(self, batches: Any) -> None:
        """From the covariance; of many columns, for a given number of axes, by passes that need none.

        With `missing="em"` the covariance is the model of incomplete rows too.
        """
        if batches.rereadable and self._in_many_passes(batches.width):
            self.n_features_in_ = batches.width
            settings: dict[str, Any] = {"scale": False, "ddof": self.ddof, "tol": 1e-10}
            found = many_passes.decompose(
                batches, self.n_components, self._min_rows, rng=generator(0), owner="Whitening", **settings
            )
            self._keep(found)
            return
        settings = {"policies": self._hole_policies, "nan": self._takes_nan}
        moments, dtype = stream_of_rows(batches, "Whitening", self._min_rows, self.n_jobs, **settings)
        if isinstance(moments, ByPattern):
            X, weights = moments.table()
            self.n_features_in_ = X.shape[1]
            self._keep_incomplete(X, weights, dtype)
            return
        d = self.n_features_in_ = len(moments.mean)
        found = decompose_moments(moments, d, scale=False, ddof=self.ddof, dtype=dtype)
        self._keep(triangles.refined(found, self.n_components or d, d, batches, dtype, "Whitening"))
        if self._takes_nan:
            self._holes = JointGaussian.of_moments((moments,))

    def _takes_one_pass(self) -> bool:
        return True

    def _in_many_passes(self, d: int) -> bool:
        return bool(d > many_passes.WIDE and self.n_components is not None and self.missing == "error")

    def _keep_incomplete(self, X: np.ndarray, weights: np.ndarray | None, dtype: Any) -> None:
        found = expected_moments(X, None, weights, owner="Whitening", n_jobs=self.n_jobs)
        self._keep(decompose_moments(found.parts[0], X.shape[1], scale=False, ddof=self.ddof, dtype=dtype))
        self._holes = found.model

    def _keep(self, found: Spectrum) -> None:
        values, V = found.variances, found.loadings.T
        if values[0] <= 0:
            raise ValueError("Whitening: X must vary; all rows are equal.")
        rank = int((values[: found.most] > found.rank_tolerance * values[0]).sum())
        r = self.n_components_ = self._wanted(rank, V.shape[0])
        self.mean_, self.eigenvalues_ = found.mean, values[:r]
        root = np.sqrt(values[:r] + self.ridge)
        self.whitening_, self.coloring_ = V[:, :r] / root, (V[:, :r] * root).T
        if self.kind == "zca":
            self.whitening_, self.coloring_ = self.whitening_ @ V[:, :r].T, V[:, :r] @ self.coloring_
        self._n_features_out = self.whitening_.shape[1]

    def _wanted(self, rank: int, d: int) -> int:
        wanted = d if self.n_components is None else int(self.n_components)
        if wanted > rank:
            warn(
                f"Whitening: the rows vary in {rank} directions, and the others cannot be scaled to unit variance; "
                f"keeping {rank} of {wanted}."
            )
        return min(wanted, rank)

    def _extend(self, X: Any) -> np.ndarray:
        return Linear(self.mean_, None, self.whitening_)(completed(X, self._holes))

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return self.mean_ + Z @ self.coloring_

    def _needs(self, X: Any) -> dict[str, int]:
        return incomplete_needs(*X.shape) if self._has_missing_cells(X) else super()._needs(X)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        if stored is not None:
            return {"sums": 3 * d * d * 8, "eigenproblem": 7 * d * d * 8, "rows": 24 * stored}
        if pick_solver(n, d, None, is_sparse=False) == "covariance":
            return {"sums": 2 * d * d * 8, "eigenproblem": 5 * d * d * 8, "blocks": min(n * d * itemsize, 2**23)}
        return {"centred rows": 3 * n * d * 8, "singular vectors": 3 * (n + d) * min(n, d) * 8}

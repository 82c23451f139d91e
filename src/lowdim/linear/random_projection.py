"""Random projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.linear.in_blocks.sums import rows_of
from lowdim.linear.low_rank import pseudo_inverse


@dataclass(frozen=True, eq=False)
class _Means:
    """How many rows, and their sums."""

    weight: float
    total: np.ndarray

    def __add__(self, other: _Means) -> _Means:
        if len(other.total) != len(self.total):
            raise ValueError(
                f"RandomProjection: every batch of X must have {len(self.total)} columns; got {len(other.total)}."
            )
        return _Means(self.weight + other.weight, self.total + other.total)


def _means(batch: Any) -> _Means:
    if sparse.issparse(batch):
        rows: Any = sparse.csr_array(batch)
        rows_of(rows.data[:, None] if rows.nnz else np.zeros((1, 1)), "RandomProjection", None)
        return _Means(rows.shape[0], np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel())
    rows = rows_of(batch, "RandomProjection", None)
    return _Means(len(rows), rows.sum(axis=0, dtype=np.float64))


class RandomProjection(Reducer):
    """Random projection: a random linear map, which nearly keeps distances between rows if it has enough components.

    z = R x with independent entries of R of mean 0 and variance 1 / k, so that a squared distance is right on average.
    After Johnson and Lindenstrauss, k >= 4 log(n) / (eps^2 / 2 - eps^3 / 3) components keep all squared distances
    between n rows up to a factor 1 -+ eps with a good chance, however many columns there are. It looks at no row: what
    few components show is random.

    Parameters
    ----------
    n_components : int or "auto"
        Number of components k. "auto": the smallest k of the formula above, for the number of fitted rows and `eps`.
    kind : {"gaussian", "sparse"}
        Normal entries; or entries that are 0 except for a share `density`, which are -+ 1 / sqrt(density k): faster,
        and needs less memory.
    eps : float
        Largest relative error of squared distances that ``n_components="auto"`` allows.
    density : float or "auto"
        Share of the entries of kind "sparse" that are not 0; "auto": 1 / sqrt(n_features) (Li, Hastie and Church), and
        1/3 is Achlioptas' choice.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components_, n_features)
        The matrix R.
    mean_ : ndarray of shape (n_features,)
        Mean of the fitted rows. The projection does not subtract it; the inverse transform is exact there.
    n_components_ : int
        Number of components.

    Notes
    -----
    The inverse transform is mean_ + R^+ (z - R mean_), with the pseudo-inverse R^+: of all rows with these coordinates
    the one nearest to the mean.

    References
    ----------
    Johnson and Lindenstrauss, Extensions of Lipschitz mappings into a Hilbert space, 1984. Achlioptas,
    Database-friendly random projections, 2003. Li, Hastie and Church, Very sparse random projections, 2006.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 5000))
    >>> model = lowdim.RandomProjection("auto", eps=0.3, random_state=0).fit(X)
    >>> model.n_components_, model.transform(X).shape
    (511, (100, 511))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.one_of("auto"),
        "kind": params.one_of("gaussian", "sparse"),
        "eps": params.real(0, 1, open_low=True, open_high=True),
        "density": params.real(0, 1, open_low=True) | params.one_of("auto"),
    }
    _sparse_rows = True
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = 'Use kind="sparse" or fewer components.'

    def __init__(self, n_components=2, *, kind="gaussian", eps=0.1, density="auto", random_state=None, n_jobs=None):
        self.n_components = n_components
        self.kind = kind
        self.eps = eps
        self.density = density
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> None:
        self._draw(*X.shape)
        self.mean_ = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()

    def _draw(self, n: int, d: int) -> None:
        """The random axes for n rows of d columns."""
        from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

        k = self.n_components_ = self._n_features_out = self._wanted(n, d)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        if self.kind == "gaussian":
            drawn = GaussianRandomProjection(k, random_state=seed)
        else:
            drawn = SparseRandomProjection(k, density=self.density, random_state=seed)
        self.components_ = drawn.fit(sparse.csr_array((2, d))).components_  # it looks at the shape alone

    def _embed_batches(self, batches: Any) -> None:
        found = batches.gather(_means)
        if found is None or found.weight < self._min_rows:
            raise ValueError(f"RandomProjection: the batches must hold at least {self._min_rows} rows together.")
        self.n_features_in_ = d = len(found.total)
        n = int(found.weight)
        self._draw(n, d)
        self.mean_ = found.total / n

    def _wanted(self, n: int, d: int) -> int:
        if self.n_components != "auto":
            if self.n_components > d:
                warn(f"RandomProjection: n_components={self.n_components} is more than the {d} columns; keeping {d}.")
            return min(int(self.n_components), d)
        needed = self._needed(n)
        if needed > d:
            raise ValueError(
                f"RandomProjection: n_components='auto' must have at least {needed} columns to choose from, as many as "
                f"eps={self.eps:g} needs for {n} rows; got {d}. Raise eps, or give n_components."
            )
        return needed

    def _needed(self, n: int) -> int:
        from sklearn.random_projection import johnson_lindenstrauss_min_dim

        return int(johnson_lindenstrauss_min_dim(n, eps=self.eps))

    def _extend(self, X: Any) -> np.ndarray:
        R = self.components_.astype(X.dtype, copy=False)
        Z = X @ R.T
        return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return self.mean_ + (Z - self.components_ @ self.mean_) @ pseudo_inverse(self.components_).T

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        k = min(self._needed(n) if self.n_components == "auto" else int(self.n_components), d)
        share = 1.0
        if self.kind == "sparse":
            share = min(1.0, 2.0 * (d**-0.5 if self.density == "auto" else self.density))
        return {"projection": 8 * int(k * d * share)}  # rows are projected by `transform`

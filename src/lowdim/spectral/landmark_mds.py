"""Landmark multidimensional scaling: classical scaling of landmarks; other rows from their distances to these."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_dissimilarities, pairwise
from lowdim._core.distances.labelled import labelled
from lowdim._core.extend import Linear, Nystrom
from lowdim._core.iterate import Progress
from lowdim._core.landmarks.choose import LANDMARK_METHODS, choose
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.marks_blocks import MarksBlocks
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.scaling.additive import additive_constant, shift_distances, shift_new_distances
from lowdim._core.scaling.classical import Scaled, scale_distances, scale_rows, warn_of_negative
from lowdim._core.tables.arrays import FLOATS
from lowdim._core.validate import Accepts, check_new_distances

_CELLS = 2**17  # distances in a block of one thread, which stays in the cache
_WIDER = 25.0  # variance of all rows along an axis over that of the landmarks, from which on a warning is issued


class LandmarkMDS(MarksBlocks, JudgedMap, Reducer):
    """Landmark MDS: classical scaling for a million rows and any distance.

    The landmarks, a few rows, are embedded by classical scaling of the distances among them: eigenvalues l and vectors
    v of -1/2 H D² H. The coordinates of every other row follow from its squared distances d² to the landmarks by
    Gower's formula, z = -1/2 l^-1/2 v' (d² - mean column of D²). With all rows as landmarks this is `ClassicalMDS`. The
    distances of all rows to the landmarks are never in memory at once. For Euclidean distances the formula is a
    projection onto the principal axes of the landmarks, and is computed as such.

    The axes are those of the landmarks; PCA of the embedding rotates them to the axes of all rows, the optional last
    step of the paper.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding. One more landmark than that is enough for rows of exactly that dimension; noisy
        rows need more.
    n_landmarks : int
        Number of landmarks; more are more accurate. All rows where there are fewer.
    landmarks : {"random", "farthest", "kmeans++"} or array of int
        Which rows: drawn at random; each the farthest from those before, which covers the data but prefers outliers;
        or between the two. The last two take a pass over the rows for each landmark. An array gives row numbers.
    correction : {None, "cailliez", "lingoes"}
        Add the smallest constant that makes the distances among landmarks Euclidean: to the distances (Cailliez), or
        twice it to their squares (Lingoes).
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. Names are those of `scipy.spatial.distance.cdist`; distances are a square
        table or a condensed vector; or, with `landmarks` given by number, the distances of all rows to these alone, one
        column for each.
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; distances over the columns that both rows have, scaled
        up; or the expected distance under a Gaussian model of the rows, so that a row with few known cells is not close
        to everything. Euclidean distances only; "pairwise" also Gower's.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the choice of landmarks and the start of the eigensolver.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates; the landmarks are centred.
    landmarks_ : ndarray of int
        Row numbers of the landmarks.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the axes kept, among the landmarks.
    goodness_of_fit_ : tuple of two floats
        Among the landmarks: sum of the kept eigenvalues over the sum of all magnitudes, and over that of the positive.
    negative_share_ : float
        Sum of the magnitudes of negative eigenvalues over the sum of all magnitudes; 0 for Euclidean distances.
    correction_ : float
        The constant that was added.

    References
    ----------
    de Silva and Tenenbaum, Sparse multidimensional scaling using landmark points, 2004. Gower, Adding a point to vector
    diagrams, 1968.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(2000, random_state=0).X
    >>> model = lowdim.LandmarkMDS(n_components=2, n_landmarks=50, metric="manhattan", correction="lingoes").fit(X)
    >>> model.embedding_.shape, model.landmarks_.shape
    ((2000, 2), (50,))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_landmarks": params.whole(2),
        "landmarks": params.one_of(*LANDMARK_METHODS) | params.Rule("row numbers", lambda v: np.ndim(v) == 1),
        "correction": params.none() | params.one_of("cailliez", "lingoes"),
    }
    _sparse_rows = True
    _block_rows = 2**16
    _crowding_advice = "Drop these, or take logarithms or ranks of columns with long tails."
    _ways_out = "Use fewer landmarks, or fit on a sample and transform the rest."

    def __init__(
        self,
        n_components=2,
        *,
        n_landmarks=500,
        landmarks="random",
        correction=None,
        metric="euclidean",
        metric_params=None,
        missing="error",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.correction = correction
        self.metric = metric
        self.metric_params = metric_params
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        rng = generator(self.random_state)
        self.landmarks_ = self._choose(X, rng)
        self._square = X.shape[0] == X.shape[1]  # of given distances: to all rows, not to the landmarks alone
        found = self._scale(X, rng)
        self._extension: Linear | Nystrom = found.place
        self._rows = self._own_rows(X)
        self.eigenvalues_, self.goodness_of_fit_ = found.values, found.goodness
        self.negative_share_ = found.negative_share
        warn_of_negative(found.negative_share, "LandmarkMDS")

        Z = np.concatenate([self._extend(X[rows]) for rows in threads.blocks(X.shape[0], self._block_rows)])
        self._warn_of_flat_landmarks(Z)
        return Z

    def _scale(self, X: Any, rng: np.random.Generator) -> Scaled:
        """Classical scaling of the landmarks."""
        few = X[self.landmarks_]
        settings: dict[str, Any] = {"rng": rng, "owner": "LandmarkMDS", "quiet": len(self.landmarks_) < X.shape[0]}
        self.correction_ = 0.0
        if self._euclidean():
            return scale_rows(few, self.n_components, **settings)
        D = few[:, self._columns(X)] if self._precomputed() else self._measured(few)
        if self.correction is not None:
            self.correction_ = additive_constant(D, self.correction, owner="LandmarkMDS")
            D = shift_distances(D, self.correction_, self.correction)
        return scale_distances(D, self.n_components, **settings)

    def _extend(self, X: Any) -> np.ndarray:
        place = self._extension
        if isinstance(place, Linear):
            return place(X)
        block = max(32, _CELLS // len(self.landmarks_))
        few = None if self._precomputed() else self._rows[self.landmarks_]
        with Progress("LandmarkMDS: blocks of rows", None, self.verbose) as progress:
            parts = threads.map_rows(
                lambda rows: place(self._similarities(X[rows], few), overwrite=True),
                X.shape[0],
                block,
                self.n_jobs,
                progress,
            )
        return np.concatenate(parts)

    def _similarities(self, X: Any, few: Any) -> np.ndarray:
        """-1/2 of the squared distances to the landmarks, in an array of its own."""
        D = X[:, self._columns(X)] if few is None else self._measured(X, few)
        if self.correction is not None:
            D = shift_new_distances(D, self.correction_, self.correction)
        # In place where D is our own: allocation costs more than the computation.
        S = np.square(D, out=D if few is not None and D.dtype == np.float64 else None, dtype=np.float64)
        S *= -0.5
        return S

    def _measured(self, X: Any, few: Any = None) -> np.ndarray:
        return pairwise(X, few, metric=self._distance(), owner="LandmarkMDS")

    def _columns(self, X: Any) -> Any:
        """The columns of distances to the landmarks: all, or those of the landmarks among all rows."""
        alone = X.shape[1] == len(self.landmarks_) and not (self._square and X.shape[1] == self.n_features_in_)
        return slice(None) if alone else self.landmarks_

    def _items(self, X: Any, accepts: Accepts, fitting: bool) -> Any:
        """Distances to the landmarks alone are enough for new rows, also of a model fitted on all distances."""
        if fitting or sparse.issparse(X) or np.shape(X)[1:] != (len(self.landmarks_),) or not self._square:
            return super()._items(X, accepts, fitting)
        if self.n_features_in_ == len(self.landmarks_):  # all rows are landmarks
            return super()._items(X, accepts, fitting)
        names = getattr(self, "feature_names_in_", None)
        values, _ = labelled(X, "LandmarkMDS", None if names is None else list(names[self.landmarks_]))
        return check_array(values, dtype=FLOATS, ensure_all_finite=False)

    def _is_plain(self, X: Any, fitting: bool) -> bool:
        few = not fitting and self._precomputed() and getattr(X, "shape", ())[1:] == (len(self.landmarks_),)
        return (few and isinstance(X, np.ndarray) and X.dtype in FLOATS) or super()._is_plain(X, fitting)

    def _choose(self, X: Any, rng: np.random.Generator) -> np.ndarray:
        n = X.shape[0]
        if self._marked is not None:
            return np.asarray(self._marked.positions)
        if not isinstance(self.landmarks, str):
            return self._numbered(n)
        settings = {"method": self.landmarks, "metric": self._distance(), "rng": rng, "owner": "LandmarkMDS"}
        return np.sort(choose(X, self.n_landmarks, **settings)) if self.n_landmarks < n else np.arange(n)

    def _marks(self) -> tuple[int, str] | None:
        return (self.n_landmarks, self.landmarks) if isinstance(self.landmarks, str) else None

    def _sums_all(self) -> bool:
        return True  # the fit is that of the landmarks

    def _numbered(self, n: int) -> np.ndarray:
        """The row numbers that were given, in their order, which is that of the columns of a table of distances."""
        rows = np.asarray(self.landmarks)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) < 2 or len(set(rows.tolist())) < len(rows):
            raise ValueError(
                f"LandmarkMDS: landmarks must be at least 2 different row numbers; got {self.landmarks!r}."
            )
        if rows.min() < 0 or rows.max() >= n:
            raise ValueError(f"LandmarkMDS: landmarks must be row numbers from 0 to {n - 1}; got {rows.max()}.")
        return rows.astype(np.intp)

    def _check_distances(self, D: Any, accepts: Accepts) -> Any:
        """Square, or of all rows to the landmarks alone: among these it must be a table of dissimilarities."""
        if D.shape[0] == D.shape[1]:
            return super()._check_distances(D, accepts)
        if isinstance(self.landmarks, str) or len(self._numbered(D.shape[0])) != D.shape[1]:
            raise ValueError(
                "LandmarkMDS: the dissimilarities must be square, or landmarks must give the row number of the item "
                f"that each column belongs to; got shape {D.shape} and landmarks={self.landmarks!r}."
            )
        own = self._numbered(D.shape[0])
        among = check_dissimilarities(D[own], "LandmarkMDS")
        D = check_new_distances(D, accepts)
        if not np.array_equal(among, D[own]):
            D = D.copy()
            D[own] = among
        return D

    def _euclidean(self) -> bool:
        return self.missing == "error" and self._metric() == "euclidean"

    def _warn_of_flat_landmarks(self, Z: np.ndarray) -> None:
        """Axes along which the landmarks have little or no variance: coordinates there are inaccurate or 0."""
        m, n = len(self.landmarks_), len(Z)
        ways = "Use more landmarks, or landmarks='farthest'."
        flat = int((self.eigenvalues_ <= 0).sum())
        if flat and m < n:
            warn(
                f"LandmarkMDS: the landmarks span {len(self.eigenvalues_) - flat} dimensions; further axes are zero. "
                f"{ways}"
            )
        ratio = np.square(Z).mean(axis=0) * m / np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf)
        if m < n and ratio.max() > _WIDER:
            warn(
                f"LandmarkMDS: the landmarks have little extent along axis {int(ratio.argmax())}: the standard "
                f"deviation of all rows is {np.sqrt(ratio.max()):.1f} times theirs. Coordinates there are inaccurate. "
                f"{ways}"
            )

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = min(n, self.n_landmarks if isinstance(self.landmarks, str) else len(self.landmarks))
        table = n * d * itemsize if stored is None else 12 * stored
        wider = {"pairwise": 2 * table, "expected": table}.get(self.missing, 0)
        parts = {"rows": 0 if self._precomputed() else table + wider, "embedding": 3 * n * self.n_components * 8}
        if self._euclidean():
            return parts | {"landmarks": 4 * m * d * 8, "choice": 4 * n * 8}
        blocks = 4 * threads.n_threads(self.n_jobs) * max(32 * m, _CELLS) * 8
        return parts | {"landmarks": 3 * m * m * 8, "blocks of distances": blocks, "choice": 4 * n * 8}

"""Initialisation of a map: principal components, eigenvectors of the neighbour graph, given places, an earlier map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.graph import components, laplacian
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import eigenpairs, svd
from lowdim._core.tables.align import procrustes

ROUGH = (1e-3, 1e-6)  # residuals of the eigenvectors, relative to the norm; the second where eigenvalues are as small
SHARE = 0.1  # of the smallest eigenvalue that a residual may be
LEAST_WIDTH, MOST_WIDTH = 1e-3, 100.0  # of given coordinates, in units of the range of the forces
SPREAD = 1e-4  # standard deviation of the first axis: so small that distances in the map are set by the forces alone
WIDE = 10.0  # square roots of n: digits (600 rows, divergence .45) end at .68 from an `init` 24 of them wide
AGAIN = 0.1  # of the learning rate where a map goes on from an earlier one
INITS = ("pca", "spectral", "random")


def rule() -> params.Rule:
    """What `init` may be."""
    array = params.Rule("an array", lambda v: not _is_model(v) and np.ndim(v) == 2)
    return params.one_of(*INITS) | array | params.Rule("a fitted model", _is_model)


def _is_model(value: Any) -> bool:
    return hasattr(value, "get_params")


def computed(init: str, rows: Any, graph: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """Coordinates for "pca" or "spectral", of standard deviation `SPREAD`.

    Parameters
    ----------
    init : {"pca", "spectral"}
        Where only distances are known, "pca" is "spectral".
    rows : array, sparse matrix or None
        The rows, complete; None where only distances are known.
    graph : csr_array of shape (n, n)
        Affinities between rows.
    k : int
        Number of components.
    rng : Generator
        For the eigensolver.
    owner : str
        Who asks, for messages.

    Returns
    -------
    ndarray of shape (n, k)
    """
    return spectral(graph, k, rng, owner) if init == "spectral" or rows is None else principal(rows, k, owner)


def principal(X: Any, k: int, owner: str) -> np.ndarray:
    """The first k principal components; where the rank is smaller, further axes are powers of the first."""
    dense = not sparse.issparse(X)
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    with threads.single_blas():
        found = svd(X.astype(np.float64, copy=False) if dense else X, min(k, *X.shape), center=center, owner=owner)
    Z = found.U * found.values
    kept = found.values > 1e-10 * max(float(np.abs(center).max(initial=0.0)) * np.sqrt(X.shape[0]), found.values[0])
    if 0 < kept.sum() < k:
        warn(
            f"{owner}: n_components={k} is more than the rank {kept.sum()} of the rows of X; the other axes of the map "
            "are initialised with powers of the first."
        )
    return scaled(with_powers(Z[:, kept], k))


def spectral(P: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """The eigenvectors L y = l D y of the Laplacian of the affinities with the smallest eigenvalues above 0."""
    L, degrees = laplacian(P)
    count, label = components(P)
    null = np.zeros((P.shape[0], count))
    null[np.arange(P.shape[0]), label] = 1.0
    most = min(k, P.shape[0] - count)
    if most < 1:
        return scaled(with_powers(null, k))
    found = _smallest(L, most, degrees, null, rng, owner)
    # Eigenvectors do not relate connected components to each other: the null space keeps them apart.
    Z = found if count == 1 else np.hstack([null[:, 1:] * np.abs(found).max(), found])[:, :k]
    return scaled(with_powers(Z, k))


def _smallest(L: Any, k: int, degrees: np.ndarray, null: np.ndarray, rng: Any, owner: str) -> np.ndarray:
    """Eigenvectors to a few digits: that is enough for an initialisation."""
    problem: Any = {"which": "smallest", "mass": degrees, "skip": null, "semidefinite": True}
    for tol in ROUGH:
        found = eigenpairs(L, k, **problem, rng=rng, tol=tol, rough=True, owner=owner)
        if found.residuals.max() <= SHARE * found.values.min():
            break
    return found.vectors


def given(init: Any, n: int, k: int, owner: str, name: str = "init") -> np.ndarray:
    """Coordinates from the user, checked."""
    Z = np.asarray(init, dtype=np.float64)
    if Z.shape != (n, k) or not np.isfinite(Z).all():
        raise ValueError(f"{owner}: {name} must be {n} rows of {k} finite numbers; got shape {Z.shape}.")
    return Z


class FromEarlier:
    """A fit that can go on from an earlier map: rows that were there begin where they were, and stay near it."""

    row_names_: np.ndarray | None
    init: Any
    n_components: int
    _places: np.ndarray | None = None  # of the rows in the earlier map, during a fit; NaN for rows that are new

    def _fit_table(self, X: Any, **options: Any) -> Any:
        self.row_names_ = row_names(X)
        try:
            return super()._fit_table(X, **options)  # type: ignore[misc]
        finally:
            self.__dict__.pop("_places", None)

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[Any, np.dtype]:
        found: tuple[Any, np.dtype] = super()._check_rows(X, fitting=fitting)  # type: ignore[misc]
        if fitting:
            n, k, names = found[0].shape[0], self.n_components, self.__dict__.get("row_names_")
            self._places = earlier_places(self.init, names, n, k, type(self).__name__)
        return found

    @property
    def _pace(self) -> float:
        """A factor on the learning rate: rows of an earlier map hardly move."""
        return 1.0 if self._places is None else AGAIN

    def _started(self, W: Any, rows: np.ndarray, n: int, spread: float, size: float) -> np.ndarray | None:
        """Where some of n rows begin if places were given, in units of the spread; W are the weights between them."""
        if self._places is None and not isinstance(self.init, str):
            Z = given(self.init, n, self.n_components, type(self).__name__)[rows]
            return within_reach(Z / spread, size, type(self).__name__)
        places = None if self._places is None else self._places[rows] / spread
        return None if places is None or np.isnan(places[:, 0]).all() else filled(places, W)

    def _moved_back(self, Z: np.ndarray) -> np.ndarray:
        """The map, turned and shifted onto the earlier one, which changes no distance in it; a descent may turn it."""
        if self._places is None:
            return Z
        both = np.isfinite(self._places[:, 0]) & np.isfinite(Z[:, 0])
        if not both.any():
            return Z
        return procrustes(self._places[both], Z[both], scale=False, reflect=False).apply(Z)


def row_names(X: Any) -> np.ndarray | None:
    """The index of a pandas frame as text; None for other tables, and where the index only counts."""
    if not hasattr(X, "iloc") or not hasattr(X, "index"):
        return None
    names = [str(name) for name in X.index]
    return None if names == [str(i) for i in range(len(names))] else np.array(names, dtype=str)


def earlier_places(init: Any, names: np.ndarray | None, n: int, k: int, owner: str) -> np.ndarray | None:
    """Coordinates of rows in an earlier map (a fitted model, or a frame with row names); NaN for those not in it.

    Rows are the same where their names are. Where neither table has names, the first rows are those of the earlier one.
    """
    if _is_model(init):
        if not hasattr(init, "embedding_"):
            raise ValueError(
                f"{owner}: init must be a fitted model with a map; got {type(init).__name__}, which is not fitted. A "
                "clone is not: give the map as a data frame with row names where the model is cloned, as in searches."
            )
        Z, of = np.asarray(init.embedding_, dtype=np.float64), getattr(init, "row_names_", None)
    elif not isinstance(init, str) and (of := row_names(init)) is not None:
        Z = np.asarray(init, dtype=np.float64)
    else:
        return None
    if Z.ndim != 2 or Z.shape[1] != k:
        raise ValueError(f"{owner}: init must be a map of {k} columns, as n_components says; got shape {Z.shape}.")
    found = np.full((n, k), np.nan)
    if of is None or names is None:
        _check_order(of is None, names is None, len(Z), n, owner)
        found[: len(Z)] = Z
        return found
    for which, given in (("init", of), ("X", names)):
        if len(set(given)) < len(given):
            raise ValueError(f"{owner}: the row names of {which} must differ, as init= finds rows by them.")
    place = {name: i for i, name in enumerate(of)}
    at = np.array([place.get(name, -1) for name in names])
    if (at < 0).all():
        raise ValueError(
            f"{owner}: init is a map of {len(Z):,} other rows: none of its row names ({str(of[0])!r}, ...) is one of X "
            f"({str(names[0])!r}, ...)."
        )
    found[at >= 0] = Z[at[at >= 0]]
    return found


def _check_order(unnamed: bool, rows_unnamed: bool, n_earlier: int, n: int, owner: str) -> None:
    """Without names, rows can only be the same by their order."""
    if unnamed != rows_unnamed and n_earlier != n:
        which = "X" if unnamed else "init"
        raise ValueError(
            f"{owner}: init finds rows by their names, but only {which} has row names. Give both as pandas frames with "
            "an index, or both without."
        )
    if n_earlier > n:
        raise ValueError(
            f"{owner}: init is a map of {n_earlier:,} rows, and X has {n:,}. Where rows were removed, give both as "
            "pandas frames with an index, so that the others are found by name."
        )


def filled(Z: np.ndarray, W: Any) -> np.ndarray:
    """Rows without coordinates at the weighted mean of their neighbours that have some, wave by wave; the rest about
    the centre of the map."""
    Z, W = Z.copy(), sparse.csr_array(W.to_scipy() if hasattr(W, "to_scipy") else W)  # a graph on a GPU
    while (new := np.flatnonzero(np.isnan(Z[:, 0]))).size:
        known = np.flatnonzero(np.isfinite(Z[:, 0]))
        links = W[new][:, known]
        sums = np.asarray(links.sum(axis=1)).ravel()
        near = sums > 0
        if not near.any():
            rng = np.random.default_rng(0)  # the same for every seed
            Z[new] = Z[known].mean(axis=0) + Z[known].std(axis=0) * rng.standard_normal((len(new), Z.shape[1]))
            break
        Z[new[near]] = (links[near] @ Z[known]) / sums[near, None]
    return Z


def taken(init: Any, n: int, k: int, owner: str) -> np.ndarray:
    """Coordinates from the user to be used as they are.

    Maps are some square roots of n wide; in a far wider one forces vanish, and it would count as converged.
    """
    start = given(init, n, k, owner)
    if not np.ptp(start, axis=0).any():
        raise ValueError(
            f"{owner}: init must not have all points at the same coordinates: no force would separate them."
        )
    width = float(np.ptp(start, axis=0).max())
    if width > 100 + WIDE * np.sqrt(len(start)):
        warn(
            f"{owner}: init is {width:.2g} wide, far more than maps of {len(start)} rows are. Points this far apart "
            "exert no force on each other. Rescale it, such as init * (1e-4 / init[:, 0].std())."
        )
    return start


def within_reach(Z: np.ndarray, size: float, owner: str) -> np.ndarray:
    """Given coordinates, centred; rescaled where they are so wide or narrow that forces would hardly change them."""
    Z = Z - Z.mean(axis=0)
    width = float(np.ptp(Z, axis=0).max())
    if width == 0 or LEAST_WIDTH <= width <= MOST_WIDTH:
        return Z
    warn(
        f"{owner}: init is {width:.2g} times as wide as the spread, too wide or too narrow for the forces between "
        f"points; it was scaled to {2 * size:g}."
    )
    return Z * (2 * size / width)


def separated(Z: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Z, with a little noise where points coincide, since no force acts between them; `size` where all coincide."""
    if len(np.unique(Z[:, 0])) == len(Z) or len(np.unique(Z, axis=0)) == len(Z):
        return Z
    return Z + 1e-4 * (float(np.ptp(Z, axis=0).max()) or size) * rng.standard_normal(Z.shape)


def scaled(Z: np.ndarray) -> np.ndarray:
    """Centred, with a first axis of standard deviation `SPREAD`."""
    Z = Z - Z.mean(axis=0)
    deviation = Z[:, 0].std()
    return Z * (SPREAD / deviation) if deviation > 0 else np.zeros_like(Z)


def with_powers(Z: np.ndarray, k: int) -> np.ndarray:
    """Z with k columns: further ones are powers of the first, a tenth as wide, so that equal rows stay equal."""
    if not Z.shape[1]:
        return np.zeros((Z.shape[0], k))
    first = Z[:, 0] / max(float(np.abs(Z[:, 0]).max()), 1e-300)
    more = np.stack([first ** (2 + j) for j in range(k)], axis=1)
    more = (more - more.mean(axis=0)) * (0.1 * Z[:, 0].std() / np.maximum(more.std(axis=0), 1e-300))
    return np.hstack([Z, more])[:, :k]

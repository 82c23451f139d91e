"""Supervised UMAP: the fuzzy graph of the rows intersected with what a target says about them.

A target is a fuzzy graph of the same rows: labels put rows of different classes at the distance `FAR`, numbers have
nearest neighbours of their own. After the intersection, the weights of each row are scaled until its strongest
neighbour has the weight that it had before (local connectivity); of the two weights that an edge then has the larger
one is kept. So a neighbourhood about which the target says nothing stays as it is, to the last bit; the union
w + w' - ww', which umap-learn takes, would count the same edge twice.
McInnes, Healy and Melville, UMAP: uniform manifold approximation and projection for dimension reduction, 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import check_metric, pairwise, real_array
from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.manifold.random_walk import with_values
from lowdim._core.neighbors import nearest
from lowdim._core.runtime.notices import warn
from lowdim._core.tables.columns import as_cells, categories_of, code, raw_columns
from lowdim._core.tables.form import said_by
from lowdim.neighbor_embedding import _affinity, _fuzzy

# Distances between rows of different classes, and to a row without label, where the target has half of the weight; they
# are those of umap-learn. There FAR / 2 stays where the target has no weight; here both decrease to 0.
FAR, UNKNOWN = 5.0, 1.0
INFINITE = 1e12  # distance between classes where the target has all of the weight
UNLABELLED = -1
TINY = 1e-300  # weight of neighbours of the same class where theirs is 0 and all others' becomes 0
LEAST, MOST = 1e-8, 1e-4  # bounds of the weight of pairs that are neighbours in the rows or in the target alone


@dataclass(frozen=True)
class Settings:
    """How much a target counts, and what its neighbours are."""

    weight: float
    metric: Any
    n_neighbors: int
    n_jobs: int | None

    @property
    def odds(self) -> float:
        return self.weight / (1.0 - self.weight) if self.weight < 1 else INFINITE

    @property
    def unknown(self) -> float:
        """Distance to a row without target."""
        return UNKNOWN * min(self.odds, 1.0)


@dataclass(frozen=True, eq=False)
class Labels:
    """The class of each row as a number, `UNLABELLED` where it is not known."""

    codes: np.ndarray

    @classmethod
    def of(cls, y: Any, n: int) -> Labels:
        cells = as_cells(y)
        cells = cells[:, 0] if cells.ndim == 2 and cells.shape[1] == 1 else cells
        if cells.shape != (n,):
            raise ValueError(
                f"UMAP: y must hold one label for each of the {n} rows; got shape {cells.shape}. Several numbers for a "
                "row need another target_metric, such as 'euclidean'."
            )
        with said_by("UMAP"):
            column = raw_columns(cells[:, None])[0]
        return cls(_codes_of_numbers(column) if column.dtype.kind == "f" else _codes_of_objects(column))

    def picked(self, same: Distinct) -> Labels:
        """Of the distinct rows; equal rows whose labels differ have none."""
        known = self.codes != UNLABELLED
        low, high = np.full(len(same.first), np.iinfo(np.int64).max), np.full(len(same.first), UNLABELLED)
        np.minimum.at(low, same.kind[known], self.codes[known])
        np.maximum.at(high, same.kind[known], self.codes[known])
        return Labels(np.where(low == high, high, UNLABELLED))

    def intersection(self, W: sparse.csr_array, settings: Settings) -> sparse.csr_array:
        """Weights times exp(-distance of the labels), scaled in each row."""
        one, other = self.codes[_row_numbers(W)], self.codes[W.indices]
        far = min(FAR * settings.odds, INFINITE)
        gaps = np.where(one == other, 0.0, far)
        gaps[(one == UNLABELLED) | (other == UNLABELLED)] = settings.unknown
        # From the nearest label on, as all of a row may be too far for its exponential; equal ones give exactly 1.
        gaps -= np.repeat(_reduced(np.minimum, W, gaps), np.diff(W.indptr))
        found = W.data * np.exp(-gaps)
        lost = np.repeat(_reduced(np.maximum, W, found) == 0, np.diff(W.indptr))
        found[lost] = np.exp(-gaps[lost]) * np.maximum(W.data[lost], TINY)
        return _scaled_to(W, with_values(W, found))


@dataclass(frozen=True, eq=False)
class Numbers:
    """The target of each row: one number or several, NaN where it is not known."""

    values: np.ndarray

    @classmethod
    def of(cls, y: Any, n: int) -> Numbers:
        values = real_array(_numbers_of_objects(y), "UMAP: y").astype(np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != n or not values.shape[1]:
            raise ValueError(
                f"UMAP: y must hold a number, or several, for each of the {n} rows; got shape {np.shape(y)}."
            )
        if np.isinf(values).any():
            raise ValueError(
                f"UMAP: y must hold finite numbers, or NaN where the target is not known; "
                f"{int(np.isinf(values).any(axis=1).sum())} rows are infinite."
            )
        return cls(values)

    def picked(self, same: Distinct) -> Numbers:
        """Of the distinct rows; equal ones have the mean of those known."""
        if same.all:
            return self
        known = np.isfinite(self.values).all(axis=1)
        sums, counts = np.zeros((len(same.first), self.values.shape[1])), np.zeros((len(same.first), 1))
        np.add.at(sums, same.kind[known], self.values[known])
        np.add.at(counts, same.kind[known], 1.0)
        return Numbers(np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0))

    def intersection(self, W: sparse.csr_array, settings: Settings) -> sparse.csr_array:
        """Weights in the rows and in the target, one times a power of the other, scaled in each row.

        Those in the target follow from its distances, for neighbours in the rows too: among many equal targets, the
        nearest ones are arbitrary.
        """
        known = np.isfinite(self.values).all(axis=1)
        if known.sum() < 2:
            return W
        target = _TargetGraph.of(self.values, np.flatnonzero(known), settings)
        near, within = target.weights(self.values, W, settings.metric)
        least = float(np.clip(near.data.min(initial=1.0) / 2, LEAST, MOST))

        ends = known[_row_numbers(W)], known[W.indices]
        towards = np.where(ends[0], np.exp(-settings.unknown), 1.0)  # a row without target keeps its weights
        inside = mixed(W.data, np.maximum(within, least), settings.weight)
        inside = with_values(W, np.where(ends[0] & ends[1], inside, towards * W.data))
        beyond = _without(near, W)
        lowest = np.full(beyond.nnz, max(float(W.data.min(initial=1.0)) / 2, LEAST))
        beyond = with_values(beyond, mixed(lowest, beyond.data, settings.weight))
        return _scaled_to(W, sparse.csr_array(inside + beyond))


Target = Labels | Numbers


def read(y: Any, n: int, metric: Any) -> Target:
    """The target of n rows: labels, or numbers where `metric` measures them."""
    if isinstance(metric, str) and metric == "categorical":
        return Labels.of(y, n)
    try:
        known = check_metric(metric, "UMAP") != "precomputed"
    except ValueError:
        known = False
    if not known:
        raise ValueError(
            "UMAP: target_metric must be 'categorical', the name of a metric such as 'euclidean', or a function of two "
            f"targets; got {metric!r}."
        )
    return Numbers.of(y, n)


def supervised(W: sparse.csr_array, target: Target, settings: Settings) -> sparse.csr_array:
    """The symmetric weights of the rows, intersected with the target of the same rows; symmetric again."""
    found = target.intersection(W, settings)
    found = sparse.csr_array(found.maximum(found.T))
    found.eliminate_zeros()
    found.sort_indices()
    return found


def mixed(rows: np.ndarray, target: np.ndarray, weight: float) -> np.ndarray:
    """The intersection of two memberships: their product, the one of less weight raised to a power from 1 to 0."""
    if weight < 0.5:
        return np.asarray(rows * target ** (weight / (1.0 - weight)))
    return np.asarray(rows ** ((1.0 - weight) / weight) * target)


@dataclass(frozen=True, eq=False)
class _TargetGraph:
    """Memberships of the nearest targets, and by what reach and width (of each row) they follow from distances."""

    near: sparse.csr_array
    reaches: np.ndarray
    widths: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, known: np.ndarray, settings: Settings) -> _TargetGraph:
        n, k = len(values), min(settings.n_neighbors, len(known) - 1)
        found = nearest(values[known], k, metric=settings.metric, n_jobs=settings.n_jobs, owner="UMAP")
        scaled = _fuzzy.calibrated(_affinity.as_graph(found, len(known)), 1.0, settings.n_jobs)
        counts = np.zeros(n + 1, dtype=np.int64)
        counts[known + 1] = k
        ends = known[scaled.memberships.indices]
        near = sparse.csr_array((scaled.memberships.data, ends, np.cumsum(counts)), shape=(n, n))
        reaches, widths = np.zeros((2, n))
        reaches[known], widths[known] = scaled.reaches, scaled.widths
        return cls(near, reaches, widths)

    def weights(self, values: np.ndarray, W: sparse.csr_array, metric: Any) -> tuple[sparse.csr_array, np.ndarray]:
        """Weights of the neighbours in the target, and of the edges of W; both directions of an edge as their union."""
        i, lengths = _row_numbers(W), _lengths(np.nan_to_num(values), W, metric)
        one, other = self._membership(lengths, i), self._membership(lengths, W.indices)
        return _fuzzy.union(self.near, 1.0), one + other - one * other

    def _membership(self, lengths: np.ndarray, rows: np.ndarray) -> np.ndarray:
        gaps = lengths - self.reaches[rows]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(gaps > 0, np.exp(-gaps / self.widths[rows]), 1.0)


def _lengths(values: np.ndarray, W: sparse.csr_array, metric: Any) -> np.ndarray:
    """The distance of the targets at both ends of each edge."""
    if check_metric(metric, "UMAP") == "euclidean":
        return np.abs(np.hypot.reduce(values[_row_numbers(W)] - values[W.indices], axis=1))  # of any size
    parts = zip(W.indptr[:-1], W.indptr[1:], strict=True)
    rows = (pairwise(values[i : i + 1], values[W.indices[a:b]], metric)[0] for i, (a, b) in enumerate(parts))
    return np.concatenate(list(rows))


def _numbers_of_objects(y: Any) -> Any:
    """Objects such as None for a number that is not known become NaN; whatever else there is stays as it is."""
    cells = np.asarray(y)
    if cells.dtype.kind != "O" or cells.ndim not in (1, 2):
        return y
    with said_by("UMAP"):
        columns = raw_columns(cells if cells.ndim == 2 else cells[:, None])
    return np.stack(columns, axis=1) if all(column.dtype.kind == "f" for column in columns) else cells


# ---- labels -------------------------------------------------------------------------------------------------


def _codes_of_numbers(column: np.ndarray) -> np.ndarray:
    known = ~np.isnan(column) & (column != UNLABELLED)
    if np.isinf(column).any():
        raise ValueError("UMAP: y must hold labels, and NaN or -1 for rows without one; got an infinite one.")
    if (column[known] != np.round(column[known])).any():
        warn(
            "UMAP: y holds numbers that are not whole, each of which counts as a class of its own. For a numeric "
            "target set target_metric='euclidean'; to ignore y set target_weight=0."
        )
    classes, codes = np.unique(column[known], return_inverse=True)
    if classes.tolist() == [1.0] and (column == UNLABELLED).any():
        warn("UMAP: y holds 1 and -1 alone, and -1 means a row without label. If it is a class, use other labels.")
    found = np.full(len(column), UNLABELLED, dtype=np.int64)
    found[known] = codes
    return found


def _codes_of_objects(column: np.ndarray) -> np.ndarray:
    """Text and truth values; None and the number -1 are no labels."""
    labels = column.copy()
    labels[[not isinstance(value, (str, bool)) and value == UNLABELLED for value in column]] = None
    return np.nan_to_num(code(labels, categories_of(labels)), nan=UNLABELLED).astype(np.int64)


# ---- rows of weights ----------------------------------------------------------------------------------------


def _row_numbers(W: sparse.csr_array) -> np.ndarray:
    return np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))


def _reduced(how: np.ufunc, W: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """The least or largest value on the edges of each row; 0 where there is none."""
    found, filled = np.zeros(W.shape[0]), np.flatnonzero(np.diff(W.indptr))
    found[filled] = how.reduceat(values, W.indptr[filled]) if len(filled) else 0.0
    return found


def _scaled_to(W: sparse.csr_array, A: sparse.csr_array) -> sparse.csr_array:
    """A, each row scaled to the largest weight that it has in W."""
    before, after = _reduced(np.maximum, W, W.data), _reduced(np.maximum, A, A.data)
    factors = np.divide(before, after, out=np.ones_like(before), where=after > 0)
    return with_values(A, A.data * np.repeat(factors, np.diff(A.indptr)))


def _without(A: sparse.csr_array, W: sparse.csr_array) -> sparse.csr_array:
    """The entries of A where W has none."""
    rest = sparse.csr_array(A - A.multiply(with_values(W, np.ones(W.nnz))))
    rest.eliminate_zeros()
    return rest

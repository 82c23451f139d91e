"""Criteria for a kernel, computed from its matrix, so that one table of distances serves every width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.distances import pairwise
from lowdim._core.extend import Nystrom
from lowdim._core.inverse import LearnedInverse
from lowdim._core.kernels import RBF, DistanceKernel, Kernel, Laplace, Matern, RationalQuadratic, preimage
from lowdim._core.kernels.preimage import Span
from lowdim._core.neighbors import nearest
from lowdim._core.ranks import Ranks
from lowdim._core.runtime import threads
from lowdim._core.scaling.centring import center_kernel
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import positive_part

Array = np.ndarray

TRIED = 200  # rows on which the learned inverse transform chooses its width and penalty, in every fold of every width
ALIKE = 0.9  # pairs with a kernel value above this part of k(x, x) count as equal


# The distance that kernels with a width are functions of, and its power.
_MEASURES: dict[type[Kernel], tuple[str, int]] = {
    RBF: ("euclidean", 2),
    RationalQuadratic: ("euclidean", 2),
    Matern: ("euclidean", 2),
    Laplace: ("manhattan", 1),
}


class Distances:
    """Distances between the rows under each metric, computed once."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self._found: dict[str, Array] = {}

    def of(self, kernel: Kernel) -> Array:
        """The distances, or squared distances, that the kernel is a function of."""
        metric, power = _MEASURES[type(kernel)]
        if metric not in self._found:
            self._found[metric] = pairwise(self.X, None, metric, squared=power == 2)
        return self._found[metric]


def has_width(kernel: Kernel) -> bool:
    """Whether the kernel is a function of distances with a gamma."""
    return type(kernel) in _MEASURES and getattr(kernel, "norm", "l1") == "l1"


def power_of(kernel: Kernel) -> int:
    """2 for exp(-gamma d²), whose width is sqrt(1 / (2 gamma)); 1 for exp(-gamma d), whose width is 1 / gamma."""
    return _MEASURES[type(kernel)][1]


def median_gamma(kernel: Kernel, distances: Distances) -> float:
    """The gamma of the median rule: 1 / (2 median d²), or 1 / (median d). Distances of 0 are left out."""
    D = distances.of(kernel)
    found = D[np.triu_indices(len(D), 1)]
    return 1.0 / (power_of(kernel) * float(np.median(found[found > 0])))


def values(kernel: Kernel, distances: Distances) -> Array:
    """The kernel matrix."""
    if has_width(kernel):
        assert isinstance(kernel, DistanceKernel)
        return kernel._of_squares(distances.of(kernel) ** (2 // power_of(kernel)))
    return np.asarray(kernel(distances.X), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Task:
    """The settings of a choice: rows, labels, components, criterion and the folds that are left out."""

    X: Array
    labels: Array | None
    n_components: int
    criterion: str
    preimage: str
    folds: tuple[Array, ...]
    n_jobs: int | None
    owner: str


@dataclass(frozen=True, eq=False)
class Fit:
    """Kernel PCA of some rows, given their kernel matrix."""

    extension: Nystrom
    scores: Array
    mean: float


def fit(K: Array, n_components: int, owner: str) -> Fit:
    """The leading components; `K` is overwritten."""
    Kc, means = center_kernel(K, overwrite=True)
    pairs = eigenpairs(Kc, min(n_components, len(Kc)), owner=owner)
    pairs = positive_part(pairs, n_components, owner=owner, quiet=True)
    extension = Nystrom.of(pairs.values, pairs.vectors, means.columns)
    return Fit(extension, pairs.vectors * np.sqrt(pairs.values), means.total)


def degenerate(K: Array) -> str:
    """ "wide" if all rows are nearly equal to the kernel, "narrow" if all are dissimilar; empty otherwise.

    Wide: nearly all pairs are above `ALIKE`, where K is a linear function of the (squared) distances. Narrow: the
    centred spectrum is flat, (sum l)² / sum l² above half its maximum n - 1. The ratio of the first two eigenvalues is
    no criterion: on a circle they are equal at every width.
    """
    n, own = len(K), float(np.mean(K.diagonal()))
    if np.quantile(K[np.triu_indices(n, 1)], 0.01) > ALIKE * own:
        return "wide"
    Kc, _ = center_kernel(K)
    size = float((Kc**2).sum())
    return "narrow" if size > 0 and float(np.trace(Kc)) ** 2 > 0.5 * (n - 1) * size else ""


def score_each(kernels: list[Kernel], distances: Distances, task: Task) -> tuple[Array, list[str]]:
    """The criterion of each kernel in each fold, and which of those with a width are degenerate."""
    for kernel in kernels:
        if has_width(kernel):
            distances.of(kernel)  # before two threads could compute them twice
    by_ranks = task.criterion == "rnx"

    def one(part: slice) -> tuple[Any, str]:
        kernel = kernels[part.start]
        K = values(kernel, distances)
        state = degenerate(K) if has_width(kernel) else ""
        if by_ranks:
            return fit(K, task.n_components, task.owner).scores, state
        return np.array([_CRITERIA[task.criterion](task, kernel, K, held) for held in task.folds]), state

    found = threads.map_rows(one, len(kernels), 1, task.n_jobs)
    states = [state for _, state in found]
    if by_ranks:
        return _rank_areas([Z for Z, _ in found], task), states
    return np.array([errors for errors, _ in found]), states


def _rank_areas(embeddings: list[Array], task: Task) -> Array:
    """R_NX areas with distances in X as reference, ranked once; averaged over the rows of each fold."""
    named = {str(i): Z for i, Z in enumerate(embeddings)}
    ranks = Ranks.of_each(task.X, named, anchors=None, n_jobs=task.n_jobs)
    return np.array([[ranks[name].row_auc[held].mean() for held in task.folds] for name in named])


def _split(K: Array, held: Array) -> tuple[Array, Array, Array]:
    """Kernel values of the other rows, of the left-out rows with them, and the numbers of the other rows."""
    stay = np.setdiff1d(np.arange(len(K)), held)
    return K[np.ix_(stay, stay)], K[np.ix_(held, stay)], stay


def _feature_error(task: Task, kernel: Kernel, K: Array, held: Array) -> float:
    """Relative reconstruction error of the left-out rows in feature space."""
    inner, cross, _ = _split(K, held)
    model = fit(inner, task.n_components, task.owner)
    total = K.diagonal()[held] - 2 * cross.mean(axis=1) + model.mean
    left = total - (model.extension(cross) ** 2).sum(axis=1)
    whole = float(total.sum())
    return float(np.maximum(left, 0.0).sum()) / whole if whole > 0 else 1.0


def _reconstruction(task: Task, kernel: Kernel, K: Array, held: Array) -> float:
    """Squared reconstruction error of the left-out rows, over their squared distance to the mean of the others."""
    inner, cross, stay = _split(K, held)
    model, X = fit(inner, task.n_components, task.owner), task.X
    found = _inverse(task, kernel, model, X[stay], model.extension(cross))
    whole = float(((X[held] - X[stay].mean(axis=0)) ** 2).sum())
    return float(((found - X[held]) ** 2).sum()) / whole if whole > 0 else 0.0


def _inverse(task: Task, kernel: Kernel, model: Fit, rows: Array, Y: Array) -> Array:
    if task.preimage == "ridge" and not preimage.is_linear(kernel):
        return LearnedInverse.fit(model.scores, rows, tried=TRIED)(Y)[0]
    axes = model.extension.projection
    span = Span(
        kernel=kernel,
        rows=rows,
        axes=axes - axes.mean(axis=0),
        mean=np.full(len(rows), 1 / len(rows)),
        offset=model.extension.offset,
        scores=model.scores,
        size=model.mean,
    )
    return preimage.find_preimages(span, Y, task.preimage, n_jobs=1, owner=task.owner)


def _label_error(task: Task, kernel: Kernel, K: Array, held: Array) -> float:
    """Share of left-out rows whose nearest other row in the embedding has another label."""
    inner, cross, stay = _split(K, held)
    model = fit(inner, task.n_components, task.owner)
    near = nearest(model.scores, 1, queries=model.extension(cross), n_jobs=1).indices[:, 0]
    assert task.labels is not None
    return float(np.mean(task.labels[stay][near] != task.labels[held]))


_CRITERIA: dict[str, Callable[[Task, Kernel, Array, Array], float]] = {
    "reconstruction": _reconstruction,
    "feature_error": _feature_error,
    "labels": _label_error,
}
CRITERIA = (*_CRITERIA, "rnx")


def with_gamma(kernel: Any, gamma: float) -> Kernel:
    """The same kernel with another gamma."""
    return replace(kernel, gamma=gamma)

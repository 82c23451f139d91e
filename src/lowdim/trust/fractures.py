"""Where does a neighbour embedding invent a gap?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.runtime.notices import warn
from lowdim._core.streams import refuse_streams
from lowdim.neighbor_embedding.leave_one_out import LeftOut, left_out
from lowdim.neighbor_embedding.tsne import TSNE
from lowdim.neighbor_embedding.umap import UMAP

Array = NDArray[Any]

DIRECTIONS = 3  # principal directions of the neighbours along which a row is moved, both ways
NEIGHBORS = 50  # nearest rows, at most, from which these directions are computed
FENCE = 1.5  # interquartile ranges above the upper quartile, beyond which a value is outside (Tukey, 1977)


@dataclass(frozen=True, eq=False, repr=False)
class Fractures:
    """For each row of a t-SNE or UMAP map: does a gap run beside it that the data do not have?

    Attributes
    ----------
    overconfidence : ndarray
        Perturbation score: how far from its place in the map the row goes when it moves a little in the data. Large at
        the border of groups that the map separates more clearly than the data do. NaN where rows cannot be moved.
    fracture : ndarray
        Singularity score: one over the smallest curvature of the row's own loss at its place. Large where hardly
        anything holds the row in some direction, as along tears through one group; infinite where nothing does.
    overconfident, fractured : ndarray of bool
        Rows that stand out: their score is more than one and a half interquartile ranges above its upper quartile;
        infinite scores always.
    length : float
        How far rows were moved, in standard deviations of their neighbours along each direction.
    radius : float
        Root mean square distance of the rows from the centre of the map, to compare `overconfidence` with.
    method : str
        Name of the estimator.
    """

    overconfidence: Array
    fracture: Array
    overconfident: Array
    fractured: Array
    length: float
    radius: float
    method: str

    def __repr__(self) -> str:
        n, jumps = len(self.fracture), self.overconfidence[np.isfinite(self.overconfidence)]
        moved = (
            f"moved a little, they go {np.median(jumps) / self.radius:.1%} of the radius of the map (median), at most "
            f"{jumps.max() / self.radius:.0%}; {int(self.overconfident.sum())} stand out"
            if len(jumps) and self.radius > 0
            else "not moved"
        )
        return f"Fractures of {n} rows of {self.method}: {moved}; {int(self.fractured.sum())} are hardly held in place"


@params.checked("trust.fractures")
def fractures(model: Any, X: Any, *, length: float = 1.0, n_jobs: int | None = None) -> Fractures:
    """Score for each row of a t-SNE or UMAP map how suddenly its place would change.

    A row of such a map is where its own loss is least while all others stay. Two things show that the map is not
    continuous there. The row is moved both ways along the first three principal directions of its neighbours, and its
    place is searched again, from where it was and from the places of its two nearest rows: if it jumps far, the gap it
    jumps over is the map's (`overconfidence`). And where its loss is nearly flat in one direction, the slightest change
    can move it along (`fracture`).

    Parameters
    ----------
    model : TSNE or UMAP
        A fitted model.
    X : array (n, d) or data frame
        The rows that it was fitted to.
    length : float
        How far a row is moved, in standard deviations of its neighbours along the direction.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    Fractures
        Both scores of each row, and which rows stand out.

    Notes
    -----
    Nothing is random. Curvatures take a sum over all pairs of rows, in blocks. Places are searched with the repulsion
    of all rows, pair by pair up to 1,000 rows and with other than two components, beyond on a grid, so that the time
    grows with the number of rows times that of their neighbours. Memory grows with rows times neighbours, too.

    The other rows keep the widths of their own neighbourhoods, and their places. For UMAP the loss is the one that its
    sampling minimises, in which rows repel as often as they are drawn. Rows that a supervised fit, or one with
    `densities`, has placed have no loss of their own. Rows with missing cells or categories, sparse rows and distances
    cannot be moved; their `overconfidence` is NaN.

    References
    ----------
    Liu, Ma, Zhong (2025), Assessing and improving reliability of neighbor embedding methods: a map-continuity
    perspective.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> found = lowdim.trust.fractures(lowdim.TSNE(perplexity=15).fit(X), X)
    >>> found.overconfidence.shape, found.fracture.shape
    ((200,), (200,))
    """
    owner = "trust.fractures"
    refuse_streams(X, f"{owner}: X")
    params.check(owner, {"length": length}, {"length": params.real(0, open_low=True)})
    if not isinstance(model, (TSNE, UMAP)):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"{owner}: model must be a fitted TSNE or UMAP, whose rows have losses of their own; got {name}. Use "
            "trust.stability, which takes every estimator."
        )
    check_is_fitted(model)
    Z = np.asarray(model.embedding_, dtype=np.float64)
    jumps, curvature = np.full((2, len(Z)), np.nan)
    for part in left_out(model, X, n_jobs, owner):
        curvature[part.rows] = part.curvatures()
        if part.X is not None:
            jumps[part.rows] = part.unit * part.jumps(_moves(part, float(length)))
    if np.isnan(jumps).all():
        warn(
            f"{owner}: rows with missing cells or categories, sparse rows and distances cannot be moved, so that "
            "overconfidence is NaN."
        )
    jumps, curvature = _of_equal(Z, jumps), _of_equal(Z, curvature)
    with np.errstate(divide="ignore"):
        fracture = np.where(np.isnan(curvature), np.nan, 1 / np.maximum(curvature, 0.0))
    return Fractures(
        overconfidence=jumps,
        fracture=fracture,
        overconfident=stand_out(jumps),
        fractured=stand_out(fracture),
        length=float(length),
        radius=float(np.sqrt(np.nanmean(np.square(Z - np.nanmean(Z, axis=0)).sum(axis=1)))),
        method=type(model).__name__,
    )


def stand_out(scores: Array) -> Array:
    """Whether a score is outside Tukey's upper fence; infinite ones always are, NaN never."""
    known = scores[np.isfinite(scores)]
    low, high = np.quantile(known, [0.25, 0.75]) if len(known) else (np.inf, np.inf)
    fence = high + FENCE * (high - low) if len(known) else np.inf
    return np.isposinf(scores) | (scores > fence)


def _moves(part: LeftOut, length: float) -> Callable[[int], Array]:
    """For each row: both ways along the principal directions of its neighbours, `length` deviations far."""
    assert part.X is not None
    X, near = part.X, part.near[:, :NEIGHBORS]

    def of_row(row: int) -> Array:
        around = X[near[row]].astype(np.float64)
        around = around - around.mean(axis=0)
        wide = around.shape[1] > around.shape[0]
        values, vectors = np.linalg.eigh(around @ around.T if wide else around.T @ around)
        count = min(DIRECTIONS, len(values))
        values, vectors = np.maximum(values[::-1][:count], 0.0), vectors[:, ::-1][:, :count]
        if wide:  # eigenvectors of the inner products; times the rows, they are directions of length sqrt(value)
            steps = vectors.T @ around
        else:
            steps = np.sqrt(values)[:, None] * vectors.T
        steps = length * steps / np.sqrt(len(around))
        return np.concatenate([steps, -steps])

    return of_row


def _of_equal(Z: Array, values: Array) -> Array:
    """Rows that share the place of a row that has a value have its value."""
    missing = np.isnan(values) & np.isfinite(Z).all(axis=1)
    if not missing.any() or missing.all():
        return values
    places, kind = np.unique(Z, axis=0, return_inverse=True)
    of_kind = np.full(len(places), np.nan)
    known = ~np.isnan(values)
    of_kind[kind.ravel()[known]] = values[known]
    return np.where(missing, of_kind[kind.ravel()], values)

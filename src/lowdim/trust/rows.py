"""Is this row where it belongs?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.ranks.reference import embedded_rows, euclidean
from lowdim._core.runtime.rng import generator
from lowdim.quality.row_curves import RowCurves
from lowdim.trust.agreement import Compared, far_pairs, less_apart
from lowdim.trust.nearness import fitting_null
from lowdim.trust.null import NULLS, null_maps

Array = NDArray[Any]

VERDICTS = ("trusted", "unsure", "misplaced")
NEIGHBORS = 15
NO_BETTER = 0.5  # a row whose p-value is larger is no better than half of the rows of noise
# Shares of right neighbours, beyond chance, that decide whatever noise does: two or three columns of noise can be
# mapped well, and rows of such a map are where they belong. Of noise in ten columns, no row reaches the first.
RIGHT, WRONG = 0.8, 0.5
COUNTED = 16  # neighbourhoods at least so large are counted for that
POOLED = 20_000  # rows of noise that are enough: a p-value of 0.05 is then known to 0.003


@dataclass(frozen=True, eq=False, repr=False)
class RowTrust:
    """For each row of a map: does it belong where it is?

    Attributes
    ----------
    verdict : ndarray of str
        "trusted": at its best neighbourhood size, the row is better than all but `level` of the rows of noise, or four
        fifths of its neighbours are right. "misplaced": all its neighbours in the map are false, or it is no better
        than half of the rows of noise and less than half of its neighbours are right at any size. "unsure": between.
    p_values : ndarray
        Share of the rows of noise that are at least as good at their own best size.
    q_values : ndarray
        The same after Benjamini and Hochberg: among rows with a value up to q, at most the share q is expected to be
        no better than noise.
    scale : ndarray of int
        The smallest neighbourhood size at which the row is better than all but `level` of the rows of noise; 0 if
        there is none. A trusted row of scale 64 is in the right surroundings of 64 rows; its nearest neighbours
        there mean nothing.
    statistic : ndarray of shape (n, number of scales)
        R_NX of each row at each neighbourhood size: 1 is perfect, 0 chance.
    scales : ndarray of int
        Those sizes.
    null : ndarray of shape (rows of noise, number of scales)
        The statistic of the rows of noise.
    false_neighbors, missing_neighbors : list of ndarray
        For each row: those of its nearest rows in the map that are not even among the nearest tenth in the data, and
        those of its nearest rows in the data that are not even among the nearest tenth in the map.
    isolation : ndarray
        How much farther a row is from its nearest rows in the data than the map shows: its mean distance to them,
        relative to theirs, in the data over that in the map. Well above 1 (of noise, one row in 100 has more than 1.3),
        the map shows a row amid others that it is apart from, such as one between two groups drawn into one of them.
        Its neighbours may be right all the same, so that the verdict does not depend on it.
    n_neighbors : int
        How many nearest rows these are taken from.
    level : float
        Level of "trusted".
    against : str
        What the rows were compared with, as a phrase.
    """

    verdict: Array
    p_values: Array
    q_values: Array
    scale: Array
    statistic: Array
    scales: Array
    null: Array
    false_neighbors: list[Array]
    missing_neighbors: list[Array]
    isolation: Array
    n_neighbors: int
    level: float
    against: str

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        return {name: int((self.verdict == name).sum()) for name in VERDICTS}

    def __repr__(self) -> str:
        n = len(self.verdict)
        shares = ", ".join(f"{name} {count} ({count / n:.0%})" for name, count in self.counts.items())
        return f"RowTrust of {n} rows: {shares}; against {self.against}"


@params.checked("trust.rows", estimator=params.estimator() | params.none())
def rows(
    X: Any,
    Z: Any,
    *,
    estimator: Any = None,
    null: str = "auto",
    n_null: int | None = None,
    level: float = 0.05,
    n_neighbors: int | None = None,
    reference: str = "ambient",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> RowTrust:
    """Judge for each row of a map whether it is where it belongs.

    For neighbourhoods of 4, 8, 16, ... rows, R_NX of a row says how far its neighbours in the map are those in the
    data. It is compared with the rows of maps of noise, which the same method made with the same settings. The size at
    which the row stands out most counts, for the rows of noise too, and the p-value is the share of these that stand
    out at least as much: a row in the right group is trusted, even if within the group its neighbours are arbitrary.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    estimator : estimator or None
        What made the map; a copy of it maps the noise. None: the rows are compared with rows placed at random, which
        nearly every method beats.
    null : {"auto", "permuted", "gaussian"}
        The noise: columns shuffled one by one, or Gaussian rows with the same covariance (what linear structure alone
        gives). "auto" shuffles columns, unless these are related and yet, shuffled, nearer to each other than Gaussian
        rows, as principal components of groups are: shuffled, they make groups of their own. `against` says which.
    n_null : int or None
        Tables of noise. Their rows are pooled, so few are enough; None: 5, fewer where one has more than 5,000 rows.
    level : float
        Share of the rows of noise that would be called trusted.
    n_neighbors : int or None
        Nearest rows among which false and missing neighbours are named; None: 15.
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    RowTrust
        Verdicts, p-values, false and missing neighbours.

    References
    ----------
    Xia, Lee, Li (2024), Statistical method scDEED for detecting dubious 2D single-cell embeddings. Johnson, Kath,
    Mani (2022), EMBEDR: distinguishing signal from noise in single-cell omics data.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 5)), rng.normal(8, 1, size=(60, 5))])
    >>> model = lowdim.PCA(n_components=2)
    >>> found = lowdim.trust.rows(X, model.fit_transform(X), estimator=model, random_state=0)
    >>> found.counts["trusted"] > 100
    True
    """
    owner = "trust.rows"
    params.check(
        owner,
        {"null": null, "n_null": n_null, "level": level, "n_neighbors": n_neighbors},
        {
            "null": params.one_of("auto", *NULLS),
            "n_null": params.whole(1) | params.none(),
            "level": params.share(),
            "n_neighbors": params.whole(1) | params.none(),
        },
    )
    rng = generator(random_state)
    compared = Compared(metric, reference, graph_neighbors, n_jobs, owner)
    source = compared.source(X)
    placed = embedded_rows(Z, source.n, f"{owner}: Z")
    found = compared.curves(X, {"Z": placed}, rng)["Z"]
    count = n_null or enough_tables(source.n)
    null = _kind(null, X, estimator, compared, rng)
    noise = _null_values(X, placed, estimator, null, count, compared, rng)
    k = min(n_neighbors or NEIGHBORS, source.n - 2)
    near_map, near_data = Compared(n_jobs=n_jobs, owner=owner).neighbours(placed, k), compared.neighbours(X, k)
    false = far_pairs(source, near_map.indices, rng)
    missing = far_pairs(euclidean(placed, "embedding"), near_data.indices, rng)
    at_scales = share_as_good(found.values, noise)
    verdict, p = judged_rows(found, noise, level, np.asarray(false.all(axis=1)))
    return RowTrust(
        verdict=verdict,
        p_values=p,
        q_values=q_values(p),
        scale=_smallest(at_scales, found.scales, level),
        statistic=found.values,
        scales=found.scales,
        null=noise,
        false_neighbors=_lists(near_map.indices, false),
        missing_neighbors=_lists(near_data.indices, missing),
        isolation=less_apart(near_data, near_map),
        n_neighbors=k,
        level=level,
        against=_against(estimator, null, count),
    )


def judged_rows(found: RowCurves, null: Array, level: float, all_false: Array | bool = False) -> tuple[Array, Array]:
    """The verdict and the p-value of each row, from its curve and the curves of the rows of noise."""
    p = p_values(share_as_good(found.values, null), share_as_good(null, null))
    return verdicts(p, level, _kept_at_best(found.values, found.scales), np.asarray(all_false)), p


def enough_tables(n: int) -> int:
    """Tables of noise whose pooled rows are enough for p-values."""
    return int(np.clip(POOLED // n, 1, 5))


def share_as_good(values: Array, null: Array) -> Array:
    """For each value the share of the null values of its column that are at least as large."""
    ordered = np.sort(null, axis=0)
    larger = [
        len(null) - np.searchsorted(column, x, side="left") for column, x in zip(ordered.T, values.T, strict=True)
    ]
    return (1 + np.stack(larger, axis=1)) / (1 + len(null))


def p_values(at_scales: Array, null_at_scales: Array) -> Array:
    """Share of the null rows whose best scale is at least as good as that of the row."""
    best, null = at_scales.min(axis=1), np.sort(null_at_scales.min(axis=1))
    return (1 + np.searchsorted(null, best, side="right")) / (1 + len(null))


def q_values(p: Array) -> Array:
    """P-values after Benjamini and Hochberg."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def verdicts(p: Array, level: float, kept: Array, all_false: Array) -> Array:
    """The verdict of each row from its p-value, the share of its neighbours that are right, and whether none is."""
    found = np.full(len(p), "unsure", dtype="<U9")
    found[(p <= level) | (kept >= RIGHT)] = "trusted"
    found[((p > NO_BETTER) & (kept < WRONG)) | all_false] = "misplaced"
    return found


def _kept_at_best(values: Array, scales: Array) -> Array:
    """R_NX of each row at the size where it is largest, small sizes left out: there it is often large by chance."""
    return np.asarray(values[:, scales >= min(COUNTED, scales[-1])].max(axis=1))


def _smallest(at_scales: Array, scales: Array, level: float) -> Array:
    """The smallest scale at which a row is better than all but `level` of the noise, or 0."""
    good = at_scales <= level
    return np.where(good.any(axis=1), scales[good.argmax(axis=1)], 0)


def _null_values(
    X: Any, Z: Array, estimator: Any, null: str, n_null: int, compared: Compared, rng: np.random.Generator
) -> Array:
    """R_NX of the rows of noise at each scale."""
    if estimator is None:
        shuffled = {str(turn): Z[rng.permutation(len(Z))] for turn in range(n_null)}
        return np.concatenate([found.values for found in compared.curves(X, shuffled, rng).values()])
    tables = null_maps(X, estimator, null, n_null, rng, compared.owner)
    return np.concatenate([compared.curves(rows, {"Z": placed}, rng)["Z"].values for rows, placed in tables])


def _kind(null: str, X: Any, estimator: Any, compared: Compared, rng: np.random.Generator) -> str:
    """The kind of noise; no choice where no table of noise is made, or it is made of distances."""
    if null != "auto":
        return null
    if estimator is None or getattr(estimator, "metric", None) == "precomputed":
        return "permuted"
    return fitting_null(X, compared, rng.spawn(1)[0])  # what is drawn here does not change what else is drawn


def _lists(near: Array, chosen: Array) -> list[Array]:
    return [row[mask] for row, mask in zip(near, chosen, strict=True)]


def _against(estimator: Any, null: str, n_null: int) -> str:
    if estimator is None:
        return "rows placed at random"
    made = {"permuted": "the same columns, each shuffled", "gaussian": "Gaussian rows with the same covariance"}[null]
    many = "one table" if n_null == 1 else f"{n_null} tables"
    return f"{many} of noise ({made}), mapped by {type(estimator).__name__} with the same settings"

"""The R_NX area of every row of a large table, estimated.

Ranking all rows from all rows takes time that grows with their square. But small neighbourhoods need only the nearest
neighbours of a row in the data and in the embedding, and large ones are estimated well by its ranks among a sample of
the rows. Where the sample is thin, the nearest rows in a larger sample stand for the sizes between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.distances import check_metric, comparable
from lowdim._core.neighbors import nearest
from lowdim._core.ranks import MOST_ENTRIES, rank_rows, sizes, tally_ranks
from lowdim._core.ranks.reference import Reference, embedded_rows, euclidean, reference_of, rows_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import map_rows
from lowdim.quality._size_shares import matched_ranks, size_shares, weights_of_ranks
from lowdim.quality.rank_input import check_size

Array = NDArray[Any]

K_UP = 90  # neighbours of each row: as many as t-SNE uses by default, so that one search serves both
SAMPLED = 1000  # rows that stand for all beyond the neighbours
ENOUGH = 12  # sampled rows that estimate R_NX of a neighbourhood well
MIDDLE = 5000  # most rows of the larger sample
_ROWS = 1024  # of a block of neighbour lists


@dataclass(frozen=True, eq=False)
class RowEstimates:
    """Estimates for each row: the R_NX area, and the share of its `k` nearest neighbours that are preserved."""

    auc: Array
    kept: Array
    k: int
    k_up: int
    n_sampled: int

    @property
    def text(self) -> str:
        """What the estimates come from, as a phrase."""
        return f"its {self.k_up} nearest neighbours and {self.n_sampled} sampled rows"


@params.checked("per_row_estimate")
def per_row_estimate(
    X: Any,
    Z: Any,
    n_neighbors: int = 12,
    *,
    k_up: int = K_UP,
    n_sampled: int = SAMPLED,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Measures of every row of a large table, estimated in a time that grows with the number of rows.

    R_NX of a row for K = 1..k_up comes from its nearest neighbours in the data and in the embedding, which are searched
    approximately where the table is large; for larger K it is estimated by its ranks among `n_sampled` rows. `per_row`
    has the exact values, for few rows or for a sample of rows, also with geodesic distances.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    n_neighbors : int
        Neighbourhood size K of ``kept``, in 1..k_up.
    k_up : int
        Neighbours of each row that are searched; of fewer rows n-2.
    n_sampled : int
        Rows drawn for the larger neighbourhoods; of fewer rows all.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    dict
        ``auc`` and ``kept`` (share of the K nearest neighbours preserved), arrays with a value for each row; ``k``
        (that is K), ``k_up``, ``n_sampled`` (with the rows of a larger sample, whose nearest were searched for sizes
        between), ``reference``, and ``approximate``, which is True.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> found = per_row_estimate(X, 2 * X, k_up=20, n_sampled=50, random_state=0)
    >>> bool(np.allclose(found["auc"], 1)), found["approximate"]
    (True, True)
    """
    owner = "per_row_estimate"
    X, metric = comparable(X, check_metric(metric, owner), owner)
    source = reference_of(X, metric=metric, n_jobs=n_jobs, owner=owner)
    X = X if source.name == "precomputed" else rows_of(X, f"{owner}: X", "Fill the holes in first")
    rows = embedded_rows(Z, source.n, f"{owner}: Z")
    given, rules = {"k_up": k_up, "n_sampled": n_sampled}, {"k_up": params.whole(1), "n_sampled": params.whole(3)}
    params.check(owner, given, rules)
    check_size(n_neighbors, min(source.n, k_up + 2), owner)
    found = estimate_rows(
        X, source, {"Z": rows}, metric=metric, k=n_neighbors, k_up=k_up, n_sampled=n_sampled,
        random_state=random_state, n_jobs=n_jobs, owner=owner,
    )["Z"]  # fmt: skip
    return {
        "auc": found.auc,
        "kept": found.kept,
        "k": found.k,
        "k_up": found.k_up,
        "n_sampled": found.n_sampled,
        "reference": source.name,
        "approximate": True,
    }


def estimate_rows(
    X: Any,
    source: Reference,
    embeddings: Mapping[str, Array],
    *,
    metric: Any = "euclidean",
    k: int = 12,
    k_up: int = K_UP,
    n_sampled: int = SAMPLED,
    random_state: Any = None,
    n_jobs: int | None = None,
    owner: str = "per_row_estimate",
) -> dict[str, RowEstimates]:
    """`RowEstimates` of several embeddings of the same rows, whose own neighbours and ranks are found once."""
    n, rng = source.n, generator(random_state)
    k_up, n_sampled = min(k_up, n - 2), min(n_sampled, n)
    k, middle = min(k, k_up), _middle_size(n, n_sampled, k_up)
    memory.check(owner, {"neighbours": 5 * 12 * n * k_up}, "Lower k_up.")
    search = _Lists(k_up, n_jobs, owner, np.sort(rng.choice(n, size=middle, replace=False)))
    sample = np.sort(rng.choice(n, size=n_sampled, replace=False))
    levels = [(n - 1, k_up), *([(middle, k_up)] if middle else []), (n_sampled, n_sampled - 1)]
    *shares, far_share = size_shares(n, levels)
    far = _far_areas(source, {name: euclidean(Z, name) for name, Z in embeddings.items()}, sample, far_share, n_jobs)
    high = search.of(X, metric, source)
    found = {}
    for name, Z in embeddings.items():
        low = search.of(Z)
        parts = [
            _list_areas(high[at], low[at], k, weights_of_ranks(share, levels[at][0]), n_jobs)
            for at, share in enumerate(shares)
        ]
        auc = far[name] + np.sum([area for area, _ in parts], axis=0)
        found[name] = RowEstimates(auc, parts[0][1] / k, k, k_up, n_sampled + middle)
    return found


def _middle_size(n: int, n_sampled: int, k_up: int) -> int:
    """Rows of a larger sample whose nearest are searched, if a neighbourhood of `k_up` rows holds few sampled rows."""
    size = min(MIDDLE, n * ENOUGH // k_up)
    helps = k_up * n_sampled < ENOUGH * n and size > max(2 * k_up, n_sampled)
    return size if helps and k_up > 2 * ENOUGH else 0


@dataclass(frozen=True, eq=False)
class _Lists:
    """Searches the nearest of each row among all rows, and among those of `middle` if there are any."""

    k: int
    n_jobs: int | None
    owner: str
    middle: Array

    def of(self, X: Any, metric: Any = "euclidean", given: Reference | None = None) -> list[Array]:
        """The lists of each row; `given` has the distances if these are not between rows of `X`."""
        near = nearest(X, self.k, metric=metric, n_jobs=self.n_jobs, approximate=None, owner=self.owner).indices
        if not len(self.middle):
            return [near]
        if given is not None and given.columns is not None and given.name == "precomputed":
            return [near, self._among_middle(None, given.columns(np.arange(given.n), self.middle), metric)]
        return [near, self._among_middle(X[self.middle], X, metric)]

    def _among_middle(self, rows: Any, queries: Any, metric: Any) -> Array:
        found = nearest(rows, self.k + 1, metric=metric, queries=queries, n_jobs=self.n_jobs, owner=self.owner).indices
        own = np.full(len(found), -1)
        own[self.middle] = np.arange(len(self.middle))
        itself = found == own[:, None]
        dropped = np.where(itself.any(axis=1), itself.argmax(axis=1), self.k)
        return found[np.arange(self.k + 1) != dropped[:, None]].reshape(len(found), self.k)


def _list_areas(
    high: Array, low: Array, k: int, weights: tuple[Array, float], n_jobs: int | None
) -> tuple[Array, Array]:
    """The part of each row's area that its lists of nearest rows give, and how many of its k nearest are preserved."""
    weight, by_chance = weights
    n, k_up = high.shape
    r = sizes(k_up)

    def add(part: slice) -> tuple[Array, Array]:
        rho = matched_ranks(high[part], low[part])
        worst = np.where(rho > 0, np.maximum(rho, r), k_up + 1)  # at k_up + 1 the weight is zero
        return weight[worst].sum(axis=1) - by_chance, (worst <= k).sum(axis=1)

    areas, kept = zip(*map_rows(add, n, _ROWS, n_jobs), strict=True)
    return np.concatenate(areas), np.concatenate(kept)


def _far_areas(
    source: Reference, spaces: Mapping[str, Reference], sample: Array, share: Array, n_jobs: int | None
) -> dict[str, Array]:
    """Each row's sum of R_NX(k) times share[k-1] over k, from its ranks among the sampled rows."""
    weight, by_chance = weights_of_ranks(share, len(sample))

    def areas(part: slice) -> list[Array]:
        rows = np.arange(part.start, part.stop)
        high = sample_ranks(source, rows, sample)
        lows = (sample_ranks(space, rows, sample) for space in spaces.values())
        return [tally_ranks(high, low, weight, (1,))[1] + 1 - by_chance for low in lows]

    parts = map_rows(areas, source.n, max(1, MOST_ENTRIES // len(sample)), n_jobs)
    return {name: np.concatenate([part[at] for part in parts]) for at, name in enumerate(spaces)}


def sample_ranks(space: Reference, rows: Array, sample: Array) -> Array:
    """Ranks of the sampled rows seen from `rows`, after a column for the row itself; in the sample it comes last."""
    if space.columns is None:
        raise TypeError("ranks among sampled rows need distances of rows to given rows.")
    D = np.zeros((len(rows), len(sample) + 1))
    D[:, 1:] = space.columns(rows, sample)
    D[:, 1:][rows[:, None] == sample] = np.inf
    return rank_rows(D, np.zeros(len(rows), np.int64))[0]

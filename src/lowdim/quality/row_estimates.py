"""The R_NX area of every row of a large table, estimated.

Ranking all rows from all rows takes time that grows with their square. But small neighbourhoods need only the nearest
neighbours of a row in the data and in the embedding, and large ones are estimated well by its ranks among a sample of
the rows: a neighbourhood of K of n rows holds about K m / n of m sampled ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.neighbors import nearest
from lowdim._core.ranks import MOST_ENTRIES, auc_weights, rank_rows, sizes, tally_ranks
from lowdim._core.ranks.reference import Reference, embedded_rows, euclidean, reference_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import map_rows
from lowdim.quality.rank_input import check_size

Array = NDArray[Any]

K_UP = 100  # neighbours of each row
SAMPLED = 500  # rows that stand for all beyond the neighbours
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


def per_row_estimate(
    X: Any,
    Z: Any,
    n_neighbors: int = 12,
    *,
    k_up: int = K_UP,
    n_sampled: int = SAMPLED,
    reference: str = "ambient",
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Measures of every row of a large table, estimated in a time that grows with the number of rows.

    R_NX of a row for K = 1..k_up comes from its nearest neighbours in the data and in the embedding, which are searched
    approximately where the table is large; for larger K it is estimated by its ranks among `n_sampled` rows. `per_row`
    has the exact values, for few rows or for a sample of rows.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    n_neighbors : int
        Neighbourhood size K of ``kept``, in 1..k_up.
    k_up : int
        Neighbours of each row that are searched; at most n-2.
    n_sampled : int
        Rows drawn for the larger neighbourhoods; at most n.
    reference : {"ambient", "precomputed"}
        Distances to compare with: between the rows of `X`, or given in `X`.
    metric : str or callable
        Distance between rows: a name, a function of two rows, or "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    dict
        ``auc`` and ``kept`` (share of the K nearest neighbours preserved), arrays with a value for each row; ``k``
        (that is K), ``k_up``, ``n_sampled``, ``reference``, and ``approximate``, which is True.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> found = per_row_estimate(X, 2 * X, k_up=20, n_sampled=50, random_state=0)
    >>> bool(np.allclose(found["auc"], 1)), found["approximate"]
    (True, True)
    """
    owner = "per_row_estimate"
    if reference == "geodesic":
        raise ValueError(
            f'{owner}: reference must be "ambient" or "precomputed"; got {reference!r}. per_row has the values of '
            "sampled rows for geodesic distances."
        )
    source = reference_of(X, metric=metric, reference=reference, n_jobs=n_jobs, owner=owner)
    rows = embedded_rows(Z, source.n, f"{owner}: Z")
    check_size(k_up, source.n, owner, "k_up")
    check_size(n_neighbors, k_up + 2, owner)
    params.check(owner, {"n_sampled": n_sampled}, {"n_sampled": params.whole(3, source.n)})
    metric = "precomputed" if source.name == "precomputed" else metric
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
    n = source.n
    k_up, n_sampled = min(k_up, n - 2), min(n_sampled, n)
    k = min(k, k_up)
    memory.check(owner, {"neighbours": 3 * 12 * n * k_up}, "Lower k_up.")
    near = nearest(X, k_up, metric=metric, n_jobs=n_jobs, approximate=None, owner=owner).indices
    sample = np.sort(generator(random_state).choice(n, size=n_sampled, replace=False))
    far = _far_areas(source, {name: euclidean(Z, name) for name, Z in embeddings.items()}, sample, k_up, n_jobs)
    found = {}
    for name, Z in embeddings.items():
        low = nearest(Z, k_up, n_jobs=n_jobs, approximate=None, owner=owner).indices
        area, kept = _near_areas(near, low, k, n_jobs)
        found[name] = RowEstimates(area + far[name], kept / k, k, k_up, n_sampled)
    return found


def _near_areas(high: Array, low: Array, k: int, n_jobs: int | None) -> tuple[Array, Array]:
    """The part of each row's area for K up to the number of neighbours, and how many of its k nearest are preserved."""
    n, k_up = high.shape
    weight = auc_weights(n)[: k_up + 2]
    weight = weight - weight[k_up + 1]
    K = sizes(k_up)
    by_chance = np.sum(1 / (n - 1 - K)) / np.sum(1 / sizes(n - 2))

    def add(part: slice) -> tuple[Array, Array]:
        rho = matched_ranks(high[part], low[part], n)
        worst = np.where(rho > 0, np.maximum(rho, K), k_up + 1)  # at k_up + 1 the weight is zero
        return weight[worst].sum(axis=1) - by_chance, (worst <= k).sum(axis=1)

    areas, kept = zip(*map_rows(add, n, _ROWS, n_jobs), strict=True)
    return np.concatenate(areas), np.concatenate(kept)


def matched_ranks(high: Array, low: Array, n: int) -> Array:
    """The rank in the lists `high` of each entry of the lists `low` (rows of both belong together); 0 if not there."""
    k = high.shape[1]
    start = np.arange(len(high), dtype=np.int64)[:, None] * n
    keys, wanted = (start + high).ravel(), (start + low).ravel()
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    found = order[at]
    return np.where(keys[found] == wanted, found % k + 1, 0).reshape(low.shape)


def _far_areas(
    source: Reference, spaces: Mapping[str, Reference], sample: Array, k_up: int, n_jobs: int | None
) -> dict[str, Array]:
    """The part of each row's area for K beyond `k_up`, from its ranks among the sampled rows."""
    weight, by_chance = _far_weights(source.n, len(sample), k_up)

    def areas(part: slice) -> list[Array]:
        rows = np.arange(part.start, part.stop)
        high = _sample_ranks(source, rows, sample)
        lows = (_sample_ranks(space, rows, sample) for space in spaces.values())
        return [tally_ranks(high, low, weight, (1,))[1] + 1 - by_chance for low in lows]

    parts = map_rows(areas, source.n, max(1, MOST_ENTRIES // len(sample)), n_jobs)
    return {name: np.concatenate([part[at] for part in parts]) for at, name in enumerate(spaces)}


def _far_weights(n: int, m: int, k_up: int) -> tuple[Array, float]:
    """w and c with: area of a row beyond `k_up` = sum over the sampled rows of w[larger of both ranks], minus c."""
    K = np.arange(k_up + 1, n - 1)
    size = np.clip(np.rint(K * ((m + 1) / n)), 1, m - 1).astype(np.int64)  # sampled rows in a neighbourhood of K
    share = np.bincount(size, weights=1 / K, minlength=m) / np.sum(1 / sizes(n - 2))
    k = sizes(m - 1)
    gain = share[1:] * m / (k * (m - k))
    tail = np.cumsum(gain[::-1])[::-1]
    return np.concatenate([[0.0], tail, [0.0]]), float(np.sum(share[1:] * k / (m - k)))


def _sample_ranks(space: Reference, rows: Array, sample: Array) -> Array:
    """Ranks of the sampled rows seen from `rows`, after a column for the row itself; in the sample it comes last."""
    if space.columns is None:
        raise TypeError("ranks among sampled rows need distances of rows to given rows.")
    D = np.zeros((len(rows), len(sample) + 1))
    D[:, 1:] = space.columns(rows, sample)
    D[:, 1:][rows[:, None] == sample] = np.inf
    return rank_rows(D, np.zeros(len(rows), np.int64))[0]

"""The R_NX curve of every row, at neighbourhood sizes that double."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.neighbors import nearest
from lowdim._core.ranks import EXACT_UP_TO, MOST_ENTRIES, Ranks, sizes, tally_ranks
from lowdim._core.ranks.reference import Reference, euclidean
from lowdim._core.runtime.threads import map_rows
from lowdim.quality._size_shares import matched_ranks
from lowdim.quality.row_estimates import K_UP, SAMPLED, sample_ranks

Array = NDArray[Any]

SMALLEST = 4
LEAST_SAMPLED = 12  # sampled rows that a neighbourhood must hold to be estimated from them
_LISTS = 1024


@dataclass(frozen=True, eq=False)
class RowCurves:
    """R_NX of each row (rows) at each neighbourhood size (columns).

    Attributes
    ----------
    scales : ndarray of int
        Neighbourhood sizes K: 4, 8, 16, ... and half of the rows.
    values : ndarray of shape (n, number of scales)
        R_NX(K) of each row: 1 where its K nearest rows are kept, 0 on average where it is placed at random.
    """

    scales: Array
    values: Array


def scales_of(n: int) -> Array:
    """Neighbourhood sizes 4, 8, 16, ..., and half of n rows, so that two groups of equal size are seen."""
    most = max(1, (n - 1) // 2)
    count = max(0, int(np.ceil(np.log2(max(most / SMALLEST, 1)))))
    return np.append(SMALLEST * 2 ** np.arange(count), most)


def row_curves(
    X: Any,
    source: Reference,
    maps: Mapping[str, Array],
    *,
    metric: Any = "euclidean",
    rng: np.random.Generator,
    n_jobs: int | None = None,
    owner: str = "row_curves",
) -> dict[str, RowCurves]:
    """The curves of several maps of the same rows, whose own ranks are found once.

    Up to 20,000 rows they are exact. Beyond, small neighbourhoods come from nearest neighbours (searched approximately)
    and large ones from ranks among sampled rows.

    Parameters
    ----------
    X : array
        Rows as `metric` compares them, for the neighbour search; not used where `source` is exact.
    source : Reference
        Distances in the data.
    maps : mapping of str to array
        Embeddings without NaN.
    metric : str or callable
        Distance between the rows of `X`.
    rng : Generator
        Draws the sampled rows.
    n_jobs : int or None
        Threads.
    owner : str
        Beginning of error messages.
    """
    n = source.n
    scales = scales_of(n)
    if n <= EXACT_UP_TO or source.columns is None:
        ranks = Ranks.of_each(source, maps, anchors=None, ks=scales.tolist(), n_jobs=n_jobs)
        return {name: curves_of(found) for name, found in ranks.items()}
    small = scales <= K_UP
    by_lists = _kept_by_lists(X, maps, scales[small], metric, n_jobs, owner)
    sample = np.sort(rng.choice(n, size=min(n, max(SAMPLED, _enough(n, scales[~small]))), replace=False))
    by_sample = _kept_by_sample(source, maps, scales[~small], sample, n_jobs)
    return {
        name: RowCurves(scales, np.hstack([_rnx(by_lists[name], scales[small], n), by_sample[name]])) for name in maps
    }


def curves_of(ranks: Ranks, first: int = 0) -> RowCurves:
    """The curves from ranks whose sizes `ks`, from the one at `first` on, are those of `scales_of`."""
    scales = np.array(ranks.ks[first:])
    return RowCurves(scales, _rnx(ranks.row_kept[:, first:] / scales, scales, ranks.n))


def _rnx(kept: Array, K: Array, n: int) -> Array:
    """R_NX from the share of neighbours kept: what chance alone keeps, K / (n-1), counts as 0."""
    return ((n - 1) * kept - K) / (n - 1 - K)


def _enough(n: int, scales: Array) -> int:
    """Sampled rows, so that the smallest of the large neighbourhoods holds enough of them."""
    return int(np.ceil(LEAST_SAMPLED * n / scales[0])) if len(scales) else 0


def _kept_by_lists(
    X: Any, maps: Mapping[str, Array], scales: Array, metric: Any, n_jobs: int | None, owner: str
) -> dict[str, Array]:
    """Share of the K nearest kept, from lists of nearest neighbours."""
    k = int(scales[-1])
    high = nearest(X, k, metric=metric, n_jobs=n_jobs, approximate=None, owner=owner).indices
    found = {}
    for name, Z in maps.items():
        low = nearest(Z, k, n_jobs=n_jobs, approximate=None, owner=owner).indices
        parts = map_rows(_Kept(high, low, scales), len(high), _LISTS, n_jobs)
        found[name] = np.concatenate(parts)
    return found


@dataclass(frozen=True, eq=False)
class _Kept:
    high: Array
    low: Array
    scales: Array

    def __call__(self, part: slice) -> Array:
        rho = matched_ranks(self.high[part], self.low[part])
        worst = np.where(rho > 0, np.maximum(rho, sizes(rho.shape[1])), rho.shape[1] + 1)
        return np.stack([(worst <= k).mean(axis=1) * (rho.shape[1] / k) for k in self.scales], axis=1)


def _kept_by_sample(
    source: Reference, maps: Mapping[str, Array], scales: Array, sample: Array, n_jobs: int | None
) -> dict[str, Array]:
    """R_NX among the sampled rows, at sizes that hold the same share of them."""
    m, n = len(sample), source.n
    inside = tuple(np.maximum(1, np.rint(scales * (m - 1) / (n - 1))).astype(int).tolist())
    spaces = {name: euclidean(Z, name) for name, Z in maps.items()}
    weight = np.zeros(m + 1)

    def part_of(part: slice) -> list[Array]:
        rows = np.arange(part.start, part.stop)
        high = sample_ranks(source, rows, sample)
        lows = (sample_ranks(space, rows, sample) for space in spaces.values())
        return [tally_ranks(high, low, weight, inside)[2][:, :, 0] for low in lows]

    parts = map_rows(part_of, n, max(1, MOST_ENTRIES // m), n_jobs)
    K = np.array(inside)
    return {name: _rnx(np.concatenate([part[at] for part in parts]) / K, K, m + 1) for at, name in enumerate(maps)}

"""Distance measures: how well distances are preserved."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lowdim._core.ranks.reference import Reference, embedding, reference_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim.quality import pair_sums as sums
from lowdim.quality.pair_sums import PairSums
from lowdim.quality.score import Score

Array = NDArray[Any]

SPEARMAN_UP_TO = 1_500  # rows whose pairs are all ranked with pairs="auto"


def _normalized(s: Array) -> Array:
    return np.sqrt(s[..., sums.GAP2] / s[..., sums.DELTA2])


def _stress1(s: Array) -> Array:
    size = s[..., sums.DD]
    ratio = np.divide(s[..., sums.GAP2], size, out=np.full_like(size, np.inf), where=size > 0)
    return np.sqrt(ratio)


def _sammon(s: Array) -> Array:
    return s[..., sums.SAMMON] / s[..., sums.DELTA]


def _mean_gap(s: Array) -> Array:  # times the number of all pairs: the raw stress, also from a sample
    return s[..., sums.GAP2] / s[..., sums.COUNT]


# Each kind as a function of the sums, and the power of two that converts it into true units: delta has the unit
# 2**u, d the unit 2**v, their difference the larger of both, 2**top.
_KINDS: dict[str, tuple[Callable[[Array], Array], Callable[[int, int, int], int]]] = {
    "normalized": (_normalized, lambda u, v, top: top - u),
    "scale_optimal": (sums.scale_optimal, lambda u, v, top: 0),
    "stress1": (_stress1, lambda u, v, top: top - v),
    "raw": (_mean_gap, lambda u, v, top: 2 * top),
    "sammon": (_sammon, lambda u, v, top: 2 * (top - u)),
}


def stress(
    X: Any,
    Z: Any,
    kind: str = "normalized",
    *,
    pairs: Any = "auto",
    reference: str = "ambient",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Stress: difference of distances d in the embedding and reference distances delta, over pairs i < j.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    kind : {"normalized", "scale_optimal", "stress1", "raw"}
        sqrt(sum (delta-d)^2 / sum delta^2); the same after the best rescaling of the embedding, the only one that is
        meaningful for methods whose scale is arbitrary; Kruskal's sqrt(sum (delta-d)^2 / sum d^2); or sum
        (delta-d)^2.
    pairs : "auto", None or int
        Pairs of rows: all (None), or a random sample of this size. "auto": all up to 5,000 rows, 200,000 pairs beyond.
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
    Score
        With a bootstrap confidence interval if pairs were sampled.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> round(stress(X, 2 * X), 12), round(stress(X, 2 * X, "scale_optimal"), 12)
    (1.0, 0.0)
    """
    if kind not in ("raw", "normalized", "scale_optimal", "stress1"):
        raise ValueError(f'stress: kind must be "raw", "normalized", "scale_optimal" or "stress1"; got {kind!r}.')
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, "stress")
    found = _sums(source, low, pairs, random_state, n_jobs, "stress")
    return _of_kind(found, kind, kind=kind)


def sammon(
    X: Any,
    Z: Any,
    *,
    pairs: Any = "auto",
    reference: str = "ambient",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Sammon's error: 1/sum(delta) sum (delta-d)^2 / delta, which gives small distances more weight.

    Pairs at distance 0 in the data are left out.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    pairs : "auto", None or int
        Pairs of rows: all (None), or a random sample of this size. "auto": all up to 5,000 rows, 200,000 pairs beyond.
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
    Score
        At least 0; 0 if all distances are preserved.
    """
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, "sammon")
    return _of_kind(_sums(source, low, pairs, random_state, n_jobs, "sammon"), "sammon")


def residual_variance(
    X: Any,
    Z: Any,
    *,
    pairs: Any = "auto",
    reference: str = "geodesic",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """1 - Pearson(delta, d)^2, by default with geodesic reference distances, as usual for Isomap.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    pairs : "auto", None or int
        Pairs of rows: all (None), or a random sample of this size. "auto": all up to 5,000 rows, 200,000 pairs beyond.
    reference : {"geodesic", "ambient", "precomputed"}
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
    Score
        Between 0 and 1; 0 is best.
    """
    owner = "residual_variance"
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, owner)
    found = _score(_sums(source, low, pairs, random_state, n_jobs, owner), lambda s: 1 - sums.pearson(s) ** 2)
    if np.isnan(found):
        warnings.warn(f"{owner}: all distances of one space are equal; the result is undefined (NaN).", stacklevel=2)
    return found


@dataclass(frozen=True, eq=False)
class Shepard:
    """The points of a Shepard diagram, and the correlations of the distances.

    Attributes
    ----------
    pearson, spearman : Score
        Linear and rank correlation of `distances` and `embedded`.
    distances, embedded : ndarray (pairs,)
        The same pairs of rows in the data and in the embedding.
    reference : str
        Which distances `distances` are.
    """

    pearson: Score
    spearman: Score
    distances: Array
    embedded: Array
    reference: str


def shepard(
    X: Any,
    Z: Any,
    *,
    pairs: Any = "auto",
    reference: str = "ambient",
    graph_neighbors: int = 10,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Shepard:
    """Correlations of the distances in the data and in the embedding, and the points of a Shepard diagram.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    pairs : "auto", None or int
        Pairs of rows: all (None), or a random sample of this size. "auto": all up to 1,500 rows, 200,000 pairs beyond.
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
    Shepard
        The correlations and the points.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> shepard(X, 5 * X).spearman
    Score(1.0, reference='ambient')
    """
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, "shepard")
    return shepard_of(source, low, pairs, random_state)


def shepard_of(source: Reference, low: Reference, pairs: Any, random_state: Any) -> Shepard:
    """`shepard` of two spaces."""
    number = sums.wanted(pairs, source.n, SPEARMAN_UP_TO, "shepard")
    if number is None:
        entries = source.n * (source.n - 1) // 2
        memory.check("shepard", {"pairs": 96 * entries}, "Draw a sample with pairs=200_000.")
        delta, d = sums.all_pairs(source, low)
        both = _values_and_ranks(delta, d)
        found = [_sums_of(*xy, source, None) for xy in both]
    else:
        rng = generator(random_state)
        delta, d, group = sums.draw(source, low, number, rng)
        both = _values_and_ranks(delta, d)
        # A resample keeps the ranks of the whole sample: ranking again would change little and take long.
        tables = [sums.columns(x, y, sums.pilot_of(x, y))[:, : sums.UV + 1] for x, y in both]
        resampled = np.split(sums.bootstrap(np.hstack(tables), group, rng), 2, axis=1)
        found = [_sums_of(*xy, source, again) for xy, again in zip(both, resampled, strict=True)]
    linear, ordered = (_score(f, sums.pearson) for f in found)
    if np.isnan(linear):
        warnings.warn("shepard: all distances of one space are equal; correlations are undefined (NaN).", stacklevel=3)
    return Shepard(linear, ordered, delta, d, source.name)


def _values_and_ranks(delta: Array, d: Array) -> list[tuple[Array, Array]]:
    """The pairs of values behind the two correlations, in any unit."""
    _check_finite(delta, "shepard")
    _check_finite(d, "shepard")
    x, y = (sums.in_unit(values, sums.unit_of(values)) for values in (delta, d))
    return [(x, y), (rankdata(delta), rankdata(d))]


def _sums_of(x: Array, y: Array, source: Reference, resampled: Array | None) -> PairSums:
    pilot = sums.pilot_of(x, y)
    return PairSums(sums.column_sums(x, y, pilot), pilot, source.n, source.name, resampled)


def spaces(
    X: Any, Z: Any, metric: Any, reference: str, graph_neighbors: int, n_jobs: int | None, owner: str
) -> tuple[Reference, Reference]:
    """Distances of the data and of the embedding."""
    source = reference_of(
        X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, n_jobs=n_jobs, owner=owner
    )
    if source.n < 2:
        raise ValueError(f"{owner}: X must have at least 2 rows; got {source.n}.")
    return source, embedding(Z, source.n, f"{owner}: Z")


def _sums(source: Reference, low: Reference, pairs: Any, random_state: Any, n_jobs: int | None, owner: str) -> PairSums:
    number = sums.wanted(pairs, source.n, sums.EXACT_UP_TO, owner)
    found = sums.pair_sums(source, low, number, random_state, n_jobs)
    _check_finite(found.sums, owner)
    if not found.sums[sums.DELTA2] > 0:
        raise ValueError(f"{owner}: X must have at least two different rows; all distances are zero.")
    return found


def _check_finite(values: Array, owner: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"{owner}: distances must be finite; got NaN or infinity between rows of X or of Z. Rescale the data."
        )


def _score(found: PairSums, statistic: Callable[[Array], Array], power: int = 0, **facts: Any) -> Score:
    value, interval = found.estimate(statistic, power)
    return Score(value, reference=found.reference, interval=interval, **facts)


def _of_kind(found: PairSums, which: str, **facts: Any) -> Score:
    statistic, power = _KINDS[which]
    every = found.n * (found.n - 1) / 2 if which == "raw" else 1.0
    return _score(found, lambda s: statistic(s) * every, power(*found.pilot.units, max(found.pilot.units)), **facts)


def stresses(
    source: Reference, low: Reference, pairs: Any, random_state: Any, n_jobs: int | None
) -> tuple[Score, Score]:
    """Normalised stress, and the same after the best rescaling, from the same sums."""
    found = _sums(source, low, pairs, random_state, n_jobs, "scores")
    return _of_kind(found, "normalized"), _of_kind(found, "scale_optimal")

"""Distance measures: how well distances are preserved."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lowdim._core.params import checked
from lowdim._core.ranks.reference import Reference, embedding, reference_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import is_lazy
from lowdim._core.tables.brief import brief
from lowdim.quality import pair_statistics as statistics
from lowdim.quality import pair_sums as sums
from lowdim.quality._in_blocks import spaces_in_blocks
from lowdim.quality.pair_samples import RowPairs, draw, every_pair, rank_influence
from lowdim.quality.pair_statistics import Statistic
from lowdim.quality.pair_sums import PairSums
from lowdim.quality.score import Score

Array = NDArray[Any]

SPEARMAN_UP_TO = 1_500  # rows whose pairs are all ranked with pairs="auto"


KINDS = {
    "normalized": statistics.normalized,
    "scale_optimal": statistics.scale_optimal,
    "stress1": statistics.stress1,
    "raw": statistics.mean_gap,
}


@checked("stress")
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
        With a confidence interval if pairs were sampled.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> round(stress(X, 2 * X), 12), round(stress(X, 2 * X, "scale_optimal"), 12)
    (1.0, 0.0)
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f'stress: kind must be "raw", "normalized", "scale_optimal" or "stress1"; got {kind!r}.')
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, "stress")
    found = _sums(source, low, pairs, random_state, n_jobs, "stress")
    every = found.n * (found.n - 1) / 2 if kind == "raw" else 1.0
    return _score(found, KINDS[kind], every, kind=kind)


@checked("sammon")
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

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> lowdim.quality.sammon(roll.X, Z) < 0.1
    True
    """
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, "sammon")
    return _score(_sums(source, low, pairs, random_state, n_jobs, "sammon"), statistics.sammon)


@checked("residual_variance")
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

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(lowdim.quality.residual_variance(roll.X, Z), 2)
    0.36
    """
    owner = "residual_variance"
    source, low = spaces(X, Z, metric, reference, graph_neighbors, n_jobs, owner)
    r, interval = _sums(source, low, pairs, random_state, n_jobs, owner).estimate(statistics.pearson)
    if np.isnan(r):
        warnings.warn(f"{owner}: all distances of one space are equal; the result is undefined (NaN).", stacklevel=2)
    if interval is not None:  # that of the correlation, squared: near 0 the square is not normally distributed
        nearest, furthest = 0.0 if interval[0] < 0 < interval[1] else min(map(abs, interval)), max(map(abs, interval))
        interval = 1 - furthest**2, 1 - nearest**2
    return Score(1 - r**2, reference=source.name, interval=interval)


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

    __repr__ = brief


@checked("shepard")
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
    return _shepard(_pairs(source, pairs, random_state), source, low)


def _pairs(source: Reference, pairs: Any, random_state: Any) -> RowPairs:
    """The pairs of a Shepard diagram."""
    number = _wanted(pairs, source, SPEARMAN_UP_TO, "shepard")
    if number is not None:
        return draw(source, number, generator(random_state))
    entries = source.n * (source.n - 1) // 2
    memory.check("shepard", {"pairs": 96 * entries}, "Draw a sample with pairs=200_000.")
    return every_pair(source)


def _wanted(pairs: Any, source: Reference, exact_up_to: int, owner: str) -> int | None:
    """How many pairs to draw, None for all; of rows in blocks some, unless all are asked for."""
    return sums.wanted(pairs, source.n, 0 if source.listed is not None else exact_up_to, owner)


def _shepard(pairs: RowPairs, source: Reference, low: Reference) -> Shepard:
    delta, d = pairs.delta, pairs.distances(low)
    _check_finite(delta, "shepard")
    _check_finite(d, "shepard")
    linear, ordered = _linear(pairs, d, source), _ordered(pairs, d, source)
    if np.isnan(linear):
        warnings.warn("shepard: all distances of one space are equal; correlations are undefined (NaN).", stacklevel=3)
    return Shepard(linear, ordered, delta, d, source.name)


def _linear(pairs: RowPairs, d: Array, source: Reference) -> Score:
    """Pearson's correlation."""
    x, y = (sums.in_unit(values, sums.unit_of(values)) for values in (pairs.delta, d))
    pilot = sums.pilot_of(x, y)
    summands = sums.columns(x, y, pilot) if pairs.sampled else None
    return _score(
        PairSums(sums.column_sums(x, y, pilot), pilot, source.n, source.name, pairs, summands), statistics.pearson
    )


def _ordered(pairs: RowPairs, d: Array, source: Reference) -> Score:
    """Spearman's correlation."""
    x, y = pairs.ranks, rankdata(d)
    pilot = sums.pilot_of(x, y)
    value = statistics.pearson.value(sums.column_sums(x, y, pilot))
    interval = None
    if pairs.sampled:
        influence = rank_influence(x, y)
        interval = (np.nan, np.nan) if np.isnan(value) else pairs.interval(value, influence, -1.0, 1.0)
    return Score(value, reference=source.name, interval=interval)


def spaces(
    X: Any, Z: Any, metric: Any, reference: str, graph_neighbors: int, n_jobs: int | None, owner: str
) -> tuple[Reference, Reference]:
    """Distances of the data and of the embedding."""
    if is_lazy(X):
        X, Z = spaces_in_blocks(X, Z, metric, reference, owner)
        if isinstance(X, Reference):
            return X, Z
    source = reference_of(
        X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, n_jobs=n_jobs, owner=owner
    )
    if source.n < 2:
        raise ValueError(f"{owner}: X must have at least 2 rows; got {source.n}.")
    return source, embedding(Z, source.n, f"{owner}: Z")


def _sums(source: Reference, low: Reference, pairs: Any, random_state: Any, n_jobs: int | None, owner: str) -> PairSums:
    number = _wanted(pairs, source, sums.EXACT_UP_TO, owner)
    if number is None:
        return _checked(sums.sums_of_all(source, {"Z": low}, n_jobs)["Z"], owner)
    return _checked(sums.sums_of_sample(draw(source, number, generator(random_state)), source, low), owner)


def _checked(found: PairSums, owner: str) -> PairSums:
    _check_finite(found.sums, owner)
    if not found.sums[statistics.DELTA2] > 0:
        raise ValueError(f"{owner}: X must have at least two different rows; all distances are zero.")
    return found


def _check_finite(values: Array, owner: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"{owner}: distances must be finite; got NaN or infinity between rows of X or of Z. Rescale the data."
        )


def _score(found: PairSums, statistic: Statistic, times: float = 1.0, **facts: Any) -> Score:
    value, interval = found.estimate(statistic, times)
    return Score(value, reference=found.reference, interval=interval, **facts)


def distance_scores(
    source: Reference, spaces: Mapping[str, Reference], pairs: Any, random_state: Any, n_jobs: int | None
) -> Iterator[tuple[str, dict[str, Score]]]:
    """Stresses and correlations of each embedding, over the same pairs, whose distances in the data are found once."""
    drawn = _pairs(source, pairs, random_state)
    exact = None
    if _wanted(pairs, source, sums.EXACT_UP_TO, "scores") is None:
        exact = sums.sums_of_all(source, spaces, n_jobs)
    for name, low in spaces.items():
        found = _checked(exact[name] if exact else sums.sums_of_sample(drawn, source, low), "scores")
        diagram = _shepard(drawn, source, low)
        yield (
            name,
            {
                "normalized_stress": _score(found, statistics.normalized),
                "scale_optimal_stress": _score(found, statistics.scale_optimal),
                "pearson": diagram.pearson,
                "spearman": diagram.spearman,
            },
        )

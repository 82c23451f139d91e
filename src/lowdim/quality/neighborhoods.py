"""Measures at one neighbourhood size K: trustworthiness, continuity, mean relative rank errors."""

from __future__ import annotations

from typing import Any

from lowdim._core.params import checked
from lowdim._core.ranks import Ranks
from lowdim._core.ranks.reference import embedding, reference_of
from lowdim._core.streams import is_lazy
from lowdim.quality._near_ranks import MOST_NEIGHBORS, NearRanks
from lowdim.quality.rank_input import check_size, ranks_of, refuse_unknown, row_penalty
from lowdim.quality.score import Score


@checked("trustworthiness")
def trustworthiness(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> Score:
    """Trustworthiness: are neighbours in the embedding neighbours in the data?

    T(K) = 1 - 2/G_K sum_i sum over j among the K nearest of i in Z but not in X of (rho_ij - K), with G_K
    making the worst case 0.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    n_neighbors : int
        Neighbourhood size K, in 1..n-2 (`graph_neighbors` is that of the graph of a geodesic reference).
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    Score
        Between 0 and 1; false neighbours lower it.

    References
    ----------
    Venna, Kaski (2001), Neighborhood preservation in nonlinear projection methods.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> trustworthiness(X, -X)
    Score(1.0, reference='ambient', k=12)
    """
    return _near(X, Z, n_neighbors, "trustworthiness", options)


@checked("continuity")
def continuity(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> Score:
    """Continuity: are neighbours in the data still neighbours in the embedding?

    C(K) = 1 - 2/G_K sum_i sum over j among the K nearest of i in X but not in Z of (r_ij - K).

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    n_neighbors : int
        Neighbourhood size K, in 1..n-2.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    Score
        Between 0 and 1; lost neighbours lower it.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(lowdim.quality.continuity(roll.X, Z), 2)
    0.97
    """
    return _near(X, Z, n_neighbors, "continuity", options)


@checked("trustworthiness_continuity")
def trustworthiness_continuity(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> tuple[Score, Score]:
    """Trustworthiness and continuity, in the time of one of them.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    n_neighbors : int
        Neighbourhood size K, in 1..n-2.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    tuple of two Scores
        T(K) and C(K), as `trustworthiness` and `continuity` give them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> [float(score) for score in trustworthiness_continuity(X, -X)]
    [1.0, 1.0]
    """
    ranks = _near_ranks(X, Z, n_neighbors, "trustworthiness_continuity", options)
    trust, keep = (_at(ranks, n_neighbors, name) for name in ("trustworthiness", "continuity"))
    return trust, keep


def _near(X: Any, Z: Any, k: int, name: str, options: dict[str, Any]) -> Score:
    return _at(_near_ranks(X, Z, k, name, options), k, name)


def _near_ranks(X: Any, Z: Any, k: int, owner: str, options: dict[str, Any]) -> Ranks | NearRanks:
    """Only the ranks that the two measures need, if that is faster than sorting every row."""
    if isinstance(X, Ranks) or Z is None:
        return _with_size(X, Z, k, owner, options)
    if "ks" in options:
        raise TypeError(f"{owner}: unknown option 'ks'; the neighbourhood size is n_neighbors.")
    refuse_unknown(options, owner)
    if is_lazy(X):
        return _with_size(X, Z, k, owner, options)
    named = {name: options[name] for name in ("metric", "reference", "graph_neighbors", "n_jobs") if name in options}
    source = reference_of(X, owner=owner, **named)
    check_size(k, source.n, owner)
    rest = {"anchors": "auto", "random_state": None, "n_jobs": None}
    if k > MOST_NEIGHBORS or set(options) - set(named) - set(rest):
        return _with_size(X, Z, k, owner, options)
    low = embedding(Z, source.n, f"{owner}: Z")
    return NearRanks.of(source, low, k, **{name: options.get(name, value) for name, value in rest.items()})


@checked("mrre")
def mrre(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> tuple[Score, Score]:
    """Mean relative rank errors W_n (neighbours in the embedding) and W_nu (neighbours in the data).

    W_n(K) = 1/H_K sum_i sum over the K nearest j in Z of abs(rho_ij - r_ij) / r_ij, W_nu(K) the same over the
    K nearest in X divided by rho_ij, H_K = n sum_{k<=K} abs(n-2k)/k. 0 is perfect, 1 is the reversed order.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    n_neighbors : int
        Neighbourhood size K, in 1..n-2.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    tuple of two Scores
        W_n and W_nu.

    References
    ----------
    Lee, Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> [round(float(error), 3) for error in lowdim.quality.mrre(roll.X, Z)]
    [0.122, 0.027]
    """
    ranks = _with_size(X, Z, n_neighbors, "mrre", options)
    low, high = (Score(curve[n_neighbors - 1], reference=ranks.reference, k=n_neighbors) for curve in ranks.mrre)
    return low, high


def _with_size(X: Any, Z: Any, k: int, owner: str, options: dict[str, Any]) -> Ranks:
    """A record with the neighbourhood size k, which is checked before anything is ranked."""
    if isinstance(X, Ranks) or Z is None:
        ranks = ranks_of(X, Z, owner, **options)
        check_size(k, ranks.n, owner)
        return ranks
    refuse_unknown(options, owner)
    if is_lazy(X):
        ranks = Ranks.of(X, Z, ks=(k,), **options)
        check_size(k, ranks.n, owner)
        return ranks
    named = {name: options[name] for name in ("metric", "reference", "graph_neighbors", "n_jobs") if name in options}
    source = reference_of(X, owner=owner, **named)
    check_size(k, source.n, owner)
    return Ranks.of(source, embedding(Z, source.n, f"{owner}: Z"), ks=(k,), **options)


def _at(ranks: Ranks | NearRanks, k: int, name: str) -> Score:
    if isinstance(ranks, NearRanks):
        value, interval = ranks.score(name)
        return Score(value, reference=ranks.reference, interval=interval, k=k)
    rows = row_penalty(ranks, k, name) if ranks.sampled else None
    interval = None if rows is None else ranks.interval(rows)
    return Score(getattr(ranks, name)[k - 1], reference=ranks.reference, interval=interval, k=k)

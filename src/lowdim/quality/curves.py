"""Rank measures: were the neighbours kept?

All of them read the co-ranking histograms of a `Ranks` record. They take either the data and the embedding,
with the options of `Ranks.of`, or a record made before.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.neighbors import nearest
from lowdim._core.ranks import Ranks, penalty_norm, rank_rows, sizes
from lowdim._core.ranks.reference import embedded_rows, embedding, reference_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.threads import blocks
from lowdim.quality._near_ranks import MOST_NEIGHBORS, NearRanks
from lowdim.quality.score import Score

Array = NDArray[Any]


def ranks_of(X: Any, Z: Any, owner: str, **options: Any) -> Ranks:
    """The record itself, or one made from data and embedding."""
    if isinstance(X, Ranks):
        if Z is not None or options:
            raise TypeError(f"{owner}: a Ranks record stands for X, Z and all options; give nothing else.")
        return X
    if Z is None:
        raise TypeError(f"{owner}: give the data and the embedding, or a Ranks record.")
    refuse_unknown(options, owner)
    return Ranks.of(X, Z, **options)


def refuse_unknown(options: dict[str, Any], owner: str) -> None:
    """Options that `Ranks.of` does not have, said in the name of the function that was called."""
    known = [name for name, p in signature(Ranks.of_each).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise TypeError(f"{owner}: unknown option {name!r}; the options are {', '.join(known)}.")


def rnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """R_NX(K) for K = 1..n-2: share of neighbours kept, 0 for a random embedding and 1 for a perfect one.

    R_NX(K) = ((n-1) Q_NX(K) - K) / (n-1-K). Draw it over log K: the left end is local, the right end global.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`: ``metric``, ``reference``, ``anchors``, ...

    Returns
    -------
    ndarray (n-2,)
        The value for K at position K-1.

    References
    ----------
    Lee, Renard, Bernard, Dupont, Verleysen (2013), Type 1 and 2 mixtures of Kullback-Leibler divergences.
    """
    return ranks_of(X, Z, "rnx_curve", **options).rnx


def rnx_auc(X: Any, Z: Any = None, **options: Any) -> Score:
    """Area under R_NX on a logarithmic scale of K: one number for all neighbourhood sizes.

    AUC = sum_K R_NX(K)/K / sum_K 1/K over K = 1..n-2. Compare only values of the same n, reference and target
    dimension.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`: ``metric``, ``reference``, ``anchors``, ...

    Returns
    -------
    Score
        With an interval where rows were sampled.

    References
    ----------
    Lee, Peluffo-Ordonez, Verleysen (2015), Multi-scale similarities in stochastic neighbour embedding.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> found = rnx_auc(X, 3 * X)
    >>> round(found, 12), found.reference
    (1.0, 'ambient')
    """
    ranks = ranks_of(X, Z, "rnx_auc", **options)
    return Score(ranks.auc, reference=ranks.reference, interval=ranks.auc_interval() if ranks.sampled else None)


def qnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """Q_NX(K) for K = 1..n-1: average share of the K nearest neighbours kept.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-1,)
        The curve.
    """
    return ranks_of(X, Z, "qnx_curve", **options).qnx


def lcmc_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """Local continuity meta-criterion, LCMC(K) = Q_NX(K) - K/(n-1), for K = 1..n-1.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-1,)
        The curve.
    """
    return ranks_of(X, Z, "lcmc_curve", **options).lcmc


def bnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """B_NX(K) for K = 1..n-2: positive where the embedding is intrusive, negative where it tears.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-2,)
        The curve.
    """
    return ranks_of(X, Z, "bnx_curve", **options).bnx


def k_max(X: Any, Z: Any = None, **options: Any) -> int:
    """The neighbourhood size with the largest LCMC, where local turns into global.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    int
        That size.
    """
    return ranks_of(X, Z, "k_max", **options).k_max


def q_local(X: Any, Z: Any = None, **options: Any) -> Score:
    """Mean of Q_NX over K = 1..k_max.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    Score
        Between 0 and 1; higher is better near by.
    """
    ranks = ranks_of(X, Z, "q_local", **options)
    return Score(ranks.q_local, reference=ranks.reference, k_max=ranks.k_max)


def q_global(X: Any, Z: Any = None, **options: Any) -> Score:
    """Mean of Q_NX over the n-1-k_max sizes K = k_max+1..n-1.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    Score
        Between 0 and 1; higher is better at large.
    """
    ranks = ranks_of(X, Z, "q_global", **options)
    return Score(ranks.q_global, reference=ranks.reference, k_max=ranks.k_max)


def trustworthiness(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> Score:
    """Are the neighbours in the embedding true neighbours?

    T(K) = 1 - 2/G_K sum_i sum over j among the K nearest of i in Z but not in X of (rho_ij - K), with G_K
    making the worst case 0.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    n_neighbors : int
        K, in 1..n-2; `graph_neighbors` is the size of the graph of a geodesic reference.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    Score
        Between 0 and 1; below 1 where strangers became neighbours.

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


def continuity(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> Score:
    """Are the neighbours in the data still neighbours in the embedding?

    C(K) = 1 - 2/G_K sum_i sum over j among the K nearest of i in X but not in Z of (r_ij - K).

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    n_neighbors : int
        K, in 1..n-2.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    Score
        Between 0 and 1; below 1 where neighbours were torn apart.
    """
    return _near(X, Z, n_neighbors, "continuity", options)


def trustworthiness_continuity(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> tuple[Score, Score]:
    """Both at once, for the price of one.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    n_neighbors : int
        K, in 1..n-2.
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
    """Only what the two measures need: counted where that is cheaper than ordering every row."""
    if isinstance(X, Ranks) or Z is None:
        return _with_size(X, Z, k, owner, options)
    if "ks" in options:
        raise TypeError(f"{owner}: the neighbourhood size is n_neighbors; ks belongs to Ranks.of.")
    refuse_unknown(options, owner)
    named = {name: options[name] for name in ("metric", "reference", "graph_neighbors", "n_jobs") if name in options}
    source = reference_of(X, owner=owner, **named)
    check_size(k, source.n, owner)
    rest = {"anchors": "auto", "random_state": None, "n_jobs": None}
    if k > MOST_NEIGHBORS or set(options) - set(named) - set(rest):
        return _with_size(X, Z, k, owner, options)
    low = embedding(Z, source.n, f"{owner}: Z")
    return NearRanks.of(source, low, k, **{name: options.get(name, value) for name, value in rest.items()})


def mrre(X: Any, Z: Any = None, n_neighbors: int = 12, **options: Any) -> tuple[Score, Score]:
    """Mean relative rank errors W_n (neighbours in the embedding) and W_nu (neighbours in the data).

    W_n(K) = 1/H_K sum_i sum over the K nearest j in Z of abs(rho_ij - r_ij) / r_ij, W_nu(K) the same over the
    K nearest in X divided by rho_ij, H_K = n sum_{k<=K} abs(n-2k)/k. 0 is perfect, 1 the reversed order.

    Parameters
    ----------
    X : array or Ranks
        Data, or a ready record.
    Z : array (n, r)
        Embedding; left out with a record.
    n_neighbors : int
        K, in 1..n-2.
    **options
        Those of `Ranks.of` except ``ks``.

    Returns
    -------
    tuple of two Scores
        W_n and W_nu.

    References
    ----------
    Lee, Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria.
    """
    ranks = _with_size(X, Z, n_neighbors, "mrre", options)
    low, high = (Score(curve[n_neighbors - 1], reference=ranks.reference, k=n_neighbors) for curve in ranks.mrre)
    return low, high


def _with_size(X: Any, Z: Any, k: int, owner: str, options: dict[str, Any]) -> Ranks:
    """A record that knows the neighbourhood size k, which is checked before anything is ranked."""
    if isinstance(X, Ranks) or Z is None:
        ranks = ranks_of(X, Z, owner, **options)
        check_size(k, ranks.n, owner)
        return ranks
    refuse_unknown(options, owner)
    named = {name: options[name] for name in ("metric", "reference", "graph_neighbors", "n_jobs") if name in options}
    source = reference_of(X, owner=owner, **named)
    check_size(k, source.n, owner)
    return Ranks.of(source, embedding(Z, source.n, f"{owner}: Z"), ks=(k,), **options)


def check_size(k: Any, n: int, owner: str, name: str = "n_neighbors") -> None:
    """Neighbourhood sizes must leave at least one row outside."""
    if n < 3:
        raise ValueError(f"{owner}: X must have at least 3 rows; got {n}.")
    params.check(owner, {name: k}, {name: params.whole(1, max(1, n - 2))})


def row_penalty(ranks: Ranks, k: int, name: str) -> Array | None:
    """Trustworthiness or continuity of each row at K = k, where the record kept it."""
    if k not in ranks.ks:
        return None
    depth = ranks.row_intrusion if name == "trustworthiness" else ranks.row_extrusion
    return 1 - 2 * depth[:, ranks.ks.index(k)] / penalty_norm(k, ranks.n)


def _at(ranks: Ranks | NearRanks, k: int, name: str) -> Score:
    if isinstance(ranks, NearRanks):
        value, interval = ranks.score(name)
        return Score(value, reference=ranks.reference, interval=interval, k=k)
    rows = row_penalty(ranks, k, name) if ranks.sampled else None
    interval = None if rows is None else ranks.interval(rows)
    return Score(getattr(ranks, name)[k - 1], reference=ranks.reference, interval=interval, k=k)


def coranking_matrix(
    X: Any, Z: Any, *, metric: Any = "euclidean", reference: str = "ambient", graph_neighbors: int = 10
) -> Array:
    """q[k-1, l-1] = number of pairs with rank k in the data and l in the embedding; for a few thousand rows.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    metric : str or callable
        Distance in `X`.
    reference : {"ambient", "geodesic", "precomputed"}
        As in `Ranks.of_each`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.

    Returns
    -------
    ndarray (n-1, n-1) of int
        Every row and every column sums to n.
    """
    owner = "coranking_matrix"
    source = reference_of(X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, owner=owner)
    n, low = source.n, embedding(Z, source.n, f"{owner}: Z")
    memory.check(owner, {"matrix": 8 * n * n}, "Measures that need no matrix: rnx_curve, trustworthiness.")
    total = np.zeros(n * n, np.int64)
    for part in blocks(n, max(1, 2**20 // n)):
        rows = np.arange(n)[part]
        high_ranks, low_ranks = (rank_rows(space.block(rows, True), rows)[0] for space in (source, low))
        np.add.at(total, (high_ranks.astype(np.int64) * n + low_ranks).ravel(), 1)
    return total.reshape(n, n)[1:, 1:]


def truncated_auc(X: Any, Z: Any, k_up: int = 100, *, metric: Any = "euclidean", n_jobs: int | None = None) -> Score:
    """AUC[1..k_up]: area under R_NX over small neighbourhoods only, from exact nearest neighbours.

    A different quantity from `rnx_auc`, never to be compared with it: sum_K R_NX(K)/K / sum_K 1/K over K =
    1..k_up. It needs k_up neighbours of each row instead of all ranks, hence suits many rows.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    k_up : int
        Largest neighbourhood, in 1..n-2.
    metric : str or callable
        Distance in `X`.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Score
        Whose ``facts["name"]`` says which range was integrated.
    """
    owner = "truncated_auc"
    if len(shape := np.shape(X)) == 2:
        check_size(k_up, shape[0], owner, "k_up")
    near_high = nearest(X, k_up, metric=metric, n_jobs=n_jobs, owner=owner, name="k_up").indices
    n = len(near_high)
    check_size(k_up, n, owner, "k_up")
    places = embedded_rows(Z, n, f"{owner}: Z")
    memory.check(owner, {"neighbours": 2 * 12 * n * k_up}, "Lower k_up.")
    near_low = nearest(places, k_up, n_jobs=n_jobs, owner=owner).indices
    K = sizes(k_up)
    qnx = np.cumsum(_shared(near_high, near_low)[1:]) / (K * n)
    rnx = ((n - 1) * qnx - K) / (n - 1 - K)
    reference = "precomputed" if isinstance(metric, str) and metric == "precomputed" else "ambient"
    return Score(rnx @ (1 / K) / np.sum(1 / K), reference=reference, name=f"AUC[1..{k_up}]")


def _shared(high: Array, low: Array) -> Array:
    """Histogram of max(rho, r) over pairs found in both lists of neighbours."""
    n, k = high.shape
    total = np.zeros(k + 1, np.int64)
    for part in blocks(n, max(1, 2**22 // n)):
        place = np.zeros((len(high[part]), n), np.int32)
        np.put_along_axis(place, high[part].astype(np.int64), sizes(k)[None, :].astype(np.int32), axis=1)
        rho = np.take_along_axis(place, low[part].astype(np.int64), axis=1)
        worst = np.maximum(rho, sizes(k)[None, :])[rho > 0]
        total += np.bincount(worst, minlength=k + 1)
    return total

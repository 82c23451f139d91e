"""Neighbourhood preservation for every neighbourhood size: R_NX, Q_NX, LCMC, B_NX and what follows from them.

The functions read the co-ranking histograms of a `Ranks` record. They take the data and the embedding, with the options
of `Ranks.of`, or a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.distances import comparable
from lowdim._core.neighbors import nearest
from lowdim._core.params import checked
from lowdim._core.ranks import rank_rows, sizes
from lowdim._core.ranks.reference import embedded_rows, embedding, reference_of
from lowdim._core.runtime import memory
from lowdim._core.runtime.threads import blocks
from lowdim.quality._size_shares import matched_ranks
from lowdim.quality.rank_input import check_size, ranks_of
from lowdim.quality.score import Score

Array = NDArray[Any]
_LISTS = 1024  # rows of a block of neighbour lists


@checked("rnx_curve")
def rnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """R_NX(K) for K = 1..n-2: share of neighbours preserved, 0 for a random embedding and 1 for a perfect one.

    R_NX(K) = ((n-1) Q_NX(K) - K) / (n-1-K). Draw it over log K: small K are local, large K global.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`: ``metric``, ``reference``, ``anchors``, ...

    Returns
    -------
    ndarray (n-2,)
        The value for K at position K-1.

    References
    ----------
    Lee, Renard, Bernard, Dupont, Verleysen (2013), Type 1 and 2 mixtures of Kullback-Leibler divergences.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> lowdim.quality.rnx_curve(roll.X, roll.X)[:3]  # a map that is the data
    array([1., 1., 1.])
    """
    return ranks_of(X, Z, "rnx_curve", **options).rnx


@checked("rnx_auc")
def rnx_auc(X: Any, Z: Any = None, **options: Any) -> Score:
    """Area under the R_NX curve on a logarithmic axis of K: one number for all neighbourhood sizes.

    AUC = sum_K R_NX(K)/K / sum_K 1/K over K = 1..n-2. Compare only values with the same n, reference and number of
    components.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`: ``metric``, ``reference``, ``anchors``, ...

    Returns
    -------
    Score
        With a confidence interval if rows were sampled.

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


@checked("qnx_curve")
def qnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """Q_NX(K) for K = 1..n-1: mean share of the K nearest neighbours preserved.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-1,)
        The curve.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> lowdim.quality.qnx_curve(roll.X, Z)[[0, 9, 198]].round(2)  # the nearest, ten, all others
    array([0.4 , 0.51, 1.  ])
    """
    return ranks_of(X, Z, "qnx_curve", **options).qnx


@checked("lcmc_curve")
def lcmc_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """Local continuity meta-criterion, LCMC(K) = Q_NX(K) - K/(n-1), for K = 1..n-1.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-1,)
        The curve.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(float(lowdim.quality.lcmc_curve(roll.X, Z)[-1]), 9)  # all rows are neighbours: nothing beyond chance
    0.0
    """
    return ranks_of(X, Z, "lcmc_curve", **options).lcmc


@checked("bnx_curve")
def bnx_curve(X: Any, Z: Any = None, **options: Any) -> Array:
    """B_NX(K) for K = 1..n-2: positive if false neighbours prevail (intrusive), negative if lost ones (extrusive).

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    ndarray of shape (n-2,)
        The curve.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> lowdim.quality.bnx_curve(roll.X, Z).shape
    (198,)
    """
    return ranks_of(X, Z, "bnx_curve", **options).bnx


@checked("k_max")
def k_max(X: Any, Z: Any = None, **options: Any) -> int:
    """The neighbourhood size with the largest LCMC, which separates local from global.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    int
        The size.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> lowdim.quality.k_max(roll.X, Z)
    40
    """
    return ranks_of(X, Z, "k_max", **options).k_max


@checked("q_local")
def q_local(X: Any, Z: Any = None, **options: Any) -> Score:
    """Mean of Q_NX over K = 1..k_max.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    Score
        Local quality, between 0 and 1; higher is better.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(lowdim.quality.q_local(roll.X, Z), 2)
    0.56
    """
    ranks = ranks_of(X, Z, "q_local", **options)
    return Score(ranks.q_local, reference=ranks.reference, k_max=ranks.k_max)


@checked("q_global")
def q_global(X: Any, Z: Any = None, **options: Any) -> Score:
    """Mean of Q_NX over the n-1-k_max sizes K = k_max+1..n-1.

    Parameters
    ----------
    X : array or Ranks
        Data, or a record.
    Z : array (n, r)
        Embedding; None with a record.
    **options
        Those of `Ranks.of`.

    Returns
    -------
    Score
        Global quality, between 0 and 1; higher is better.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(lowdim.quality.q_global(roll.X, Z), 2)
    0.87
    """
    ranks = ranks_of(X, Z, "q_global", **options)
    return Score(ranks.q_global, reference=ranks.reference, k_max=ranks.k_max)


@checked("coranking_matrix")
def coranking_matrix(
    X: Any, Z: Any, *, reference: str = "ambient", graph_neighbors: int = 10, metric: Any = "euclidean"
) -> Array:
    """q[k-1, l-1] = number of pairs with rank k in the data and l in the embedding; for a few thousand rows.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.

    Returns
    -------
    ndarray (n-1, n-1) of int
        Every row and every column sums to n.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> Q = lowdim.quality.coranking_matrix(roll.X, Z)
    >>> Q.shape, int(Q.sum())  # n - 1 ranks, and each ordered pair of rows once
    ((199, 199), 39800)
    """
    owner = "coranking_matrix"
    source = reference_of(X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, owner=owner)
    n, low = source.n, embedding(Z, source.n, f"{owner}: Z")
    memory.check(owner, {"matrix": 8 * n * n}, "rnx_curve and trustworthiness need no matrix.")
    total = np.zeros(n * n, np.int64)
    for part in blocks(n, max(1, 2**20 // n)):
        rows = np.arange(n)[part]
        high_ranks, low_ranks = (rank_rows(space.block(rows, True), rows)[0] for space in (source, low))
        np.add.at(total, (high_ranks.astype(np.int64) * n + low_ranks).ravel(), 1)
    return total.reshape(n, n)[1:, 1:]


@checked("truncated_auc")
def truncated_auc(X: Any, Z: Any, k_up: int = 100, *, metric: Any = "euclidean", n_jobs: int | None = None) -> Score:
    """AUC[1..k_up]: area under R_NX over small neighbourhoods only, from exact nearest neighbours.

    sum_K R_NX(K)/K / sum_K 1/K over K = 1..k_up. It is not comparable with `rnx_auc`. It needs k_up neighbours of
    each row instead of all ranks, hence suits many rows.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    k_up : int
        Largest neighbourhood size, in 1..n-2.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    Score
        Its ``facts["name"]`` is the range of K.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> round(lowdim.quality.truncated_auc(roll.X, Z, 20), 2)
    0.44
    """
    owner = "truncated_auc"
    X, metric = comparable(X, metric, owner)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2:
        check_size(k_up, shape[0], owner, "k_up")
    near_high = nearest(X, k_up, metric=metric, n_jobs=n_jobs, owner=owner, name="k_up").indices
    n = len(near_high)
    check_size(k_up, n, owner, "k_up")
    embedded = embedded_rows(Z, n, f"{owner}: Z")
    memory.check(owner, {"neighbours": 2 * 12 * n * k_up}, "Lower k_up.")
    near_low = nearest(embedded, k_up, n_jobs=n_jobs, owner=owner).indices
    K = sizes(k_up)
    qnx = np.cumsum(_shared(near_high, near_low)[1:]) / (K * n)
    rnx = ((n - 1) * qnx - K) / (n - 1 - K)
    reference = "precomputed" if isinstance(metric, str) and metric == "precomputed" else "ambient"
    return Score(rnx @ (1 / K) / np.sum(1 / K), reference=reference, name=f"AUC[1..{k_up}]")


def _shared(high: Array, low: Array) -> Array:
    """Histogram of max(rho, r) over pairs found in both lists of neighbours."""
    n, k = high.shape
    total = np.zeros(k + 1, np.int64)
    for part in blocks(n, _LISTS):
        rho = matched_ranks(high[part], low[part])
        worst = np.maximum(rho, sizes(k)[None, :])[rho > 0]
        total += np.bincount(worst, minlength=k + 1)
    return total

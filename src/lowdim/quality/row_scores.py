"""The measures of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.params import checked
from lowdim._core.ranks import MOST_ENTRIES, Ranks
from lowdim._core.ranks.reference import Reference, embedding, reference_of
from lowdim._core.runtime.threads import map_rows
from lowdim.quality.pair_sums import in_unit, unit_of
from lowdim.quality.rank_input import check_size, row_penalty

Array = NDArray[Any]


@checked("per_row")
def per_row(
    X: Any,
    Z: Any,
    n_neighbors: int = 12,
    *,
    reference: str = "ambient",
    graph_neighbors: int = 10,
    anchors: Any = "auto",
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Measures of each row; their means over all rows are the measures of the embedding.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    n_neighbors : int
        Neighbourhood size K, in 1..n-2.
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    anchors : "auto", None, int or array of int
        Rows to rank from: all (None), a random sample of this size, or these rows. "auto": all up to 20,000 rows, a
        sample beyond.
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
        ``rows``, ``auc``, ``kept`` (share of the K nearest neighbours preserved), ``trustworthiness``,
        ``continuity`` and ``stress_share`` (share of the reported rows' squared error after the best
        scaling): arrays of equal length; ``k`` (that is K) and ``reference``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> found = per_row(X, X[:, :2], n_neighbors=5)
    >>> bool(abs(found["stress_share"].sum() - 1) < 1e-12)
    True
    """
    source = reference_of(
        X, metric=metric, reference=reference, graph_neighbors=graph_neighbors, n_jobs=n_jobs, owner="per_row"
    )
    low, k = embedding(Z, source.n, "per_row: Z"), n_neighbors
    check_size(k, source.n, "per_row")
    ranks = Ranks.of(source, low, anchors=anchors, ks=(k,), random_state=random_state, n_jobs=n_jobs)
    return {
        "rows": ranks.rows,
        "auc": ranks.row_auc,
        "kept": ranks.row_kept[:, 0] / k,
        "trustworthiness": row_penalty(ranks, k, "trustworthiness"),
        "continuity": row_penalty(ranks, k, "continuity"),
        "stress_share": stress_share(source, low, ranks.rows, n_jobs),
        "k": k,
        "reference": source.name,
    }


def stress_share(source: Reference, low: Reference, rows: Array, n_jobs: int | None = None) -> Array:
    """Share of each of `rows` in their squared error after the best rescaling; equal shares if there is no error."""
    units = [unit_of(space.block(rows[:1], False)) for space in (source, low)]

    def lengths(part: slice) -> list[Array]:
        found = (space.block(rows[part], False).astype(float) for space in (source, low))
        return [in_unit(values, unit) for values, unit in zip(found, units, strict=True)]

    def sums(part: slice) -> Array:
        delta, d = lengths(part)
        return np.stack([np.sum(a * b, axis=1) for a, b in ((delta, delta), (delta, d), (d, d))])

    def errors(part: slice) -> Array:
        delta, d = lengths(part)
        return np.sum((delta - scale * d) ** 2, axis=1)

    block = max(1, min(256, MOST_ENTRIES // source.n))
    length, cross, size = np.concatenate(map_rows(sums, len(rows), block, n_jobs), axis=1).sum(axis=1)
    scale = cross / size if size > 0 else 0.0
    error = np.concatenate(map_rows(errors, len(rows), block, n_jobs))
    total = error.sum()
    negligible = total <= 1e-28 * length  # an exact embedding up to rounding
    return np.full(len(rows), 1 / len(rows)) if negligible else error / total

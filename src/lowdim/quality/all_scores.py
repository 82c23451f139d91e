"""All measures of one or several embeddings, with their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lowdim._core import params
from lowdim._core.distances import check_dissimilarities, comparable, real_array, real_sparse
from lowdim._core.distances.labelled import labelled
from lowdim._core.ranks import Ranks
from lowdim._core.ranks.reference import Reference, embedding, reference_of
from lowdim._core.renamed import renamed_arguments
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import blocks_of, is_lazy
from lowdim.quality._in_blocks import ranks_of_each, refuse_paths
from lowdim.quality.distance_measures import distance_scores, spaces
from lowdim.quality.label_error import knn_error, label_codes
from lowdim.quality.rank_input import row_penalty
from lowdim.quality.row_curves import curves_of, scales_of
from lowdim.quality.row_estimates import RowEstimates, estimate_rows
from lowdim.quality.score import Score

Array = NDArray[Any]


@renamed_arguments(k="n_neighbors")
@params.checked("scores")
def scores(X: Any, Z: Any, y: Any = None, *, has_scale: bool = True, **options: Any) -> dict[str, Any]:
    """All measures of one embedding.

    Parameters
    ----------
    X : array (n, d), or distances (n, n) with ``reference="precomputed"``
        The data.
    Z : array (n, r)
        Embedding; rows with NaN are not scored.
    y : array (n,) or None
        Labels, for the 1-nearest-neighbour error.
    has_scale : bool
        False for methods whose scale is arbitrary (LLE, Laplacian eigenmaps, t-SNE): only the scale-optimal
        stress is returned.
    **options
        Those of `scores_each`.

    Returns
    -------
    dict
        See `scores_each`.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = lowdim.quality.scores(X, X[:, :2])
    >>> found["n_embedded"], found["reference"], found["k"]
    (60, 'ambient', 12)
    """
    return scores_each(X, {"Z": Z}, y, has_scale=has_scale, **options)["Z"]


@renamed_arguments(k="n_neighbors")
@params.checked("scores_each", has_scale=params.flag() | params.mapping())
def scores_each(
    X: Any,
    embeddings: Mapping[str, Any],
    y: Any = None,
    *,
    has_scale: bool | Mapping[str, bool] = True,
    n_neighbors: int = 12,
    reference: str = "ambient",
    graph_neighbors: int = 10,
    anchors: Any = "auto",
    pairs: Any = "auto",
    every_row: bool = False,
    metric: Any = "euclidean",
    device: str = "cpu",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, dict[str, Any]]:
    """All measures of several embeddings of the same data, whose ranks are computed once.

    If methods left rows out (NaN), all embeddings are scored on the rows that every one of them has; an embedding
    with more rows has the scores on its own rows under ``"own"``.

    Parameters
    ----------
    X : array (n, d), or distances (n, n) with ``reference="precomputed"``
        The data.
    embeddings : mapping of str to array (n, r)
        Embeddings, row by row those of `X`.
    y : array (n,) or None
        Labels, for the 1-nearest-neighbour error.
    has_scale : bool or mapping of str to bool
        False if the scale is arbitrary: only the scale-optimal stress is returned.
    n_neighbors : int
        Neighbourhood size K of trustworthiness and continuity (at most n-2).
    reference : {"ambient", "geodesic", "precomputed"}
        Distances to compare with: between the rows of `X`, along its neighbour graph, or given in `X`.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    anchors : "auto", None, int or array of int
        Rows to rank from: all (None), a random sample of this size, or these rows. "auto": all up to 20,000 rows, a
        sample beyond.
    pairs : "auto", None or int
        Pairs of rows: all (None), or a random sample of this size. "auto": all up to 5,000 rows, 200,000 pairs beyond.
    every_row : bool
        If only some rows are ranked from, also estimate the R_NX area of all of them, as `per_row_estimate` does; not
        for geodesic distances.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. Rows
        are ranked there, and "auto" anchors are all rows up to 100,000.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    dict of str to dict
        For each embedding: ``n_given``, ``n_embedded``, ``n_scored``, ``rows`` ("all" or "common"),
        ``n_components``, ``reference``, ``metric``, ``n_anchors``, ``rnx`` (curve over K = 1..n-2), ``auc``,
        ``ranked`` (positions among the scored rows that were ranked from) and ``row_auc`` (R_NX area of each of them),
        ``row_estimate`` (R_NX area of all scored rows, estimated; None unless `every_row` asks for it and rows were
        sampled) and ``row_estimate_from`` (a phrase), ``row_curves`` (R_NX of all scored rows at sizes that double;
        None unless `every_row` asks for it and all rows were ranked from),
        ``k``, ``trustworthiness``, ``continuity``, ``k_max``, ``q_local``, ``q_global``,
        ``normalized_stress``, ``scale_optimal_stress``, ``pearson``, ``spearman``, ``zeros_data`` and
        ``zeros_embedding`` (ordered pairs of different rows at distance 0), ``knn_error``, ``knn_error_data``
        (before the reduction), ``own``. A measure that was estimated from a sample has a confidence interval under its
        name with ``_interval``, else None there.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> Z = lowdim.PCA(2).fit_transform(roll.X)
    >>> found = lowdim.quality.scores_each(roll.X, {"pca": Z, "itself": roll.X})
    >>> round(found["itself"]["auc"], 2), found["pca"]["auc"] < 1
    (1.0, True)
    """
    params.check("scores", {"n_neighbors": n_neighbors}, {"n_neighbors": params.whole(1)})
    if is_lazy(X):
        task = _Task(
            X, y, has_scale, n_neighbors, metric, reference, graph_neighbors, anchors, pairs, every_row,
            int(generator(random_state).integers(2**31)), n_jobs, device,
        )  # fmt: skip
        return task.in_blocks(embeddings)
    tables = {name: _table(Z, name) for name, Z in embeddings.items()}
    if not tables:
        return {}
    kept = {name: np.asarray(~np.isnan(Z).any(axis=1)) for name, Z in tables.items()}
    n = {len(mask) for mask in kept.values()}
    if len(n) > 1:
        raise ValueError(f"scores: all embeddings must have the same number of rows; got {sorted(n)}.")
    common = np.logical_and.reduce(list(kept.values()))
    X, metric = comparable(X, metric, "scores")
    task = _Task(
        _rows(X, metric, reference), None if y is None else label_codes(y, "scores"), has_scale, n_neighbors, metric,
        reference, graph_neighbors, anchors, pairs, every_row, int(generator(random_state).integers(2**31)), n_jobs,
        device,
    )  # fmt: skip
    found = task.on(common, tables)
    own = _own(task, tables, kept, common)
    return {name: {**_facts(found[name], kept[name], common), "own": own.get(name)} for name in tables}


def _given(metric: Any, reference: str) -> bool:
    return any(isinstance(asked, str) and asked == "precomputed" for asked in (reference, metric))


def _rows(X: Any, metric: Any, reference: str) -> Any:
    if _given(metric, reference):
        return np.asarray(check_dissimilarities(labelled(X, "scores")[0], "scores"))
    return real_sparse(X, "scores: X") if issparse(X) else real_array(X, "scores: X")


def _table(Z: Any, name: str) -> Array:
    if issparse(Z):
        raise TypeError(f"scores: the embedding {name} must be a dense array; got a sparse matrix. Pass its toarray().")
    Z = real_array(Z, f"scores: the embedding {name}")
    Z = Z[:, None] if Z.ndim == 1 else Z
    if Z.ndim != 2:
        raise ValueError(f"scores: the embedding {name} must be a table of rows and columns; got shape {Z.shape}.")
    return Z


def _facts(found: dict[str, Any], mask: Array, scored: Array) -> dict[str, Any]:
    counts = {"n_given": len(mask), "n_embedded": int(mask.sum()), "n_scored": int(scored.sum())}
    return {**counts, "rows": "all" if scored.all() else "common", **found}


def _own(
    task: _Task, tables: Mapping[str, Array], kept: Mapping[str, Array], common: Array
) -> dict[str, dict[str, Any]]:
    """Scores of the embeddings that have more rows than all have in common; equal masks share their ranks."""
    groups: dict[bytes, list[str]] = {}
    for name, mask in kept.items():
        if not np.array_equal(mask, common):
            groups.setdefault(mask.tobytes(), []).append(name)
    own: dict[str, dict[str, Any]] = {}
    for names in groups.values():
        mask = kept[names[0]]
        found = replace(task, every_row=False).on(mask, {name: tables[name] for name in names})
        own |= {name: {**_facts(found[name], mask, mask), "rows": "own"} for name in names}
    return own


@dataclass(frozen=True, eq=False)
class _Task:
    """The data and options of one call of `scores_each`."""

    X: Any
    y: Array | None
    has_scale: bool | Mapping[str, bool]
    k: int
    metric: Any
    reference: str
    graph_neighbors: int
    anchors: Any
    pairs: Any
    every_row: bool
    seed: int
    n_jobs: int | None
    device: str = "cpu"

    def on(self, mask: Array, embeddings: Mapping[str, Array]) -> dict[str, dict[str, Any]]:
        """Scores on the rows of `mask`."""
        X = self._data(mask)
        source = reference_of(
            X, metric=self.metric, reference=self.reference, graph_neighbors=self.graph_neighbors, n_jobs=self.n_jobs,
            owner="scores",
        )  # fmt: skip
        tables = {name: np.ascontiguousarray(Z[mask]) for name, Z in embeddings.items()}
        low = {name: embedding(Z, source.n, f"scores: the embedding {name}") for name, Z in tables.items()}
        scales = scales_of(source.n).tolist() if self.every_row else []
        ranks = Ranks.of_each(
            source, low, anchors=self.anchors, ks=(self.k, *scales), random_state=self.seed, n_jobs=self.n_jobs,
            device=self.device,
        )  # fmt: skip
        estimates = self._estimates(X, source, tables, any(found.sampled for found in ranks.values()))
        distances = dict(distance_scores(source, low, self.pairs, self.seed, self.n_jobs))
        given = self._error(X, mask, self.metric if source.name != "precomputed" else "precomputed")
        return {
            name: {
                "n_components": Z.shape[1],
                **_rank_part(ranks[name]),
                **_row_part(estimates.get(name)),
                "row_curves": curves_of(ranks[name], first=1) if self.every_row and not ranks[name].sampled else None,
                **self._distance_part(distances[name], name),
                "knn_error": self._error(Z, mask, "euclidean"),
                "knn_error_data": given,
            }
            for name, Z in tables.items()
        }

    def in_blocks(self, embeddings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Scores of rows of Dask, all of which must have a place."""
        for name, (value, only) in {"every_row": (self.every_row, False), "device": (self.device, "cpu")}.items():
            if value != only:
                raise ValueError(f"scores: {name} must be {only!r} for a collection of Dask; got {value!r}.")
        refuse_paths(self.reference, "scores")
        ranks = ranks_of_each(self.X, embeddings, self.metric, self.anchors, self.k, self.seed)
        given = None if self.y is None else knn_error(self.X, self.y, metric=self.metric)
        found = {}
        for name, Z in embeddings.items():
            source, low = spaces(self.X, Z, self.metric, self.reference, self.graph_neighbors, self.n_jobs, "scores")
            _, distances = next(distance_scores(source, {name: low}, self.pairs, self.seed, self.n_jobs))
            error = None if self.y is None else knn_error(Z if is_lazy(Z) else self._beside(Z), self.y)
            counts = {"n_given": source.n, "n_embedded": source.n, "n_scored": source.n, "rows": "all"}
            found[name] = {
                **counts, "n_components": 1 if np.ndim(Z) == 1 else int(Z.shape[1]), **_rank_part(ranks[name]),
                **_row_part(None), "row_curves": None, **self._distance_part(distances, name), "knn_error": error,
                "knn_error_data": given, "own": None,
            }  # fmt: skip
        return found

    def _beside(self, Z: Any) -> Any:
        """An embedding in memory in the blocks of X."""
        return blocks_of(self.X, "scores").in_rows(np.asarray(Z))

    def _estimates(
        self, X: Any, source: Reference, tables: Mapping[str, Array], sampled: bool
    ) -> dict[str, RowEstimates]:
        if not (self.every_row and sampled) or source.columns is None:
            return {}
        metric = "precomputed" if source.name == "precomputed" else self.metric
        return estimate_rows(
            X, source, tables, metric=metric, k=self.k, random_state=self.seed, n_jobs=self.n_jobs, owner="scores"
        )

    def _data(self, mask: Array) -> Any:
        n = self.X.shape[0]
        if n != len(mask):
            raise ValueError(f"scores: embeddings must have the {n} rows of X; got {len(mask)}.")
        if mask.sum() < 3:
            raise ValueError(f"scores: at least 3 rows must be without NaN in every embedding; got {mask.sum()}.")
        if mask.all():
            return self.X
        return self.X[mask][:, mask] if _given(self.metric, self.reference) else self.X[mask]

    def _error(self, rows: Any, mask: Array, metric: Any) -> float | None:
        if self.y is None:
            return None
        if len(self.y) != len(mask):
            raise ValueError(f"scores: y must have a label for each of the {len(mask)} rows; got {len(self.y)}.")
        return float(knn_error(rows, self.y[mask], metric=metric, n_jobs=self.n_jobs))

    def _distance_part(self, measured: dict[str, Score], name: str) -> dict[str, Any]:
        scaled = self.has_scale if isinstance(self.has_scale, bool) else self.has_scale.get(name, True)
        found = {key: value if scaled or key != "normalized_stress" else None for key, value in measured.items()}
        values = {key: None if value is None else float(value) for key, value in found.items()}
        intervals = {f"{key}_interval": getattr(value, "interval", None) for key, value in found.items()}
        return {**values, **intervals}


def _row_part(estimates: RowEstimates | None) -> dict[str, Any]:
    if estimates is None:
        return {"row_estimate": None, "row_estimate_from": None}
    return {"row_estimate": estimates.auc, "row_estimate_from": estimates.text}


def _rank_part(ranks: Ranks) -> dict[str, Any]:
    k = ranks.ks[0]
    found: dict[str, Any] = {
        "reference": ranks.reference,
        "metric": ranks.metric,
        "n_anchors": len(ranks.rows),
        "rnx": ranks.rnx,
        "ranked": ranks.rows,
        "row_auc": ranks.row_auc,
        "auc": ranks.auc,
        "auc_interval": ranks.auc_interval() if ranks.sampled else None,
        "k": k,
        "k_max": ranks.k_max,
        "q_local": ranks.q_local,
        "q_global": ranks.q_global,
        "zeros_data": ranks.zeros_high,
        "zeros_embedding": ranks.zeros_low,
    }
    for name in ("trustworthiness", "continuity"):
        found[name] = float(getattr(ranks, name)[k - 1])
        rows = row_penalty(ranks, k, name) if ranks.sampled else None
        found[f"{name}_interval"] = None if rows is None else ranks.interval(rows)
    return found

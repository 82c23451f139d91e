"""The neighbour graph, and the diffusion map of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lowdim._core import params
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import eigenpairs
from lowdim.neighbor_embedding.umap import UMAP
from lowdim.neighbor_graph import NeighborGraph
from lowdim.scverse import _reading, _theirs

_KEY = params.none() | params.text()


@params.checked(
    "scverse.neighbors",
    n_pcs=params.none() | params.whole(0),
    use_rep=_KEY,
    metric=params.text() | params.function(),
    search=params.one_of("auto", "exact", "approximate"),
    metric_kwds=params.none() | params.mapping(),
    key_added=_KEY,
)
def neighbors(
    adata: Any,
    n_neighbors: int = 15,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    metric: Any = "euclidean",
    metric_kwds: Mapping[str, Any] | None = None,
    search: str = "auto",
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    **theirs: Any,
) -> Any:
    """The neighbour graph of the cells, as ``scanpy.pp.neighbors`` writes it.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns.
    n_neighbors : int
        Neighbours of a cell, the cell itself counted, as in scanpy.
    n_pcs : int or None
        Use so many principal components; 0: use `X`.
    use_rep : str or None
        "X" or a key of `obsm`. None: the principal components where there are more than 50 genes, else `X`.
    metric : str or callable
        Distance between two cells, see `NeighborGraph`.
    metric_kwds : mapping or None
        Further arguments of the metric.
    search : {"auto", "exact", "approximate"}
        How neighbours are found, see `NeighborGraph`.
    random_state : int
        Written to the parameters; the graph does not depend on it.
    key_added : str or None
        Where to write, instead of "neighbors", "distances" and "connectivities".
    copy : bool
        Write to a copy and return it.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    **theirs
        `knn`, `method` and `transformer` of scanpy, at the values that scanpy has by default.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obsp["distances"]``, ``obsp["connectivities"]``, ``uns["neighbors"]``.

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.neighbors(adata, n_neighbors=10, n_pcs=40)  # doctest: +SKIP
    """
    owner = "scverse.neighbors"
    _theirs.take(owner, theirs)
    adata = _reading.target(adata, copy, owner)
    n_neighbors = _fitting(n_neighbors, adata.shape[0], owner)
    X = _reading.representation(adata, use_rep, n_pcs, owner)
    given = None if metric_kwds is None else dict(metric_kwds)
    found = NeighborGraph(n_neighbors - 1, metric=metric, metric_params=given, search=search, n_jobs=n_jobs)
    distances = _without_itself(sparse.csr_array(found.fit_transform(X)))
    weights = UMAP(n_neighbors=n_neighbors - 1, metric="precomputed", n_jobs=n_jobs).affinities(distances)

    key = "neighbors" if key_added is None else key_added
    places = {name: name if key_added is None else f"{key}_{name}" for name in ("distances", "connectivities")}
    adata.obsp[places["distances"]] = sparse.csr_matrix(distances)
    adata.obsp[places["connectivities"]] = sparse.csr_matrix(weights.astype(np.float32))
    chosen = {"metric_kwds": given, "use_rep": use_rep, "n_pcs": n_pcs}
    adata.uns[key] = {
        **{f"{name}_key": place for name, place in places.items()},
        "params": {
            "n_neighbors": n_neighbors,
            "method": "umap",
            "random_state": random_state,
            "metric": metric if isinstance(metric, str) else getattr(metric, "__name__", "function"),
            **{name: value for name, value in chosen.items() if value is not None},
        },
    }
    return adata if copy else None


def _fitting(k: Any, n: int, owner: str) -> int:
    """As given, the cell itself counted; no more than there are cells."""
    rule = params.whole(2)
    if not rule.accepts(k):
        raise ValueError(f"{owner}: n_neighbors must be {rule.text}, as the cell itself counts; got {k!r}.")
    if k > n:
        warn(f"{owner}: n_neighbors={k} is more than the {n:,} cells there are; all of them are neighbours.")
    return min(int(k), n)


def _without_itself(graph: sparse.csr_array) -> sparse.csr_array:
    """The graph without the stored distance of each row to itself, which is first in its row."""
    n, counts = graph.shape[0], np.diff(graph.indptr)
    kept = np.ones(graph.nnz, dtype=bool)
    kept[graph.indptr[:-1]] = False
    pointers = np.concatenate([[0], np.cumsum(counts - 1)])
    found = sparse.csr_array((graph.data[kept], graph.indices[kept], pointers), shape=(n, n))
    found.sort_indices()
    return found


@params.checked("scverse.diffmap", n_comps=params.whole(1), neighbors_key=_KEY)
def diffmap(
    adata: Any,
    n_comps: int = 15,
    *,
    neighbors_key: str | None = None,
    random_state: Any = 0,
    copy: bool = False,
) -> Any:
    """The diffusion map of the neighbour graph, as ``scanpy.tl.diffmap`` writes it.

    The weights are divided by the degrees of both ends, so that the density of the cells does not count. The
    components are eigenvectors of the symmetric transition matrix, of length 1; the first says nothing, and of a graph
    in several pieces as many as there are pieces say only which piece a cell is in.

    Parameters
    ----------
    adata : AnnData
        With a neighbour graph.
    n_comps : int
        Components, the first one counted.
    neighbors_key : str or None
        Which graph; None: "neighbors".
    random_state : int, generator or None
        Seed; only large graphs need one.
    copy : bool
        Write to a copy and return it.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obsm["X_diffmap"]`` and ``uns["diffmap_evals"]``.

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.diffmap(adata)  # doctest: +SKIP
    """
    adata = _reading.target(adata, copy, "scverse.diffmap")
    W = _reading.graph_of(adata, neighbors_key, "scverse.diffmap").connectivities.astype(np.float64)
    alone = np.flatnonzero(np.asarray(W.sum(axis=1)).ravel() <= 0)
    if len(alone):
        raise ValueError(
            f"scverse.diffmap: {len(alone):,} cells have no neighbour in the graph (the first is cell {alone[0]}), so "
            "no walk reaches them. Leave them out, or build the graph again."
        )
    values, vectors = _walk(W, n_comps, random_state)
    adata.obsm["X_diffmap"] = vectors.astype(np.float32)
    adata.uns["diffmap_evals"] = values.astype(np.float32)
    return adata if copy else None


def _walk(W: sparse.csr_array, k: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of the transition matrix without density, and the vectors of its symmetric form.

    Each connected component has an eigenvector of its own with eigenvalue 1, which is known; the others are those of
    the graph's Laplacian, smallest first.
    """
    inverse = sparse.diags_array(1 / np.asarray(W.sum(axis=1)).ravel())
    K = sparse.csr_array(inverse @ W @ inverse)
    degrees = np.asarray(K.sum(axis=1)).ravel()
    count, labels = connected_components(K)
    still = (labels[:, None] == np.arange(count)).astype(float)
    values, vectors = np.ones(count), still
    if k > count:
        L = sparse.csr_array(sparse.diags_array(degrees) - K)
        rng = generator(random_state)
        problem: Any = {"which": "smallest", "mass": degrees, "skip": still, "semidefinite": True}
        found = eigenpairs(L, k - count, **problem, rng=rng, owner="scverse.diffmap")
        values, vectors = np.concatenate([values, 1 - found.values]), np.column_stack([still, found.vectors])
    vectors = np.sqrt(degrees)[:, None] * vectors
    return values[:k], (vectors / np.linalg.norm(vectors, axis=0))[:, :k]

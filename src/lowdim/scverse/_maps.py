"""Maps of the cells: UMAP of the graph, t-SNE, and any estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim.neighbor_embedding.tsne import TSNE
from lowdim.neighbor_embedding.umap import UMAP
from lowdim.scverse import _paga, _reading, _theirs

ENOUGH = 3.0  # neighbours for each unit of perplexity
_KEY = params.none() | params.text()
_ESTIMATOR = params.Rule(
    "an estimator with fit_transform (an object, not its class)",
    lambda v: not isinstance(v, type) and hasattr(v, "fit_transform"),
)
_PCS = params.none() | params.whole(0)


@params.checked(
    "scverse.umap",
    maxiter=params.none() | params.whole(0),
    alpha=params.real(0, 1000, open_low=True),
    gamma=params.real(0),
    key_added=_KEY,
    neighbors_key=_KEY,
)
def umap(
    adata: Any,
    *,
    min_dist: float = 0.5,
    spread: float = 1.0,
    n_components: int = 2,
    maxiter: int | None = None,
    alpha: float = 0.5,
    gamma: float = 1.0,
    negative_sample_rate: float = 5,
    init_pos: Any = "spectral",
    random_state: Any = 0,
    a: float | None = None,
    b: float | None = None,
    key_added: str | None = None,
    neighbors_key: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    **theirs: Any,
) -> Any:
    """The UMAP of the neighbour graph, as ``scanpy.tl.umap`` writes it. The same graph gives the same map on any CPU.

    Parameters
    ----------
    adata : AnnData
        With a neighbour graph; its connectivities are used as they are.
    min_dist : float
        Approximate least distance of neighbours in the map.
    spread : float
        Scale of the map.
    n_components : int
        Number of columns of the map.
    maxiter : int or None
        Epochs; None: a number that suits the rows.
    alpha : float
        Rate of the first epoch.
    gamma : float
        Weight of repulsion.
    negative_sample_rate : float
        Rows that repel for each one that attracts.
    init_pos : str or array
        "spectral", "random", "paga" (around the places of the groups in ``uns["paga"]["pos"]``, as scanpy's plot leaves
        them), a key of `obsm`, or coordinates.
    random_state : int, generator or None
        Seed.
    a, b : float or None
        The curve of similarity in the map, instead of `min_dist` and `spread`.
    key_added : str or None
        Where to write, instead of "X_umap" and "umap".
    neighbors_key : str or None
        Which graph; None: "neighbors".
    copy : bool
        Write to a copy and return it.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    **theirs
        `method` of scanpy, at its default.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obsm["X_umap"]`` and ``uns["umap"]``.

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.umap(adata)  # doctest: +SKIP
    """
    owner = "scverse.umap"
    _theirs.take(owner, theirs)
    adata = _reading.target(adata, copy, owner)
    W = _reading.graph_of(adata, neighbors_key, owner).connectivities
    model = UMAP(
        n_components,
        affinity="precomputed",
        min_dist=min_dist,
        spread=spread,
        max_iter=maxiter,
        learning_rate=alpha,
        repulsion=gamma,
        negative_sample_rate=negative_sample_rate,
        init=_start(adata, init_pos, random_state, owner),
        disconnected="separate",  # a graph of weights has no distance from one piece to the other
        a=a,
        b=b,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    Z = model.fit_transform(W.astype(np.float64))
    _write(adata, "umap", key_added, Z, {"a": model.a_, "b": model.b_, "random_state": random_state})
    return adata if copy else None


@params.checked(
    "scverse.tsne",
    n_pcs=_PCS,
    use_rep=_KEY,
    perplexity=params.real(1),
    metric=params.text() | params.function(),
    key_added=_KEY,
    neighbors_key=_KEY,
)
def tsne(
    adata: Any,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    perplexity: float = 30,
    metric: Any = "euclidean",
    early_exaggeration: float | str = "auto",
    learning_rate: float | str = "auto",
    random_state: Any = 0,
    key_added: str | None = None,
    neighbors_key: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    **theirs: Any,
) -> Any:
    """The t-SNE of the cells, as ``scanpy.tl.tsne`` writes it.

    Three neighbours are needed for each unit of perplexity. They are taken from the graph "neighbors" where it has so
    many and was made of the same representation, and searched for otherwise. With `neighbors_key`, the weights of that
    graph are the affinities, however many neighbours it has, and the perplexity is not used.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns.
    n_pcs : int or None
        Use so many principal components; 0: use `X`.
    use_rep : str or None
        "X" or a key of `obsm`. None: the principal components where there are more than 50 genes, else `X`.
    perplexity : float
        Effective number of neighbours of a cell.
    metric : str or callable
        Distance between two cells.
    early_exaggeration, learning_rate : float or "auto"
        See `TSNE`; "auto" suits the number of rows. Rates are four times those of scanpy and scikit-learn.
    random_state : int, generator or None
        Seed.
    key_added : str or None
        Where to write, instead of "X_tsne" and "tsne".
    neighbors_key : str or None
        A graph whose weights are the affinities.
    copy : bool
        Write to a copy and return it.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    **theirs
        `use_fast_tsne` of scanpy, which changes nothing here.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obsm["X_tsne"]`` and ``uns["tsne"]``.

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.tsne(adata)  # doctest: +SKIP
    """
    owner = "scverse.tsne"
    _theirs.take(owner, theirs)
    adata = _reading.target(adata, copy, owner)
    settings: dict[str, Any] = {"early_exaggeration": early_exaggeration, "learning_rate": learning_rate}
    settings |= {"random_state": random_state, "n_jobs": n_jobs, "perplexity": perplexity}
    if neighbors_key is not None:
        P = _reading.graph_of(adata, neighbors_key, owner).connectivities.astype(np.float64)
        Z = TSNE(affinity="precomputed", **settings).fit_transform(P / P.sum())
    elif (graph := _enough(adata, n_pcs, use_rep, metric, perplexity)) is not None:
        Z = TSNE(metric="precomputed", **settings).fit_transform(graph)
    else:
        Z = TSNE(metric=metric, **settings).fit_transform(_reading.representation(adata, use_rep, n_pcs, owner))
    used: dict[str, Any] = {"perplexity": perplexity} if neighbors_key is None else {"neighbors_key": neighbors_key}
    used |= {"early_exaggeration": early_exaggeration, "learning_rate": learning_rate}
    chosen = {"metric": metric if isinstance(metric, str) else "function", "use_rep": use_rep, "n_pcs": n_pcs}
    _write(adata, "tsne", key_added, Z, used | {name: value for name, value in chosen.items() if value is not None})
    return adata if copy else None


@params.checked("scverse.embed", estimator=_ESTIMATOR, use_rep=_KEY, n_pcs=_PCS, key_added=_KEY)
def embed(
    adata: Any,
    estimator: Any,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """The map of the cells by any estimator: ``embed(adata, lowdim.Isomap(2))``.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns.
    estimator : estimator
        With `fit_transform`; it is fitted.
    use_rep : str or None
        "X" or a key of `obsm`. None: the principal components where there are more than 50 genes, else `X`.
    n_pcs : int or None
        Use so many principal components; 0: use `X`.
    key_added : str or None
        Where to write in `obsm`; None: "X_" and the name of the class in lower case.
    copy : bool
        Write to a copy and return it.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``.

    Examples
    --------
    >>> import lowdim, lowdim.scverse as ls
    >>> ls.embed(adata, lowdim.Isomap(2))  # doctest: +SKIP
    """
    adata = _reading.target(adata, copy, "scverse.embed")
    Z = estimator.fit_transform(_reading.representation(adata, use_rep, n_pcs, "scverse.embed"))
    name = type(estimator).__name__.lower()
    _write(adata, name, key_added, Z, {"estimator": repr(estimator)})
    return adata if copy else None


def _start(adata: Any, init: Any, random_state: Any, owner: str) -> Any:
    """Initial coordinates: a word that UMAP knows, places of groups, or what is in `obsm`."""
    if not isinstance(init, str) or init in ("spectral", "random"):
        return init
    if init == "paga":
        return _paga.around_groups(adata, random_state, owner)
    if init not in adata.obsm:
        raise KeyError(
            f"{owner}: init_pos must be 'spectral', 'random', 'paga', one of {sorted(adata.obsm)} or coordinates; "
            f"got {init!r}."
        )
    return np.asarray(adata.obsm[init], dtype=np.float64)


def _enough(adata: Any, n_pcs: int | None, use_rep: str | None, metric: Any, perplexity: float) -> Any:
    """The distances of the graph that is there, if it has the neighbours that a perplexity needs."""
    if "neighbors" not in adata.uns:
        return None
    graph = _reading.graph_of(adata, None, "scverse.tsne")
    same = {"use_rep": use_rep, "n_pcs": n_pcs, "metric": metric} == {
        "metric": graph.params.get("metric", "euclidean"),
        **{name: graph.params.get(name) for name in ("use_rep", "n_pcs")},
    }
    if graph.distances is None or not same or np.diff(graph.distances.indptr).min() < ENOUGH * perplexity:
        return None
    return sparse.csr_array(graph.distances)


def _write(adata: Any, name: str, key: str | None, Z: np.ndarray, params: dict[str, Any]) -> None:
    adata.obsm[f"X_{name}" if key is None else key] = np.asarray(Z, dtype=np.float32)
    adata.uns[name if key is None else key] = {"params": params}

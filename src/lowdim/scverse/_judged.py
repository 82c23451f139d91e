"""Which cells and groups of a map can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core import params
from lowdim.linear.pca.pca import PCA
from lowdim.neighbor_embedding.tsne import TSNE
from lowdim.neighbor_embedding.umap import UMAP
from lowdim.scverse import _reading
from lowdim.trust.groups import groups
from lowdim.trust.rows import VERDICTS, rows

OWNER = "scverse.trust"


@params.checked(
    OWNER,
    basis=params.text(),
    groupby=params.none() | params.text(),
    estimator=params.none() | params.estimator(),
    use_rep=params.none() | params.text(),
    n_pcs=params.none() | params.whole(0),
)
def trust(
    adata: Any,
    basis: str = "umap",
    *,
    groupby: str | None = None,
    estimator: Any = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    n_null: int | None = None,
    random_state: Any = 0,
    copy: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Judge a map of the cells: which of them are where they belong, and which groups are groups in the data.

    Parameters
    ----------
    adata : AnnData
        With a map in ``obsm["X_" + basis]``.
    basis : str
        Name of the map: "umap", "tsne", "pca", or another key of `obsm` (with or without "X_").
    groupby : str or None
        A column of `obs` with groups, such as "leiden", to be judged too.
    estimator : estimator or None
        What makes maps of noise to compare with. None: what `basis` names, with the default settings of this package.
    use_rep : str or None
        "X" or a key of `obsm`: the cells as the map should show them. None: the principal components where there are
        more than 50 genes, else `X`.
    n_pcs : int or None
        Use so many principal components; 0: use `X`.
    n_null : int or None
        Tables of noise, see `lowdim.trust.rows`.
    random_state : int, generator or None
        Seed.
    copy : bool
        Write to a copy and return it.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obs[basis + "_trust"]`` ("trusted", "unsure", "misplaced"),
        ``obs[basis + "_trust_p"]``, ``obs[basis + "_isolation"]`` (see `lowdim.trust.rows`), and
        ``uns[basis + "_trust"]``: how many cells have each verdict, and with `groupby` the verdict and reason of each
        group and the pairs of groups whose distance may be read.

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.trust(adata, "umap", groupby="leiden")  # doctest: +SKIP
    """
    adata = _reading.target(adata, copy, OWNER)
    Z, name = _map(adata, basis)
    X = _reading.representation(adata, use_rep, n_pcs, OWNER)
    model = _maker(name, Z.shape[1], random_state) if estimator is None else estimator
    found = rows(X, Z, estimator=model, n_null=n_null, random_state=random_state, n_jobs=n_jobs)
    verdicts = adata.obs.index.to_series().astype(object)
    verdicts[:] = found.verdict
    adata.obs[f"{name}_trust"] = verdicts.astype("category").cat.set_categories(list(VERDICTS))
    adata.obs[f"{name}_trust_p"] = found.p_values
    adata.obs[f"{name}_isolation"] = found.isolation
    told: dict[str, Any] = {"counts": found.counts, "estimator": repr(model)}
    if groupby is not None:
        told |= _groups(adata, X, Z, groupby, random_state, n_jobs)
    adata.uns[f"{name}_trust"] = told
    return adata if copy else None


def _map(adata: Any, basis: str) -> tuple[np.ndarray, str]:
    """The coordinates and the short name of a map."""
    key = next((key for key in (f"X_{basis}", basis) if key in adata.obsm), None)
    if key is None:
        raise KeyError(f"{OWNER}: basis must name a map in obsm, {sorted(adata.obsm)}; got {basis!r}.")
    Z = _reading.in_memory(adata.obsm[key])
    return np.asarray(Z, dtype=np.float64), key.removeprefix("X_")


def _maker(name: str, width: int, random_state: Any) -> Any:
    known = {"umap": UMAP(width, min_dist=0.5, random_state=random_state), "pca": PCA(width)}
    known["tsne"] = TSNE(width, random_state=random_state)
    if name not in known:
        raise ValueError(
            f"{OWNER}: estimator must be given for the map {name!r}: what made it, to map noise with; without, only "
            f"for {', '.join(sorted(known))}."
        )
    return known[name]


def _groups(adata: Any, X: Any, Z: np.ndarray, groupby: str, random_state: Any, n_jobs: int | None) -> dict[str, Any]:
    if groupby not in adata.obs:
        raise KeyError(f"{OWNER}: groupby must be a column of obs, {list(adata.obs.columns)}; got {groupby!r}.")
    judged = groups(X, Z, np.asarray(adata.obs[groupby]), random_state=random_state, n_jobs=n_jobs)
    return {
        "groupby": groupby,
        "groups": {str(one.name): {"verdict": one.verdict, "reason": one.reason} for one in judged.table},
        "distances": {f"{pair.first} | {pair.second}": pair.verdict for pair in judged.pairs},
    }

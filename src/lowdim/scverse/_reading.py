"""What is read from an AnnData object: rows, representations, graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.runtime.notices import warn

COLUMNS = 50  # tables of more columns are represented by their principal components, as in scanpy
ROWS = 4096  # of a table in a file, read at a time


@dataclass(frozen=True, eq=False)
class Graph:
    """A neighbour graph of the cells, as scanpy keeps it."""

    distances: sparse.csr_array | None
    connectivities: sparse.csr_array
    params: dict[str, Any]


def target(adata: Any, copy: bool, owner: str) -> Any:
    """The object to write to."""
    if not all(hasattr(adata, place) for place in ("obs", "obsm", "uns")):
        raise TypeError(
            f"{owner}: adata must be an AnnData object; got {type(adata).__name__}. Arrays and data frames go to the "
            "estimators themselves, such as lowdim.PCA and lowdim.UMAP."
        )
    return adata.copy() if copy else adata


def is_in_file(X: Any) -> bool:
    """Whether a table stays in its file until it is asked for."""
    return type(X).__module__.split(".")[0] in ("h5py", "zarr") or hasattr(X, "to_memory")


def in_memory(X: Any) -> Any:
    """A table that was in a file, or an array of Dask, as an array or sparse matrix."""
    if hasattr(X, "to_memory"):
        return X.to_memory()
    if is_in_file(X):
        return X[...]
    return X.compute() if hasattr(X, "dask") else X


def batches(X: Any, columns: np.ndarray | None) -> Iterator[Any]:
    """The rows of a table in a file, some thousand at a time."""
    for start in range(0, X.shape[0], ROWS):
        part = X[start : start + ROWS]
        part = part if columns is None else part[:, columns]
        yield part.toarray() if sparse.issparse(part) else part


def layer_of(adata: Any, layer: str | None, owner: str) -> Any:
    """`X`, or a layer."""
    if layer is None:
        return adata.X
    if layer not in adata.layers:
        raise KeyError(f"{owner}: layer must be one of {sorted(adata.layers)}; got {layer!r}.")
    return adata.layers[layer]


def representation(adata: Any, use_rep: str | None, n_pcs: int | None, owner: str) -> Any:
    """The rows that distances are measured between, chosen as in scanpy.

    `use_rep` names them ("X", or a key of `obsm`). Otherwise they are the principal components where there are more
    than 50 columns, else `X`; ``n_pcs=0`` is `X`.
    """
    if use_rep is None:
        use_rep = "X" if n_pcs == 0 or (n_pcs is None and adata.shape[1] <= COLUMNS) else "X_pca"
        if use_rep == "X_pca" and "X_pca" not in adata.obsm:
            from lowdim.scverse._components import pca

            warn(
                f"{owner}: there are {adata.shape[1]:,} columns and no principal components, so scverse.pca was run "
                "first. Run it yourself to choose its settings, or set use_rep='X'."
            )
            pca(adata)
    if use_rep == "X":
        rows = in_memory(adata.X)
    elif use_rep in adata.obsm:
        rows = in_memory(adata.obsm[use_rep])
    else:
        raise KeyError(f"{owner}: use_rep must be 'X' or one of {sorted(adata.obsm)}; got {use_rep!r}.")
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    if n_pcs and use_rep != "X":
        if rows.shape[1] < n_pcs:
            raise ValueError(f"{owner}: n_pcs must be at most {rows.shape[1]}, the columns of {use_rep}; got {n_pcs}.")
        rows = rows[:, :n_pcs]
    return rows


def graph_of(adata: Any, key: str | None, owner: str) -> Graph:
    """The graph that an earlier step has left."""
    key = "neighbors" if key is None else key
    if key not in adata.uns:
        raise KeyError(f"{owner}: there is no neighbour graph named {key!r}; run lowdim.scverse.neighbors first.")
    found = adata.uns[key]
    distances = adata.obsp.get(found.get("distances_key", "distances"))
    connectivities = adata.obsp[found.get("connectivities_key", "connectivities")]
    return Graph(
        None if distances is None else sparse.csr_array(distances),
        sparse.csr_array(connectivities),
        dict(found.get("params", {})),
    )

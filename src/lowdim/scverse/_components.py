"""Principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from lowdim._core import params
from lowdim.linear.pca.pca import PCA
from lowdim.linear.truncated_svd import TruncatedSVD
from lowdim.scverse import _reading, _theirs

OWNER = "scverse.pca"


def _is_float(dtype: Any) -> bool:
    try:
        return dtype is not None and not isinstance(dtype, np.generic) and np.issubdtype(np.dtype(dtype), np.floating)
    except TypeError:
        return False


_KEY = params.none() | params.text()


@params.checked(
    OWNER,
    n_comps=params.none() | params.whole(1),
    layer=_KEY,
    dtype=params.Rule("a type of floating-point numbers, such as float32", _is_float),
    key_added=_KEY,
    use_highly_variable=params.none() | params.flag(),
)
def pca(
    adata: Any,
    n_comps: int | None = None,
    *,
    layer: str | None = None,
    zero_center: bool = True,
    mask_var: str | np.ndarray | None = "auto",
    random_state: Any = 0,
    dtype: DTypeLike = "float32",
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    use_highly_variable: bool | None = None,
    **theirs: Any,
) -> Any:
    """Principal components of the cells, as ``scanpy.pp.pca`` writes them.

    Sparse counts stay sparse. A table in a file (``backed="r"``) is read in blocks, twice: once for the components,
    once for the scores. Arrays of Dask are read where they are.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns.
    n_comps : int or None
        Components. None: 50, or one less than there are cells or genes.
    layer : str or None
        A layer to take instead of `X`.
    zero_center : bool
        False: a truncated singular value decomposition, whose first component is mostly the mean.
    mask_var : str, array of bool or None
        Genes to use: a column of `var`, or one value for each gene. "auto": the column "highly_variable" where it
        exists. None: all.
    random_state : int, generator or None
        Seed; only large tables need one.
    dtype : dtype
        Of the scores.
    key_added : str or None
        Where to write, instead of "X_pca", "PCs" and "pca".
    copy : bool
        Write to a copy and return it.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    use_highly_variable : bool or None
        An earlier name of scanpy's: True is ``mask_var="highly_variable"``, False ``mask_var=None``.
    **theirs
        `svd_solver`, `chunked` and `chunk_size` of scanpy, which change nothing here.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. Written: ``obsm["X_pca"]``, ``varm["PCs"]``, ``uns["pca"]`` with "variance",
        "variance_ratio" and "params".

    Examples
    --------
    >>> import lowdim.scverse as ls
    >>> ls.pca(adata)  # doctest: +SKIP
    """
    _theirs.take(OWNER, theirs)
    adata = _reading.target(adata, copy, OWNER)
    if use_highly_variable is not None:
        mask_var = "highly_variable" if use_highly_variable else None
    name = _mask_name(adata, mask_var)
    mask = _mask(adata, name)
    X = _reading.layer_of(adata, layer, OWNER)
    width = adata.shape[1] if mask is None else int(mask.sum())
    most = min(adata.shape[0], width)
    k = n_comps if n_comps is not None else min(50, most - 1)
    if k > most:
        raise ValueError(
            f"{OWNER}: n_comps must be at most {most:,}, for {adata.shape[0]:,} cells and {width:,} genes; got {k:,}."
        )
    settings: dict[str, Any] = {"n_components": k, "random_state": random_state, "n_jobs": n_jobs}
    model = PCA(**settings) if zero_center else TruncatedSVD(**settings)
    Z = _fitted(model, X, None if mask is None else np.flatnonzero(mask))

    obsm, varm, uns = ("X_pca", "PCs", "pca") if key_added is None else (key_added,) * 3
    loadings = np.zeros((adata.shape[1], k))
    loadings[slice(None) if mask is None else mask] = model.components_.T
    adata.obsm[obsm] = np.asarray(Z, dtype=dtype)
    adata.varm[varm] = loadings
    adata.uns[uns] = {
        "params": {
            "zero_center": zero_center,
            "use_highly_variable": isinstance(name, str) and name == "highly_variable",
            "mask_var": name if isinstance(name, str) else None,
            **({} if layer is None else {"layer": layer}),
        },
        "variance": np.asarray(model.explained_variance_),
        "variance_ratio": np.asarray(model.explained_variance_ratio_),
    }
    return adata if copy else None


def _mask_name(adata: Any, mask_var: Any) -> Any:
    """What is used of `var`: a column, values, or None; "auto" is settled."""
    if isinstance(mask_var, str) and mask_var == "auto":
        return "highly_variable" if "highly_variable" in adata.var else None
    return mask_var


def _mask(adata: Any, name: Any) -> np.ndarray | None:
    """Which genes count; None for all."""
    if name is None:
        return None
    if isinstance(name, str) and name not in adata.var:
        raise KeyError(f"{OWNER}: mask_var must be a column of var, {list(adata.var.columns)}; got {name!r}.")
    mask = np.asarray(adata.var[name] if isinstance(name, str) else name)
    if mask.dtype != bool or mask.shape != (adata.shape[1],):
        raise ValueError(
            f"{OWNER}: mask_var must be True or False for each of the {adata.shape[1]:,} genes; got {mask.dtype} of "
            f"shape {mask.shape}."
        )
    return mask


def _fitted(model: Any, X: Any, columns: np.ndarray | None) -> np.ndarray:
    """Scores of all rows; a table in a file and an array of Dask are read in blocks."""
    if _reading.is_in_file(X):
        model.fit(_reading.batches(X, columns))
        return np.concatenate([model.transform(part) for part in _reading.batches(X, columns)])
    X = X if columns is None else X[:, columns]
    Z = model.fit(X).transform(X)
    return np.asarray(Z.compute() if hasattr(Z, "compute") else Z)

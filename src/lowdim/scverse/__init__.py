"""The steps of single-cell work on `AnnData`, with scanpy's names and places: `pca`, `neighbors`, `umap`, `tsne`,
`diffmap`, any estimator by `embed`, and `trust`.

Each function takes the parameters that scanpy's function of that name takes, reads what it reads and writes what it
writes, so that plots and later steps of scanpy go on from there. Neighbours that are in the object are used, never
searched for again. `lowdim.scverse.pp` and `lowdim.scverse.tl` hold the steps where scanpy has them, so that a script
of scanpy's changes its import alone. Nothing here imports anndata: whatever has `X`, `obsm`, `obsp`, `obs`, `varm` and
`uns` will do.

    >>> import lowdim.scverse as ls
    >>> ls.pca, ls.neighbors, ls.umap, ls.tsne, ls.diffmap, ls.embed, ls.trust  # doctest: +ELLIPSIS
    (<function pca at ...>, ...)
"""

from lowdim.scverse import pp, tl
from lowdim.scverse._components import pca
from lowdim.scverse._graphs import diffmap, neighbors
from lowdim.scverse._judged import trust
from lowdim.scverse._maps import embed, tsne, umap

__all__ = ["diffmap", "embed", "neighbors", "pca", "pp", "tl", "trust", "tsne", "umap"]

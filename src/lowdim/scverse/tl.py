"""The steps that scanpy has in ``scanpy.tl``, so that a script changes its import and nothing else.

>>> import lowdim.scverse as sc
>>> sc.tl.umap is sc.umap
True
"""

from lowdim.scverse._components import pca
from lowdim.scverse._graphs import diffmap
from lowdim.scverse._judged import trust
from lowdim.scverse._maps import embed, tsne, umap

__all__ = ["diffmap", "embed", "pca", "trust", "tsne", "umap"]

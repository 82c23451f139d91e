"""The steps that scanpy has in ``scanpy.pp``, so that a script changes its import and nothing else.

>>> import lowdim.scverse as sc
>>> sc.pp.neighbors is sc.neighbors
True
"""

from lowdim.scverse._components import pca
from lowdim.scverse._graphs import neighbors

__all__ = ["neighbors", "pca"]

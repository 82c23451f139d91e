"""From scores to answers: which rows and groups of a map can be trusted, and whether there is structure at all.

>>> import numpy as np, lowdim
>>> rng = np.random.default_rng(0)
>>> X = np.concatenate([rng.normal(size=(60, 5)), rng.normal(8, 1, size=(60, 5))])
>>> model = lowdim.PCA(n_components=2)
>>> found = lowdim.trust.rows(X, model.fit_transform(X), estimator=model, random_state=0)
>>> sorted(found.counts)
['misplaced', 'trusted', 'unsure']
"""

from lowdim.trust.fractures import Fractures, fractures
from lowdim.trust.groups import Group, GroupPair, GroupTrust, groups
from lowdim.trust.rows import RowTrust, rows
from lowdim.trust.stability import Stability, stability
from lowdim.trust.structure import StructureTest, structure

__all__ = [
    "Fractures",
    "Group",
    "GroupPair",
    "GroupTrust",
    "RowTrust",
    "Stability",
    "StructureTest",
    "fractures",
    "groups",
    "rows",
    "stability",
    "structure",
]

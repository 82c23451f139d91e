"""From scores to answers: which rows and groups of a map can be trusted, and whether there is structure at all.

    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> model = lowdim.PCA(n_components=2)
    >>> found = lowdim.trust.rows(X, model.fit_transform(X), estimator=model, random_state=0)
    >>> sorted(found.counts)
    ['misplaced', 'trusted', 'unsure']
"""

from lowdim.trust.groups import Group, GroupPair, GroupTrust, groups
from lowdim.trust.rows import RowTrust, rows
from lowdim.trust.stability import Stability, stability
from lowdim.trust.structure import StructureTest, structure

__all__ = [
    "Group",
    "GroupPair",
    "GroupTrust",
    "RowTrust",
    "Stability",
    "StructureTest",
    "groups",
    "rows",
    "stability",
    "structure",
]

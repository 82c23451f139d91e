"""What the methods of this folder promise alike."""

import numpy as np
import pytest
from scipy import sparse

from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity


def check_new_rows_of_a_sparse_graph(model, X):
    """`model` takes precomputed distances; new rows have the neighbours they store, be they few or fewer."""
    model.fit(_affinity.as_graph(nearest(X[:120], 9), 120))
    few, fewer = (_affinity.as_graph(nearest(X[:120], k, queries=X[120:]), 120) for k in (7, 4))
    mixed = sparse.vstack([few[:6], fewer[6:], few[:1]]).tocsr()[[7, 0, 1, 8, 3]]
    found = model.transform(mixed)
    for row, expected in enumerate((fewer[7:8], few[:1], few[1:2], fewer[8:9], few[3:4])):
        np.testing.assert_array_equal(found[row], model.transform(expected)[0])
    nearest_ones = nearest(X[:120], 1, queries=X[[127, 120, 121, 128, 123]]).indices[:, 0]
    off = np.linalg.norm(found - model.embedding_[nearest_ones], axis=1)
    assert off.max() < 0.2 * np.ptp(model.embedding_, axis=0).max()
    mixed.data[mixed.indptr[2] : mixed.indptr[3]] = 0
    mixed.eliminate_zeros()
    with pytest.raises(ValueError, match=f"{type(model).__name__}: row 2 of X stores no distance to a fitted row"):
        model.transform(mixed)

"""What `describe` says about distances."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from lowdim.study.descriptions.items import describe_distances


def test_points_of_a_plane():
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[3] = X[7]
    D = squareform(pdist(X))
    found = describe_distances(D, [f"i{j}" for j in range(12)])
    assert (found.unknown, found.equal, found.triangles, found.negative) == (0, 1, 0.0, 0.0)
    assert found.largest == D.max()
    assert found.median == pytest.approx(np.median(D[np.triu_indices(12, 1)]))
    assert "distances between points of a Euclidean space" in found.sentences()[-1]


def test_a_broken_triangle_and_an_unknown_pair():
    D = np.array([[0, 1, 5.0], [1, 0, 1], [5, 1, 0]])
    found = describe_distances(D, None)
    assert found.triangles == 1.0
    values = np.linalg.eigvalsh(-0.5 * (np.eye(3) - 1 / 3) @ D**2 @ (np.eye(3) - 1 / 3))
    assert found.negative == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    D[0, 2] = D[2, 0] = np.nan
    found = describe_distances(D, None)
    assert (found.unknown, found.triangles, found.negative) == (1, 0.0, None)
    assert "1 of 3 pairs have no distance" in found.sentences()

"""The dimension that rows fill, roughly."""

import numpy as np
import pytest

import lowdim
from lowdim._core.manifold.dimension import neighbor_dimension


@pytest.mark.parametrize(("d", "low", "high"), [(1, 1, 1), (2, 2, 2), (3, 3, 3), (20, 7, 20)])
def test_rows_in_a_box(d, low, high):
    X = np.random.default_rng(0).random((2000, d))
    assert low <= neighbor_dimension(X, 12) <= high


def test_a_sheet_in_many_columns_has_two():
    X = lowdim.datasets.swiss_roll(2000, random_state=0).X @ np.random.default_rng(0).normal(size=(3, 40))
    assert neighbor_dimension(X, 12) == 2
    model = lowdim.LLE(2)
    box = np.random.default_rng(0).normal(size=(2000, 40))
    assert model.estimate_memory(box) > 1.4 * model.estimate_memory(X)


def test_what_cannot_be_told_is_one():
    assert neighbor_dimension(np.ones((10, 2)), 5) == 1
    assert neighbor_dimension(np.full((10, 2), np.nan), 5) == 1
    assert neighbor_dimension([[1.0]], 5) == 1

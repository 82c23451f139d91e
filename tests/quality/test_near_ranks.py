"""Counting the ranks of the nearest few gives what ordering every row gives."""

import numpy as np
import pytest

from lowdim import _native, quality
from lowdim._core.ranks import rank_rows
from lowdim.quality._near_ranks import column_ranks, nearest_columns


def distances(dtype, tied):
    rng = np.random.default_rng(3)
    D = rng.integers(0, 6, (40, 90)) if tied else rng.random((40, 90))
    return D.astype(dtype), np.arange(20, 60)


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("k", [1, 12, 89])
def test_kernels_equal_the_ranks_of_whole_rows(dtype, tied, k):
    D, rows = distances(dtype, tied)
    ranks, _ = rank_rows(D, rows)
    order = np.argsort(np.where(ranks == 0, D.shape[1], ranks), axis=1)[:, :k]
    columns = nearest_columns(D, rows, k)
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(column_ranks(D, rows, columns), np.take_along_axis(ranks, order, axis=1))
    other = np.ascontiguousarray(np.argsort(-ranks, axis=1)[:, :5].astype(np.int32))
    np.testing.assert_array_equal(column_ranks(D, rows, other), np.take_along_axis(ranks, other, axis=1))


@pytest.mark.kernel
def test_kernels_refuse_columns_that_do_not_exist():
    D, rows = distances(np.float64, False)
    with pytest.raises(ValueError, match="columns must be in"):
        column_ranks(D, rows, np.full((40, 1), 90, np.int32))
    with pytest.raises(ValueError, match="self must be"):
        nearest_columns(D, rows + 60, 3)
    with pytest.raises(ValueError, match="shapes"):
        _native.nearest_columns(D, rows, np.empty((40, 90), np.int32), 1)


@pytest.mark.parametrize("options", [{}, {"anchors": 30, "random_state": 0}, {"reference": "geodesic"}, {"n_jobs": 1}])
@pytest.mark.parametrize("copies", [False, True])
def test_scores_equal_those_of_the_whole_record(options, copies):
    X = np.random.default_rng(0).standard_normal((80, 6))
    X = np.vstack([X, X[:20]]) if copies else X
    Z = X[:, :2] + 0.3
    ranks = quality.Ranks.of(X, Z, ks=(7,), **options)
    both = quality.trustworthiness_continuity(X, Z, 7, **options)
    for found, measure in zip(both, (quality.trustworthiness, quality.continuity), strict=True):
        assert found == measure(X, Z, 7, **options) == measure(ranks, n_neighbors=7)
        assert found.interval == measure(ranks, n_neighbors=7).interval


def test_large_neighbourhoods_go_through_the_whole_record():
    X = np.random.default_rng(1).standard_normal((150, 4))
    Z = X[:, :2]
    ranks = quality.Ranks.of(X, Z)
    assert quality.trustworthiness(X, Z, 120) == quality.trustworthiness(ranks, n_neighbors=120)
    assert quality.continuity(X, Z, 100) == quality.continuity(ranks, n_neighbors=100)


def test_a_record_too_few_rows_and_ks():
    rng, both = np.random.default_rng(0), quality.trustworthiness_continuity
    X, Z = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    assert both(quality.Ranks.of(X, Z), n_neighbors=7) == both(X, Z, 7)
    for n in (0, 2):
        with pytest.raises(ValueError, match=f"trustworthiness_continuity: X must have at least 3 rows; got {n}"):
            both(X[:n], Z[:n], 5)
    with pytest.raises(
        TypeError, match="trustworthiness_continuity: unknown option 'ks'; the neighbourhood size is n_neighbors"
    ):
        both(X, Z, 5, ks=(3,))

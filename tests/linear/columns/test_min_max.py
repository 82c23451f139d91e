"""Min-max scaling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from lowdim import LDA, MinMax


def table(n=50, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 7, d) + 10.0 ** rng.integers(-2, 4, d)


@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (-3.5, 100)])
def test_cells_run_from_end_to_end(ends):
    X = table()
    Z = MinMax(ends).fit_transform(X)
    np.testing.assert_array_equal(Z.min(axis=0), ends[0])
    np.testing.assert_array_equal(Z.max(axis=0), ends[1])
    np.testing.assert_allclose(Z, MinMaxScaler(ends).fit_transform(X), atol=1e-9)


@given(seed=st.integers(0, 1000), dtype=st.sampled_from([np.float32, np.float64]))
def test_the_inverse_is_exact(seed, dtype):
    X, new = table(seed=seed).astype(dtype), table(20, seed=seed + 1).astype(dtype)
    X[:, 1] = 3.0
    model = MinMax((-1, 2)).fit(X)
    for rows in (X, new):
        Z = model.transform(rows)
        size = np.maximum(np.abs(rows), np.abs(X).max(axis=0))
        error = np.abs(model.inverse_transform(Z) - rows)
        assert (error <= 20 * np.finfo(dtype).eps * np.maximum(size, np.abs(Z) * model.data_range_)).all()


def test_a_constant_column_goes_to_the_lower_end():
    X = table()
    X[:, 2] = 1e6 + 0.1
    model = MinMax((5, 6)).fit(X)
    Z = model.transform(X)
    assert (Z[:, 2] == 5).all()
    np.testing.assert_array_equal(model.inverse_transform(Z)[:, 2], X[:, 2])
    new = X[:1] + 2.0
    np.testing.assert_allclose(model.inverse_transform(model.transform(new)), new)


def test_missing_cells_stay_missing():
    X = table()
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    holes[np.arange(50), np.arange(50) % 4] = False
    Y = np.where(holes, np.nan, X)
    model = MinMax().fit(Y)
    Z = model.transform(Y)
    np.testing.assert_array_equal(np.isnan(Z), holes)
    np.testing.assert_array_equal(np.nanmin(Z, axis=0), 0)
    np.testing.assert_array_equal(np.nanmax(Z, axis=0), 1)
    back = model.inverse_transform(Z)
    np.testing.assert_array_equal(np.isnan(back), holes)
    np.testing.assert_allclose(back[~holes], X[~holes])
    with pytest.raises(ValueError, match="infinity"):
        model.inverse_transform(np.full((1, 4), np.inf))


def test_new_rows_leave_the_range_unless_clipped():
    X = np.array([[0.0], [10.0]])
    new = [[-5.0], [20.0], [5.0]]
    np.testing.assert_array_equal(MinMax().fit(X).transform(new), [[-0.5], [2.0], [0.5]])
    np.testing.assert_array_equal(MinMax(clip=True).fit(X).transform(new), [[0.0], [1.0], [0.5]])
    clipped = MinMax(clip=True).fit(np.hstack([X, X])).transform([[np.nan, 20.0]])
    np.testing.assert_array_equal(clipped, [[np.nan, 1.0]])


def test_sparse_rows_are_refused_with_the_reason():
    with pytest.raises(TypeError, match=r"MinMax: X must be dense.*would fill its zeros.*MaxAbsScaler"):
        MinMax().fit(sparse.eye_array(4, format="csr"))
    with pytest.raises(TypeError, match="would fill its zeros"):
        MinMax().fit(np.eye(4)).transform(sparse.eye_array(4, format="csr"))


@pytest.mark.parametrize("ends", [(1, 0), (1, 1), (0, np.inf), 3, (0, 1, 2), ("a", "b"), None])
def test_bad_ranges(ends):
    with pytest.raises(ValueError, match="MinMax: feature_range must be two numbers, the smaller one first; got"):
        MinMax(ends).fit(table())


def test_names_stay():
    frame = pd.DataFrame(table(), columns=list("abcd"))
    assert list(MinMax().fit(frame).get_feature_names_out()) == list("abcd")


def test_cross_validation_scales_by_training_rows_alone():
    X = table(60)
    y = np.arange(60) % 2
    folds = KFold(3)
    found = cross_validate(make_pipeline(MinMax(), LDA()), X, y, cv=folds, return_estimator=True)
    for model, (train, _) in zip(found["estimator"], folds.split(X), strict=True):
        np.testing.assert_array_equal(model[0].data_min_, X[train].min(axis=0))
        np.testing.assert_array_equal(model[0].data_max_, X[train].max(axis=0))
    assert any((model[0].data_max_ != X.max(axis=0)).any() for model in found["estimator"])

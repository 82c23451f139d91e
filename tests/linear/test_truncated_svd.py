"""Truncated singular value decomposition: the factorisation itself, PCA, sparse rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD as SklearnTruncatedSVD

from lowdim import PCA, TruncatedSVD, low_rank


def rows(n=80, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2.0


@pytest.mark.parametrize("shape", [(80, 12), (12, 80), (20, 20)])
def test_scores_are_left_singular_vectors_times_singular_values(shape):
    X = rows(*shape)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    model = TruncatedSVD(4).fit(X)
    np.testing.assert_allclose(model.singular_values_, s[:4])
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(U[:, :4] * s[:4]), atol=1e-8 * s[0])
    np.testing.assert_allclose(np.abs(model.components_ @ Vt[:4].T), np.eye(4), atol=1e-7)


def test_it_is_that_of_scikit_learn():
    X = rows()
    ours = TruncatedSVD(5).fit(X)
    theirs = SklearnTruncatedSVD(5, algorithm="arpack", random_state=0).fit(X)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_ * 80 / 79)


def test_no_table_of_that_rank_is_nearer():
    X = rows()
    model = TruncatedSVD(3).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, low_rank(X, 3).to_array(), atol=1e-9)
    s = np.linalg.svd(X, compute_uv=False)
    assert ((X - back) ** 2).sum() == pytest.approx((s[3:] ** 2).sum())


def test_of_centred_rows_it_is_pca_and_of_others_not():
    X = rows()
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(TruncatedSVD(3).fit_transform(centred), PCA(3, solver="svd").fit_transform(X), atol=1e-8)
    assert np.abs(TruncatedSVD(3).fit_transform(X) - PCA(3).fit_transform(X)).max() > 1


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_sparse_rows_give_what_dense_ones_give(form, shape):
    X = np.random.default_rng(0).poisson(0.2, shape).astype(float)
    dense, model = TruncatedSVD(4).fit(X), TruncatedSVD(4).fit(form(X))
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, dense.explained_variance_ratio_, atol=1e-9)
    np.testing.assert_allclose(model.transform(form(X)), dense.transform(X), atol=1e-7)


def test_large_sparse_rows_are_never_filled():
    """100,000 x 50,000 cells would take 40 GB."""
    rng = np.random.default_rng(0)
    cells = (rng.integers(100_000, size=10_000), rng.integers(50_000, size=10_000))
    X = sparse.csr_array((rng.random(10_000), cells), shape=(100_000, 50_000))
    X = X + sparse.csr_array((np.full(2000, 30.0), (np.arange(2000), np.zeros(2000, dtype=int))), shape=X.shape)
    model = TruncatedSVD(1).fit(X)
    assert model.singular_values_[0] == pytest.approx(30 * np.sqrt(2000), rel=1e-3)
    assert model.transform(X[:5]).shape == (5, 1)


def test_all_components():
    X = rows()
    model = TruncatedSVD(None).fit(X)
    assert model.n_components_ == 12
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    with pytest.warns(UserWarning, match=r"n_components=13 is more than min\(n_samples, n_features\) = 12; keeping 12"):
        TruncatedSVD(13).fit(X)


@pytest.mark.filterwarnings("ignore:.*the map puts all .* rows in one place")
def test_zeros_have_no_axis():
    with pytest.raises(ValueError, match="TruncatedSVD: X must have a cell that is not 0"):
        TruncatedSVD(1).fit(np.zeros((5, 3)))
    model = TruncatedSVD(2).fit(np.ones((5, 3)))
    np.testing.assert_allclose(model.explained_variance_ratio_, 0, atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_many_columns_in_blocks_need_no_matrix_of_their_pairs(form, monkeypatch):
    """As in memory, and never a table of all pairs of columns."""
    import dask.array as da

    from lowdim._core.spectrum import Moments

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(240, 5)) * [9, 7, 5, 4, 3]
    X = scores @ rng.normal(size=(5, 5500)) / 70 + 0.05 * rng.normal(size=(240, 5500)) + 0.1
    X[np.abs(X) < 0.2] = 0
    wanted = TruncatedSVD(3, random_state=0).fit(X)
    blocks = da.from_array(X, chunks=(70, 5500))
    if form == "sparse":
        blocks = blocks.map_blocks(sparse.csr_array)
    monkeypatch.setattr(Moments, "of", lambda *_, **__: pytest.fail("all pairs of columns"))
    found = TruncatedSVD(3, random_state=0).fit(blocks)
    np.testing.assert_allclose(found.singular_values_, wanted.singular_values_, rtol=1e-7)
    np.testing.assert_allclose(found.explained_variance_ratio_, wanted.explained_variance_ratio_, rtol=1e-5)
    np.testing.assert_allclose(np.abs(found.components_), np.abs(wanted.components_), atol=1e-5)

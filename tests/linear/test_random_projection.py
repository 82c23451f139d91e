"""Random projection: the lemma, closed forms, sparse rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.random_projection import johnson_lindenstrauss_min_dim

import lowdim
from lowdim import RandomProjection

kinds = pytest.mark.parametrize("kind", ["gaussian", "sparse"])


def rows(n=60, d=2000, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 3.0


@kinds
def test_distances_are_kept_as_the_lemma_says(kind):
    X = rows()
    model = RandomProjection("auto", kind=kind, eps=0.3, random_state=0).fit(X)
    assert model.n_components_ == johnson_lindenstrauss_min_dim(60, eps=0.3) < 2000
    assert model.n_components_ == int(4 * np.log(60) / (0.3**2 / 2 - 0.3**3 / 3))
    ratios = pdist(model.transform(X)) ** 2 / pdist(X) ** 2
    assert np.abs(ratios - 1).max() < 0.3
    worse = RandomProjection(5, kind=kind, random_state=0).fit_transform(X)
    assert np.abs(pdist(worse) ** 2 / pdist(X) ** 2 - 1).max() > 0.5


@kinds
def test_a_squared_length_is_right_on_average(kind):
    """E |Rx|^2 = |x|^2, with a relative standard deviation of sqrt(2 / k)."""
    x = rows(2, 2500)
    for density in (1 / 3, 0.01):
        Z = RandomProjection(2000, kind=kind, density=density, random_state=0).fit_transform(x)
        np.testing.assert_allclose((Z**2).sum(axis=1), (x**2).sum(axis=1), rtol=0.12)


@pytest.mark.parametrize("density", ["auto", 1 / 3, 1.0])
def test_sparse_entries(density):
    model = RandomProjection(50, kind="sparse", density=density, random_state=0).fit(rows(5, 400))
    share = 1 / 20 if density == "auto" else density
    assert sparse.issparse(model.components_) == (share < 1)
    entries = sparse.csr_array(model.components_).data
    assert len(entries) == pytest.approx(share * 50 * 400, rel=0.1)
    np.testing.assert_allclose(np.abs(entries), 1 / np.sqrt(share * 50))


@kinds
def test_sparse_rows_give_what_dense_ones_give(kind):
    X = rows(40, 300) * (np.random.default_rng(1).random((40, 300)) < 0.1)
    dense = RandomProjection(10, kind=kind, random_state=0).fit(X)
    filled = dense.transform(X)
    for table in (sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_array(X)):
        model = RandomProjection(10, kind=kind, random_state=0).fit(table)
        Z = model.transform(table)
        assert isinstance(Z, np.ndarray)
        np.testing.assert_allclose(Z, filled, atol=1e-10)
        np.testing.assert_allclose(model.inverse_transform(Z), dense.inverse_transform(filled), atol=1e-10)
    assert model.transform(sparse.csr_array(X.astype(np.float32))).dtype == np.float32


@kinds
def test_the_inverse_is_the_nearest_row_to_the_mean_with_these_coordinates(kind):
    X = rows(40, 30)
    model = RandomProjection(6, kind=kind, density=0.5, random_state=0).fit(X)
    Z = model.transform(X)
    back = model.inverse_transform(Z)
    np.testing.assert_allclose(model.transform(back), Z, atol=1e-9)
    R = model.components_.toarray() if kind == "sparse" else model.components_
    null = np.linalg.svd(R)[2][6:]
    np.testing.assert_allclose((back - X.mean(axis=0)) @ null.T, 0, atol=1e-9)


def test_as_many_components_as_columns_can_be_inverted_exactly():
    X = rows(20, 5)
    with pytest.warns(UserWarning, match="RandomProjection: n_components=9 is more than the 5 columns; keeping 5"):
        model = RandomProjection(9, random_state=1).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)


def test_too_few_columns_for_auto():
    with pytest.raises(
        ValueError, match=r"RandomProjection: n_components='auto' must have at least \d+ columns.* got 50"
    ):
        RandomProjection("auto").fit(rows(60, 50))


@kinds
def test_seeds(kind):
    X = rows(10, 50)
    first = RandomProjection(5, kind=kind, random_state=3).fit_transform(X)
    np.testing.assert_array_equal(first, RandomProjection(5, kind=kind, random_state=3).fit_transform(X))
    assert (first != RandomProjection(5, kind=kind, random_state=4).fit_transform(X)).any()


@kinds
def test_files(kind, tmp_path):
    X = rows(10, 50)
    model = RandomProjection(5, kind=kind, random_state=3).fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(X), model.transform(X))


@pytest.mark.parametrize("bad", [{"kind": "binary"}, {"eps": 0.0}, {"eps": 1.0}, {"density": 0.0}, {"density": 1.5}])
def test_bad_settings(bad):
    with pytest.raises(ValueError, match=f"RandomProjection: {next(iter(bad))} must be"):
        RandomProjection(2, **bad).fit(rows(10, 20))

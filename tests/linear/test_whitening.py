"""Whitening: closed forms and identities."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import sqrtm

import lowdim
from lowdim import PCA, Whitening

kinds = pytest.mark.parametrize("kind", ["pca", "zca"])


def cloud(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 7


@kinds
@pytest.mark.parametrize("ddof", [0, 1])
def test_white(kind, ddof):
    X = cloud()
    Z = Whitening(kind=kind, ddof=ddof).fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T, ddof=ddof), np.eye(5), atol=1e-10)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)


def test_principal_whitening_is_pcas_and_the_left_singular_vectors():
    """sqrt(n - 1) U, where the notes forget the root: D^-1 U'X has covariance I / (n - 1)."""
    X = cloud()
    Z = Whitening(3).fit_transform(X)
    np.testing.assert_allclose(Z, PCA(3, whiten=True, solver="svd").fit_transform(X), atol=1e-10)
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :3]
    np.testing.assert_allclose(np.abs(Z), np.sqrt(len(X) - 1) * np.abs(U), atol=1e-10)


def test_zca_is_the_symmetric_root_and_moves_the_rows_least():
    X = cloud()
    model = Whitening(kind="zca").fit(X)
    C = np.cov(X.T)
    np.testing.assert_allclose(model.whitening_, np.linalg.inv(sqrtm(C).real), atol=1e-8)
    np.testing.assert_allclose(model.coloring_, sqrtm(C).real, atol=1e-8)
    Xc, Z = X - X.mean(axis=0), model.transform(X)
    for seed in range(5):
        Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
        assert ((Z - Xc) ** 2).sum() < ((Z @ Q - Xc) ** 2).sum()


@kinds
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_the_way_back_is_exact(kind, ridge):
    X = cloud()
    model = Whitening(kind=kind, ridge=ridge).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    new = cloud(10, seed=3)
    np.testing.assert_allclose(model.inverse_transform(model.transform(new)), new, atol=1e-10)


@kinds
def test_a_ridge_is_added_to_the_variances(kind):
    X = cloud()
    model = Whitening(kind=kind, ridge=0.7).fit(X)
    l = model.eigenvalues_
    np.testing.assert_allclose(np.linalg.eigvalsh(np.cov(model.transform(X).T))[::-1], l / (l + 0.7), rtol=1e-9)


@kinds
def test_fewer_axes(kind):
    X = cloud()
    model = Whitening(2, kind=kind).fit(X)
    Z = model.transform(X)
    assert Z.shape == (80, 2 if kind == "pca" else 5)
    values = np.linalg.eigvalsh(np.cov(Z.T))[::-1]
    np.testing.assert_allclose(values[:2], 1)
    np.testing.assert_allclose(values[2:], 0, atol=1e-12)
    two = PCA(2).fit(X)
    np.testing.assert_allclose(model.inverse_transform(Z), two.inverse_transform(two.transform(X)), atol=1e-9)
    assert list(model.get_feature_names_out()) == [f"whitening{i}" for i in range(Z.shape[1])]


@kinds
@pytest.mark.parametrize("n", [80, 6])
def test_directions_without_variance_are_left_out_and_said_so(kind, n):
    X = cloud(n)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(n)]) if n == 80 else np.column_stack([X, X[:, ::-1] ** 2])
    with pytest.warns(UserWarning, match=rf"vary in 5 directions.*keeping 5 of {X.shape[1]}"):
        model = Whitening(kind=kind).fit(X)
    Z = model.transform(X)
    values = np.linalg.eigvalsh(np.cov(Z.T))[::-1]
    np.testing.assert_allclose(values[:5], 1, atol=1e-8)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-8)
    with pytest.raises(ValueError, match="all rows are equal"):
        Whitening(kind=kind).fit(np.ones((4, 3)))


@kinds
def test_a_stream_gives_what_one_table_gives(kind):
    X = cloud()
    streamed = Whitening(kind=kind).fit(iter([X[:1], X[1:30], X[30:]]))
    np.testing.assert_allclose(streamed.transform(X), Whitening(kind=kind).fit_transform(X), atol=1e-9)
    with pytest.raises(ValueError, match="5 columns; got 4"):
        Whitening().fit(iter([X, X[:, :4]]))
    with pytest.raises(ValueError, match="at least 2 rows"):
        Whitening().fit(iter([X[:1]]))


def test_tall_tables_go_through_the_covariance():
    X = cloud(20000, 110)
    Z = Whitening().fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(110), atol=1e-7)
    single = Whitening(3, kind="zca").fit(X.astype(np.float32))
    assert single.transform(X[:5].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("shape", [(200, 8), (8, 200)])
def test_directions_of_little_variance_are_white_too(shape):
    rng = np.random.default_rng(0)
    k = min(shape) - (shape[0] < shape[1])
    U = rng.standard_normal((shape[0], k))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    X = U * np.logspace(0, -6.5, k) @ np.linalg.qr(rng.standard_normal((shape[1], k)))[0].T
    Z = Whitening(k).fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(k), atol=1e-7)


@pytest.mark.parametrize("kind", ["pca", "zca"])
def test_sparse_rows_are_not_filled_and_give_the_same(kind):
    X = sparse.random(200, 7, density=0.3, random_state=0).tocsr()
    ours, dense = Whitening(kind=kind).fit(X), Whitening(kind=kind).fit(X.toarray())
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(dense.transform(X.toarray())), atol=1e-8)
    np.testing.assert_allclose(np.cov(ours.transform(X).T), np.eye(7), atol=1e-9)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X.toarray(), atol=1e-9)


@pytest.mark.parametrize("name", ["ICA", "ProbabilisticPCA", "FactorAnalysis", "BayesianPCA", "FAMD", "CA"])
def test_methods_without_sparse_rows_say_the_way_out(name):
    X = sparse.random(30, 5, density=0.5, random_state=0).tocsr()
    way = rf"{name}: X must be dense; got a sparse matrix of shape \(30, 5\). Reduce its columns first with lowdim.PCA"
    with pytest.raises(TypeError, match=way):
        getattr(lowdim, name)(2).fit(X)


def test_cca_of_sparse_rows_says_the_way_out():
    X = sparse.random(30, 5, density=0.5, random_state=0).tocsr()
    for given, name in (((X, X.toarray()), "X"), ((X.toarray(), X), "Y")):
        with pytest.raises(TypeError, match=f"CCA: {name} must be dense; got a sparse matrix"):
            lowdim.CCA(2).fit(*given)

"""Many columns in blocks: no matrix of all pairs of columns, and the numbers that are found in memory."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.linear.in_blocks import classes, many_passes, wide_classes

RNG = np.random.default_rng(1)
LABELS = np.arange(200) % 4
ROWS = RNG.normal(size=(200, 30)) @ RNG.normal(size=(30, 30)) * 0.3 + RNG.normal(size=(200, 30)) + 2
ROWS += RNG.normal(size=(4, 30))[LABELS]


@pytest.fixture(autouse=True)
def _few_columns_are_many(monkeypatch):
    monkeypatch.setattr(many_passes, "WIDE", 20)
    monkeypatch.setattr(classes, "RECORDS", 1e9)  # as if they took more than the memory


def blocks(chunks=(60, 30), X=ROWS):
    return da.from_array(X, chunks=chunks)


@pytest.mark.parametrize("chunks", [(200, 30), (60, 30), (7, 11), ((0, 150, 50), 30)], ids=str)
@pytest.mark.parametrize("settings", [{}, {"shrinkage": 0.3}, {"weighting": "equal"}, {"priors": [0.1, 0.2, 0.3, 0.4]}])
def test_axes_of_classes(settings, chunks):
    wanted, found = lowdim.LDA(**settings).fit(ROWS, LABELS), lowdim.LDA(**settings).fit(blocks(chunks), LABELS)
    assert found.covariance_ is None
    np.testing.assert_allclose(found.transform(ROWS), wanted.transform(ROWS), rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(found.loadings_, wanted.loadings_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.predict_proba(ROWS), wanted.predict_proba(ROWS), rtol=0, atol=1e-7)


def test_covariances_that_fit_are_added_up(monkeypatch):
    """In one pass more, where conjugate gradients would need many."""
    monkeypatch.setattr(classes, "RECORDS", 9)
    found = lowdim.LDA().fit(blocks(), LABELS)
    assert found.covariance_.shape == (30, 30)
    np.testing.assert_allclose(found.transform(ROWS), lowdim.LDA().fit(ROWS, LABELS).transform(ROWS), atol=1e-9)


def test_constant_columns_and_single_precision():
    X = np.column_stack([ROWS, np.full(200, 3.0)]).astype(np.float32)
    wanted, found = lowdim.LDA(2).fit(X, LABELS), lowdim.LDA(2).fit(blocks((60, 31), X), LABELS)
    Z = found.transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, wanted.transform(X), atol=1e-3)
    assert (found.scalings_[-1] == 0).all()


def test_the_same_column_twice():
    """A singular covariance in whose range the means lie; half of each axis for either column."""
    X = np.hstack([ROWS, ROWS])
    wanted, found = lowdim.LDA(2).fit(X, LABELS), lowdim.LDA(2).fit(blocks((60, 60), X), LABELS)
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), rtol=0, atol=1e-7)


def test_sparse_blocks_of_labelled_rows():
    S = sparse.random(200, 30, 0.3, format="csr", random_state=0)
    X = blocks(X=S.toarray()).map_blocks(sparse.csr_matrix)
    wanted = lowdim.LDA(2).fit(S, LABELS)
    np.testing.assert_allclose(lowdim.LDA(2).fit(X, LABELS).transform(S), wanted.transform(S), rtol=0, atol=1e-7)


def test_a_singular_covariance_is_said(monkeypatch):
    monkeypatch.setattr(wide_classes, "PASSES", 40)
    few = blocks((7, 30), ROWS[:25])
    with pytest.raises(ValueError, match=r"Set shrinkage, such as 0.1, or reduce the columns first"):
        lowdim.LDA(2).fit(few, LABELS[:25])
    wanted = lowdim.LDA(2, shrinkage=0.5).fit(ROWS[:25], LABELS[:25])
    found = lowdim.LDA(2, shrinkage=0.5).fit(few, LABELS[:25])
    np.testing.assert_allclose(found.transform(ROWS), wanted.transform(ROWS), rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="cannot be estimated from a stream"):
        lowdim.LDA(2, shrinkage="auto").fit(blocks(), LABELS)


@pytest.mark.parametrize("kind", ["pca", "zca"])
def test_whitening_by_products(kind):
    wanted, found = lowdim.Whitening(3, kind=kind).fit(ROWS), lowdim.Whitening(3, kind=kind).fit(blocks())
    np.testing.assert_allclose(found.transform(ROWS), wanted.transform(ROWS), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)


def test_conjugate_gradients_solve():
    A = RNG.normal(size=(9, 9))
    A, b = A @ A.T + np.eye(9), RNG.normal(size=(9, 3))
    np.testing.assert_allclose(wide_classes.conjugate_gradients(lambda V: A @ V, b), np.linalg.solve(A, b), rtol=1e-8)

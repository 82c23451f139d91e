"""Scores of rows that are left out: derivatives, minima, planted borders, invariances, errors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

import lowdim
from lowdim.neighbor_embedding._own_loss import ExactField, FuzzyKernel, OwnLoss, PlaneField, Problems, StudentKernel
from lowdim.neighbor_embedding.leave_one_out import left_out
from lowdim.trust.fractures import stand_out


def mixture(n=300, d=10, apart=5.0, seed=0):
    """Two Gaussians, and how uncertain it is which of them a row is from."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[n // 2 :, 0] += apart
    share = 1 / (1 + np.exp(-(apart * X[:, 0] - apart**2 / 2)))
    return X, np.minimum(share, 1 - share)


@pytest.mark.parametrize("field", [ExactField, PlaneField])
@pytest.mark.parametrize("kernel", [StudentKernel(1.0), StudentKernel(0.6), FuzzyKernel(1.6, 0.9)])
def test_gradient_and_hessian_are_those_of_the_loss(kernel, field):
    Z = 8 * np.random.default_rng(0).normal(size=(300, 2))
    loss = OwnLoss(kernel, Z, field(kernel, Z))
    W = sparse.csr_array(sparse.random(5, 300, density=0.05, format="csr", random_state=1))
    problems, at, e = Problems(np.arange(5), W, np.full(5, 900.0 if kernel.shared else 3.0)), Z[:5] + 0.3, 1e-5
    _, gradient, hessian = loss(at, problems)
    up, down = ([loss(at + sign * e * axis, problems) for axis in np.eye(2)] for sign in (1, -1))
    slopes = np.stack([(a[0] - b[0]) / (2 * e) for a, b in zip(up, down, strict=True)], axis=1)
    bends = np.stack([(a[1] - b[1]) / (2 * e) for a, b in zip(up, down, strict=True)], axis=2)
    np.testing.assert_allclose(gradient, slopes, atol=1e-7 * np.abs(gradient).max())
    np.testing.assert_allclose(hessian, bends, atol=1e-7 * np.abs(hessian).max())


def test_the_loss_is_the_divergence_of_the_map():
    """Moving one row changes KL(P || Q) by as much as its own loss."""
    X, _ = mixture(60)
    model = lowdim.TSNE(perplexity=10).fit(X)
    (part,) = left_out(model, X, 1, "test")
    loss, row = part.search_loss(), np.array([7])
    problems = Problems(row, part.weights[row], part.levels(loss)[row])

    def divergence(Z):
        S = np.square(Z[:, None] - Z[None]).sum(axis=2)
        Q = 1 / (1 + S)
        np.fill_diagonal(Q, 0)
        P = part.weights.toarray()
        return (P[P > 0] * np.log(P[P > 0] / (Q / Q.sum())[P > 0])).sum()

    moved = part.Z.copy()
    moved[7] += (1.3, -0.4)
    change = loss(moved[row], problems)[0] - loss(part.Z[row], problems)[0]
    assert change[0] == pytest.approx(divergence(moved) - divergence(part.Z), rel=1e-9)


@pytest.mark.parametrize("model", [lowdim.TSNE(perplexity=10), lowdim.UMAP(random_state=0)])
def test_rows_that_do_not_move_keep_their_weights_and_places(model):
    X, _ = mixture(600 if isinstance(model, lowdim.TSNE) else 300)
    (part,) = left_out(model.fit(X), X, 1, "test")
    for row in (0, 17):
        near = part.candidates(row)
        D = np.linalg.norm(X[row] - X[near], axis=1)
        found = part.moved_weights(np.array([row]), [near], [np.stack([D, D])]).toarray()[0]
        np.testing.assert_allclose(found, part.weights[[row]].toarray()[0], atol=1e-6 * found.max())
    still = part.jumps(lambda row: np.zeros((1, X.shape[1])))
    assert np.median(still) < 0.02 * np.linalg.norm(part.Z, axis=1).max()


@pytest.mark.parametrize(("model", "least"), [(lowdim.TSNE(perplexity=30), 0.85), (lowdim.UMAP(random_state=0), 0.85)])
def test_rows_between_two_groups_jump(model, least):
    X, unsure = mixture()
    found = lowdim.trust.fractures(model.fit(X), X)
    assert roc_auc_score(unsure > 0.05, found.overconfidence) > least


def test_a_turned_map_and_threads_change_nothing():
    X, _ = mixture(120)
    model = lowdim.TSNE(perplexity=10).fit(X)
    one = lowdim.trust.fractures(model, X, n_jobs=1)
    two = lowdim.trust.fractures(model, X, n_jobs=2)
    np.testing.assert_array_equal(one.overconfidence, two.overconfidence)
    np.testing.assert_array_equal(one.fracture, two.fracture)
    model.embedding_ = model.embedding_ @ np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = lowdim.trust.fractures(model, X)
    np.testing.assert_allclose(turned.fracture, one.fracture, rtol=1e-6)
    assert np.median(np.abs(turned.overconfidence - one.overconfidence)) < 1e-3 * one.radius


def test_float32_and_equal_rows():
    X, _ = mixture(100)
    X = np.concatenate([X, X[:3]]).astype(np.float32)
    found = lowdim.trust.fractures(lowdim.UMAP(random_state=0).fit(X), X)
    assert np.isfinite(found.overconfidence).all()
    np.testing.assert_array_equal(found.overconfidence[:3], found.overconfidence[-3:])
    assert "Fractures of 103 rows of UMAP" in repr(found)


def test_distances_cannot_be_moved():
    X, _ = mixture(60)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = lowdim.TSNE(perplexity=10, metric="precomputed", init="random", random_state=0).fit(D)
    with pytest.warns(UserWarning, match="cannot be moved"):
        found = lowdim.trust.fractures(model, D)
    assert np.isnan(found.overconfidence).all()
    assert not np.isnan(found.fracture).any()


def test_rows_that_stand_out():
    assert stand_out(np.array([1.0, 1.1, 1.2, 1.3, 9.0, np.inf, np.nan])).tolist() == [False] * 4 + [True, True, False]


def test_errors():
    X, _ = mixture(60)
    with pytest.raises(TypeError, match=r"got PCA. Use trust.stability"):
        lowdim.trust.fractures(lowdim.PCA().fit(X), X)
    model = lowdim.TSNE(perplexity=10).fit(X)
    with pytest.raises(ValueError, match="the 60 rows"):
        lowdim.trust.fractures(model, X[:50])
    with pytest.raises(ValueError, match="some cells differ"):
        lowdim.trust.fractures(model, X + 1)
    with pytest.raises(ValueError, match="length must be"):
        lowdim.trust.fractures(model, X, length=0)
    supervised = lowdim.UMAP(random_state=0).fit(X, np.arange(60) % 2)
    with pytest.raises(ValueError, match="without labels"):
        lowdim.trust.fractures(supervised, X)

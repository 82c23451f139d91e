"""Eigenproblems through landmarks: identities with the whole problem, and bounds by it."""

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim import LLE, DiffusionMaps, LaplacianEigenmaps
from lowdim._core.manifold.reduced import reduced_axes, reduced_pairs
from lowdim._core.spectrum.null_axes import null_axes

METHODS = ("standard", "modified", "hessian", "ltsa")
pytestmark = pytest.mark.filterwarnings("ignore:LLE. the gap after the last axis")


def roll(n):
    return lowdim.datasets.swiss_roll(n, random_state=0).X


def ring_laplacian(n):
    A = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tolil()
    A[0, n - 1] = A[n - 1, 0] = 1.0
    return sparse.csr_array(2.0 * sparse.eye_array(n) - A)


def test_every_row_a_landmark_is_the_whole_problem():
    n = 40
    L = ring_laplacian(n) + sparse.csr_array(np.diag(np.linspace(0, 1, n)))
    L = sparse.csr_array(L - sparse.diags_array(np.asarray(L.sum(axis=1)).ravel()))
    counts = np.arange(1, n + 1)
    whole = null_axes(L, 3, counts=counts)
    same = reduced_axes(L, sparse.eye_array(n, format="csr"), 3, counts=counts, rng=None, owner="test")
    np.testing.assert_allclose(same.values[1:], whole.values[1:], rtol=1e-8)
    signs = np.sign((same.embedding * whole.embedding).sum(axis=0))
    np.testing.assert_allclose(same.embedding * signs, whole.embedding, atol=1e-6)


def test_landmarks_bound_the_eigenvalues_from_above_and_keep_the_mass():
    """A smaller space has no smaller Rayleigh quotients (Courant and Fischer)."""
    n, m = 60, 12
    L, mass = ring_laplacian(n), np.linspace(1, 2, n)
    t = np.arange(n) * m / n
    W = np.maximum(0.0, 1 - np.abs((t[:, None] - np.arange(m) + m / 2) % m - m / 2))
    values, Y = reduced_pairs(L, sparse.csr_array(W), mass, 4, rng=None, owner="test")
    scale = 1 / np.sqrt(mass)
    whole = np.linalg.eigvalsh(scale[:, None] * L.toarray() * scale)[1:5]
    assert (values >= whole * (1 - 1e-9)).all()
    np.testing.assert_allclose(values[:2], whole[:2], rtol=0.1)
    Z = W @ Y
    np.testing.assert_allclose(Z.T @ (mass[:, None] * Z), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(mass @ Z, 0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_plane_is_recovered_through_landmarks(method):
    P = np.random.default_rng(0).uniform(size=(400, 2))
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 2)))[0].T
    X = P @ frame
    model = LLE(method=method, n_landmarks=60, ridge=1e-9, random_state=0).fit(X)
    A = np.column_stack([np.ones(400), model.embedding_])
    left = P - A @ np.linalg.lstsq(A, P, rcond=None)[0]
    assert np.abs(left).max() < 1e-3
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 400, np.eye(2), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
@pytest.mark.filterwarnings("ignore:.*all distances between rows are equal")
def test_laplacian_eigenmaps_through_landmarks():
    X = roll(400)
    whole = LaplacianEigenmaps(n_components=3, random_state=0).fit(X)
    some = LaplacianEigenmaps(n_components=3, n_landmarks=150, random_state=0).fit(X)
    assert (some.eigenvalues_ >= whole.eigenvalues_ * (1 - 1e-9)).all()
    assert some.eigenvalues_[0] < 2 * whole.eigenvalues_[0]
    assert abs(np.corrcoef(some.embedding_[:, 0], whole.embedding_[:, 0])[0, 1]) > 0.9
    np.testing.assert_array_equal(some.transform(X), some.embedding_)
    for bad in ({"normalization": "symmetric"}, {"metric": "precomputed"}):
        with pytest.raises(ValueError, match="LaplacianEigenmaps: n_landmarks must be None"):
            LaplacianEigenmaps(n_landmarks=5, **bad).fit(np.ones((9, 9)) - np.eye(9))


def test_diffusion_maps_on_landmarks():
    X = roll(300)
    whole = DiffusionMaps(width="median", random_state=0).fit(X)
    same = DiffusionMaps(width="median", n_landmarks=300, random_state=0).fit(X)
    np.testing.assert_allclose(np.abs(same.embedding_), np.abs(whole.embedding_), atol=1e-7)
    some = DiffusionMaps(n_landmarks=100, width=whole.gamma_**-1, random_state=0).fit(X)
    assert abs(np.corrcoef(some.embedding_[:, 0], whole.embedding_[:, 0])[0, 1]) > 0.9
    needed = DiffusionMaps(n_landmarks=1000).estimate_memory((70_000, 50))
    assert needed < DiffusionMaps(n_landmarks=None).estimate_memory((70_000, 50)) / 100
    assert needed < 1e9


def test_landmarks_go_with_one_part_only():
    X = np.concatenate([roll(60), roll(40) + 500])
    with (
        pytest.warns(UserWarning, match="2 components"),
        pytest.raises(ValueError, match="LLE: n_landmarks must be None where disconnected='separate'"),
    ):
        LLE(n_landmarks=20, disconnected="separate", random_state=0).fit(X)
    with pytest.raises(ValueError, match="LLE: n_landmarks must be at least n_components \\+ 2 = 6"):
        LLE(n_components=4, n_landmarks=5, random_state=0).fit(roll(60))

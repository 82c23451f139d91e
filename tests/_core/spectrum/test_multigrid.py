"""Multigrid at the small end of Laplacians: against dense solvers and known spectra."""

import numpy as np
import pytest
from scipy import sparse

from lowdim import datasets
from lowdim._core.graph import laplacian, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim._core.spectrum import eigenpairs, multigrid


def problem(X, k=10, gamma=None):
    G = neighbor_graph(nearest(X, k))
    W = sparse.csr_array((np.ones(G.nnz) if gamma is None else np.exp(-gamma * G.data**2), G.indices, G.indptr))
    return laplacian(W)


def solve(L, mass, k, solver="multigrid", **options):
    skip = np.ones((L.shape[0], 1))
    return eigenpairs(L, k, which="smallest", mass=mass, skip=skip, solver=solver, **options)


@pytest.mark.parametrize("gamma", [None, 0.5])
def test_against_factors(gamma):
    L, degrees = problem(datasets.swiss_roll(3000, random_state=0).X, gamma=gamma)
    found, expected = solve(L, degrees, 4), solve(L, degrees, 4, solver="arpack")
    assert found.residuals.max() < 1e-10
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-5 * np.abs(expected.vectors).max())
    again = solve(L, degrees, 4)
    np.testing.assert_array_equal(again.vectors, found.vectors)


def test_torus():
    """Eigenvalues of a torus, each four times or twice: none is missed."""
    a, b = 48, 61
    i, j = np.divmod(np.arange(a * b), b)
    W = sparse.csr_array((a * b, a * b))
    for other in (((i + 1) % a) * b + j, i * b + (j + 1) % b):
        step = sparse.csr_array((np.ones(a * b), (np.arange(a * b), other)), shape=W.shape)
        W = W + step + step.T
    L, _ = laplacian(W)
    waves = [2 - 2 * np.cos(2 * np.pi * np.arange(m) / m) for m in (a, b)]
    expected = np.sort(np.add.outer(*waves).ravel())[1:9]
    np.testing.assert_allclose(solve(L, None, 8).values, expected, rtol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_hang_by_light_edges(seed):
    """Pairs far out have vectors of their own: aggregates that mixed them with others missed some, or never settled."""
    L, _ = problem(datasets.swiss_roll(3000, random_state=0).X)
    W = sparse.lil_array(sparse.diags_array(L.diagonal()) - L)
    light = 1e-10 * 10.0 ** np.arange(3)
    W.resize((3006, 3006))
    for pair, weight in enumerate(light):
        a = 3000 + 2 * pair
        W[a, a + 1] = W[a + 1, a] = 1.0
        W[a, 100 * pair] = W[100 * pair, a] = weight
    L, degrees = laplacian(sparse.csr_array(W))
    found = solve(L, degrees, 3, tol=1e-9, rng=np.random.default_rng(seed))
    np.testing.assert_allclose(found.values, light / 2, rtol=1e-3)


def test_rows_of_many_dimensions():
    """Graphs whose coarse versions would fill up take plain pieces."""
    X = np.random.default_rng(0).standard_normal((1000, 12))
    L, degrees = problem(X)
    found = solve(L, degrees, 3, tol=1e-8)
    np.testing.assert_allclose(found.values, solve(L, degrees, 3, solver="lapack").values, rtol=1e-6)


def test_graphs_that_stop_shrinking_end_there(monkeypatch):
    """Leaves around hubs are no neighbours of each other: nearly all of them are roots of aggregates."""
    hubs, leaves = 30, 25
    n = hubs * (leaves + 1)
    i = np.arange(hubs)
    ends = np.concatenate([i, np.repeat(i, leaves)]), np.concatenate([(i + 1) % hubs, np.arange(hubs, n)])
    W = sparse.csr_array((np.linspace(1, 2, n), ends), shape=(n, n))
    L, degrees = laplacian(W + W.T)
    found = solve(L, degrees, 3)
    np.testing.assert_allclose(found.values, solve(L, degrees, 3, solver="lapack").values, rtol=1e-8)
    monkeypatch.setattr(multigrid, "_STUCK", n - 1)
    with pytest.raises(np.linalg.LinAlgError, match="does not get coarser"):
        solve(L, degrees, 3)


def test_a_graph_with_hubs():
    """Aggregates around leaves hardly make it smaller: what is left is solved as it is."""
    rng = np.random.default_rng(0)
    leaf = np.arange(8, 900)
    hub = rng.integers(8, size=len(leaf))
    ends = np.concatenate([hub, np.arange(7)]), np.concatenate([leaf, np.arange(1, 8)])
    W = sparse.csr_array((rng.uniform(0.5, 1.0, len(ends[0])), ends), shape=(900, 900))
    L, degrees = laplacian(W + W.T)
    np.testing.assert_allclose(solve(L, degrees, 2).values, solve(L, degrees, 2, solver="lapack").values, rtol=1e-6)


def test_other_matrices_are_refused():
    L, degrees = problem(datasets.swiss_roll(900, random_state=0).X)
    with pytest.raises(np.linalg.LinAlgError, match="not a Laplacian"):
        eigenpairs(L, 2, which="smallest", mass=degrees, solver="multigrid")
    square = sparse.csr_array(L @ L)
    with pytest.raises(np.linalg.LinAlgError, match="not a Laplacian"):
        solve(square, None, 2)


def test_a_cycle_is_symmetric_and_an_inverse():
    L, _ = problem(datasets.swiss_roll(1500, random_state=1).X)
    B = sparse.csr_array(L + 1e-2 * sparse.eye_array(1500))
    inverse = multigrid.Multigrid.of(B, np.ones(1500), np.random.default_rng(0))
    x, y = np.random.default_rng(1).standard_normal((2, 1500, 1))
    assert (x.T @ inverse(y)).item() == pytest.approx((y.T @ inverse(x)).item(), rel=1e-9)
    error = x.copy()
    for _ in range(10):
        error = error - inverse(B @ error)
    assert np.linalg.norm(error) < 1e-2 * np.linalg.norm(x)

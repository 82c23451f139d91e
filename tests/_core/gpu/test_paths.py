"""Shortest paths on a device against the compiled ones."""

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim import _native
from lowdim._core.gpu import paths
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.graph.detours import short_circuits
from lowdim._core.graph.edges import bare_arrays
from lowdim._core.landmarks.choose import choose
from lowdim._core.neighbors import nearest
from lowdim.datasets import swiss_roll

torch = pytest.importorskip("torch")


def on(cpu, G, sources, dtype=np.float64):
    return paths.geodesics(cpu, G.indptr, G.indices, G.data, np.asarray(sources), dtype).numpy()


@pytest.mark.parametrize("lanes", [4, 64])
def test_paths_of_a_roll_bit_for_bit(cpu, lanes, monkeypatch):
    monkeypatch.setattr(paths, "LANES", lanes)
    G = neighbor_graph(nearest(swiss_roll(400, random_state=0).X, 6))
    sources = np.random.default_rng(0).permutation(400)[:70]
    wanted = geodesics(G, sources)
    np.testing.assert_array_equal(on(cpu, G, sources), wanted)
    np.testing.assert_allclose(on(cpu, G, sources, np.float32), wanted, rtol=1e-5)


def test_small_pieces_of_memory_give_the_same(cpu, monkeypatch):
    G = neighbor_graph(nearest(swiss_roll(300, random_state=0).X, 6))
    monkeypatch.setattr(paths, "EDGES", 200)
    monkeypatch.setattr("lowdim._core.gpu.devices.FREE_ON_CPU", 1000)
    np.testing.assert_array_equal(on(cpu, G, np.arange(150)), geodesics(G, np.arange(150)))


def test_rows_that_no_path_reaches_and_edges_of_length_0(cpu):
    ends = ([0, 1, 1, 2, 4, 5], [1, 0, 2, 1, 5, 4])
    G = sparse.csr_array((np.array([0.0, 0.0, 2.0, 2.0, 1.0, 1.0]), ends), shape=(6, 6))
    inf = np.inf
    wanted = [[0, 0, 2, inf, inf, inf], [inf, inf, inf, 0, inf, inf], [inf, inf, inf, inf, 1, 0]]
    np.testing.assert_array_equal(on(cpu, G, [0, 3, 5]), wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbour_graphs_bit_for_bit(cpu, dtype):
    X = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
    found = nearest(X, 7)
    ours, theirs = neighbor_graph(found, device=cpu), neighbor_graph(found)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype


def test_farthest_rows(cpu):
    X = np.random.default_rng(0).normal(size=(200, 4)) * 1e20
    how = {"method": "farthest", "rng": 3}
    np.testing.assert_array_equal(choose(X, 60, device=cpu, **how), choose(X, 60, **how))
    whole = np.random.default_rng(1).integers(5, size=(300, 6)).astype(np.float32)  # many equal distances
    np.testing.assert_array_equal(choose(whole, 90, device=cpu, **how), choose(whole, 90, **how))
    few = np.repeat(X[:3], 4, axis=0)  # twelve rows, three of them different
    assert len(set(choose(few, 12, device=cpu, **how))) == 12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", [{"n_landmarks": 60}, {}, {"n_landmarks": 60, "kernelize": True}, {"radius": 4.0}])
def test_isomap_is_that_of_the_cpu(stand_in, settings):
    X = swiss_roll(500, random_state=0).X
    ours, theirs = (lowdim.Isomap(n_neighbors=8, random_state=0, device=d, **settings).fit(X) for d in ("cuda", "cpu"))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-7)
    np.testing.assert_allclose(ours.transform(X[:20] + 0.01), theirs.transform(X[:20] + 0.01), atol=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_isomap_of_components(stand_in):
    X = np.concatenate([swiss_roll(200, random_state=0).X, 300 + swiss_roll(150, random_state=1).X])
    for policy in ("bridge", "separate", "largest"):
        fits = [
            lowdim.Isomap(n_landmarks=40, disconnected=policy, device=d, random_state=0).fit(X) for d in ("cuda", "cpu")
        ]
        np.testing.assert_allclose(fits[0].embedding_, fits[1].embedding_, atol=1e-6)
        new = X[::7] + 0.05
        np.testing.assert_allclose(fits[0].transform(new), fits[1].transform(new), atol=1e-5)


def test_paths_through_rows_are_counted_as_on_the_cpu(cpu):
    G = neighbor_graph(nearest(swiss_roll(400, random_state=0).X, 6))
    sources = np.array([3, 77, 310], dtype=np.int32)
    wanted = np.empty(400)
    _native.path_flow(*bare_arrays(G), sources, wanted, np.empty(G.nnz), 1)
    np.testing.assert_array_equal(paths.flow(cpu, G.indptr, G.indices, G.data, sources), wanted)


def test_paths_of_equal_length_are_left_to_the_cpu(cpu):
    ends = ([0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 0, 3, 0, 3, 1, 2])  # a square: two ways to the far corner
    G = sparse.csr_array((np.ones(8), ends), shape=(4, 4))
    assert paths.flow(cpu, G.indptr, G.indices, G.data, np.array([0])) is None
    line = sparse.csr_array((np.ones(6), ([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])), shape=(5, 5))  # and a row alone
    np.testing.assert_array_equal(paths.flow(cpu, line.indptr, line.indices, line.data, np.array([0])), [0, 2, 1, 0, 0])
    zero = sparse.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    assert paths.flow(cpu, zero.indptr, zero.indices, zero.data, np.array([0])) is None


def test_short_circuits_are_those_of_the_cpu(cpu):
    X = swiss_roll(700, random_state=0).X
    G = neighbor_graph(nearest(X, 25))
    ours, theirs = (short_circuits(G, 25, 1, device) for device in (cpu, None))
    assert ours is not None
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    np.testing.assert_array_equal(ours.rows, theirs.rows)
    assert ours.spoilt == pytest.approx(theirs.spoilt)


def test_distances_of_landmarks_in_single_precision_are_symmetric(cpu, monkeypatch):
    """One way along a path and the other are sums in another order; all warnings of a fit are errors here."""
    monkeypatch.setattr("lowdim._core.gpu.devices.find", lambda name, owner: cpu)
    X = swiss_roll(1500, random_state=0).X.astype(np.float32)
    model = lowdim.Isomap(n_landmarks=200, n_neighbors=10, random_state=0, device="cuda").fit(X)
    assert np.isfinite(model.embedding_).all()

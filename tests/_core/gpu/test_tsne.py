"""t-SNE in tensors against the compiled core: affinities, forces, steps, maps."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim import _native
from lowdim._core.gpu.affinities import Graph, calibrated, joint
from lowdim._core.gpu.attraction import Edges
from lowdim._core.gpu.repulsion import AllPairs, GridField
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _device_graph, _grid, _init
from lowdim.neighbor_embedding._device_descent import DeviceEngine
from lowdim.neighbor_embedding._gradient_descent import Edges as CompiledEdges
from lowdim.neighbor_embedding._gradient_descent import Engine, Phase

torch = pytest.importorskip("torch")
X = load_digits().data[:400]
K = 30


@pytest.fixture(scope="module")
def P():
    return _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, K), len(X)), perplexity=10.0))


@pytest.mark.parametrize("perplexity", [10.0, [5.0, 20.0], 29.9])
def test_affinities(cpu, perplexity):
    found = nearest(X, K)
    wanted = _affinity.joint(_affinity.weights(_affinity.as_graph(found, len(X)), perplexity=perplexity))
    graph = _device_graph.of_lists(cpu, found, perplexity)
    np.testing.assert_allclose(graph.to_scipy().toarray(), wanted.toarray(), atol=1e-11)
    assert graph.entropy() == pytest.approx(_affinity.entropy(wanted), rel=1e-9)
    assert (graph.to_scipy() != graph.to_scipy().T).nnz == 0


def test_equal_distances_have_equal_weights(cpu):
    weights = calibrated(cpu, torch.ones(3, 8, dtype=torch.float64), 4.0)
    np.testing.assert_allclose(weights.numpy(), 1 / 8)


def test_a_pair_that_is_named_once_or_twice(cpu):
    graph = joint(cpu, torch.tensor([[1], [0], [0]]), torch.ones(3, 1, dtype=torch.float64))
    np.testing.assert_allclose(graph.to_scipy().toarray() * 6, [[0, 2, 1], [2, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("dof", [1.0, 0.7])
def test_attraction(cpu, P, k, dof):
    Z = np.random.default_rng(0).normal(size=(len(X), k)) * 5
    wanted = np.empty_like(Z)
    _native.pull_map(*CompiledEdges.of(P, np.float64).arguments, Z, dof, 1, wanted)
    edges = Edges.of(Graph.of(cpu, P), torch.float64)
    np.testing.assert_allclose(edges.pull(torch.from_numpy(Z), 1 / dof).numpy(), wanted, atol=1e-14)
    cut = Edges(edges.graph, edges.weights, [(0, 7, 0, int(P.indptr[7])), (7, 400, int(P.indptr[7]), P.nnz)])
    np.testing.assert_array_equal(cut.pull(torch.from_numpy(Z), 1 / dof), edges.pull(torch.from_numpy(Z), 1 / dof))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("dof", [1.0, 0.7])
@pytest.mark.parametrize("width", [1e-4, 8.0])
def test_repulsion(cpu, k, dof, width):
    Z = (np.random.default_rng(0).normal(size=(2000, k)) * width).astype(np.float32)
    wanted, total = _grid.GridField(dof, 1)(Z)
    for field in (GridField(cpu, dof), AllPairs(cpu, dof)):
        pushed, found = field(torch.from_numpy(Z))
        assert np.abs(pushed.numpy() - wanted).max() < 1e-3 * np.abs(wanted).max()
        assert float(found) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("solver", ["exact", "fft"])
def test_steps(cpu, P, solver):
    start = _init.principal(X, 2, "T")
    mine, theirs = DeviceEngine.of(cpu, solver, len(X), 2, 1.0, "T"), Engine.of(solver, len(X), 2, 0.5, 1.0, 1, "T")
    maps = []
    for engine, dtype in ((mine, mine.dtype(X.dtype, len(X))), (theirs, theirs.dtype(X.dtype, len(X)))):
        edges, state = engine.edges(P, dtype), engine.at(start, dtype)
        engine.advance(edges, state, Phase(20, 4.0, 100.0, 0.8, 1.0), 20)
        engine.advance(edges, state, Phase(5, 1.0, 100.0, 0.8, np.inf), 5)
        maps.append((state.Z, engine.divergence(edges, state.Z)))
    np.testing.assert_allclose(maps[0][0], maps[1][0], atol=(1e-9 if solver == "exact" else 1e-3) * np.ptp(maps[1][0]))
    assert maps[0][1] == pytest.approx(maps[1][1], rel=1e-5)


def test_the_initialisation_is_that_of_the_cpu(cpu):
    found, wanted = _device_graph.principal(cpu, X, 2), _init.principal(X, 2, "T")
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-9 * np.abs(wanted).max())
    assert _device_graph.principal(cpu, np.outer(np.arange(9.0), np.ones(4)), 2) is None  # rank one: the CPU decides


def test_the_map_is_as_good_as_on_the_cpu(stand_in):
    rows = X[:150]
    theirs = lowdim.TSNE(perplexity=10, max_iter=300).fit(rows)
    mine = lowdim.TSNE(perplexity=10, max_iter=300, device="cuda").fit(rows)
    assert mine.kl_divergence_ == pytest.approx(theirs.kl_divergence_, rel=0.005)
    assert (mine.device_, mine.recall_) == ("cpu", 1.0)
    again = lowdim.TSNE(perplexity=10, max_iter=300, device="cuda").fit(rows)
    np.testing.assert_array_equal(mine.embedding_, again.embedding_)
    np.testing.assert_allclose(mine.transform(rows[:5]), mine.embedding_[:5], atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "cosine"},
        {"metric": "manhattan"},
        {"init": "spectral"},
        {"init": "random", "random_state": 0},
        {"affinity": "uniform"},
        {"n_components": 3},
        {"n_components": 1, "solver": "fft"},
        {"warm_start": True},
    ],
    ids=str,
)
def test_every_setting_runs(stand_in, options):
    model = lowdim.TSNE(perplexity=10, max_iter=20, early_iter=10, device="cuda", **options)
    Z = model.fit(X[:100]).embedding_
    assert np.isfinite(Z).all()
    assert np.ptp(Z) > 0


def test_solvers_that_a_gpu_does_not_have(stand_in):
    with pytest.raises(ValueError, match="TSNE: solver must be 'auto', 'exact' or 'fft' on a GPU; got 'barnes_hut'"):
        lowdim.TSNE(solver="barnes_hut", device="cuda").fit(X)
    with pytest.raises(ValueError, match="TSNE: solver must be 'exact' for more than two axes"):
        lowdim.TSNE(3, solver="fft", device="cuda").fit(X)

"""UMAP in tensors against the compiled core: memberships, union, draws, steps, divergence, initialisation, maps."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import lowdim
from lowdim import _native
from lowdim._core.gpu import spectral
from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.fuzzy import memberships, union
from lowdim._core.gpu.sampling import FULL, Draws, Sampler
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _device_descent, _device_graph, _fuzzy, _init
from lowdim.neighbor_embedding._umap_descent import Forces, divergence

torch = pytest.importorskip("torch")
X = load_digits().data[:700]
K = 15
FORCES = Forces(1.5, 0.9, 1.0, 5.0)


@pytest.fixture(scope="module")
def W():
    return _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(nearest(X, K), len(X)), 1.0), 1.0)


@pytest.mark.parametrize("connectivity", [0.0, 0.5, 1.0, 1.7, 3.0, 20.0])
@pytest.mark.parametrize("mix", [1.0, 0.0, 0.3])
def test_the_fuzzy_graph(cpu, connectivity, mix):
    rows = np.concatenate([X[:200], X[:20]])  # with neighbours at distance 0
    found = nearest(rows, K)
    wanted = _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(found, len(rows)), connectivity), mix)
    weights = memberships(cpu, cpu.tensor(found.distances.astype(np.float64)), connectivity, _fuzzy.LEAST_WIDTH)
    graph = union(cpu, cpu.tensor(found.indices).long(), weights, mix)
    np.testing.assert_allclose(graph.to_scipy().toarray(), wanted.toarray(), atol=1e-7)
    assert graph.to_scipy().nnz == wanted.nnz


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("per_pull", [2.5, 0.3, 0.0])
def test_steps_draw_what_the_compiled_loop_draws(cpu, W, together, k, per_pull):
    start = np.random.default_rng(0).normal(size=(len(X), k)).astype(np.float32) * 5
    draws = Draws(1.5, 0.9, 1.0, per_pull, 2**63 - 5)
    sampler = Sampler(Graph.of(cpu, W), draws, 1 / 200)
    starts = np.concatenate([[0], np.cumsum(sampler.degrees.numpy())])
    steps, clocks = (part.numpy().astype(np.uint16) for part in (sampler.steps, sampler.clocks))
    Z, wanted = torch.from_numpy(start.copy()), start.copy()
    sampler.advance(Z, range(3, 5), 400, 0.5, together=together)
    edges = starts.astype(np.int64), sampler.ends.numpy(), steps, clocks
    _native.sample_map(*edges, 1.5, 0.9, 1.0, per_pull, together, 2**63 - 5, 3, 2, 400, 0.5, 1, wanted)
    np.testing.assert_array_equal(sampler.clocks.numpy(), clocks)
    moved = np.abs(wanted - start).max(axis=1) > 0
    assert moved.mean() > 0.9
    # Powers have five digits. Where points nearly meet, as they do on a line, that is a longer way.
    assert (np.abs(Z.numpy() - wanted).max(axis=1) < 2e-3).mean() >= (0.95 if k == 1 else 1)


def test_edges_have_one_clock_at_both_ends(cpu, W):
    sampler = Sampler(Graph.of(cpu, W), Draws(1.5, 0.9, 1.0, 2.5, 7), 0.0)
    table = sparse.csr_array((sampler.clocks.numpy() + 1, (sampler.rows.numpy(), sampler.ends.numpy())), W.shape)
    assert (table != table.T).nnz == 0
    assert abs(sampler.clocks.double().mean().item() / FULL - 0.5) < 0.02


@pytest.mark.parametrize("n", [300, 700])
def test_the_divergence(cpu, W, n, monkeypatch):
    Z, some = np.random.default_rng(0).normal(size=(n, 2)) * 4, W[:n][:, :n]
    if n == 700:
        for name in ("_device_descent", "_umap_descent"):
            monkeypatch.setattr(f"lowdim.neighbor_embedding.{name}.PAIRS", 30_000)
    assert _device_descent.divergence(Graph.of(cpu, some), Z, FORCES) == pytest.approx(divergence(some, Z, FORCES))


def test_the_smoothest_functions_are_those_of_the_cpu(cpu, W):
    found = spectral.smoothest(Graph.of(cpu, W), 2, np.random.default_rng(0))
    wanted = _init.spectral(W, 2, np.random.default_rng(0), "T")
    cosines = np.abs(found.T @ wanted) / np.outer(np.linalg.norm(found, axis=0), np.linalg.norm(wanted, axis=0))
    np.testing.assert_allclose(np.diag(cosines), 1, atol=0.02)
    assert spectral.smoothest(Graph.of(cpu, W[:50][:, :50]), 2, np.random.default_rng(0)) is None


def test_products_with_the_graph_in_parts(cpu, W, monkeypatch):
    graph, x = Graph.of(cpu, W), torch.randn(len(X), dtype=torch.float64)
    monkeypatch.setattr(spectral, "MOST_EDGES", 1000)
    np.testing.assert_allclose(spectral.multiply(graph, graph.weights, x), W @ x.numpy())


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_connected_components(cpu, parts):
    n, rng = 60, np.random.default_rng(parts)
    path = rng.permutation(n)
    edges = [(path[i], path[i + 1]) for i in range(n - 1) if (i + 1) % (n // parts) or parts == 1]
    i, j = np.array(edges).T
    table = sparse.csr_array((np.ones(len(i)), (i, j)), (n, n))
    graph = Graph.of(cpu, sparse.csr_array(table + table.T))
    labels = spectral.labels_of(cpu, graph.rows.long(), graph.ends.long(), n)
    assert len(set(labels.tolist())) == parts


def test_the_map_is_as_good_as_on_the_cpu(stand_in):
    settings = {"max_iter": 40, "random_state": 0, "solver": "sampled"}
    rows = X[:300]
    theirs = lowdim.UMAP(**settings).fit(rows)
    mine, again = (lowdim.UMAP(device="cuda", **settings).fit(rows) for _ in range(2))
    np.testing.assert_array_equal(mine.embedding_, again.embedding_)
    areas = [float(lowdim.quality.rnx_auc(rows, model.embedding_)) for model in (mine, theirs)]
    assert areas[0] == pytest.approx(areas[1], abs=0.03)
    assert mine.kl_divergence_ == pytest.approx(theirs.kl_divergence_, rel=0.1)
    assert (mine.device_, mine.recall_, theirs.recall_) == ("cpu", 1.0, None)
    np.testing.assert_array_equal(mine.transform(rows[:5]), mine.embedding_[:5])


def test_the_graph_is_kept_as_on_the_cpu_and_joins_models(stand_in):
    rows = np.concatenate([X[:80], X[:10]])  # some of them equal
    settings = {"max_iter": 5, "random_state": 0, "set_op_mix_ratio": 0.7}
    theirs, mine = (lowdim.UMAP(device=device, **settings).fit(rows) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(mine.graph_.toarray(), theirs.graph_.toarray(), atol=1e-7)
    assert mine.graph_.nnz == theirs.graph_.nnz
    np.testing.assert_allclose((mine * theirs).graph_.toarray(), (theirs * theirs).graph_.toarray(), atol=1e-6)
    mine.graph_ = None
    with pytest.raises(ValueError, match=r"must have a graph to be combined.*Fit it again"):
        mine + theirs


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "cosine"},
        {"metric": "manhattan"},
        {"init": "pca"},
        {"init": "random"},
        {"n_components": 3},
        {"densities": 1.0},
        {"solver": "exact"},
        {"disconnection_distance": 30.0},
        {"n_neighbors": 2, "disconnected": "separate"},
        {"n_neighbors": 2, "disconnected": "bridge"},
        {"callback": lambda step, loss, state: step >= 10},
    ],
    ids=lambda options: " ".join(options),
)
@pytest.mark.filterwarnings("ignore")
def test_every_setting_runs(stand_in, options):
    Z = lowdim.UMAP(max_iter=20, device="cuda", random_state=0, **options).fit(X[:520]).embedding_
    assert np.isfinite(Z).all(axis=1).mean() > 0.9
    assert np.ptp(Z[np.isfinite(Z[:, 0])]) > 0


def test_labels_are_used(stand_in):
    y = load_digits().target[:520]
    model = lowdim.UMAP(max_iter=20, device="cuda", random_state=0).fit(X[:520], y)
    assert np.isfinite(model.embedding_).all()


def test_too_many_rows_raise_before_anything_runs(stand_in, monkeypatch):
    monkeypatch.setattr("lowdim._core.gpu.devices.FREE_ON_CPU", 1000)
    with pytest.raises(MemoryError, match=r"UMAP: this needs about .* on cpu .* Use fewer neighbours"):
        lowdim.UMAP(device="cuda").fit(X)


def test_components_are_joined_as_on_the_cpu(stand_in):
    rows = np.concatenate([X[:150], X[150:280] + 100, X[280:400] - 90])
    graphs = []
    for device in (None, stand_in):
        graph = _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(nearest(rows, 5), len(rows)), 1.0), 1.0)
        W = graph if device is None else Graph.of(device, graph)
        settings = {"policy": "bridge", "metric": "euclidean", "owner": "T", "n_jobs": 1}
        with pytest.warns(UserWarning, match=r"T: the neighbour graph has .* joined by their shortest edges"):
            graphs.append(_device_graph.joined(W, rows, device, keep=False, **settings))
    (theirs, one), (ours, other) = graphs
    assert isinstance(ours, Graph)
    np.testing.assert_allclose(ours.to_scipy().toarray(), theirs.toarray(), atol=1e-12)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.n_components == other.n_components >= 3

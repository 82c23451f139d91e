"""On a real GPU: fused kernels against their twins, the same bits in every run, parity with the CPU."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim._core.gpu import coranking, devices, spectral
from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.attraction import Edges
from lowdim._core.gpu.cells import nearest_by_cells
from lowdim._core.gpu.repulsion import GridField
from lowdim._core.gpu.sampling import Draws, Sampler
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _fuzzy

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.deep,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU here"),
    pytest.mark.filterwarnings("ignore"),
]
X = load_digits().data


@pytest.fixture
def gpu():
    return devices.find("cuda", "T")


@pytest.fixture
def edges(gpu):
    P = _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 90), len(X))))
    return Edges.of(Graph.of(gpu, P), torch.float32)


@pytest.mark.parametrize("width", [1e-4, 1.0, 30.0])
def test_fused_kernels_are_their_twins(gpu, edges, width, monkeypatch):
    Z = torch.randn(len(X), 2, generator=torch.Generator().manual_seed(0)).to("cuda") * width
    assert gpu.fused is not None
    fused = edges.pull(Z, 1.0), *GridField(gpu, 1.0)(Z)
    assert all(torch.equal(edges.pull(Z, 1.0), fused[0]) for _ in range(5))
    assert all(torch.equal(GridField(gpu, 1.0)(Z)[0], fused[1]) for _ in range(5))
    monkeypatch.setattr(devices, "kernels", lambda: None)
    plain = edges.pull(Z, 1.0), *GridField(gpu, 1.0)(Z)
    for one, other in zip(fused, plain, strict=True):
        assert float((one - other).abs().max()) <= 2e-5 * float(other.abs().max())


def test_the_same_bits_and_the_same_quality():
    maps = [lowdim.TSNE(device="cuda").fit(X) for _ in range(2)]
    np.testing.assert_array_equal(maps[0].embedding_, maps[1].embedding_)
    cpu = lowdim.TSNE().fit(X)
    assert maps[0].kl_divergence_ == pytest.approx(cpu.kl_divergence_, rel=0.005)
    areas = [float(lowdim.quality.rnx_auc(X, model.embedding_)) for model in (maps[0], cpu)]
    assert areas[0] == pytest.approx(areas[1], abs=0.005)


def test_neighbours(gpu):
    np.testing.assert_array_equal(nearest(X, 15, device=gpu).indices, nearest(X, 15).indices)
    rng = np.random.default_rng(0)
    rows = gpu.tensor(rng.normal(size=(50, 20))[rng.integers(50, size=150_000)] * 3 + rng.normal(size=(150_000, 20)))
    one, other = (nearest_by_cells(gpu, rows, 15) for _ in range(2))
    assert one.recall >= 0.99
    assert torch.equal(one.indices, other.indices)
    assert torch.equal(one.squares, other.squares)


def test_variances():
    rows = (np.random.default_rng(0).normal(size=(100_000, 30)) * np.arange(1, 31) + 100).astype(np.float32)
    gpu, cpu = (lowdim.PCA(10, device=device).fit(rows) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(gpu.explained_variance_, cpu.explained_variance_, rtol=1e-5)
    assert gpu.device_.startswith("cuda")


@pytest.mark.parametrize("n", [20_000, 120_000])
def test_memory_is_estimated(n):
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(50, 20))[rng.integers(50, size=n)] * 3 + rng.normal(size=(n, 20))).astype(np.float32)
    model = lowdim.TSNE(device="cuda", max_iter=20, early_iter=10)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    model.fit(rows)
    peak = torch.cuda.max_memory_allocated()
    assert 0.8 * peak <= model.estimate_memory(rows, device="cuda")


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("per_pull", [2.5, 0.3])
def test_the_fused_step_of_umap_is_its_twin(gpu, monkeypatch, together, per_pull):
    W = _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(nearest(X, 15), len(X)), 1.0), 1.0)
    start = torch.randn(len(X), 2, generator=torch.Generator().manual_seed(0)).to("cuda") * 5
    found = []
    for fused in (True, True, False):
        with monkeypatch.context() as patch:
            if not fused:
                patch.setattr(devices, "kernels", lambda: None)
            sampler, Z = Sampler(Graph.of(gpu, W), Draws(1.5, 0.9, 1.0, per_pull, 11), 1 / 200), start.clone()
            sampler.advance(Z, range(3, 4), 400, 0.5, together=together)
            found.append(Z)
    assert torch.equal(found[0], found[1])
    assert float((found[0] - start).abs().max()) > 0.1
    assert float((found[0] - found[2]).abs().max()) < 2e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_squares_and_products(gpu, dtype, monkeypatch):
    rows = torch.from_numpy(X).to("cuda", dtype)
    fused = coranking.squares(gpu, rows[:77], rows)
    graph = Graph.of(gpu, _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 90), len(X)))))
    x = torch.randn(len(X), device="cuda", dtype=torch.float64)
    product = spectral.multiply(graph, graph.weights, x)
    monkeypatch.setattr(devices, "kernels", lambda: None)
    assert torch.equal(fused, coranking.squares(gpu, rows[:77], rows))  # whole numbers: no rounding
    torch.testing.assert_close(product, spectral.multiply(graph, graph.weights, x))


def test_umap_repeats_and_is_as_good_as_on_the_cpu():
    maps = [lowdim.UMAP(device="cuda", random_state=0).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(maps[0].embedding_, maps[1].embedding_)
    assert maps[0].device_.startswith("cuda")
    means = []
    for device in ("cuda", "cpu"):  # one seed differs from the next by more than the devices do
        fits = [lowdim.UMAP(device=device, random_state=seed).fit(X).embedding_ for seed in range(4)]
        means.append(np.mean([float(lowdim.quality.rnx_auc(X, Z)) for Z in fits]))
    assert means[0] == pytest.approx(means[1], abs=0.005)


def test_ranks_are_those_of_the_cpu():
    Z = lowdim.PCA(2).fit_transform(X)
    gpu, cpu = (lowdim.quality.rnx_curve(X, np.round(Z, 1), device=device) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(gpu, cpu, atol=1e-4)

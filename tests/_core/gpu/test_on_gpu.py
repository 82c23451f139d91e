"""On a real GPU: fused kernels against their twins, the same bits in every run, parity with the CPU."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import lowdim
from lowdim import _native
from lowdim._core.gpu import bridges, coranking, devices, gaussian, paths, spectral, stress
from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.attraction import Edges
from lowdim._core.gpu.cells import nearest_by_cells
from lowdim._core.gpu.edges import all_different
from lowdim._core.gpu.repulsion import GridField
from lowdim._core.gpu.sampling import Draws, Sampler
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.graph.edges import bare_arrays
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


@pytest.mark.parametrize("k", [15, 70])
@pytest.mark.parametrize(("d", "dtype"), [(20, np.float32), (3, np.float64), (100, np.float32)])
def test_fused_cells_find_what_their_twin_finds(gpu, monkeypatch, k, d, dtype):
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(50, d))[rng.integers(50, size=30_000)] * 3 + rng.normal(size=(30_000, d))).astype(dtype)
    fused = nearest_by_cells(gpu, gpu.tensor(rows), k)
    monkeypatch.setattr(devices, "kernels", lambda: None)
    plain = nearest_by_cells(gpu, gpu.tensor(rows), k)
    assert min(fused.recall, plain.recall) >= 0.99
    one, other = (found.indices.cpu().numpy() for found in (fused, plain))
    shared = np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(one[::37], other[::37], strict=True)])
    assert shared > 0.98
    assert fused.squares.isfinite().all()
    assert all(len(set(row)) == k and i not in row for i, row in enumerate(one.tolist()))
    assert (fused.squares.diff(dim=1) >= 0).all()


@pytest.mark.parametrize(("model", "cut"), [(lowdim.TSNE(max_iter=300), 1e-3), (lowdim.UMAP(max_iter=100), 1e-5)])
def test_new_rows_are_placed_where_the_cpu_places_them(model, cut):
    model = clone(model).set_params(random_state=0, device="cuda").fit(X[:1500])
    found, again = (model.transform(X[1500:]) for _ in range(2))
    np.testing.assert_array_equal(found, again)
    wanted = model.set_params(device="cpu").transform(X[1500:])
    assert np.median(np.linalg.norm(found - wanted, axis=1)) < cut * np.ptp(model.embedding_)


def test_paths_through_rows_and_equal_rows(gpu):
    G = neighbor_graph(nearest(lowdim.datasets.swiss_roll(3000, random_state=0).X, 8))
    sources, wanted = np.array([5, 1200, 2800], dtype=np.int32), np.empty(3000)
    _native.path_flow(*bare_arrays(G), sources, wanted, np.empty(G.nnz), 1)
    np.testing.assert_array_equal(paths.flow(gpu, G.indptr, G.indices, G.data, sources), wanted)
    assert all_different(gpu, X)
    assert not all_different(gpu, np.concatenate([X, X[:1]]))


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


def test_a_pass_over_dissimilarities_is_its_twin(gpu, monkeypatch):
    for r in (1, 2, 3):
        for dtype in (np.float32, np.float64):
            table = stress.table_of_rows(gpu, X.astype(dtype), keep=True)
            Z = np.random.default_rng(0).normal(size=(len(X), r))
            Z[3] = Z[9]
            fused = stress.stress_pass(table, Z)
            assert all(
                np.array_equal(one, other) for one, other in zip(fused, stress.stress_pass(table, Z), strict=True)
            )
            with monkeypatch.context() as patch:
                patch.setattr(devices, "kernels", lambda: None)
                for one, other in zip(fused, stress.stress_pass(table, Z), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


def test_metric_scaling():
    maps = [lowdim.MDS(device=device, tol=1e-9, max_iter=3000).fit(X) for device in ("cuda", "cuda", "cpu")]
    np.testing.assert_array_equal(maps[0].embedding_, maps[1].embedding_)
    assert maps[0].stress_ == pytest.approx(maps[2].stress_, rel=1e-3)
    assert maps[0].device_.startswith("cuda")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shortest_paths_bit_for_bit(gpu, dtype, monkeypatch):
    G = neighbor_graph(nearest(lowdim.datasets.swiss_roll(3000, random_state=0).X, 8))
    sources = np.random.default_rng(0).permutation(3000)[:150]
    fused = paths.geodesics(gpu, G.indptr, G.indices, G.data, sources, dtype).cpu().numpy()
    if dtype == np.float64:
        np.testing.assert_array_equal(fused, geodesics(G, sources))
    monkeypatch.setattr(devices, "kernels", lambda: None)
    plain = paths.geodesics(gpu, G.indptr, G.indices, G.data, sources, dtype).cpu().numpy()
    np.testing.assert_array_equal(fused, plain)


def test_landmark_isomap():
    roll = lowdim.datasets.swiss_roll(3000, random_state=0).X
    maps = [
        lowdim.Isomap(n_landmarks=200, random_state=0, device=device).fit(roll) for device in ("cuda", "cuda", "cpu")
    ]
    np.testing.assert_array_equal(maps[0].embedding_, maps[1].embedding_)
    np.testing.assert_allclose(maps[0].eigenvalues_, maps[2].eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(maps[0].transform(roll[:50] + 0.01), maps[2].transform(roll[:50] + 0.01), atol=1e-3)


@pytest.mark.parametrize("d", [7, 50, 130])
def test_least_distances_to_groups_are_within_their_bounds(gpu, d):
    rng = np.random.default_rng(0)
    group = rng.integers(5, size=3000)
    rows = rng.normal(size=(5, d))[group] * 5 + rng.normal(size=(3000, d))
    bounds = bridges.Bounds.of(gpu, gpu.tensor(rows), group)
    D = torch.cdist(*[gpu.tensor(rows)] * 2, compute_mode="donot_use_mm_for_euclid_dist").square() / bounds.unit**2
    wanted = torch.stack([D[:, gpu.tensor(group == g)].amin(dim=1) for g in range(5)], dim=1)
    assert ((bounds.least - wanted).abs() <= bounds.slack).all()
    i, j = bounds.offer(group, 2)[1:]
    apart = torch.where(gpu.tensor(group == 2)[:, None] & gpu.tensor(group != 2)[None], D, torch.inf)
    assert float(apart[i, j]) == pytest.approx(float(apart.min()), rel=1e-12)


@pytest.mark.parametrize("settings", [{"n_landmarks": 300}, {"solver": "operator"}, {}])
def test_kernel_pca(settings):
    rows = np.concatenate([X, X + np.random.default_rng(0).normal(size=X.shape), X[:, ::-1]])
    how = {"n_components": 4, "random_state": 0, **settings}
    fits = [lowdim.KernelPCA(device=device, **how).fit(rows) for device in ("cuda", "cuda", "cpu")]
    np.testing.assert_array_equal(fits[0].embedding_, fits[1].embedding_)
    np.testing.assert_allclose(fits[0].eigenvalues_, fits[2].eigenvalues_, rtol=1e-6)
    assert fits[0].device_.startswith("cuda")


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (lowdim.MDS(max_iter=5), 12_000),
        (lowdim.KernelPCA(3, n_landmarks=1000), 60_000),
        (lowdim.KernelPCA(3), 16_000),
        (lowdim.Isomap(n_landmarks=200), 60_000),
        (lowdim.PCA(5), 2_000_000),
        (lowdim.UMAP(max_iter=5), 60_000),
    ],
)
def test_memory_of_other_methods_is_estimated(model, n):
    rows = np.random.default_rng(0).normal(size=(n, 20)).astype(np.float32)
    model = clone(model).set_params(device="cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    model.fit(rows)
    peak, said = torch.cuda.max_memory_allocated(), model.estimate_memory(rows, device="cuda")
    assert 0.8 * peak <= said <= 1.25 * peak, f"estimated {said / 1e9:.2f} GB, used {peak / 1e9:.2f} GB"


@pytest.mark.parametrize("settings", [{}, {"solver": "randomized"}])
def test_wide_pca(settings):
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(500, 20)) @ rng.normal(size=(20, 9000)) + rng.normal(size=(500, 9000))).astype(np.float32)
    gpu, cpu = (lowdim.PCA(8, device=device, random_state=0, **settings).fit(rows) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(gpu.explained_variance_, cpu.explained_variance_, rtol=1e-5)
    assert gpu.device_.startswith("cuda")


@pytest.mark.parametrize(
    "model", [lowdim.PCA(2), lowdim.TSNE(max_iter=50), lowdim.UMAP(max_iter=20), lowdim.KernelPCA(2, n_landmarks=100)]
)
def test_tensors_give_tensors(model):
    rows = torch.from_numpy(X.astype(np.float32)).to("cuda")
    for device, kind in (("cuda", torch.Tensor), ("cpu", np.ndarray)):
        model = clone(model).set_params(device=device)
        Z = model.fit_transform(rows)
        assert isinstance(Z, kind)
        assert isinstance(model.transform(rows[:9]), kind)
        if device == "cuda":
            assert Z.device == rows.device


def test_memory_that_runs_out_is_tried_again(gpu, monkeypatch):
    calls = []

    def values(device, *given, work=gaussian.values):
        calls.append(device.shrink)
        if len(calls) == 1:
            return torch.empty(10**15, device="cuda")  # more than there is
        return work(device, *given)

    monkeypatch.setattr(gaussian, "values", values)
    with pytest.warns(UserWarning, match="ran out; repeated with blocks an eighth as large"):
        lowdim.KernelPCA(2, n_landmarks=100, device="cuda", random_state=0).fit(X)
    assert calls[:2] == [1, 8]

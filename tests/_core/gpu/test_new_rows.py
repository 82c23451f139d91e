"""New rows placed on a device against the compiled loops."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim._core.gpu.edges import all_different
from lowdim._core.gpu.places.on_fields import FixedField
from lowdim.neighbor_embedding import _new_rows

torch = pytest.importorskip("torch")
X = load_digits().data


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("dof", [1.0, 0.5])
def test_the_field_of_fixed_points(cpu, dims, dof):
    rng = np.random.default_rng(0)
    fitted, new = 20 * rng.normal(size=(1500, dims)), 15 * rng.normal(size=(40, dims))
    new[:2] = 500.0  # far outside the grid
    pushed, total = FixedField(cpu, torch.from_numpy(fitted).float(), dof).at(torch.from_numpy(new))
    gaps = new[:, None] - fitted
    base = 1 / (1 + np.square(gaps).sum(axis=2) / dof)
    w = base ** ((dof + 1) / 2)
    np.testing.assert_allclose(total.numpy(), w.sum(axis=1), rtol=1e-3)
    wanted = (gaps * (w * base)[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(pushed.numpy(), wanted, atol=1e-3 * np.abs(wanted).max())


def test_maps_too_wide_for_a_grid_are_summed(cpu, monkeypatch):
    monkeypatch.setattr("lowdim._core.gpu.places.on_fields.MOST_NODES", 10)
    field = FixedField(cpu, torch.tensor([[0.0, 0.0], [2.0, 0.0]]), 1.0)
    pushed, total = field.at(torch.tensor([[1.0, 1.0]], dtype=torch.float64))
    assert field.fields is None
    np.testing.assert_allclose(pushed.numpy(), [[0.0, 2 / 9]], atol=1e-12)
    np.testing.assert_allclose(total.numpy(), [2 / 3])


@pytest.mark.parametrize("settings", [{}, {"n_components": 1}, {"dof": 0.6}, {"n_components": 3}])
@pytest.mark.filterwarnings("ignore:TSNE. not converged")
def test_tsne_places_rows_where_the_cpu_does(stand_in, monkeypatch, settings):
    monkeypatch.setattr(_new_rows, "EXACT", 300)  # beyond, the CPU has a tree and the device a grid
    model = lowdim.TSNE(max_iter=120, early_iter=60, random_state=0, **settings).fit(X[:400])
    wanted = model.transform(X[400:460])
    on = model.set_params(device="cuda").transform(X[400:460])
    spread = np.ptp(model.embedding_)
    assert np.median(np.abs(on - wanted)) < 1e-3 * spread
    assert (np.abs(on - wanted).max(axis=1) < 0.02 * spread).mean() >= 0.95
    np.testing.assert_allclose(model.transform(X[:7]), model.embedding_[:7], atol=1e-6 * spread)
    several = [
        model.set_params(device=device).transform(X[400:460], perplexity=[5.0, 9.0]) for device in ("cpu", "cuda")
    ]
    assert np.median(np.abs(several[0] - several[1])) < 1e-3 * spread


@pytest.mark.parametrize("settings", [{}, {"n_components": 3}, {"repulsion": 2.0, "min_dist": 0.5}])
def test_umap_places_rows_where_the_cpu_does(stand_in, settings):
    model = lowdim.UMAP(max_iter=30, random_state=0, **settings).fit(X[:400])
    wanted = model.transform(X[400:460])
    on = model.set_params(device="cuda").transform(X[400:460])
    np.testing.assert_allclose(on, wanted, atol=2e-4 * np.ptp(model.embedding_))
    np.testing.assert_array_equal(model.transform(X[:7]), model.embedding_[:7])


def test_rows_are_placed_in_large_blocks_on_a_device(stand_in):
    assert lowdim.TSNE()._block_rows < lowdim.TSNE(device="cuda")._block_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_are_seen(cpu, dtype):
    rows = np.random.default_rng(0).integers(0, 9, size=(300, 12)).astype(dtype)
    assert all_different(cpu, rows)
    rows[7], rows[200] = rows[250], 0.0
    assert not all_different(cpu, rows)
    rows[7], rows[8] = 1.0, -0.0
    rows[200] = 0.0
    assert not all_different(cpu, rows)  # 0 and -0 are equal

"""Metric scaling on a device: passes over the pairs against the compiled ones, and whole fits against the CPU's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

import lowdim
from lowdim._core.gpu import devices, stress
from lowdim.stress._majorize import Pairs

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(90, 6))


@pytest.mark.parametrize("r", [1, 2, 3, 5])
@pytest.mark.parametrize("keep", [True, False])
def test_a_pass_is_that_of_the_compiled_core(cpu, r, keep):
    table = stress.table_of_rows(cpu, 1e6 * X, keep=keep)
    Z = np.random.default_rng(1).normal(size=(len(X), r))
    Z[7] = Z[3]  # two points at one place push each other nowhere
    pairs = Pairs(len(X), pdist(1e6 * X) / table.unit, None)
    total, force = pairs.stress(Z)
    each, ours = stress.stress_pass(table, Z)
    assert each.sum() / 2 == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(ours, force, atol=1e-10 * np.abs(force).max())
    np.testing.assert_allclose(each, pairs.detail(Z)[0] * each.sum() / pairs.detail(Z)[0].sum(), rtol=1e-9)
    assert table.total() == pytest.approx(pairs.total(pairs.delta), rel=1e-12)


def test_blocks_give_what_one_table_gives(cpu, monkeypatch):
    table, Z = stress.table_of_rows(cpu, X, keep=True), X[:, :2].copy()
    whole = stress.stress_pass(table, Z)
    monkeypatch.setattr(devices.Device, "rows", lambda *_, **__: 13)
    for one, other in zip(whole, stress.stress_pass(stress.table_of_rows(cpu, X, keep=True), Z), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "majorize", "gradient", "conjugate_gradient"])
@pytest.mark.parametrize("given", [False, True])
def test_a_fit_is_that_of_the_cpu(stand_in, solver, given):
    rows, how = (cdist(X, X), {"metric": "precomputed"}) if given else (X, {})
    settings = {"tol": 1e-10, "max_iter": 3000, "solver": solver, **how}
    ours = lowdim.MDS(device="cuda", **settings).fit(rows)
    theirs = lowdim.MDS(**settings).fit(rows)
    assert ours.stress_ == pytest.approx(theirs.stress_, rel=1e-6)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=2e-3)
    np.testing.assert_allclose(ours.stress_per_point_, theirs.stress_per_point_, atol=1e-4)
    np.testing.assert_allclose(ours.disparities_, theirs.disparities_, rtol=1e-12)
    np.testing.assert_allclose(ours.transform(rows[:5]), theirs.transform(rows[:5]), atol=2e-3)
    assert (ours.device_, theirs.device_) == ("cpu", "cpu")  # the stand-in's name


@pytest.mark.filterwarnings("ignore")
def test_rows_at_one_place_and_float32(stand_in):
    same = lowdim.MDS(device="cuda").fit(np.full((5, 3), 7.0) + 0.0 * X[:5, :3])
    assert np.all(same.embedding_ == 0)
    single = lowdim.MDS(device="cuda", tol=1e-10).fit(X.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.loss_ == pytest.approx(lowdim.MDS(tol=1e-10).fit(X).loss_, rel=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_table_too_large_is_measured_block_by_block(stand_in, monkeypatch):
    whole = lowdim.MDS(device="cuda", max_iter=30, tol=0).fit(X)
    monkeypatch.setattr("lowdim.stress._on_device.keeps_table", lambda *_: False)
    parts = lowdim.MDS(device="cuda", max_iter=30, tol=0).fit(X)
    np.testing.assert_allclose(parts.embedding_, whole.embedding_, atol=1e-8)


@pytest.mark.parametrize(
    "change", [{"level": "interval"}, {"loss": "sammon"}, {"weights": "elastic"}, {"metric": "l1"}]
)
def test_what_a_gpu_has_no_passes_for_runs_on_the_cpu(stand_in, change, monkeypatch):
    monkeypatch.setattr("lowdim.stress.mds.fit_on_device", None)
    asked = lowdim.MDS(device="cuda", max_iter=20, tol=0, **change)
    with pytest.warns(UserWarning, match="not converged"):
        np.testing.assert_array_equal(asked.fit(X).embedding_, asked.set_params(device="cpu").fit(X).embedding_)
    assert asked.device_ == "cpu"

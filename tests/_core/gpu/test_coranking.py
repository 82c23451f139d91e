"""Ranks in tensors against the compiled core: orders, tallies, records, measures."""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.ranks import TALLIES, Ranks

torch = pytest.importorskip("torch")
X = load_digits().data[:240]
Z = np.random.default_rng(0).normal(size=(240, 2)) + X[:, 20:22]


def same(one, other):
    for name in (field.name for field in fields(Ranks)):
        mine, theirs = getattr(one, name), getattr(other, name)
        if name == "row_auc":
            np.testing.assert_allclose(mine, theirs, atol=1e-12)
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=name)


@pytest.mark.filterwarnings("ignore:.*neighbour graph has")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"anchors": 50, "random_state": 0}, {"metric": "manhattan"}, {"ks": ()}])
@pytest.mark.parametrize("reference", ["ambient", "geodesic"])
def test_records_are_those_of_the_cpu(stand_in, dtype, options, reference):
    rows = np.concatenate([X, X[:5]]).astype(dtype)  # copies: ties, and rows at distance 0
    embedding = np.concatenate([np.round(Z, 1), np.round(Z[:5], 1)])
    cpu, gpu = (
        Ranks.of(rows, embedding, reference=reference, device=device, **{"ks": (5, 12), **options})
        for device in ("cpu", "cuda")
    )
    assert gpu.equal.sum() > 0
    assert gpu.zeros_high >= (5 if "anchors" not in options else 0)
    same(gpu, cpu)


def test_blocks_add_up(stand_in, monkeypatch):
    whole = Ranks.of(X, Z, device="cuda")
    monkeypatch.setattr(devices, "BLOCK_BYTES", 8 * len(X) * 7)
    same(Ranks.of(X, Z, device="cuda"), whole)


def test_memory_that_runs_out_does_not_count_twice(stand_in, monkeypatch):
    from lowdim._core.gpu import coranking

    whole, tallied, calls = Ranks.of(X, Z, device="cuda"), coranking.tallied, []

    def once(*given):
        calls.append(0)
        found = tallied(*given)
        if len(calls) == 1:
            raise torch.OutOfMemoryError("full")
        return found

    monkeypatch.setattr(coranking, "tallied", once)
    with pytest.warns(UserWarning, match="ran out"):
        same(Ranks.of(X, Z, device="cuda"), whole)


@pytest.mark.parametrize("name", ["rnx_auc", "trustworthiness", "continuity", "q_local"])
def test_measures_take_a_device(stand_in, name):
    measure = getattr(lowdim.quality, name)
    assert float(measure(X, Z, device="cuda")) == pytest.approx(float(measure(X, Z)), abs=1e-12)


def test_every_tally_is_there():
    assert set(TALLIES) <= {field.name for field in fields(Ranks)}


def test_names_of_no_device_are_refused():
    with pytest.raises(ValueError, match=r"Ranks.of: device must be 'cpu', 'cuda', 'auto' .* got 'tpu'"):
        lowdim.quality.rnx_auc(X, Z, device="tpu")

"""Weights that rebuild rows from their neighbours: the twin on a device of the compiled loop, and LLE above it."""

import numpy as np
import pytest

import lowdim
from lowdim._core.gpu.places.local_weights import local_weights
from lowdim._core.graph.local_fits import Patches, weights


@pytest.mark.parametrize("ridge", ["auto", 1e-3])
@pytest.mark.parametrize("d", [2, 9])
def test_weights_are_those_of_the_compiled_loop(cpu, ridge, d):
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(60, d)) * 1e-3, rng.normal(size=(30, d)) * 1e-3
    Q[:3], Q[3] = X[:3], X[:6].mean(axis=0)
    near = np.stack([rng.permutation(60)[:6] for _ in range(30)]).astype(np.int32)
    near[:3, 2], near[4, 1] = [0, 1, 2], near[4, 0]
    use = rng.random(near.shape) < 0.8
    use[:, 0], use[:3, 2] = True, True
    wanted = weights(X, Q, Patches.chosen(near, use), ridge=ridge, rank=2)
    found = local_weights(cpu, Q, X, near, use, ridge=None if ridge == "auto" else ridge, rank=2).numpy()
    np.testing.assert_allclose(found[use], wanted, atol=1e-5)  # with two columns only a ridge of 1e-10 is left
    assert (found[~use] == 0).all()
    np.testing.assert_allclose(found[:3, 2], 1.0)


@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 60}])
@pytest.mark.filterwarnings("ignore")
def test_lle_places_rows_where_the_cpu_does(stand_in, settings):
    roll = lowdim.datasets.swiss_roll(400, random_state=0).X
    models = [lowdim.LLE(random_state=0, device=device, **settings).fit(roll) for device in ("cpu", "cuda")]
    np.testing.assert_allclose(models[1].embedding_, models[0].embedding_, atol=1e-6)
    here, there = (model.transform(roll[:50] + 0.01) for model in models)
    np.testing.assert_allclose(there, here, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_rows_without_a_component_have_no_place(stand_in):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 3)), rng.normal(size=(30, 3)) + 50])
    model = lowdim.LLE(n_neighbors=8, disconnected="largest", device="cuda").fit(X)
    found = model.transform(X[[0, 100]])
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()

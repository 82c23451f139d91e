"""New rows among fixed points: the twin on a device of the compiled loop."""

import numpy as np
import pytest

import lowdim
from lowdim._core.gpu.places.by_stress import placed
from lowdim.stress._placement import MAX_ITER


@pytest.mark.parametrize("r", [1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_come_to_the_same_places(cpu, r, dtype):
    rng = np.random.default_rng(r)
    X = (rng.normal(size=(150, 6)) * [9, 5, 3, 2, 1, 1]).astype(dtype)
    model = lowdim.MDS(r, random_state=0).fit(X)
    new = np.concatenate([X[:3], X[:60] + rng.normal(size=(60, 6)).astype(dtype)])
    where = model._extension
    found = where.scale * placed(cpu, new, X, where.points, unit=where.unit, max_iter=MAX_ITER)
    wanted = model.transform(new)
    tol = 1e-7 if dtype is np.float64 else 2e-4
    np.testing.assert_allclose(found, wanted, atol=tol * np.ptp(wanted))


def test_few_points_and_equal_distances(cpu):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = placed(cpu, np.array([[0.5, 0.5], [0.0, 0.0]]), X, X, unit=1.0, max_iter=MAX_ITER)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.0, 0.0]], atol=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_transform_of_mds_on_a_device(stand_in):
    X = np.random.default_rng(0).normal(size=(200, 5)) * [5, 3, 1, 1, 1]
    model = lowdim.MDS(device="cuda", random_state=0).fit(X)
    there = model.transform(X[:20] + 0.1)
    here = model.set_params(device="cpu").transform(X[:20] + 0.1)
    np.testing.assert_allclose(there, here, atol=1e-6)

"""Estimates of the intrinsic dimension beside those of DADApy 0.3.4 and scikit-dimension 0.5.0, and their errors."""

import numpy as np
import pytest

from lowdim._core.neighbors import nearest
from lowdim.select import intrinsic_dimension
from lowdim.select._dimension_estimators import gride

# DADApy: compute_id_2NN(algorithm="ml"), return_id_scaling_gride(range_max=64), rounded there to two digits.
# scikit-dimension: MLE().fit_transform_pw(X, n_neighbors=20), its inverse averaged over rows.
PEERS = {
    "cube": (4.343141430513773, [4.34, 4.51, 4.51, 4.23, 4.04, 3.90], 4.279454692555011),
    "plane": (2.0177962910878944, [2.02, 1.96, 2.01, 1.92, 1.84, 1.79], 1.937535515645948),
    "gauss": (9.433238515070745, [9.43, 9.05, 8.70, 8.20, 7.81, 7.10], 8.393356395305238),
}


def rows(name):
    if name == "cube":
        return np.random.default_rng(0).random((500, 5))
    if name == "plane":
        return np.random.default_rng(1).random((500, 2)) @ np.random.default_rng(2).standard_normal((2, 10))
    return np.random.default_rng(3).standard_normal((500, 10))


@pytest.mark.parametrize("name", PEERS)
def test_published_estimates_are_those_of_peers(name):
    twonn, scales, likelihood = PEERS[name]
    found = intrinsic_dimension(rows(name), correct=False)
    assert found.estimates["twonn"][0] * 499 / 500 == pytest.approx(twonn, rel=1e-9)  # n - 1 in its numerator
    assert [each[0] for each in found.curve.values()] == pytest.approx(scales, rel=0.005)
    assert found.estimates["mle"][0] == pytest.approx(likelihood, rel=1e-9)


def test_errors_that_take_rows_for_independent_are_too_small():
    """On a flat torus, which has no edge: TwoNN of 500 rows varies by 0.12, DADApy states 0.08 to 0.09."""
    values, stated = [], []
    for seed in range(80):
        angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, (500, 2))
        near = nearest(np.hstack([np.cos(angles), np.sin(angles)]), 2)
        found = gride(near.distances, near.indices, 1)
        values.append(found.value)
        stated.append(np.diff(found.interval())[0] / 3.92)
    independent = np.mean(values) / np.sqrt(500)
    assert np.std(values) > 1.15 * independent
    assert 0.75 < np.mean(stated) / np.std(values) < 1.3

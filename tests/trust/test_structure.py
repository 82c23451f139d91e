"""Structure or noise: p-values are uniform on noise and small on structure."""

import numpy as np
import pytest

import lowdim


def p_value(X, seed, **options):
    return lowdim.trust.structure(X, lowdim.PCA(n_components=2), random_state=seed, **options).p_value


@pytest.mark.parametrize("null", ["permuted", "gaussian"])
def test_p_values_of_noise_are_uniform(null):
    found = [p_value(np.random.default_rng(s).standard_normal((40, 4)), s, n_null=9, null=null) for s in range(40)]
    assert 0.3 <= np.mean(np.array(found) <= 0.5) <= 0.7
    assert np.mean(np.array(found) <= 0.1) <= 0.22


def test_structure_is_found_and_the_scale_is_that_of_the_groups():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((50, 8)) + 6 * step for step in (-1, 0, 1)])
    found = lowdim.trust.structure(X, lowdim.PCA(n_components=2), n_null=19, random_state=0)
    assert found.p_value == pytest.approx(1 / 20)
    assert found.scale >= 32
    assert found.example[0].shape == X.shape
    assert found.example[1].shape == (150, 2)


def test_linear_structure_is_no_structure_beyond_a_gaussian():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((150, 6))
    assert p_value(X, 0, n_null=19) == pytest.approx(1 / 20)
    assert p_value(X, 0, n_null=19, null="gaussian") > 0.1

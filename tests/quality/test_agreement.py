"""Procrustes comparison against vegan, its symmetries, and the level of its test."""

import numpy as np
import pytest
from scipy.stats import kstest, ortho_group, uniform

from lowdim.quality import procrustes
from lowdim.quality.agreement import _agreement, _unit
from tests.oracles import case, load_expected, load_input

X, Y = load_input("procrustes_x")[0], load_input("procrustes_y")[0]


@pytest.mark.parametrize("symmetric", [False, True])
def test_vegan(symmetric):
    name = f"procrustes_vegan_{'symmetric' if symmetric else 'asymmetric'}"
    fit, known = procrustes(X, Y, symmetric=symmetric), case(name)["scalars"]
    assert fit.ss == pytest.approx(known["ss"], rel=1e-9)
    assert fit.scale == pytest.approx(known["scale"], rel=1e-9)
    np.testing.assert_allclose(fit.rotation, load_expected(name, "rotation.csv"), atol=1e-9)
    np.testing.assert_allclose(fit.translation, load_expected(name, "translation.csv"), atol=1e-9)
    np.testing.assert_allclose(fit.aligned - fit.target.mean(axis=0), load_expected(name, "Yrot.csv"), atol=1e-9)
    np.testing.assert_allclose(fit.target - fit.target.mean(axis=0), load_expected(name, "X.csv"), atol=1e-9)
    assert (fit.residuals**2).sum() == pytest.approx(fit.ss)


def test_protest():
    known, fit = case("protest_vegan")["scalars"], procrustes(X, Y, n_permutations=199, random_state=0)
    assert fit.correlation == pytest.approx(known["t0"], rel=1e-9)
    assert fit.disparity == pytest.approx(known["ss"], rel=1e-9)
    assert fit.p_value == 1 / 200
    assert "p = 0.005 (199 permutations)" in repr(fit)
    assert procrustes(X, Y).p_value is None


@pytest.mark.parametrize("scale", [True, False])
def test_the_shape_alone_counts(scale):
    turned = X @ ortho_group.rvs(3, random_state=0) * (7 if scale else 1) - 4
    fit = procrustes(X, turned, scale=scale)
    np.testing.assert_allclose(fit.aligned, X, atol=1e-12)
    np.testing.assert_allclose(fit.apply(turned[:4]), X[:4], atol=1e-12)
    assert fit.correlation == pytest.approx(1)
    assert procrustes(X, Y).disparity == pytest.approx(procrustes(Y, X).disparity)


def test_mirrors_can_be_forbidden():
    mirrored = X * [1, 1, -1]
    assert procrustes(X, mirrored).disparity < 1e-20
    fit = procrustes(X, mirrored, reflect=False, n_permutations=50, random_state=0)
    assert fit.disparity > 0.01
    assert np.linalg.det(fit.rotation) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("reflect", [True, False])
def test_what_the_permutations_count_is_the_correlation(seed, reflect):
    A, B = (_unit(Z) for Z in np.random.default_rng(seed).normal(size=(2, 12, 2)))
    assert _agreement(A, B, reflect) == pytest.approx(procrustes(A, B, reflect=reflect).correlation, abs=1e-12)


def test_columns_that_one_of_them_lacks_count_as_zero():
    for one, two in ((X, Y[:, :2]), (X[:, :2], Y)):
        padded = [np.pad(A, ((0, 0), (0, 3 - A.shape[1]))) for A in (one, two)]
        assert procrustes(one, two).ss == pytest.approx(procrustes(*padded).ss)
    assert procrustes(X[:, 0], Y[:, 0]).aligned.shape == (25, 1)


def test_the_p_value_is_uniform_where_nothing_is_shared():
    rng = np.random.default_rng(0)
    found = [
        procrustes(*rng.normal(size=(2, 15, 2)), n_permutations=39, random_state=seed, reflect=bool(seed % 2)).p_value
        for seed in range(200)
    ]
    assert kstest(np.array(found) - rng.random(200) / 40, uniform.cdf).pvalue > 0.001


def test_degenerate_and_bad_input():
    same = np.ones((5, 2))
    assert procrustes(same, same, symmetric=True, n_permutations=3, random_state=0).p_value == 1
    for one, two, message in (
        (X, Y[:5], "procrustes: source must have the 25 rows"),
        (np.full((4, 2), np.nan), np.ones((4, 2)), "procrustes: target must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            procrustes(one, two)
    with pytest.raises(ValueError, match="procrustes: n_permutations must be a whole number >= 0; got -1"):
        procrustes(X, Y, n_permutations=-1)

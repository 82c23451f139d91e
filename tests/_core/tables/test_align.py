"""Alignment: vegan and scipy as oracles, and the transformations it must undo."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, spatial
from scipy.stats import ortho_group

from lowdim._core.tables.align import match_signs, procrustes, subspace_angles
from tests import oracles

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(20, 3))


def vegan(case):
    X, Y = (oracles.load_input(f"procrustes_{name}")[0] for name in "xy")
    return X, Y, oracles.case(case), lambda file: oracles.load_expected(case, file)


def test_vegan_asymmetric():
    X, Y, case, expected = vegan("procrustes_vegan_asymmetric")
    fit = procrustes(X, Y)
    np.testing.assert_allclose(fit.rotation, expected("rotation"), atol=1e-9)
    np.testing.assert_allclose(fit.translation, expected("translation"), atol=1e-9)
    assert fit.scale == pytest.approx(case["scalars"]["scale"], rel=1e-9)
    assert fit.residual == pytest.approx(case["scalars"]["ss"], rel=1e-9)
    # vegan keeps the centred configurations
    np.testing.assert_allclose(fit.apply(Y) - X.mean(axis=0), expected("Yrot"), atol=1e-9)


def test_vegan_symmetric():
    X, Y, case, expected = vegan("procrustes_vegan_symmetric")
    unit = [(A - A.mean(axis=0)) / np.linalg.norm(A - A.mean(axis=0)) for A in (X, Y)]
    fit = procrustes(*unit)
    np.testing.assert_allclose(fit.rotation, expected("rotation"), atol=1e-9)
    np.testing.assert_allclose(fit.translation, expected("translation"), atol=1e-9)
    np.testing.assert_allclose(fit.apply(unit[1]), expected("Yrot"), atol=1e-9)
    assert fit.scale == pytest.approx(case["scalars"]["scale"], rel=1e-9)
    for ss in (fit.residual, procrustes(X, Y).disparity, procrustes(Y, X).disparity):
        assert ss == pytest.approx(case["scalars"]["ss"], rel=1e-9)


def test_scipy():
    other = RNG.normal(size=Z.shape) + 3
    assert procrustes(Z, other).disparity == pytest.approx(spatial.procrustes(Z, other)[2], rel=1e-12)
    turn, _ = linalg.orthogonal_procrustes(other, Z)
    fit = procrustes(Z, other, scale=False, translate=False)
    np.testing.assert_allclose(fit.rotation, turn, atol=1e-12)
    assert fit.scale == 1.0
    assert not fit.translation.any()
    assert fit.residual == pytest.approx(np.sum((other @ turn - Z) ** 2))


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 10_000), p=st.integers(2, 4), size=st.floats(1e-3, 1e3))
def test_a_similar_copy_is_brought_back(seed, p, size):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, p))
    copy = size * A @ ortho_group.rvs(p, random_state=seed) + rng.normal(size=p)
    fit = procrustes(A, copy)
    np.testing.assert_allclose(fit.apply(copy), A, atol=1e-9)
    np.testing.assert_allclose(fit.rotation @ fit.rotation.T, np.eye(p), atol=1e-12)
    assert fit.scale == pytest.approx(1 / size)
    assert fit.disparity < 1e-20


def test_the_fit_cannot_be_improved():
    target = Z + 0.3 * RNG.normal(size=Z.shape)
    fit = procrustes(target, Z)
    for _ in range(20):
        nudge = linalg.expm(0.01 * (lambda M: M - M.T)(RNG.normal(size=(3, 3))))
        worse = (1 + 0.01 * RNG.normal()) * (Z @ fit.rotation @ nudge) * fit.scale + fit.translation
        assert np.sum((target - worse) ** 2) > fit.residual


def test_the_best_size_without_mirrors():
    mirrored = Z * [1, 1, -1] + 0.1 * RNG.normal(size=Z.shape)
    fit = procrustes(Z, mirrored, reflect=False)
    A, B = Z - Z.mean(axis=0), (mirrored - mirrored.mean(axis=0)) @ fit.rotation
    assert fit.scale == pytest.approx(np.sum(A * B) / np.sum(B * B))
    assert fit.residual == pytest.approx(np.sum((A - fit.scale * B) ** 2))


def test_mirrors_only_where_allowed():
    mirrored = Z * [1, 1, -1]
    assert procrustes(Z, mirrored).disparity < 1e-28
    fit = procrustes(Z, mirrored, reflect=False)
    assert linalg.det(fit.rotation) == pytest.approx(1.0)
    assert fit.disparity > 0.1
    # brute force over turns in the plane: none is better than the one found
    A, B = Z[:, :2] - Z[:, :2].mean(axis=0), mirrored[:, 1:] - mirrored[:, 1:].mean(axis=0)
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in np.linspace(0, 2 * np.pi, 2001)]
    best = min(np.sum((A - B @ R) ** 2) for R in turns)
    assert procrustes(A, B, scale=False, reflect=False).residual == pytest.approx(best, rel=1e-4)


def test_fewer_columns_count_as_zeros():
    flat = Z[:, :2]
    fit, padded = procrustes(Z, flat), procrustes(Z, np.column_stack([flat, np.zeros(20)]))
    assert fit.residual == pytest.approx(padded.residual)
    assert fit.rotation.shape == (2, 3)
    assert fit.apply(flat).shape == (20, 3)
    assert procrustes(Z, flat, reflect=False).residual == pytest.approx(fit.residual)


def test_degenerate_configurations():
    same = np.ones((5, 2))
    assert procrustes(same, Z[:5, :2]).disparity == 0.0
    onto = procrustes(Z[:5, :2], same)
    assert np.isfinite(onto.apply(same)).all()
    assert onto.disparity == pytest.approx(1.0)
    assert procrustes(Z[:1], Z[1:2]).residual == pytest.approx(0.0, abs=1e-28)


def test_precision_and_inputs_are_kept():
    fit = procrustes(Z.astype(np.float32), Z[::-1].astype(np.float32))
    assert fit.apply(Z.astype(np.float32)).dtype == np.float32
    assert fit.apply(Z.tolist()).dtype == np.float64
    before = Z.copy()
    procrustes(Z, Z[::-1])
    np.testing.assert_array_equal(Z, before)


def test_bad_configurations():
    for source in (Z[:5], np.column_stack([Z, Z])):
        with pytest.raises(ValueError, match="source must have as many rows as target and no more columns"):
            procrustes(Z, source)
    for source in (Z[0], np.full_like(Z, np.nan), np.empty((0, 3))):
        with pytest.raises(ValueError, match="source must be a finite 2-D array"):
            procrustes(Z, source)


@pytest.mark.parametrize("angle", [1e-14, 1e-9, 1e-3, 1.0])
def test_tiny_angles_are_accurate(angle):
    A = np.eye(6)[:, :2]
    B = A.copy()
    B[:, 1] = [0, np.cos(angle), np.sin(angle), 0, 0, 0]
    np.testing.assert_allclose(subspace_angles(A, 3 * B), [angle, 0], rtol=1e-6, atol=1e-15)
    with pytest.raises(ValueError, match="as many rows"):
        subspace_angles(A, B[:4])


def test_match_signs():
    flipped = Z * [1, -1, -1]
    np.testing.assert_array_equal(match_signs(Z, flipped), Z)
    np.testing.assert_array_equal(match_signs(np.zeros_like(Z), flipped), flipped)
    single = flipped.astype(np.float32)
    assert match_signs(Z, single).dtype == np.float32
    np.testing.assert_array_equal(flipped, Z * [1, -1, -1])
    with pytest.raises(ValueError, match="one shape"):
        match_signs(Z, Z[:, :2])


@pytest.mark.parametrize("size", [1e-200, 1e-60, 1.0, 1e60, 1e200])
@pytest.mark.parametrize("other", [1e-100, 1.0, 1e100])
def test_procrustes_at_every_size(size, other):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = procrustes(size * Z, other * (Z @ turn + 2.0))
    np.testing.assert_allclose(found.apply(other * (Z @ turn + 2.0)) / size, Z, atol=1e-12)
    assert found.scale == pytest.approx(size / other, rel=1e-12)
    assert found.disparity < 1e-24

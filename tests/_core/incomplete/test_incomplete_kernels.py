"""Kernels between rows with holes: closed forms against draws, definiteness, complete rows as usual."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

import lowdim
from lowdim._core.distances import pairwise
from lowdim._core.incomplete import kernels
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.holes import Holes
from lowdim._core.incomplete.kernels import Beliefs, KernelHoles
from lowdim._core.kernels import make_kernel
from lowdim.kernels import (
    ANOVA,
    RBF,
    Chi2,
    Constant,
    Cosine,
    Custom,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    bandwidth,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*pairs of rows have no observed column in common")

RNG = np.random.default_rng(0)
MODEL = Gaussian(RNG.normal(size=4), RNG.normal(size=(4, 2)), RNG.uniform(0.1, 0.6, 4))
X = MODEL.sample(12, RNG)
H = X.copy()
H[1, 0] = H[2, 1:3] = H[3, 3] = H[4, [0, 2]] = H[5, 1:] = H[6, 0] = np.nan
CLOSED = [
    Linear(),
    Constant(2.0),
    RBF(0.3),
    Polynomial(1, 0.5, 0.7),
    Polynomial(2, 0.5, 0.7),
    Polynomial(3, 1.0, 0.4),
    2 * RBF(0.1) + 0.5 * Polynomial(2, 0.0) + 1,
]
SAMPLED = [Laplace(0.3), Cosine(), Polynomial(4, 1.0, 0.2), RBF(0.3) * Linear(), ANOVA(0.4, 2), RationalQuadratic(0.5)]
EXPECTED = KernelHoles("expected", np.zeros(4), 1.0, MODEL)


def read(kernel, holes, A, B=None):
    return holes.kernel(kernel, "test")(holes.table(A), None if B is None else holes.table(B))


def conditional(row):
    """Mean and covariance of the whole row given its observed cells, from the dense Gaussian."""
    o, m, C = ~np.isnan(row), np.isnan(row), MODEL.covariance
    gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
    mean, spread = row.copy(), np.zeros((4, 4))
    mean[m] = MODEL.mean[m] + gain @ (row[o] - MODEL.mean[o])
    spread[np.ix_(m, m)] = C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]
    return mean, spread


@cache
def draws(n=800):
    rng = np.random.default_rng(1)
    return [[rng.multivariate_normal(*conditional(row), size=n, method="eigh") for row in H] for _ in range(2)]


@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_closed_forms_equal_the_mean_over_draws(kernel):
    K = read(kernel, EXPECTED, H)
    left, right = draws()
    for i, j in ((1, 1), (1, 2), (2, 4), (4, 6), (5, 5), (5, 2), (0, 5), (3, 0)):
        values = kernel(left[i][:800], right[j][:800])
        error = 5 * (values.mean(axis=1).std() + values.mean(axis=0).std()) / np.sqrt(800)
        assert K[i, j] == pytest.approx(values.mean(), abs=error + 1e-10)
        assert error < 0.4 * values.std() + 1e-10  # or the line above says nothing


def test_the_gaussian_equals_its_formula():
    K = read(RBF(0.3), EXPECTED, H)
    for i in range(len(H)):
        for j in range(len(H)):
            (a, S), (b, T) = conditional(H[i]), conditional(H[j])
            M = np.eye(4) + 0.6 * (S + T)
            value = np.exp(-0.3 * (a - b) @ np.linalg.solve(M, a - b)) / np.sqrt(np.linalg.det(M))
            assert K[i, j] == pytest.approx(value, rel=1e-9)


def test_the_expected_square_is_that_of_second_moments():
    second = [spread + np.outer(mean, mean) for mean, spread in map(conditional, H)]
    expected = [[np.trace(P @ Q) for Q in second] for P in second]
    np.testing.assert_allclose(read(Polynomial(2, 0.0), EXPECTED, H), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", SAMPLED, ids=repr)
def test_other_kernels_are_means_over_points(kernel):
    K, usual = read(kernel, EXPECTED, H), read(kernel, EXPECTED, X)
    left, right = draws()
    gaps = []
    for i, j in ((1, 2), (2, 4), (4, 6), (0, 5), (3, 0)):
        values = kernel(left[i][:800], right[j][:800])
        gaps.append(abs(K[i, j] - values.mean()) / max(values.std(), 1e-9))
    assert max(gaps) < 1.0
    assert np.mean(gaps) < 0.5  # 8 points: about a third of the spread
    whole = ~np.isnan(H).any(axis=1)
    np.testing.assert_allclose(K[np.ix_(whole, whole)], usual[np.ix_(whole, whole)], rtol=1e-13)


@pytest.mark.parametrize("kernel", CLOSED + SAMPLED, ids=repr)
def test_expected_kernels_are_positive_semidefinite(kernel):
    found = EXPECTED.kernel(kernel, "test")
    assert found.is_psd is True
    rows = MODEL.sample(60, np.random.default_rng(3))
    rows[np.random.default_rng(4).random(rows.shape) < 0.3] = np.nan
    table = EXPECTED.table(rows[~np.isnan(rows).all(axis=1)])
    K = found(table)
    np.testing.assert_allclose(K, K.T, rtol=1e-10)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-10 * values[-1]
    np.testing.assert_allclose(found.diag(table), np.diagonal(K), rtol=1e-10)
    alone = np.vstack([found(table[i : i + 1], table[:9]) for i in range(9)])
    np.testing.assert_allclose(alone, K[:9, :9], rtol=1e-10)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
@pytest.mark.parametrize("kernel", [*CLOSED, RationalQuadratic(0.5), Laplace(0.3, "l2"), Matern(0.2)], ids=repr)
def test_complete_rows_have_their_usual_values(policy, kernel):
    holes = KernelHoles(policy, H[0], 1.0, MODEL if policy == "expected" else None)
    np.testing.assert_array_equal(read(kernel, holes, X), kernel(X))
    np.testing.assert_array_equal(holes.rows(holes.table(X)), X)
    K, whole = read(kernel, holes, H), ~np.isnan(H).any(axis=1)
    np.testing.assert_array_equal(K[np.ix_(whole, whole)], kernel(X[whole]))
    np.testing.assert_allclose(holes.kernel(kernel, "test").diag(holes.table(H)), np.diagonal(K), rtol=1e-12)


def test_pairwise_kernels_are_those_of_scaled_distances_and_products():
    holes = KernelHoles("pairwise", np.nanmean(H, axis=0), 3.0, None)
    A = H[:5]  # every two of them share a column
    d2 = nan_euclidean_distances(A) ** 2
    np.testing.assert_allclose(read(RBF(0.3), holes, A), np.exp(-0.3 * d2), rtol=1e-9)
    np.testing.assert_allclose(read(Laplace(0.3, "l2"), holes, A), np.exp(-0.3 * np.sqrt(d2)), rtol=1e-7)
    seen = ~np.isnan(A)
    dots = np.where(seen, A, 0) @ np.where(seen, A, 0).T * 4 / (seen.astype(float) @ seen.T)
    np.testing.assert_allclose(read(Linear(), holes, A), dots, rtol=1e-9)
    both = 2 * Polynomial(2, 1.0) * RBF(0.3) + Sigmoid(0.1) ** 2 + 1
    expected = 2 * (dots + 1) ** 2 * np.exp(-0.3 * d2) + np.tanh(0.1 * dots + 1) ** 2 + 1
    np.testing.assert_allclose(read(both, holes, A), expected, rtol=1e-9)
    strangers = np.array([[1.0, 2.0, np.nan, np.nan], [np.nan, np.nan, 0.0, 1.0]])
    assert read(RBF(0.3), holes, strangers)[0, 1] == pytest.approx(np.exp(-0.3 * 3.0))
    assert read(Linear(), holes, strangers)[0, 1] == pytest.approx(holes.center @ holes.center)
    assert holes.kernel(RBF(0.3), "test").is_psd is None


@pytest.mark.parametrize(
    ("policy", "kernel", "message"),
    [
        ("pairwise", Laplace(0.3), r"test: missing='pairwise' cannot read the kernel Laplace.*missing='expected' can"),
        ("pairwise", RBF(1.0) + ANOVA(1.0), "cannot read the kernel ANOVA"),
        ("pairwise", Custom(np.dot), "missing='expected' can"),
        ("pairwise", 2 * Cosine(), "cannot read the kernel Cosine"),
        ("expected", Chi2(1.0), "cannot read the kernel Chi2.*Complete the rows first"),
        ("expected", Precomputed(), "cannot read the kernel Precomputed.*Complete the rows first"),
    ],
)
def test_kernels_that_cannot_be_read_say_what_can(policy, kernel, message):
    holes = KernelHoles(policy, np.zeros(4), 1.0, MODEL)
    with pytest.raises(ValueError, match=message):
        holes.kernel(kernel, "test")


def table(n=150, share=0.2, dtype=np.float64):
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((n, 6)) + 5
    return rows, lowdim.datasets.hide_cells(rows, share, random_state=1).X.astype(dtype)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
@pytest.mark.parametrize("name", ["rbf", "rational-quadratic", "matern", "bessel", "sigmoid", "poly"])
def test_widths_are_measured_between_incomplete_rows(policy, name):
    rows, hidden = table()
    holes = KernelHoles.of(hidden, policy, np.random.default_rng(0), None, "test")
    found = make_kernel(name, holes.table(hidden), holes=holes).kernel
    usual = make_kernel(name, rows)
    assert found.gamma == pytest.approx(usual.gamma, rel=0.15)
    if name == "rbf":
        plain = Holes.of(hidden, policy, np.random.default_rng(0), None, "test")
        D = pairwise(plain.table(hidden), metric=plain.metric)[np.triu_indices(len(hidden), 1)]
        assert found.gamma == pytest.approx(1 / (2 * np.median(D**2)))
    for rule in ("mean", "neighbors", "scale", "features"):
        measured = make_kernel("rbf", holes.table(hidden), width=rule, holes=holes).kernel.gamma
        assert measured == pytest.approx(bandwidth(rows, rule), rel=0.5)
    if policy == "expected":
        l1 = make_kernel("laplacian", holes.table(hidden), holes=holes).kernel.gamma
        assert l1 == pytest.approx(make_kernel("laplacian", rows).gamma, rel=0.15)


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2), Laplace(0.1)], ids=repr)
def test_single_precision_stays_single(kernel):
    _, hidden = table(40)
    holes = KernelHoles.of(hidden, "expected", np.random.default_rng(0), None, "test")
    single = holes.kernel(kernel, "test")(holes.table(hidden.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, read(kernel, holes, hidden), rtol=2e-4)


def test_points_have_the_moments_of_the_model(monkeypatch):
    """The mean exactly, as they come in opposite pairs; the covariance the better, the more there are."""
    few = Beliefs.of(EXPECTED.table(H), EXPECTED).drawn()
    assert few.shape == (12, kernels.POINTS, 4)
    monkeypatch.setattr(kernels, "POINTS", 20000)
    many = Beliefs.of(EXPECTED.table(H), EXPECTED).drawn()
    for row, some, drawn in zip(H, few, many, strict=True):
        mean, spread = conditional(row)
        np.testing.assert_allclose(some.mean(axis=0), mean, atol=1e-9)
        np.testing.assert_allclose(np.cov(drawn.T), spread, atol=0.15)
        np.testing.assert_array_equal(drawn[:, ~np.isnan(row)], np.tile(row[~np.isnan(row)], (len(drawn), 1)))

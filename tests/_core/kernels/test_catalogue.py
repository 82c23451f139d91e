"""The catalogue: closed forms on tiny vectors, scikit-learn and scipy as oracles, definiteness, names."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gamma as gamma_function
from scipy.special import jv
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise as reference

import lowdim
from lowdim import KernelPCA, kernels
from lowdim._core.kernels import NAMES, make_kernel
from lowdim.kernels import (
    ANOVA,
    RBF,
    Bessel,
    Chi2,
    Constant,
    Cosine,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    bandwidth,
)

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(21, 4)), RNG.normal(size=(8, 4))
POSITIVE = np.abs(X)
NEW = [
    ANOVA(0.7),
    ANOVA(0.7, degree=2),
    Bessel(0.8),
    Bessel(0.8, order=2.5, degree=2),
    RationalQuadratic(0.3),
    RationalQuadratic(0.3, alpha=2.5),
    *(Matern(0.3, nu) for nu in (0.5, 1.5, 2.5)),
    Chi2(0.4),
]


def rows_for(kernel, A=X):
    return np.abs(A) if isinstance(kernel, Chi2) else A


def test_closed_forms_on_two_points():
    x, y = np.array([[0.0, 1.0]]), np.array([[2.0, 0.0]])  # differences 2 and -1, squared distance 5
    expected = {
        ANOVA(0.5): np.exp(-0.5 * 4) + np.exp(-0.5 * 1),
        ANOVA(0.5, degree=3): (np.exp(-2.0) + np.exp(-0.5)) ** 3,
        RationalQuadratic(0.4, 1.0): 1 / (1 + 0.4 * 5),
        RationalQuadratic(0.4, 3.0): (1 + 0.4 * 5 / 3) ** -3,
        Matern(0.2, 0.5): np.exp(-2 * np.sqrt(0.5 * 0.2 * 5)),
        Matern(0.2, 1.5): (1 + 2 * np.sqrt(1.5)) * np.exp(-2 * np.sqrt(1.5)),
        Bessel(0.6, order=0.5): np.sin(0.6 * np.sqrt(5)) / (0.6 * np.sqrt(5)),
        Bessel(0.6, order=1, degree=2): (2 * jv(1, 0.6 * np.sqrt(5)) / (0.6 * np.sqrt(5))) ** 2,
        Chi2(0.3): np.exp(-0.3 * (4 / 2 + 1 / 1)),
    }
    for kernel, value in expected.items():
        assert kernel(x, y)[0, 0] == pytest.approx(value, rel=1e-13), kernel


def test_scikit_learn_agrees():
    s, d2 = 1.7, reference.euclidean_distances(X, Y, squared=True)
    for kernel, expected in [
        (RationalQuadratic.from_width(s, alpha=0.8), gp.RationalQuadratic(s, alpha=0.8)(X, Y)),
        (RationalQuadratic.from_width(s, "exp(-d2/s)"), 1 / (1 + d2 / s)),
        *((Matern.from_width(s, nu=nu), gp.Matern(s, nu=nu)(X, Y)) for nu in (0.5, 1.5, 2.5)),
        (Laplace.from_width(s), reference.laplacian_kernel(X, Y, gamma=1 / s)),
        (Laplace.from_width(s, "l2"), np.exp(-np.sqrt(d2) / s)),
    ]:
        np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-11, err_msg=repr(kernel))
    np.testing.assert_allclose(Chi2(0.4)(POSITIVE), reference.chi2_kernel(POSITIVE, gamma=0.4), rtol=1e-12)
    zeros = np.where(POSITIVE > 0.7, POSITIVE, 0.0)
    np.testing.assert_allclose(Chi2(0.4)(zeros), reference.chi2_kernel(zeros, gamma=0.4), rtol=1e-12)


@pytest.mark.parametrize(("sigma", "order", "degree"), [(1.0, 1, 1), (0.3, 0, 2), (2.0, 3, 1)])
def test_bessel_is_the_formula_of_kernlab(sigma, order, degree):
    """besselJ(t, order) t^-order over its limit at 0, 1 / (Gamma(order + 1) 2^order)."""
    t = sigma * reference.euclidean_distances(X, Y)
    limit = 1 / (gamma_function(order + 1) * 2**order)
    expected = (jv(order, t) * t**-order / limit) ** degree
    np.testing.assert_allclose(Bessel(sigma, order, degree)(X, Y), expected, rtol=1e-10, atol=1e-13)
    near = Bessel(sigma, order, degree)([[0.0]], [[0.0], [1e-9], [1e-5]])
    np.testing.assert_allclose(near, 1.0, atol=1e-9)


def test_anova_is_a_power_of_a_sum_of_gaussians():
    """And k(x, x) is columns^degree, where kernlab's function of one vector says 1."""
    columns = sum(RBF(0.7)(X[:, [j]], Y[:, [j]]) for j in range(4))
    np.testing.assert_allclose(ANOVA(0.7, 3)(X, Y), columns**3, rtol=1e-12)
    np.testing.assert_array_equal(ANOVA(0.7, 3).diag(X), np.full(21, 64.0))


def test_kernels_with_tails_tend_to_the_gaussian():
    np.testing.assert_allclose(RationalQuadratic(0.3, alpha=1e7)(X, Y), RBF(0.3)(X, Y), rtol=1e-5)
    # Gaussians of gamma distributed as Gamma(alpha) add up to the rational quadratic kernel
    draws = np.random.default_rng(0).gamma(2.5, 1 / 2.5, 20000)
    d2 = reference.euclidean_distances(X[:3], Y[:3], squared=True)
    mixed = np.exp(-0.3 * np.multiply.outer(draws, d2)).mean(axis=0)
    np.testing.assert_allclose(RationalQuadratic(0.3, alpha=2.5)(X[:3], Y[:3]), mixed, atol=0.01)


@pytest.mark.parametrize("kernel", NEW, ids=repr)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_diagonals_in_every_container(kernel, container, dtype):
    A, B = rows_for(kernel).astype(dtype), rows_for(kernel, Y).astype(dtype)
    K, loose = kernel(container(A), container(B)), 2e-5 if dtype == np.float32 else 1e-12
    assert K.dtype == dtype
    np.testing.assert_allclose(K, kernel(A.astype(np.float64), B.astype(np.float64)), rtol=loose, atol=loose)
    full = kernel(container(A))
    np.testing.assert_allclose(full, full.T, atol=loose)
    np.testing.assert_allclose(np.diagonal(full), kernel.diag(container(A)), rtol=loose)
    assert eval(repr(kernel), vars(kernels).copy()) == kernel


PSD = [
    Linear(),
    Polynomial(2, 0.5, 0.7),
    RBF(0.3),
    Laplace(0.2),
    Laplace(0.2, "l2"),
    Cosine(),
    Constant(2.0),
    ANOVA(0.7, 2),
    RationalQuadratic(0.3, 0.7),
    Matern(0.3, 2.5),
    Chi2(0.4),
]


@pytest.mark.parametrize(("a", "b"), [(a, b) for i, a in enumerate(PSD) for b in PSD[: i + 1]], ids=repr)
def test_every_combination_is_positive_semidefinite(a, b):
    for combined in (a + b, a * b, 3 * a + b, a**2 + 0.5 * b, (a + b) ** 2):
        assert combined.is_psd is True
        K = combined(POSITIVE)
        assert combined.smallest_eigenvalue(POSITIVE) >= -1e-10 * np.linalg.norm(K, 2)


def test_what_is_not_positive_semidefinite_is_not_said_to_be():
    assert Bessel(1.0).is_psd is None
    assert (Bessel(1.0) + RBF(1.0)).is_psd is None
    wide = 3 * np.random.default_rng(0).normal(size=(300, 8))
    narrow = wide[:, :4]  # 2 order + 2 columns: the Fourier transform of a ball
    assert Bessel(1.0, order=1).smallest_eigenvalue(narrow) > -1e-10
    assert Bessel(1.0, order=0).smallest_eigenvalue(wide) < -0.1
    assert Sigmoid(1.0, -2.0).smallest_eigenvalue(X) < -0.01


@pytest.mark.parametrize("kernel", [k for k in NEW if not isinstance(k, Chi2)], ids=repr)
@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 2.0**100), (np.float64, 2.0**600), (np.float64, 2.0**-600)])
def test_values_at_any_scale_are_numbers(kernel, dtype, scale):
    K = kernel((X * scale).astype(dtype))
    assert np.isfinite(K).all()
    np.testing.assert_allclose(np.diagonal(K), kernel.diag(X), rtol=1e-6)
    off = K[~np.eye(len(K), dtype=bool)] / K[0, 0]
    assert (off < 1e-3).all() if scale > 1 else (off > 1 - 1e-9).all()


@pytest.mark.parametrize("name", ["rational-quadratic", "matern", "bessel"])
def test_widths_follow_the_scale_of_the_data(name):
    for scale in (1e6, 1e-6):
        np.testing.assert_allclose(
            make_kernel(name, X * scale)(X * scale, Y * scale), make_kernel(name, X)(X, Y), rtol=1e-8
        )


def test_names_and_their_widths():
    g = bandwidth(X)
    assert make_kernel("rational-quadratic", X) == RationalQuadratic(g)
    assert make_kernel("rational-quadratic", X, params={"alpha": 2.0}) == RationalQuadratic(g, 2.0)
    assert make_kernel("matern", X, width=2.0, params={"nu": 2.5}) == Matern(0.125, 2.5)
    assert make_kernel("bessel", X, degree=1) == Bessel(bandwidth(X, power=1))
    assert make_kernel("bessel", X, width=4, degree=2, params={"order": 0}) == Bessel(0.25, 0, 2)
    assert make_kernel("anova", X, degree=2) == ANOVA(4 * g, 2)
    assert make_kernel("anova", X, width="features", degree=1) == ANOVA(1.0)  # kernlab's default
    assert make_kernel("chi2", POSITIVE) == Chi2(1.0)
    assert make_kernel("chi2", POSITIVE, gamma=0.2) == Chi2(0.2)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "precomputed"])
@pytest.mark.filterwarnings("ignore:KernelPCA. the kernel is not positive semidefinite")
@pytest.mark.filterwarnings("ignore:KernelPCA. 0 of 2 axes")
def test_every_name_makes_a_map(name):
    model = KernelPCA(2, kernel=name).fit(POSITIVE)
    np.testing.assert_allclose(model.transform(POSITIVE), model.embedding_, atol=1e-8)


def test_every_kernel_is_public_and_saved(tmp_path):
    for kernel in NEW:
        model = KernelPCA(1, kernel=2 * kernel + Constant(1.0)).fit(POSITIVE)
        lowdim.save(model, tmp_path / "model")
        again = lowdim.load(tmp_path / "model")
        assert again.kernel == model.kernel
        np.testing.assert_array_equal(again.transform(POSITIVE), model.transform(POSITIVE))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ANOVA(0), "ANOVA: gamma must be a positive finite number; got 0"),
        (lambda: ANOVA(1.0, 0.5), "ANOVA: degree must be an integer of at least 1; got 0.5"),
        (lambda: Bessel(1.0, order=-1), "Bessel: order must be a finite number of at least 0; got -1"),
        (lambda: Bessel(1.0, degree=0), "Bessel: degree must be"),
        (lambda: RationalQuadratic(1.0, alpha=0), "RationalQuadratic: alpha must be a positive finite number; got 0"),
        (lambda: RationalQuadratic.from_width(1.0, "s"), "RationalQuadratic: convention must be one of"),
        (lambda: Matern(1.0, 2.0), "Matern: nu must be 0.5, 1.5 or 2.5"),
        (lambda: Matern.from_width(0), "Matern: width must be a positive finite number; got 0"),
        (lambda: Laplace.from_width(-1), "Laplace: width must be a positive finite number; got -1"),
        (lambda: Chi2(1.0)(X), "Chi2: rows must not be negative; got -"),
        (lambda: ANOVA(1.0, 600)(X), "ANOVA: kernel values must be finite; .*or use a smaller degree"),
        (lambda: Polynomial(2, coef0=-1e-9), "coef0 must be a finite number of at least 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def features(kernel, A):
    """Explicit features of kernels that have few: x itself, 1, and all products of two columns."""
    if isinstance(kernel, Constant):
        return np.full((len(A), 1), np.sqrt(kernel.value))
    if isinstance(kernel, Polynomial):
        A = np.hstack([np.sqrt(kernel.gamma) * A, np.full((len(A), 1), np.sqrt(kernel.coef0))])
        return np.einsum("ni,nj->nij", A, A).reshape(len(A), -1)
    return A


@pytest.mark.parametrize(
    ("a", "b"), list(product([Linear(), Constant(2.0), Polynomial(2, 0.5, 0.7)], repeat=2)), ids=repr
)
def test_sums_join_features_and_products_multiply_them(a, b):
    (ax, ay), (bx, by) = ((features(k, X), features(k, Y)) for k in (a, b))
    np.testing.assert_allclose((a + b)(X, Y), np.hstack([ax, bx]) @ np.hstack([ay, by]).T, atol=1e-12)
    tensor = [np.einsum("ni,nj->nij", p, q).reshape(len(p), -1) for p, q in ((ax, bx), (ay, by))]
    np.testing.assert_allclose((a * b)(X, Y), tensor[0] @ tensor[1].T, rtol=1e-11, atol=1e-12)

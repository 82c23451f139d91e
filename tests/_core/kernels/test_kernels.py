"""Kernels: explicit feature maps, scikit-learn and kernlab as oracles, the algebra's theorems."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics import pairwise as reference

from lowdim import kernels
from lowdim._core.kernels import make_kernel
from lowdim.kernels import (
    RBF,
    Constant,
    Cosine,
    Custom,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    bandwidth,
)
from tests import oracles

RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, 4))
Y = RNG.normal(size=(9, 4))

LEAVES = [
    Linear(),
    Polynomial(degree=2, coef0=0.5, gamma=0.7),
    RBF(gamma=0.3),
    Laplace(gamma=0.2),
    Laplace(gamma=0.2, norm="l2"),
    Sigmoid(gamma=0.1, coef0=0.2),
    Constant(2.5),
    Cosine(),
]
COMPOSITES = [
    2 * RBF(0.3) + Linear() * Polynomial(2) ** 2,
    (Linear() + 1) * RBF(0.5),
    (2 * Linear()) ** 3 + Constant(0.0),
    (Linear() ** 2) ** 2 * (3 * Laplace(1.0)),
    0.1 * (Linear() + RBF(1.0)) * Cosine(),
    (Linear() * RBF(2.0)) ** 0,
]


def against_scikit_learn(A, B):
    return [
        (Linear(), reference.linear_kernel(A, B)),
        (Polynomial(3, 0.5, 0.7), reference.polynomial_kernel(A, B, degree=3, coef0=0.5, gamma=0.7)),
        (RBF(0.3), reference.rbf_kernel(A, B, gamma=0.3)),
        (Laplace(0.2), reference.laplacian_kernel(A, B, gamma=0.2)),
        (Laplace(0.2, norm="l2"), np.exp(-0.2 * reference.euclidean_distances(A, B))),
        (Sigmoid(0.1, 0.2), reference.sigmoid_kernel(A, B, gamma=0.1, coef0=0.2)),
        (Cosine(), reference.cosine_similarity(A, B)),
        (Constant(2.5), np.full((A.shape[0], B.shape[0]), 2.5)),
    ]


@pytest.mark.parametrize("with_sparse", [False, True])
def test_blocks_equal_scikit_learn(with_sparse):
    A, B = (sparse.csr_array(X * (X > 0)), sparse.csr_array(Y * (Y > 0))) if with_sparse else (X, Y)
    for kernel, expected in against_scikit_learn(A, B):
        np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-14, err_msg=repr(kernel))
    for kernel, expected in against_scikit_learn(A, A):
        np.testing.assert_allclose(kernel(A), expected, rtol=1e-12, atol=1e-14, err_msg=repr(kernel))


@pytest.mark.parametrize("kernel", LEAVES + COMPOSITES, ids=repr)
@pytest.mark.parametrize(
    "rows", [X, X.astype(np.float32), sparse.csr_array(X), sparse.csr_matrix(X.astype(np.float32))]
)
def test_diag_is_the_diagonal_and_precision_is_kept(kernel, rows):
    K, own = kernel(rows), kernel.diag(rows)
    assert K.dtype == own.dtype == rows.dtype
    assert isinstance(K, np.ndarray)
    assert K.shape == (len(X), len(X))
    np.testing.assert_allclose(own, K.diagonal(), rtol=2e-5 if rows.dtype == np.float32 else 1e-12)
    np.testing.assert_allclose(K, K.T, rtol=1e-5 if rows.dtype == np.float32 else 1e-13)


def test_float32_values_are_those_of_float64():
    for kernel in LEAVES + COMPOSITES:
        np.testing.assert_allclose(
            kernel(X.astype(np.float32), Y.astype(np.float32)), kernel(X, Y), rtol=2e-4, atol=2e-4
        )
    assert RBF(1.0)(X.astype(np.float32), Y).dtype == np.float64
    assert RBF(1.0)([[1, 2], [3, 4]]).dtype == np.float64


def test_rows_are_left_alone():
    for kernel in [*LEAVES, *COMPOSITES]:
        A = X.copy()
        kernel(A)
        kernel.diag(A)
        np.testing.assert_array_equal(A, X, err_msg=repr(kernel))


# Explicit feature maps --------------------------------------------------------------------------------------


def quadratic_features(A):
    """Features of (x'y)² on the plane: x1², sqrt(2) x1 x2, x2²."""
    return np.column_stack([A[:, 0] ** 2, np.sqrt(2) * A[:, 0] * A[:, 1], A[:, 1] ** 2])


def test_squared_dot_product_is_the_quadratic_feature_map():
    A, B = X[:, :2], Y[:, :2]
    expected = quadratic_features(A) @ quadratic_features(B).T
    np.testing.assert_allclose(Polynomial(2, coef0=0.0)(A, B), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose((Linear() ** 2)(A, B), expected, rtol=1e-12, atol=1e-14)


def test_a_sum_is_concatenation_and_a_product_is_the_tensor_of_features():
    A, B = X[:, :2], Y[:, :2]
    both = [np.hstack([M, quadratic_features(M)]) for M in (A, B)]
    np.testing.assert_allclose((Linear() + Linear() ** 2)(A, B), both[0] @ both[1].T, rtol=1e-12, atol=1e-14)
    tensor = [np.einsum("ni,nj->nij", M, quadratic_features(M)).reshape(len(M), -1) for M in (A, B)]
    np.testing.assert_allclose(
        (Linear() * Polynomial(2, coef0=0))(A, B), tensor[0] @ tensor[1].T, rtol=1e-12, atol=1e-14
    )
    scaled = 3 * Linear() + 2
    np.testing.assert_allclose(scaled(A, B), 3 * A @ B.T + 2, rtol=1e-13)


def test_polynomial_is_the_power_of_a_sum():
    np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X, Y), ((2 * Linear() + 0.5) ** 3)(X, Y), rtol=1e-12)


def test_gaussian_splits_into_a_product_over_columns():
    parts = RBF(0.4)(X[:, :2], Y[:, :2]) * RBF(0.4)(X[:, 2:], Y[:, 2:])
    np.testing.assert_allclose(RBF(0.4)(X, Y), parts, rtol=1e-12)


def test_feature_distance_is_a_squared_norm():
    # K_ii + K_jj - 2 K_ij is |phi_i - phi_j|², not |phi_i - phi_j| (erratum E4)
    k, A = Linear() ** 2, X[:, :2]
    K, own, features = k(A), k.diag(A), quadratic_features(A)
    squared = own[:, None] + own - 2 * K
    np.testing.assert_allclose(squared, reference.euclidean_distances(features, squared=True), atol=1e-10)


# Algebra ----------------------------------------------------------------------------------------------------

PSD_LEAVES = st.sampled_from([k for k in LEAVES if k.is_psd])


def combined(parts):
    scaled = st.tuples(st.floats(0.01, 10), parts).map(lambda p: p[0] * p[1])
    power = st.tuples(parts, st.integers(0, 2)).map(lambda p: p[0] ** p[1])
    pair = st.tuples(parts, parts)
    return scaled | power | pair.map(lambda p: p[0] + p[1]) | pair.map(lambda p: p[0] * p[1])


EXPRESSIONS = st.recursive(PSD_LEAVES, combined, max_leaves=4)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(kernel=EXPRESSIONS, seed=st.integers(0, 100))
def test_every_combination_is_positive_semidefinite(kernel, seed):
    A = np.random.default_rng(seed).normal(size=(12, 3)) / 2
    values = np.linalg.eigvalsh(kernel(A))
    assert kernel.is_psd is True
    assert values[0] >= -1e-10 * max(values[-1], 1e-300)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(kernel=EXPRESSIONS)
def test_repr_is_the_expression(kernel):
    again = eval(repr(kernel), vars(kernels).copy())
    assert again == kernel
    assert hash(again) == hash(kernel)
    np.testing.assert_array_equal(again(X[:5], Y[:5]), kernel(X[:5], Y[:5]))


@pytest.mark.parametrize("kernel", LEAVES + COMPOSITES, ids=repr)
def test_repr_of_every_form(kernel):
    assert eval(repr(kernel), vars(kernels).copy()) == kernel


def test_repr_reads_well():
    k = 2 * RBF(0.5) + Linear() * Constant(1) ** 2
    assert repr(k) == "2.0*RBF(gamma=0.5) + Linear()*Constant(value=1.0)**2"
    assert repr((Linear() + 1) ** 2) == "(Linear() + Constant(value=1.0))**2"
    assert repr(Polynomial()) == "Polynomial(degree=3, coef0=1.0, gamma=1.0)"
    assert repr(np.float64(2) * RBF(np.float32(0.5))) == "2.0*RBF(gamma=0.5)"


def test_brackets_and_scales_make_no_difference():
    a, b, c = Linear(), RBF(1.0), Constant(3)
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert (2 * a) * (3 * b) == 6 * (a * b) == (a * b) * 6
    assert 2 * (3 * a) == 6 * a
    assert a + b != b + a
    assert RBF(1.0) != RBF(2.0)
    assert sum([a, b])(X).shape == (23, 23)


def test_algebra_equals_arithmetic_on_matrices():
    a, b, c = RBF(0.5), Linear(), Polynomial(2)
    np.testing.assert_allclose((2 * a + b * c**2)(X, Y), 2 * a(X, Y) + b(X, Y) * c(X, Y) ** 2, rtol=1e-13)


@pytest.mark.parametrize("scale", [-1, 0, -0.5, np.inf, np.nan])
def test_only_positive_multiples(scale):
    with pytest.raises(ValueError, match="scale must be positive"):
        scale * RBF(1.0)


@pytest.mark.parametrize("exponent", [-1, 0.5, True, "2"])
def test_only_natural_powers(exponent):
    with pytest.raises(ValueError, match="exponent must be an integer of at least 0"):
        RBF(1.0) ** exponent


def test_algebra_refuses_what_is_not_a_kernel():
    for operation in (
        lambda: RBF(1.0) + "a",
        lambda: RBF(1.0) * None,
        lambda: [1] * RBF(1.0),
        lambda: RBF(1.0) - 1,
    ):
        with pytest.raises(TypeError):
            operation()
    with pytest.raises(ValueError, match="value must be"):
        RBF(1.0) + (-1)


def test_what_is_known_about_definiteness():
    for kernel in (Sigmoid(1.0), Custom(np.dot), Precomputed()):
        assert kernel.is_psd is None
        assert (2 * kernel).is_psd is None
    assert (RBF(1.0) + Sigmoid(1.0)).is_psd is None
    assert np.linalg.eigvalsh(Sigmoid(1.0, -2.0)(X))[0] < -0.01  # why tanh is not counted among them


# Parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0), "RBF: gamma must be a positive finite number; got 0"),
        (lambda: RBF(-1.0), "gamma must be"),
        (lambda: RBF(np.nan), "gamma must be"),
        (lambda: RBF("auto"), "got 'auto'"),
        (lambda: Laplace(True), "gamma must be"),
        (lambda: Laplace(1.0, "l3"), "norm must be 'l1' or 'l2'"),
        (lambda: Polynomial(degree=2.5), "degree must be an integer of at least 1; got 2.5"),
        (lambda: Polynomial(degree=0), "degree must be"),
        (lambda: Polynomial(coef0=-1), "coef0 must be a finite number of at least 0"),
        (lambda: Sigmoid(np.inf), "gamma must be a finite number"),
        (lambda: Constant(-1), "value must be"),
        (lambda: RBF.from_width(0), "width must be a positive finite number"),
        (lambda: RBF.from_width(1, "sigma"), "convention must be one of"),
        (lambda: RBF(1.0)([1.0, 2.0]), "RBF: X must be a table"),
        (lambda: Linear()(X, [[np.nan] * 4]), "Linear: Y must be finite"),
        (lambda: RBF(1.0)([["a"]]), "RBF: X must hold real numbers; got <U1"),
        (lambda: RBF(1.0)(X, Y[:, :2]), "same number of columns; got 4 and 2"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kernels_are_values():
    with pytest.raises(AttributeError):
        RBF(1.0).gamma = 2.0
    for kernel in LEAVES + COMPOSITES:
        assert pickle.loads(pickle.dumps(kernel)) == kernel
    copied = clone(SklearnKernelPCA(kernel=RBF(0.5)))
    assert copied.kernel == RBF(0.5)


def test_widths_of_both_conventions_are_stored_as_gamma():
    # exp(-d²/sigma²) in some texts, exp(-d²/(2 sigma²)) in others (erratum E19)
    s, d2 = 1.7, reference.euclidean_distances(X, Y, squared=True)
    np.testing.assert_allclose(RBF.from_width(s, "exp(-d2/s2)")(X, Y), np.exp(-d2 / s**2), rtol=1e-12)
    np.testing.assert_allclose(RBF.from_width(s, "exp(-d2/(2*s2))")(X, Y), np.exp(-d2 / (2 * s**2)), rtol=1e-12)
    np.testing.assert_allclose(RBF.from_width(s, "exp(-d2/s)")(X, Y), np.exp(-d2 / s), rtol=1e-12)
    assert RBF.from_width(s).gamma == pytest.approx(1 / (2 * s**2), rel=1e-15)
    assert list(vars(RBF.from_width(s))) == ["gamma"]


def test_gaussian_far_from_the_origin():
    np.testing.assert_allclose(RBF(0.3)(X + 1e6, Y + 1e6), RBF(0.3)(X, Y), rtol=1e-8)
    shifted = (X + 1e3).astype(np.float32)
    np.testing.assert_allclose(RBF(0.3)(shifted), RBF(0.3)(shifted.astype(np.float64)), rtol=1e-4, atol=1e-6)


def test_extreme_gammas():
    np.testing.assert_array_equal(RBF(1e300)(X * 1e6), np.eye(len(X)))
    np.testing.assert_array_equal(RBF(1e-300)(X), np.ones((len(X), len(X))))


def test_cosine_of_zero_rows():
    A = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(Cosine()(A), [[0, 0], [0, 1]])
    np.testing.assert_allclose(Cosine().diag(A), [0, 1])


# Precomputed and Custom -------------------------------------------------------------------------------------


def test_precomputed_passes_values_through():
    K, new = RBF(0.5)(X), RBF(0.5)(Y, X)
    k = Precomputed()
    np.testing.assert_array_equal(k(K), K)
    np.testing.assert_array_equal(k(new, K), new)
    np.testing.assert_array_equal(k(sparse.csr_array(K)), K)
    np.testing.assert_allclose((2 * k**2)(new, K), 2 * new**2, rtol=1e-15)
    np.testing.assert_array_equal(k.diag(K), np.ones(len(X)))
    np.testing.assert_array_equal((3 * k).diag(K), np.full(len(X), 3.0))
    np.testing.assert_array_equal(k.diag(new, np.arange(9.0)), np.arange(9.0))
    assert k.pairwise
    assert (2 * k).pairwise
    assert not RBF(1.0).pairwise
    assert k(K) is not K


def test_precomputed_asks_for_the_diagonal_of_new_rows():
    K, new = RBF(0.5)(X), RBF(0.5)(RNG.normal(size=X.shape), X)
    for rows in (new, new[:5]):  # a square block of new rows is no kernel matrix
        with pytest.raises(ValueError, match="diag\\(X, values\\)"):
            Precomputed().diag(rows)
    with pytest.raises(ValueError, match="one k\\(x, x\\) for each of 5 rows"):
        Precomputed().diag(new[:5], np.ones(4))
    with pytest.raises(ValueError, match="must have 23 columns"):
        Precomputed()(new[:, :5], K)
    with pytest.raises(ValueError, match="mixture"):
        Precomputed() + RBF(1.0)


def test_custom_functions():
    expected = Polynomial(2)(X, Y)
    by_rows = Custom(lambda x, y: (x @ y + 1) ** 2)
    by_blocks = Custom(lambda A, B: (A @ B.T + 1) ** 2, blockwise=True)
    for k in (by_rows, by_blocks):
        np.testing.assert_allclose(k(X, Y), expected, rtol=1e-12)
        np.testing.assert_allclose(k(X), Polynomial(2)(X), rtol=1e-12)
        np.testing.assert_allclose(k.diag(X), Polynomial(2).diag(X), rtol=1e-12)
        np.testing.assert_allclose((2 * k + Linear())(X, Y), 2 * expected + X @ Y.T, rtol=1e-12)
        assert k(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("f", "blockwise"),
    [(lambda x, y: np.nan, False), (lambda x, y: x, False), (lambda A, B: A @ B.T + 1j, True)],
)
def test_custom_functions_are_checked(f, blockwise):
    with pytest.raises(ValueError, match="Custom: f must return finite numbers"):
        Custom(f, blockwise=blockwise)(X)


@pytest.mark.parametrize(
    ("value", "shown"), [("a", r"'a' \(str\)"), (None, r"None \(NoneType\)"), (1j, r"1j \(complex\)")]
)
def test_custom_functions_must_return_numbers(value, shown):
    for call in (lambda k: k(X), lambda k: k(X, Y), lambda k: k.diag(X)):
        with pytest.raises(ValueError, match=f"Custom: f must return a number for two rows; got {shown}"):
            call(Custom(lambda x, y: value))


def test_custom_needs_a_function_and_dense_rows():
    for f in ("rbf", RBF):
        with pytest.raises(TypeError, match="f must be a function"):
            Custom(f)
    with pytest.raises(TypeError, match="blockwise=True"):
        Custom(np.dot)(sparse.csr_array(X))


# Widths -----------------------------------------------------------------------------------------------------


def all_pairs(A):
    return reference.euclidean_distances(A, squared=True)[np.triu_indices(len(A), 1)]


def test_width_rules_equal_their_formulas():
    d2 = all_pairs(X)
    assert bandwidth(X) == pytest.approx(1 / (2 * np.median(d2)))
    assert bandwidth(X, "mean") == pytest.approx(1 / (2 * np.mean(d2)))
    assert bandwidth(X, "scale") == pytest.approx(1 / (X.shape[1] * X.var()))
    assert bandwidth(X, "features") == 1 / X.shape[1]
    kth = np.sort(reference.euclidean_distances(X), axis=1)[:, 7]
    assert bandwidth(X, "neighbors") == pytest.approx(1 / (2 * np.median(kth**2)))
    l1 = reference.manhattan_distances(X)[np.triu_indices(len(X), 1)]
    assert bandwidth(X, metric="manhattan", power=1) == pytest.approx(1 / np.median(l1))


@pytest.mark.parametrize("rule", ["median", "mean", "neighbors", "scale"])
def test_widths_follow_the_data(rule):
    gamma = bandwidth(X, rule)
    assert bandwidth(10 * X, rule) == pytest.approx(gamma / 100)
    assert bandwidth(X.astype(np.float32), rule) == pytest.approx(gamma, rel=1e-5)
    assert bandwidth(sparse.csr_array(X), rule) == pytest.approx(gamma)
    assert bandwidth(1e-20 * X.astype(np.float32), rule) == pytest.approx(gamma * 1e40, rel=1e-4)


@pytest.mark.parametrize("rule", ["median", "mean", "neighbors"])
def test_repeated_rows_do_not_make_a_width_zero(rule):
    repeated = np.vstack([np.repeat(X[:1], 100, axis=0), X])
    gamma = bandwidth(repeated, rule)
    assert np.isfinite(gamma)
    assert gamma > 0


def test_sampled_widths():
    A = RNG.normal(size=(600, 3))
    exact = bandwidth(A)
    sampled = bandwidth(A, max_rows=200)
    assert sampled == bandwidth(A, max_rows=200)
    assert sampled != bandwidth(A, max_rows=200, random_state=1)
    assert sampled == pytest.approx(exact, rel=0.2)
    assert bandwidth(A, "neighbors", max_rows=200) == pytest.approx(bandwidth(A, "neighbors"), rel=0.2)
    lonely = np.zeros((3000, 2))
    lonely[1234] = [3.0, 4.0]  # hardly in any sample
    assert bandwidth(lonely, max_rows=50) == pytest.approx(1 / 50)


@pytest.mark.parametrize("rule", ["median", "mean", "neighbors", "scale"])
def test_equal_rows_have_no_width(rule):
    with pytest.raises(ValueError, match=r"test: X must.*Pass gamma instead"):
        bandwidth(np.ones((20, 3)), rule, owner="test")


def test_width_arguments_are_checked():
    for arguments, message in [
        ({"rule": "silverman"}, "rule must be one of median"),
        ({"power": 3}, "power must be 1 or 2"),
        ({"rule": "neighbors", "n_neighbors": 23}, "n_neighbors must be between 1 and 22; got 23"),
    ]:
        with pytest.raises(ValueError, match=message):
            bandwidth(X, **arguments)


EXTREMES = [(np.float32, 2.0**100), (np.float32, 2.0**-100), (np.float64, 2.0**400), (np.float64, 2.0**-400)]


@pytest.mark.parametrize(("dtype", "scale"), EXTREMES)
@pytest.mark.parametrize("name", ["rbf", "laplacian", "cosine"])
def test_kernels_follow_the_scale_of_the_data(name, dtype, scale):
    A, B = X.astype(dtype), Y.astype(dtype)
    for rows in (np.asarray, sparse.csr_array):
        plain, found = (make_kernel(name, rows(A * dtype(s))) for s in (1.0, scale))
        tolerance = {"rtol": 1e-4 if dtype == np.float32 else 1e-9, "atol": 1e-6 if dtype == np.float32 else 1e-12}
        big = rows(A * dtype(scale)), rows(B * dtype(scale))
        np.testing.assert_allclose(found(*big), plain(rows(A), rows(B)), **tolerance)
        np.testing.assert_allclose(found(big[0]), plain(rows(A)), **tolerance)
        np.testing.assert_allclose(found.diag(big[0]), plain.diag(rows(A)), **tolerance)


@pytest.mark.parametrize("rule", ["median", "mean", "neighbors", "scale"])
@pytest.mark.parametrize("scale", [2.0**700, 2.0**-700])
def test_widths_that_are_no_numbers_ask_to_rescale(rule, scale):
    with pytest.raises(ValueError, match=r"KernelPCA: X must be of moderate size .*Rescale the data"):
        bandwidth(X * scale, rule, owner="KernelPCA")
    gamma = bandwidth(X * scale, rule, power=1)
    assert gamma * scale == pytest.approx(bandwidth(X, rule, power=1), rel=1e-9)
    assert bandwidth(X.astype(np.float32) * 2.0**100, rule) == pytest.approx(bandwidth(X, rule) * 2.0**-200, rel=1e-4)


def test_gaussians_of_any_width_at_any_scale_are_numbers():
    for dtype, scale in [*EXTREMES, (np.float64, 2.0**900), (np.float64, 2.0**-900)]:
        for gamma in (1e-300, 1.0, 1e300):
            K = RBF(gamma)((X * scale).astype(dtype))
            assert np.isfinite(K).all()
            assert (np.diagonal(K) == 1).all()


@pytest.mark.parametrize(
    ("kernel", "factor", "message"),
    [
        (Linear(), 1e200, r"Linear: kernel values must be finite; .*Rescale the data, for example X / np.abs\(X\).max"),
        (Polynomial(2), 1e200, r"Polynomial: .*Rescale the data"),
        (Polynomial(9), 1e30, r"Polynomial: .*Rescale the data.*, or use a smaller gamma or degree\.$"),
        (2 * Linear() + 1, 1e200, r"Sum: .*Rescale the data"),
    ],
)
def test_values_that_overflow_say_what_helps(kernel, factor, message):
    for call in (kernel, kernel.diag):
        with pytest.raises(ValueError, match=message.replace("Sum", "(Sum|Linear)")) as caught:
            call(X * factor)
        assert ("gamma" in str(caught.value)) == (factor == 1e30)


# From what users pass ---------------------------------------------------------------------------------------


def test_names_give_kernels():
    g = bandwidth(X)
    assert make_kernel("linear", X) == Linear()
    assert (
        make_kernel("poly", X, degree=2, coef0=0) == make_kernel("polynomial", X, degree=2, coef0=0) == Polynomial(2, 0)
    )
    assert make_kernel("poly", X, gamma=0.5) == Polynomial(3, 1.0, 0.5)
    assert make_kernel("rbf", X) == make_kernel("gaussian", X) == RBF(g)
    assert make_kernel("rbf", X, width="features") == RBF(0.25)
    assert make_kernel("sigmoid", X) == make_kernel("tanh", X) == Sigmoid(0.25, 1.0)
    assert make_kernel("laplacian", X) == Laplace(bandwidth(X, metric="manhattan", power=1))
    assert make_kernel("laplacian", X, params={"norm": "l2"}) == Laplace(bandwidth(X, power=1), "l2")
    assert make_kernel("cosine", X) == Cosine()
    assert make_kernel("constant", X, params={"value": 3}) == Constant(3)
    assert make_kernel("precomputed", X) == Precomputed()


def test_a_number_as_width_is_a_standard_deviation():
    d2 = reference.euclidean_distances(X, Y, squared=True)
    np.testing.assert_allclose(make_kernel("rbf", X, width=1.5)(X, Y), np.exp(-d2 / (2 * 1.5**2)), rtol=1e-12)
    assert make_kernel("laplacian", X, width=4) == Laplace(0.25)
    # the median rule and the median distance itself agree
    assert make_kernel("rbf", X, width=np.sqrt(np.median(all_pairs(X)))).gamma == pytest.approx(bandwidth(X))


def test_gamma_wins_over_width():
    assert make_kernel("rbf", X, width=3.0, gamma=0.7) == RBF(0.7)
    assert make_kernel("rbf", np.ones((5, 2)), gamma=0.7) == RBF(0.7)  # no width needed, none looked for


def test_objects_and_functions():
    k = 2 * RBF(1.0) + Linear()
    assert make_kernel(k, X) is k
    assert make_kernel(np.dot, X) == Custom(np.dot)
    shifted = make_kernel(lambda x, y, c: x @ y + c, X, params={"c": 2.0})
    np.testing.assert_allclose(shifted(X, Y), X @ Y.T + 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "rbff"}, "KernelPCA: kernel must be one of linear, .*; got 'rbff'"),
        ({"kernel": 3}, "kernel must be one of"),
        ({"kernel": RBF}, "a kernel object such as RBF"),
        ({"kernel": "rbf", "width": 0}, "KernelPCA: width must be a positive"),
        ({"kernel": "rbf", "width": None}, "KernelPCA: width must be a positive"),
        ({"kernel": "rbf", "width": "big"}, "KernelPCA: width must be a positive number or one of median.*got 'big'"),
        ({"kernel": "rbf", "gamma": -1}, "KernelPCA: gamma must be"),
        ({"kernel": "poly", "coef0": -1}, "KernelPCA: coef0 must be a finite number of at least 0; got -1"),
        ({"kernel": "polynomial", "degree": 0}, "KernelPCA: degree must be"),
        (
            {"kernel": "rbf", "params": {"sigma": 1}},
            r"params must be among \['gamma'\] for 'rbf'; got \['sigma'\]",
        ),
        ({"kernel": RBF(1.0), "gamma": 2.0}, "must be left out with a kernel object"),
    ],
)
def test_bad_kernels_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_kernel(X=X, owner="KernelPCA", **arguments)


def test_few_rows_have_no_seventh_neighbour():
    with pytest.raises(ValueError, match=r"KernelPCA: width='neighbors' must have more than 7 rows.* got 7") as caught:
        make_kernel("rbf", X[:7], width="neighbors", owner="KernelPCA")
    assert "n_neighbors" not in str(caught.value)
    assert make_kernel("rbf", X[:8], width="neighbors").gamma > 0


def test_all_pairs_of_leaves_combine():
    for a, b in product(LEAVES, LEAVES):
        np.testing.assert_allclose((a + b)(X, Y), a(X, Y) + b(X, Y), rtol=1e-13)
        np.testing.assert_allclose((a * b)(X, Y), a(X, Y) * b(X, Y), rtol=1e-13)


@pytest.mark.parametrize(
    ("case", "kernel"),
    [
        ("kpca_kernlab_rbf", RBF(0.1)),  # what kernlab calls sigma is a gamma
        ("kpca_kernlab_poly2", Polynomial(degree=2, coef0=1.0)),
        ("kpca_kernlab_tanh", Sigmoid(gamma=0.01, coef0=0.5)),
    ],
)
def test_kernel_matrices_of_kernlab(case, kernel):
    iris = oracles.load_input("iris")[0][::2, :4].astype(float)
    np.testing.assert_allclose(kernel(iris), oracles.load_expected(case, "kernel_train"), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Precomputed(), Custom(np.dot)])
def test_tables_that_hold_no_real_numbers_are_refused(kernel):
    square = X[:4] @ X[:4].T
    with pytest.raises(ValueError, match="masked cells are missing values; fill or drop them"):
        kernel(np.ma.masked_less(square, 0))
    for kind in (complex, "datetime64[s]", "timedelta64[s]"):
        with pytest.raises(ValueError, match="X must hold real numbers; got"):
            kernel(square.astype(kind))
    with pytest.raises(ValueError, match="masked cells are missing values"):
        bandwidth(np.ma.masked_less(square, 0))

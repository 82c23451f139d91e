"""The best approximation of given rank, and the pseudo-inverse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lowdim import PCA, low_rank, pseudo_inverse
from tests.oracles import case, load_expected, load_input

rng = np.random.default_rng(0)
TABLES = {
    "tall": rng.standard_normal((30, 5)),
    "very tall": rng.standard_normal((300, 4)),
    "wide": rng.standard_normal((4, 25)),
    "square": rng.standard_normal((6, 6)),
    "of rank two": rng.standard_normal((20, 2)) @ rng.standard_normal((2, 7)),
    "zero": np.zeros((5, 3)),
    "a row": rng.standard_normal((1, 6)),
    "a column": rng.standard_normal((6, 1)),
    "one number": np.array([[4.0]]),
    "sparse": sparse.random(40, 12, density=0.2, random_state=1).tocsr(),
    "nearly singular": rng.standard_normal((20, 5)) * [1, 1, 1, 1, 1e-9],
    "large numbers": 1e100 * rng.standard_normal((8, 3)),
    "small numbers": 1e-120 * rng.standard_normal((3, 8)),
}
every = pytest.mark.parametrize("name", TABLES)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@every
def test_the_four_conditions_of_penrose(name):
    A = dense(TABLES[name])
    B = pseudo_inverse(TABLES[name])
    assert B.shape == A.shape[::-1]
    size = np.abs(A).max() or 1.0
    ease = 1e-5 if name == "nearly singular" else 1e-11
    np.testing.assert_allclose(A @ B @ A, A, atol=ease * size)
    np.testing.assert_allclose(B @ A @ B, B, atol=ease * max(np.abs(B).max(), 1e-300))
    np.testing.assert_allclose(A @ B, (A @ B).T, atol=ease)
    np.testing.assert_allclose(B @ A, (B @ A).T, atol=ease)


@every
def test_numpy_agrees(name):
    A = dense(TABLES[name])
    expected = np.linalg.pinv(A)
    np.testing.assert_allclose(pseudo_inverse(TABLES[name]), expected, atol=1e-6 * max(np.abs(expected).max(), 1e-300))


def test_the_inverse_and_the_shortest_solution():
    A = TABLES["square"]
    np.testing.assert_allclose(pseudo_inverse(A), np.linalg.inv(A), atol=1e-12)
    A, b = TABLES["of rank two"], np.arange(20.0)
    np.testing.assert_allclose(pseudo_inverse(A) @ b, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-12)


def test_tolerance_decides_what_is_zero():
    A = np.diag([1.0, 1e-3, 1e-6])
    np.testing.assert_allclose(np.diag(pseudo_inverse(A)), [1, 1e3, 1e6])
    np.testing.assert_allclose(np.diag(pseudo_inverse(A, tol=1e-4)), [1, 1e3, 0])
    single = pseudo_inverse(np.diag([1.0, 1e-9]).astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(np.diag(single), [1, 0])  # float32 cannot tell 1e-9 from rounding


@every
@pytest.mark.parametrize("r", [1, 2])
def test_the_error_is_what_was_left_out(name, r):
    X = TABLES[name]
    if r > min(X.shape):
        return
    found, A = low_rank(X, r), dense(X)
    s = np.linalg.svd(A, compute_uv=False)
    size = max((s**2).sum(), 1e-300)
    assert found.error == pytest.approx((s[r:] ** 2).sum(), abs=1e-12 * size)
    assert ((found.to_array() - A) ** 2).sum() == pytest.approx(found.error, abs=1e-12 * size)
    np.testing.assert_allclose(found.values, s[:r], atol=1e-12 * (s[0] or 1))
    np.testing.assert_allclose(found.U.T @ found.U, np.eye(r), atol=1e-10)
    np.testing.assert_allclose(found.Vt @ found.Vt.T, np.eye(r), atol=1e-10)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("tail", [0.0, 1e-9])
def test_a_small_error_is_not_rounding(tail, scale):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((m, 5)))[0] for m in (40, 12))
    found = low_rank(U * [3.0, 2.0, 1.0, tail, tail] @ V.T * scale, 3)
    assert low_rank([[1e300, 1.0]], 1).error == 0  # and not NaN, for its square is out of range
    assert np.sqrt(found.error) == pytest.approx(np.sqrt(2) * tail * scale, rel=1e-5, abs=1e-14 * scale)


def test_no_other_table_of_that_rank_is_nearer():
    A, found = TABLES["tall"], low_rank(TABLES["tall"], 2)
    for seed in range(20):
        other = np.random.default_rng(seed)
        near = (found.U + 0.01 * other.standard_normal((30, 2))) @ (
            found.values[:, None] * found.Vt + 0.01 * other.standard_normal((2, 5))
        )
        assert ((A - near) ** 2).sum() > found.error


def test_centred_it_is_pca():
    X = TABLES["tall"]
    found, model = low_rank(X - X.mean(axis=0), 2), PCA(2, solver="svd").fit(X)
    np.testing.assert_allclose(found.U * found.values, model.transform(X), atol=1e-12)
    assert found.error == pytest.approx(model.reconstruction_error_ * X.size)


def test_large_tables_do_not_need_all_vectors():
    X = np.random.default_rng(0).standard_normal((800, 6)) @ np.random.default_rng(1).standard_normal((6, 700))
    found = low_rank(X, 6)
    np.testing.assert_allclose(found.to_array(), X, atol=1e-8)
    single = low_rank(X.astype(np.float32), 3)
    assert single.U.dtype == single.values.dtype == single.Vt.dtype == np.float32


def test_refusals():
    for bad in (0, 6, 2.5, None, True):
        with pytest.raises(ValueError, match="low_rank: n_components must be a whole number from 1 to 5"):
            low_rank(TABLES["tall"], bad)
    for bad in (-1e-3, 1.0, "x"):
        with pytest.raises(ValueError, match="pseudo_inverse: tol must be"):
            pseudo_inverse(TABLES["tall"], tol=bad)
    for function in (pseudo_inverse, lambda X: low_rank(X, 1)):
        with pytest.raises(ValueError, match=r"missing values \(NaN\)"):
            function([[1.0, np.nan], [2.0, 3.0]])
        with pytest.raises(ValueError, match="2D array"):
            function([1.0, 2.0])
    X = TABLES["tall"].copy()
    X.setflags(write=False)
    np.testing.assert_array_equal(pseudo_inverse(X), pseudo_inverse(TABLES["tall"]))
    assert pseudo_inverse([[1, 2], [3, 5]]).dtype == np.float64


# ---- a price on singular values -----------------------------------------------------------------------------------


def test_softimpute_of_r():
    """softImpute at threshold 1e-14 on rows less the means of their observed cells; its `d` are lowered already."""
    X, _ = load_input("lowrank_60x10_na")
    case_id = "softimpute_lowrank_lambda2"
    spec = case(case_id)
    close = {"rtol": spec["rtol"], "atol": spec["atol"]}
    X = X - np.nanmean(X, axis=0)
    found = low_rank(X, 9, penalty=spec["params"]["lambda"], tol=1e-10)
    d = load_expected(case_id, "d").ravel()
    np.testing.assert_allclose(found.values, d[d > 0], **close)
    np.testing.assert_allclose(found.to_array(), load_expected(case_id, "Z"), **close)
    completed = np.where(np.isnan(X), found.to_array(), X)
    np.testing.assert_allclose(completed, load_expected(case_id, "completed_centred"), **close)
    gaps = np.where(np.isnan(X), 0.0, X - found.to_array())
    assert found.error == pytest.approx((gaps**2).sum())
    assert found.converged
    assert found.n_iter < 500


@every
def test_a_price_lowers_every_singular_value(name):
    X = dense(TABLES[name])
    values = np.linalg.svd(X, compute_uv=False)
    price = 0.3 * values[0]
    found = low_rank(TABLES[name], min(X.shape), penalty=price)
    lowered = np.maximum(values - price, 0.0)
    np.testing.assert_allclose(found.values, lowered[: len(found.values)], rtol=1e-9, atol=1e-9 * values[0])
    assert found.error == pytest.approx(((X - found.to_array()) ** 2).sum(), rel=1e-6)


def test_the_optimum_with_missing_cells():
    """Conditions of the minimum: the residual on the observed cells is penalty U V' plus something of norm below it."""
    X = TABLES["tall"].copy()
    X[rng.random(X.shape) < 0.3] = np.nan
    price = 0.7
    found = low_rank(X, 5, penalty=price, tol=1e-11)
    gaps = np.where(np.isnan(X), 0.0, X - found.to_array())
    np.testing.assert_allclose(found.U.T @ gaps, price * found.Vt, atol=1e-6)
    assert np.linalg.norm(gaps, 2) < price * (1 + 1e-6)
    for scale in (1e-30, 1e30):
        again = low_rank(scale * X, 5, penalty=scale * price, tol=1e-11)
        np.testing.assert_allclose(again.values / scale, found.values, rtol=1e-6)
    single = low_rank(X.astype(np.float32), 5, penalty=price)
    assert single.values.dtype == single.U.dtype == np.float32
    np.testing.assert_allclose(single.values, found.values, rtol=1e-4)


def test_a_price_too_high_leaves_nothing():
    X = TABLES["tall"].copy()
    X[0, 0] = np.nan
    found = low_rank(X, 3, penalty=1e3)
    assert len(found.values) == 0
    np.testing.assert_array_equal(found.to_array(), np.zeros(X.shape))
    assert found.error == pytest.approx(np.nansum(X**2))


def test_missing_cells_need_a_price():
    X = TABLES["tall"].copy()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"1 missing values .* Give a penalty"):
        low_rank(X, 2)
    with pytest.raises(ValueError, match="penalty must be"):
        low_rank(X, 2, penalty=-1)
    with pytest.warns(ConvergenceWarning, match="low_rank: not converged after max_iter=2 steps"):
        assert not low_rank(X, 2, penalty=0.1, max_iter=2).converged

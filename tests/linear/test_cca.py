"""CCA against R, closed forms and its identities."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import subspace_angles
from scipy.stats import kstest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import CCA
from tests.oracles import case, load_expected, load_input

both = pytest.mark.parametrize("solver", ["svd", "covariance"])


def up_to_sign(A, B):
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def views(n=120, p=5, q=4, shared=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, shared)) * 2.0 ** -np.arange(shared)
    X = common @ rng.standard_normal((shared, p)) + noise * rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    Y = common @ rng.standard_normal((shared, q)) + noise * rng.standard_normal((n, q)) @ rng.standard_normal((q, q))
    return X + 3, Y - 50


# ---- R ----------------------------------------------------------------------------------------------------------


def cancor_data(name):
    if name == "iris":
        iris = load_input("iris")[0][:, :4].astype(float)
        return iris[:, :2], iris[:, 2:]
    return load_input("twoview_x")[0], load_input("twoview_y")[0]


@pytest.mark.parametrize("name", ["iris", "twoview"])
@both
def test_cancor(name, solver):
    (X, Y), case_id = cancor_data(name), f"cca_cancor_{name}"
    spec = case(case_id)
    close = {"rtol": spec["rtol"], "atol": spec["atol"]}
    model = CCA(solver=solver).fit(X, Y)
    k = model.n_components_
    np.testing.assert_allclose(model.correlations_, load_expected(case_id, "cor"), **close)
    np.testing.assert_allclose(model.x_mean_, load_expected(case_id, "xcenter"), **close)
    np.testing.assert_allclose(model.y_mean_, load_expected(case_id, "ycenter"), **close)
    unit = np.sqrt(len(X) - 1)  # cancor's variates have unit sum of squares
    expected = load_expected(case_id, "xcoef")[:, :k] * unit
    signs = np.sign((expected * model.x_weights_).sum(axis=0))
    np.testing.assert_allclose(model.x_weights_ * signs, expected, **close)
    np.testing.assert_allclose(model.y_weights_ * signs, load_expected(case_id, "ycoef")[:, :k] * unit, **close)
    Zx, Zy = model.transform(X, Y)
    np.testing.assert_allclose(Zx * signs, load_expected(case_id, "xscores_unitvar")[:, :k], **close)
    np.testing.assert_allclose(Zy * signs, load_expected(case_id, "yscores_unitvar")[:, :k], **close)
    structure = np.corrcoef(X.T, Zx.T)[: X.shape[1], X.shape[1] :] * signs
    np.testing.assert_allclose(structure, load_expected(case_id, "x_structure_cor")[:, :k], **close)
    deviations = X.std(axis=0, ddof=1)[:, None]
    np.testing.assert_allclose(model.x_loadings_ / deviations * signs, structure, **close)


@both
def test_regularised(solver):
    case_id, (X, Y) = "cca_regularised_twoview_0.1_0.1", cancor_data("twoview")
    spec = case(case_id)
    close = {"rtol": spec["rtol"], "atol": spec["atol"]}
    for ridge in (0.1, (0.1, 0.1), [0.1, 0.1]):
        model = CCA(ridge=ridge, solver=solver).fit(X, Y)
        np.testing.assert_allclose(model.correlations_, load_expected(case_id, "cor"), **close)
        expected = load_expected(case_id, "xcoef")
        signs = np.sign((expected * model.x_weights_).sum(axis=0))
        np.testing.assert_allclose(model.x_weights_ * signs, expected, **close)
        np.testing.assert_allclose(model.y_weights_ * signs, load_expected(case_id, "ycoef"), **close)
        Zx, Zy = model.transform(X, Y)
        np.testing.assert_allclose(Zx * signs, load_expected(case_id, "xscores"), **close)
        np.testing.assert_allclose(Zy * signs, load_expected(case_id, "yscores"), **close)


# ---- closed forms and identities ----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("ridge", [0.0, (0.5, 0.2)])
def test_scores_are_white_and_go_together_by_pairs(solver, ridge):
    X, Y = views()
    model = CCA(ridge=ridge, solver=solver).fit(X, Y)
    rx, ry = (ridge, ridge) if ridge == 0 else ridge
    Cxx, Cyy = np.cov(X.T) + rx * np.eye(5), np.cov(Y.T) + ry * np.eye(4)
    Cxy = np.cov(X.T, Y.T)[:5, 5:]
    a, b = model.x_weights_, model.y_weights_
    np.testing.assert_allclose(a.T @ Cxx @ a, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(b.T @ Cyy @ b, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(a.T @ Cxy @ b, np.diag(model.correlations_), atol=1e-9)
    Zx, Zy = model.transform(X, Y)
    actual = [np.corrcoef(Zx[:, j], Zy[:, j])[0, 1] for j in range(4)]
    np.testing.assert_allclose(model.score_correlations_, actual, atol=1e-10)
    if ridge == 0:
        np.testing.assert_allclose(model.correlations_, actual, atol=1e-10)
        np.testing.assert_allclose(np.var(Zx, axis=0, ddof=1), 1)


@both
def test_correlations_are_cosines_between_subspaces(solver):
    X, Y = views()
    angles = subspace_angles(X - X.mean(axis=0), Y - Y.mean(axis=0))
    np.testing.assert_allclose(CCA(solver=solver).fit(X, Y).correlations_, np.cos(angles)[::-1], atol=1e-12)


@both
def test_an_invertible_affine_map_of_either_table_changes_nothing(solver):
    X, Y = views()
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((5, 5)), rng.standard_normal((4, 4))
    before, after = CCA(solver=solver).fit(X, Y), CCA(solver=solver).fit(X @ A + 9, Y @ B - 1)
    np.testing.assert_allclose(after.correlations_, before.correlations_, atol=1e-10)
    Zx, Zy = before.transform(X, Y)
    Ax, Ay = after.transform(X @ A + 9, Y @ B - 1)
    signs = np.sign((Ax * Zx).sum(axis=0))
    np.testing.assert_allclose(Ax * signs, Zx, atol=1e-7)
    np.testing.assert_allclose(Ay * signs, Zy, atol=1e-7)


@both
def test_a_linear_image_correlates_perfectly(solver):
    X, _ = views()
    Y = X @ np.random.default_rng(2).standard_normal((5, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # true, not spurious
        model = CCA(solver=solver).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, 1, atol=1e-9)
    assert (model.correlations_ <= 1).all()
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-8)


@both
def test_one_response_is_regression(solver):
    X, Y = views()
    y = Y[:, 0]
    model, line = CCA(solver=solver).fit(X, y), LinearRegression().fit(X, y)
    assert model.correlations_.shape == (1,)
    assert model.correlations_[0] ** 2 == pytest.approx(line.score(X, y), rel=1e-10)
    np.testing.assert_allclose(model.predict(X), line.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], line.coef_, atol=1e-9)
    table = CCA(solver=solver).fit(X, Y[:, :1])
    assert (model.predict(X).shape, table.predict(X).shape) == ((120,), (120, 1))
    for response in (y, Y[:, :1]):
        assert model.transform(X, response)[1].shape == (120, 1)


@both
def test_all_pairs_predict_by_least_squares_and_fewer_by_less(solver):
    X, Y = views()
    np.testing.assert_allclose(
        CCA(solver=solver).fit(X, Y).predict(X), LinearRegression().fit(X, Y).predict(X), atol=1e-9
    )
    for settings in ({}, {"ridge": 0.3}):
        model = CCA(2, solver=solver, **settings).fit(X, Y)
        Z = model.transform(X)
        np.testing.assert_allclose(model.predict(X), LinearRegression().fit(Z, Y).predict(Z), atol=1e-9)
        np.testing.assert_allclose(model.inverse_transform(Z), LinearRegression().fit(Z, X).predict(Z), atol=1e-9)
        np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-9)


def test_scale_makes_the_ridge_one_of_correlations():
    X, Y = views()
    Xs, Ys = ((T - T.mean(axis=0)) / T.std(axis=0, ddof=1) for T in (X, Y))
    scaled, by_hand = CCA(ridge=0.3, scale=True).fit(X, Y), CCA(ridge=0.3).fit(Xs, Ys)
    np.testing.assert_allclose(scaled.correlations_, by_hand.correlations_, atol=1e-10)
    np.testing.assert_allclose(up_to_sign(by_hand.transform(Xs), scaled.transform(X)), by_hand.transform(Xs), atol=1e-9)
    assert np.abs(scaled.correlations_ - CCA(ridge=0.3).fit(X, Y).correlations_).max() > 1e-3
    np.testing.assert_allclose(CCA(scale=True).fit(X, Y).correlations_, CCA().fit(X, Y).correlations_, atol=1e-10)


# ---- streams and sizes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"ridge": (0.1, 0.4)}, {"ridge": 0.1, "scale": True}])
def test_a_stream_gives_what_one_table_gives(settings):
    X, Y = views()
    cuts = [slice(0, 1), slice(1, 60), slice(60, None)]
    streamed = CCA(3, **settings).fit((X[s], Y[s]) for s in cuts)
    whole = CCA(3, solver="svd", **settings).fit(X, Y)
    for name in ("correlations_", "x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "coef_"):
        np.testing.assert_allclose(getattr(streamed, name), getattr(whole, name), atol=1e-8)
    vector = CCA().fit((X[s], Y[s, 0]) for s in cuts)
    np.testing.assert_allclose(vector.predict(X), CCA().fit(X, Y[:, 0]).predict(X), atol=1e-9)


def test_streams_that_cannot_be():
    X, Y = views()
    with pytest.raises(ValueError, match="pairs"):
        CCA().fit(iter([X]))
    with pytest.raises(ValueError, match="5 columns; got 3"):
        CCA().fit(iter([(X, Y), (X[:, :3], Y)]))
    with pytest.raises(ValueError, match=r"shape \(4,\); got \(2,\)"):
        CCA().fit(iter([(X, Y), (X, Y[:, :2])]))
    with pytest.raises(ValueError, match="at least 2 rows"):
        CCA().fit(iter([]))


def test_many_rows_in_blocks(monkeypatch):
    from lowdim._core import views as joint

    X, Y = views(400)
    whole = CCA(solver="covariance").fit(X, Y)
    monkeypatch.setattr(joint, "blocks", lambda n, size: [slice(0, 7), slice(7, 300), slice(300, n)])
    parts = CCA(solver="covariance").fit(X, Y)
    np.testing.assert_allclose(parts.correlations_, whole.correlations_, atol=1e-12)
    np.testing.assert_allclose(parts.x_weights_, whole.x_weights_, atol=1e-10)


# ---- hard data ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [7, 9, 10])
def test_too_few_rows_are_called_spurious(n):
    X, Y = views(n)
    ranks = min(5, n - 1) + min(4, n - 1)
    if ranks <= n - 1:
        assert CCA().fit(X, Y).correlations_[0] < 1
        return
    with pytest.warns(
        UserWarning, match=rf"{n} rows are too few for 5 \+ 4 columns: {ranks - n + 1} correlations are 1"
    ):
        model = CCA().fit(X, Y)
    np.testing.assert_allclose(model.correlations_[: ranks - n + 1], 1, atol=1e-9)
    assert np.isfinite(model.transform(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CCA(ridge=0.1).fit(X, Y).correlations_[0] < 0.9999


@pytest.mark.parametrize("n", [20, 30])
def test_more_columns_than_rows(n):
    """Regularised: the definition holds in all columns, though only the rows' span is ever looked at."""
    X, Y = views(n, p=30, q=25)
    model = CCA(3, ridge=(2.0, 1.0)).fit(X, Y)
    Cxx, Cyy = np.cov(X.T) + 2 * np.eye(30), np.cov(Y.T) + np.eye(25)
    Cxy = np.cov(X.T, Y.T)[:30, 30:]
    a, b, rho = model.x_weights_, model.y_weights_, model.correlations_
    np.testing.assert_allclose(a.T @ Cxx @ a, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(Cxy @ b, Cxx @ a * rho, atol=1e-8)
    np.testing.assert_allclose(Cxy.T @ a, Cyy @ b * rho, atol=1e-8)


@both
def test_constant_and_dependent_columns_add_nothing(solver):
    X, Y = views()
    wider = np.column_stack([X, np.full(120, 2.0), X @ [1, 1, 0, 0, 1]])
    before, after = CCA(solver=solver).fit(X, Y), CCA(solver=solver).fit(wider, Y)
    np.testing.assert_allclose(after.correlations_, before.correlations_, atol=1e-8)
    np.testing.assert_allclose(up_to_sign(before.transform(X), after.transform(wider)), before.transform(X), atol=1e-6)
    assert (after.x_weights_[5] == 0).all()
    np.testing.assert_allclose(after.inverse_transform(after.transform(wider))[:, 5], 2.0)


def test_nearly_dependent_columns_take_the_accurate_route():
    X, Y = views(400)
    noise = np.random.default_rng(0).standard_normal(400)
    model = CCA().fit(np.column_stack([X, X[:, 0] + 1e-6 * noise]), Y)
    assert (model.solver_, CCA().fit(X, Y).solver_) == ("svd", "covariance")
    np.testing.assert_allclose(model.correlations_, CCA().fit(np.column_stack([X, noise]), Y).correlations_, atol=1e-8)


def test_units_and_offsets_do_not_matter():
    X, Y = views(400)
    other = X * [1e-6, 1, 1e6, 1, 1] + [0, 1e5, 0, 0, 0]
    np.testing.assert_allclose(CCA().fit(other, Y).correlations_, CCA().fit(X, Y).correlations_, atol=1e-9)


def test_single_precision():
    X, Y = views(400)
    exact = CCA(2).fit(X, Y)
    single = CCA(2).fit(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_allclose(single.correlations_, exact.correlations_, atol=1e-4)
    Zx, Zy = single.transform(X.astype(np.float32), Y.astype(np.float32))
    assert Zx.dtype == Zy.dtype == single.predict(X.astype(np.float32)).dtype == np.float32
    far = (X + 1e4).astype(np.float32)
    np.testing.assert_allclose(
        CCA().fit(far, Y).correlations_, CCA().fit(far.astype(np.float64), Y).correlations_, atol=1e-3
    )


def test_refusals():
    X, Y = views()
    with pytest.raises(ValueError, match="CCA: Y must be the second table; got None"):
        CCA().fit(X)
    with pytest.raises(ValueError, match="same number of rows; got 120 and 100"):
        CCA().fit(X, Y[:100])
    holes = Y.copy()
    holes[:3, 1] = np.nan
    with pytest.raises(ValueError, match=r"CCA: Y has missing \(NaN\) or infinite values in 3 of 120 rows"):
        CCA().fit(X, holes)
    for call in (CCA().fit, CCA().fit(X, Y).transform, CCA().permutation_test):
        with pytest.raises(ValueError, match="CCA: Y has 3 masked cells; they are missing values"):
            call(X, np.ma.masked_invalid(holes))
    with pytest.raises(ValueError, match=r"largest value of Y is 1\.0e\+200"):
        CCA().fit(X, np.full(120, 1e200))
    for name, (A, B) in {"X": (np.ones((20, 3)), Y[:20]), "Y": (X[:20], np.ones(20))}.items():
        with pytest.raises(ValueError, match=f"CCA: {name} must vary"):
            CCA().fit(A, B)
    with pytest.warns(UserWarning, match="n_components=9 is more than the smaller rank of the two tables, 4"):
        model = CCA(9).fit(X, Y)
    with pytest.raises(ValueError, match="Y must have 4 columns, as at fit; got 2"):
        model.transform(X, Y[:, :2])
    for bad in (-1.0, (1.0, -1.0), (1.0, 1.0, 1.0), "auto", None):
        with pytest.raises(ValueError, match="CCA: ridge must be a number >= 0 or one for each table"):
            CCA(ridge=bad).fit(X, Y)


def test_frames_pipelines_and_files(tmp_path):
    X, Y = views()
    frame, other = pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y)
    model = CCA(2).fit(frame, other)
    np.testing.assert_allclose(model.correlations_, CCA(2).fit(X, Y).correlations_)
    for kind in ("pandas", "polars"):
        Zx, Zy = CCA(2).set_output(transform=kind).fit(X, Y).transform(X, Y)
        assert list(Zx.columns) == ["cca0", "cca1"]
        np.testing.assert_allclose(np.asarray(Zx), CCA(2).fit(X, Y).transform(X))
        assert Zy.shape == (120, 2)
    pipeline = make_pipeline(CCA(2), LinearRegression()).fit(X, Y)
    np.testing.assert_allclose(pipeline.predict(X), CCA(2).fit(X, Y).predict(X), atol=1e-9)
    lowdim.save(model, tmp_path / "model")
    copy = lowdim.load(tmp_path / "model")
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(copy.transform(frame, other)[1], model.transform(frame, other)[1])
    assert copy.target_shape_ == (4,)


# ---- permutations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_permutations_of_independent_tables_are_uniform(ridge):
    rng = np.random.default_rng(0)
    found = [
        CCA(ridge=ridge, n_jobs=1).permutation_test(
            rng.standard_normal((25, 3)), rng.standard_normal((25, 2)), 59, random_state=i
        )
        for i in range(150)
    ]
    assert kstest(np.array(found)[:, 0], "uniform").pvalue > 0.01
    assert (np.mean(np.array(found) <= 0.1, axis=0) < [0.18, 0.18]).all()


def test_permutations_find_as_many_pairs_as_there_are():
    """Two shared directions, two not: what the first pairs explain must not make the others significant."""
    first = []
    for seed in range(20):
        X, Y = views(150, shared=2, noise=0.3, seed=seed)
        p = CCA().permutation_test(X, Y, 99, random_state=seed)
        assert (np.diff(p) >= 0).all()
        first.append(p <= 0.05)
    hits = np.mean(first, axis=0)
    assert (hits[:2] > [0.99, 0.85]).all()
    assert (hits[2:] < 0.25).all()


@pytest.mark.parametrize("q", [3, 5])
def test_the_statistic_against_plain_refitting(q):
    """Permuting rows and fitting again gives the same p-values: pair k on what the pairs before it leave."""
    X, Y = views(40, p=3, q=q, shared=1, noise=0.7, seed=5)
    p = CCA().permutation_test(X, Y, 50, random_state=3)
    seeds = np.random.default_rng(3).integers(2**32, size=50)
    orders = [np.random.default_rng(int(seed)).permutation(40) for seed in seeds]

    def wilks(A, B):
        return -np.log(1 - CCA().fit(A, B).correlations_ ** 2).sum()

    model = CCA().fit(X, Y)
    Zx, Zy = model.transform(X, Y)
    Yc = Y - Y.mean(axis=0)
    left = Yc - Zy @ np.linalg.lstsq(Zy, Yc, rcond=None)[0]
    left = np.linalg.svd(left)[0][:, : q - 3]  # what no pair uses of Y is part of every test
    expected = []
    for k in range(3):
        rest = np.hstack([Zy[:, k:], left])
        drawn = [wilks(Zx[:, k:], rest[order]) for order in orders]
        expected.append((1 + np.sum(drawn >= wilks(Zx[:, k:], rest))) / 51)
    assert expected[0] < 0.1 < expected[1]
    np.testing.assert_allclose(p, np.maximum.accumulate(expected))


def test_permutation_test_leaves_the_model_and_the_bits_alone():
    X, Y = views()
    model = CCA(2)
    assert not [name for name in vars(model) if name.endswith("_")]
    results = [CCA(2, n_jobs=j).permutation_test(X, Y, 70, random_state=1) for j in (1, 2, None)]
    assert all((r == results[0]).all() for r in results)
    assert results[0].shape == (2,)
    assert results[0][0] == 1 / 71
    model.permutation_test(X, Y[:, 0], 9)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(ValueError, match="n_permutations must be a whole number >= 1; got 0"):
        model.permutation_test(X, Y, 0)
    with pytest.warns(UserWarning, match="too few"):
        assert (CCA().permutation_test(X[:7], Y[:7], 19, random_state=0) > 0.5).all()  # always 1: no evidence


def test_fit_transform_takes_the_second_table_as_y():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    Y = X[:, :2] + rng.standard_normal((40, 2))
    np.testing.assert_array_equal(CCA().fit_transform(X, y=Y), CCA().fit(X, Y).transform(X))
    np.testing.assert_array_equal(CCA().fit_transform(X, Y=Y), CCA().fit_transform(X, Y))
    with pytest.raises(TypeError, match="give the second table once"):
        CCA().fit_transform(X, Y, Y=Y)

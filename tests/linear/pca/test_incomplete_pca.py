"""PCA of rows with missing cells: against missMDA and nipals, its identities, and where others run away."""

import sys
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import PCA
from lowdim._core.incomplete.cells import fill
from lowdim._core.incomplete.completion import complete
from lowdim._core.incomplete.rank import _first_minimum, gcv, k_fold
from lowdim._core.incomplete.rank_search import MOST_WORK, Effort, exact_dependencies, few
from lowdim._core.spectrum.noise_variance import observed_ridge
from lowdim.linear.pca._nipals import nipals, place
from tests.oracles import HERE, case, load_expected, load_input

IMPUTED = sorted(path.name for path in HERE.glob("missmda_impute_*"))
ROUTES = ["regularized", "em", "nipals"]
each_route = pytest.mark.parametrize("route", ROUTES)
each_method = pytest.mark.parametrize("method", ["regularized", "em"])


def incomplete(name):
    table, header = load_input(name)
    return (table[:, 1:] if header[0] == "name" else table).astype(float)


def low_rank(n=80, d=9, r=2, noise=0.3, share=0.1, seed=0, dtype=np.float64):
    """Rows of rank r and noise, far from the origin, with cells missing at random but none of the first column."""
    rng = np.random.default_rng(seed)
    full = rng.standard_normal((n, r)) * np.linspace(3, 1.5, r) @ rng.standard_normal((r, d))
    full = (full + noise * rng.standard_normal((n, d)) + 10).astype(dtype)
    holes = rng.random((n, d)) < share
    holes[:, 0] = False
    return np.where(holes, np.nan, full).astype(dtype), full


def loop(noise=0.05, n=1000, seed=0):
    """The helical loop of unit height, one of the three values of every row missing."""
    rng = np.random.default_rng(seed)
    t = np.linspace(-1, 1, n)
    truth = np.column_stack([np.sin(np.pi * t), np.cos(np.pi * t), t])
    X = truth + noise * rng.standard_normal(truth.shape)
    X[np.arange(n), rng.integers(3, size=n)] = np.nan
    return X, truth


def cell_error(completed, truth, X):
    return float(((completed - truth)[np.isnan(X)] ** 2).mean())


def mean_filled(X):
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def plain_iteration(X, r, *, regularized, scale=False, ridge=1.0, steps=3000):
    """Iterative PCA as it is written in books: a full singular value decomposition of the completed rows a step."""
    holes, (n, d), Z = np.isnan(X), X.shape, mean_filled(X)
    for _ in range(steps):
        mean, unit = Z.mean(axis=0), Z.std(axis=0) if scale else 1.0
        U, s, Vt = np.linalg.svd((Z - mean) / unit, full_matrices=False)
        values = s**2 / n
        sigma2 = ridge * n * d / min(d, n - 1) * values[r:].sum() / ((n - 1 - r) * (d - r))
        sigma2 = min(sigma2, values[r]) if regularized else 0.0
        fit = (U[:, :r] * (s[:r] * (1 - sigma2 / values[:r]))) @ Vt[:r]
        Z = np.where(holes, mean + unit * fit, X)
    return Z


# ---- missMDA, nipals, pcaMethods --------------------------------------------------------------------------------


def settings_of(case_id):
    given = case(case_id)["params"]
    method = given.get("method", "Regularized").lower()
    return {"method": method, "scale": given.get("scale", True), "ridge": given.get("coeff.ridge", 1.0)}


@pytest.mark.parametrize("case_id", IMPUTED)
def test_missmda_fixed_point(case_id):
    """missMDA at threshold 1e-12; ours at its default tolerance is already as close as the reference is."""
    spec, r = case(case_id), case(case_id)["params"]["ncp"]
    X, settings = incomplete(spec["inputs"][0]), settings_of(case_id)
    expected, close = load_expected(case_id, "completed"), {"rtol": spec["rtol"], "atol": spec["atol"]}
    found = complete(X, r, tol=1e-12, **settings)
    np.testing.assert_allclose(found.completed, expected, **close)
    if r == 0:
        return
    np.testing.assert_allclose(complete(X, r, **settings).completed, expected, rtol=3e-4, atol=3e-4)
    unit = 1.0 if found.scale is None else found.scale
    fitted = found.mean + unit * ((found.scores * found.shrinkage) @ found.loadings.T)
    np.testing.assert_allclose(fitted, load_expected(case_id, "fitted"), **close)
    scores = load_expected(case_id, "scores_after").reshape(len(X), -1)[:, :r]
    np.testing.assert_allclose(np.abs(found.scores[:, : scores.shape[1]]), np.abs(scores), rtol=1e-3, atol=1e-3)


def test_pca_is_missmda():
    """The estimator keeps what the engine finds; the reference divides by n."""
    X = incomplete("orange_na")
    model = PCA(2, scale=True, ddof=0, tol=1e-12).fit(X)
    name = "missmda_impute_reg_orange_ncp2"
    np.testing.assert_allclose(model.completed_, load_expected(name, "completed"), atol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(load_expected(name, "scores_after")), atol=1e-7)
    np.testing.assert_allclose(model.explained_variance_, load_expected(name, "eig_after")[:2, 0], rtol=1e-8)


@pytest.mark.parametrize("case_id", sorted(path.name for path in HERE.glob("nipals_*")))
def test_nipals_package(case_id):
    spec = case(case_id)
    X, k = incomplete(spec["inputs"][0]), spec["params"]["ncomp"]
    found = nipals(X, k, scale=True, orthogonalize=spec["params"]["gramschmidt"], tol=1e-9)
    close = {"rtol": spec["rtol"], "atol": 5e-6}
    lengths = np.linalg.norm(found.scores, axis=0)
    np.testing.assert_allclose(lengths, load_expected(case_id, "eig"), **close)  # singular values, whatever the name
    P, T = load_expected(case_id, "loadings"), load_expected(case_id, "scores")
    signs = np.sign((P * found.loadings).sum(axis=0))
    np.testing.assert_allclose(found.loadings * signs, P, **close)
    np.testing.assert_allclose(found.scores * signs / lengths, T, **close)
    np.testing.assert_allclose(found.mean, load_expected(case_id, "center"), rtol=1e-12)
    np.testing.assert_allclose(found.scale, load_expected(case_id, "scale"), rtol=1e-12)
    np.testing.assert_allclose(-np.diff(found.errors) / found.errors[0], load_expected(case_id, "R2"), **close)
    fitted = found.mean + found.scale * (found.scores @ found.loadings.T)
    np.testing.assert_allclose(fitted, load_expected(case_id, "fitted"), rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize(("data", "k"), [("iris_na", 2), ("lowrank_60x10_na", 3)])
def test_holes_are_not_zeros_as_in_pcamethods(data, k):
    """pcaMethods' NIPALS is PCA of the rows with column means filled in; ours must not be."""
    X = incomplete(data)
    theirs = load_expected(f"pcamethods_nipals_{data}", "loadings")[:, 0]
    zeros = PCA(1).fit(mean_filled(X)).components_[0]
    ours = PCA(k, missing="nipals", tol=1e-10).set_params(max_iter=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # more than 10 % missing
        ours = ours.fit(X).components_[0]
    assert abs(theirs @ zeros) > 1 - 1e-6
    assert abs(ours @ zeros) < 1 - 1e-5


@pytest.mark.parametrize("data", ["iris_na", "lowrank_60x10_na"])
def test_em_fits_the_observed_cells_best(data):
    """empca and svdImpute look for the same minimum with other steps and fixed means; neither gets lower."""
    X = incomplete(data)
    seen = ~np.isnan(X)
    name = {"iris_na": "empca_iris_na", "lowrank_60x10_na": "empca_lowrank_gs"}[data]
    r = case(name)["params"]["ncomp"]
    scaled = complete(X, r, method="em", scale=True, tol=1e-10, max_iter=5000)
    fit = (scaled.scores @ scaled.loadings.T * scaled.scale) + scaled.mean
    unit = load_expected(name, "scale")
    theirs = (((X - load_expected(name, "fitted")) / unit)[seen] ** 2).sum()
    assert (((X - fit) / unit)[seen] ** 2).sum() < theirs
    svd = f"pcamethods_svdimpute_{data}"
    k = case(svd)["params"]["nPcs"]
    ours = complete(X, k, method="em", max_iter=5000)
    P, T = load_expected(svd, "loadings"), load_expected(svd, "scores")
    theirs = ((X - load_expected(svd, "center") - T @ P.T)[seen] ** 2).sum()
    assert ours.error < theirs


@pytest.mark.parametrize("case_id", sorted(path.name for path in HERE.glob("missmda_estim_ncp_gcv_*")))
def test_generalised_cross_validation(case_id):
    X, expected = incomplete(case(case_id)["inputs"][0]), load_expected(case_id, "criterion")
    settings = settings_of(case_id)
    found = gcv(X, len(expected) - 1, method=settings["method"], scale=True, first=True)
    # Ranks with more parameters than cells are left out; the reference squares a negative number there. With EM its
    # iteration stops early at the ranks beyond the structure.
    few = len(found.criterion) if settings["method"] == "regularized" else 4
    np.testing.assert_allclose(found.criterion[:few], expected[:few], rtol=1e-3)
    assert found.n_components == case(case_id)["scalars"]["ncp"]
    early = gcv(X, method=settings["method"], scale=True, early=True).criterion
    tried = np.flatnonzero(np.isfinite(early[:few]))
    np.testing.assert_allclose(early[tried], found.criterion[tried], rtol=5e-3)


def test_generalised_cross_validation_of_complete_rows():
    """FactoMineR's columns have deviation 1 with the divisor n - 1, except in its value for no component."""
    table, _ = load_input("decathlon")
    X = table[:, 1:11].astype(float)
    expected = load_expected("factominer_estim_ncp_GCV", "criterion")
    found = gcv(X, len(expected) - 1, scale=True)
    np.testing.assert_allclose(found.criterion[1:] * (len(X) - 1) / len(X), expected[1:], rtol=1e-7)
    assert found.n_components == case("factominer_estim_ncp_GCV")["scalars"]["ncp"]


def test_k_fold():
    """Random in the reference too: only the size of the curve is comparable."""
    X = incomplete("lowrank_60x10_na")
    case_id = "missmda_estim_ncp_kfold_lowrank"
    found = k_fold(X, 3, n_repeats=12, scale=True, rng=0)
    np.testing.assert_allclose(found.criterion, load_expected(case_id, "criterion")[:4], rtol=case(case_id)["rtol"])
    again = k_fold(X, 3, n_repeats=12, scale=True, rng=0, n_jobs=2)
    np.testing.assert_array_equal(again.criterion, found.criterion)


# ---- identities -------------------------------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize("scale", [False, True])
def test_complete_rows_are_plain_pca(route, scale):
    _, X = low_rank(noise=1.0)
    expected = PCA(2, scale=scale, missing="error").fit(X)
    model = PCA(2, scale=scale, missing=route, tol=1e-13, max_iter=50_000).fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), atol=1e-8, err_msg=name)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-8)
    assert model.reconstruction_error_ == pytest.approx(expected.reconstruction_error_, rel=1e-8)
    assert model.missing_share_ == 0
    assert model.completed_ is None


@each_method
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(80, 9), (12, 30), (150, 100)])
def test_fixed_point_is_that_of_the_plain_iteration(method, scale, shape):
    X, _ = low_rank(*shape, r=2, noise=0.5)
    expected = plain_iteration(
        X, 2, regularized=method == "regularized", scale=scale, steps=300 if shape[1] < 100 else 120
    )
    found = complete(X, 2, method=method, scale=scale, tol=1e-13)
    np.testing.assert_allclose(found.completed, expected, atol=1e-6)
    assert found.run.n_iter < 60


def test_wide_and_long_routes_agree(monkeypatch):
    """The covariance, the Gram matrix, and passes over the rows."""
    from lowdim._core.incomplete import warm_pca

    X, _ = low_rank(120, 90, r=3, noise=0.5)
    expected = complete(X, 3, scale=True, tol=1e-12)
    for dense, small in ((0, 10), (119, 10), (89, 10)):
        with monkeypatch.context() as patch:
            patch.setattr(warm_pca, "DENSE", dense)
            patch.setattr(warm_pca, "SMALL", small)
            found = complete(X, 3, scale=True, tol=1e-12)
        np.testing.assert_allclose(found.completed, expected.completed, atol=1e-7)
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-8)
    wide = X[:60].T.copy()[:, :50], X[:40]
    for table in wide:
        with monkeypatch.context() as patch:
            patch.setattr(warm_pca, "DENSE", 45)
            found = complete(table, 2, tol=1e-12)
        np.testing.assert_allclose(found.completed, complete(table, 2, tol=1e-12).completed, atol=1e-6)


def test_no_noise_no_shrinkage():
    X, _ = low_rank()
    em = complete(X, 2, method="em", tol=1e-12)
    np.testing.assert_allclose(complete(X, 2, ridge=0.0, tol=1e-12).completed, em.completed, atol=1e-7)
    np.testing.assert_array_equal(em.shrinkage, 1)
    previous = em
    for ridge in (0.5, 1.0, 2.0):
        found = complete(X, 2, ridge=ridge, tol=1e-12)
        assert ((found.shrinkage >= 0) & (found.shrinkage < 1)).all()
        norm = np.linalg.norm((found.scores * found.shrinkage) @ found.loadings.T)
        assert norm < np.linalg.norm((previous.scores * previous.shrinkage) @ previous.loadings.T)
        previous = found


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_chosen_ridge_shrinks_by_the_noise_of_the_observed_cells(share):
    """Of known variance. missMDA's noise, over all cells, is too small by the share of those that are missing."""
    X, _ = low_rank(400, 15, noise=0.7, share=share)
    with pytest.warns(UserWarning, match="keeps 2 components"):
        chosen = PCA(scale=False).fit(X)
    given = PCA(2).fit(X)
    assert chosen.noise_variance_ == pytest.approx(0.49, rel=0.15)
    assert given.noise_variance_ < (1.05 - share) * 0.49
    same = PCA(2, ridge=observed_ridge(X, 2)).fit(X)
    np.testing.assert_array_equal(chosen.completed_, same.completed_)
    np.testing.assert_array_equal(given.completed_, PCA(2, ridge=1.0).fit(X).completed_)


def test_ridge_of_observed_cells_is_one_without_holes_and_counts_weights_as_copies():
    X, _ = low_rank(40, 6, share=0.3)
    assert observed_ridge(np.nan_to_num(X), 2) == pytest.approx(1)
    assert observed_ridge(X, 2, np.full(40, 2.0)) == pytest.approx(observed_ridge(np.vstack([X, X]), 2))
    assert 1 < observed_ridge(X, 1) < observed_ridge(X, 2) < observed_ridge(X, 4) <= 20  # fewer cells left than 5 %


@pytest.mark.parametrize("shape", [(60, 8), (20, 30)])
def test_the_criterion_of_em_never_rises(shape):
    X, _ = low_rank(*shape, noise=1.0, share=0.3)
    losses = complete(X, 3, method="em", tol=1e-11, max_iter=300, quiet=True).run.losses
    assert (np.diff(losses) <= 1e-12 * losses[:-1]).all()
    assert len(losses) > 3


@each_method
def test_noise_free_rows_are_recovered(method):
    X, full = low_rank(60, 12, r=3, noise=0.0, share=0.1)
    found = complete(X, 3, method=method)
    np.testing.assert_allclose(found.completed, full, atol=1e-6)


def test_no_component_is_the_mean():
    X, _ = low_rank()
    found = complete(X, 0)
    np.testing.assert_allclose(found.completed, mean_filled(X), rtol=1e-14)
    assert found.run.converged
    weights = np.arange(len(X)) % 3.0
    mean = np.nansum(X * weights[:, None], axis=0) / (~np.isnan(X) * weights[:, None]).sum(axis=0)
    np.testing.assert_allclose(complete(X, 0, weights=weights).completed, np.where(np.isnan(X), mean, X), rtol=1e-13)


@each_route
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_observed_cells_are_never_touched(route, dtype):
    X, _ = low_rank(share=0.05, dtype=dtype)
    given = X.copy()
    model = PCA(2, missing=route, scale=True).fit(X)
    np.testing.assert_array_equal(X, given)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(model.completed_[seen], X[seen])
    assert model.completed_.dtype == dtype
    assert np.isfinite(model.completed_).all()
    assert model.transform(X).dtype == dtype
    assert model.missing_share_ == pytest.approx(np.isnan(X).mean())


@each_route
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"ddof": 0}, {"whiten": True}, {"ridge": 2.0}])
def test_fitted_rows_are_placed_where_they_were(route, settings):
    """By the regression on the observed loadings alone: at the fixed point it is the score of the completed row."""
    X, _ = low_rank(share=0.08)
    model = PCA(2, missing=route, **settings)
    Z = model.fit_transform(X)
    if route != "nipals":
        whole = PCA(2, missing="error", **settings | {"ridge": 1.0}).fit(model.completed_)
        assert subspace_angles(whole.components_.T, model.components_.T).max() < 1e-4
        np.testing.assert_allclose(whole.explained_variance_, model.explained_variance_, rtol=1e-4)
        np.testing.assert_allclose(model.transform(model.completed_), Z, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-12 * np.abs(Z).max())
    gaps = model.inverse_transform(Z) - X
    assert model.reconstruction_error_ == pytest.approx(np.nanmean(gaps**2), rel=1e-9)


def test_scores_of_a_row_solve_the_ridge_regression_on_its_observed_loadings():
    """z = F^-1 (V_O'V_O + F^-1 - I)^-1 V_O'(x - mean)_O, F the shrinkage; least squares for EM."""
    X, _ = low_rank(share=0.2)
    for method in ("regularized", "em"):
        model = PCA(2, missing=method).fit(X)
        V, F = model.components_.T, model.shrinkage_
        row = X[np.isnan(X).sum(axis=1).argmax()]
        seen = ~np.isnan(row)
        A = V[seen].T @ V[seen] + np.diag(1 / F - 1)
        z = np.linalg.solve(A, V[seen].T @ (row - model.mean_)[seen]) / F
        np.testing.assert_allclose(model.transform(row[None])[0], z, rtol=1e-7)


def test_new_rows_with_holes_are_not_pulled_to_the_mean():
    """Zero-filling shrinks scores; regression on the observed loadings does not."""
    train, _ = low_rank(400, 20, noise=0.2, share=0.0)
    _, new = low_rank(400, 20, noise=0.2, share=0.0, seed=0)
    for route in ROUTES:
        model = PCA(2, missing=route, tol=1e-10).fit(train)
        holed = np.where(np.random.default_rng(1).random(new.shape) < 0.4, np.nan, new)
        whole, Z = model.transform(new), model.transform(holed)
        slope = (whole * Z).sum(axis=0) / (whole**2).sum(axis=0)
        np.testing.assert_allclose(slope, 1, atol=0.05)
        zero = model.transform(np.where(np.isnan(holed), model.mean_, holed))
        assert ((whole * zero).sum(axis=0) / (whole**2).sum(axis=0) < 0.75).all()


def test_all_components_place_new_rows_at_the_conditional_mean():
    """With every component kept, a missing cell is its Gaussian regression on the observed ones."""
    _, X = low_rank(300, 5, noise=0.5)
    model = PCA().fit(X)
    row = X[0].copy()
    row[3] = np.nan
    C, o = np.cov(X.T), [0, 1, 2, 4]
    x3 = model.mean_[3] + C[3, o] @ np.linalg.solve(C[np.ix_(o, o)], row[o] - model.mean_[o])
    filled = np.where(np.isnan(row), x3, row)
    np.testing.assert_allclose(model.transform(row[None]), model.transform(filled[None]), atol=1e-6)


@each_method
def test_weights_count_as_copies(method):
    X, _ = low_rank(40, 6)
    weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    copies = np.repeat(X, weights.astype(int), axis=0)
    weighted, repeated = PCA(2, missing=method, tol=1e-11), PCA(2, missing=method, tol=1e-11)
    weighted.fit(X, sample_weight=weights)
    repeated.fit(copies)
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-6)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-6)
    assert weighted.reconstruction_error_ == pytest.approx(repeated.reconstruction_error_, rel=1e-6)
    np.testing.assert_allclose(
        np.repeat(weighted.completed_, weights.astype(int), axis=0), repeated.completed_, atol=1e-6
    )


def test_weights_of_nipals_count_as_copies():
    X, _ = low_rank(40, 6, share=0.05)
    weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    weighted = PCA(2, missing="nipals", tol=1e-12, max_iter=20_000).fit(X, sample_weight=weights)
    repeated = PCA(2, missing="nipals", tol=1e-12, max_iter=20_000).fit(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("orthogonalize", [True, False])
def test_nipals_orthogonality_is_a_choice(orthogonalize):
    X, _ = low_rank(r=3, share=0.08)
    found = nipals(X, 3, orthogonalize=orthogonalize, tol=1e-10)
    G, H = found.scores.T @ found.scores, found.loadings.T @ found.loadings
    off = max(np.abs(G - np.diag(np.diag(G))).max() / G.max(), np.abs(H - np.eye(3)).max())
    assert (off < 1e-12) == orthogonalize
    assert found.converged.all()
    np.testing.assert_allclose(
        place(X, found.mean, found.scale, found.loadings, found.mixing), found.scores, atol=1e-12
    )


def test_units_do_not_matter_when_scaled():
    X, _ = low_rank(share=0.05)
    units = 10.0 ** np.arange(-4, 5)
    for route in ROUTES:
        one, other = PCA(2, scale=True, missing=route, tol=1e-11), PCA(2, scale=True, missing=route, tol=1e-11)
        one.fit(X)
        other.fit(X * units)
        np.testing.assert_allclose(other.completed_ / units, one.completed_, rtol=1e-6)
        np.testing.assert_allclose(other.completed_variance_ / units**2, one.completed_variance_, rtol=1e-5)


# ---- how uncertain ----------------------------------------------------------------------------------------------


def test_variances_of_cells_are_those_of_their_errors():
    X, full = low_rank(400, 12, noise=0.5, share=0.2)
    holes = np.isnan(X)
    for method in ("regularized", "em"):
        model = PCA(2, missing=method).fit(X)
        ratio = (model.completed_ - full)[holes] ** 2 / model.completed_variance_[holes]
        assert ratio.mean() == pytest.approx(1, abs=0.15)
        assert (model.completed_variance_[~holes] == 0).all()
        few = np.isnan(X).sum(axis=1)
        assert model.completed_variance_[few >= 5].max(initial=0) > model.completed_variance_[(few == 1)].max(initial=0)


def test_agreement_with_the_complete_rows():
    X, _ = low_rank(300, 8, noise=0.3, share=0.05)
    agreement = PCA(2).fit(X).agreement_
    assert agreement["n_rows"] == (~np.isnan(X).any(axis=1)).sum()
    assert 0 < agreement["angle"] < 5
    assert (agreement["correlation"] > 0.99).all()
    assert PCA(1).fit(loop()[0]).agreement_ is None
    X[:250, 3] += 5 * X[:250, 2]  # rows that differ, and are the incomplete ones
    X[:250, 5] = np.nan
    with pytest.warns(UserWarning, match="column 5 varies .* times as much as its observed cells do"):
        model = PCA(2, reach=None).fit(X)
    assert model.agreement_["angle"] > 10


# ---- where others run away ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_helical_loop_does_not_run_away(noise, seed):
    """Every row is incomplete. EM with one component fits noise without bound; the default is never much worse than
    the column means."""
    X, truth = loop(noise, seed=seed)
    mean = cell_error(mean_filled(X), truth, X)
    assert mean == pytest.approx(4 / 9, abs=0.03)
    assert cell_error(PCA(1).fit(X).completed_, truth, X) < 1.05 * mean
    with pytest.warns(UserWarning, match=r"2 components have 2003 parameters, and X has 2000 observed cells"):
        model = PCA(2).fit(X)
    assert cell_error(model.completed_, truth, X) < 1.05 * mean


@pytest.mark.filterwarnings("ignore:.*left-out cells worse than column means")
def test_em_on_the_helical_loop_says_that_it_runs_away():
    X, truth = loop()
    with pytest.warns(UserWarning, match=r"times as much as its observed cells do.*missing='regularized'"):
        one = PCA(1, missing="em", max_iter=100_000, tol=1e-6, reach=None).fit(X)
    assert cell_error(one.completed_, truth, X) > 2
    with pytest.warns(UserWarning, match="EM fits them almost exactly"):
        two = PCA(2, missing="em", reach=None).fit(X)
    # Perfect fits are many; the plain iteration from the means finds this one.
    assert cell_error(two.completed_, truth, X) == pytest.approx(0.58, abs=0.03)


@pytest.mark.parametrize("route", ["regularized", "em", "nipals"])
def test_a_row_known_by_an_extreme_cell_is_not_extrapolated_without_measure(route):
    X = np.random.default_rng(0).standard_normal((60, 1)) @ np.ones((1, 6))
    X += 0.3 * np.random.default_rng(1).standard_normal(X.shape)
    X[np.random.default_rng(2).random(X.shape) < 0.04] = np.nan
    X[0] = [12.0, *[np.nan] * 5]
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    free = PCA(1, missing=route, reach=None).fit(X)
    assert (free.completed_[0, 1:] > (high + (high - low))[1:]).all()
    with pytest.warns(UserWarning, match=r"fill 5 of .* missing cells .*row 0, column 1: .*reach=None"):
        bound = PCA(1, missing=route).fit(X)
    np.testing.assert_allclose(bound.completed_[0, 1:], (high + 0.5 * (high - low))[1:])
    np.testing.assert_array_equal(bound.completed_[1:], free.completed_[1:])
    np.testing.assert_array_equal(bound.components_, free.components_)


def test_the_swiss_roll_with_half_of_its_cells_missing():
    """The order of the talk's figures: regularised above EM, both far below the complete rows."""
    full = lowdim.datasets.swiss_roll(400, random_state=0).X
    rng = np.random.default_rng(0)
    holes = rng.random(full.shape) < 0.5
    holes[holes.all(axis=1), 0] = False
    X = np.where(holes, np.nan, full)
    areas = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("regularized", "em"):
            Z = PCA(2, missing=method, scale=True, max_iter=300, tol=1e-6).fit_transform(X)
            areas[method] = lowdim.quality.rnx_auc(full, Z)
    assert 0.05 < areas["em"] < areas["regularized"] < 0.25


# ---- how many components ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"n_components": None}, {"n_components": 0.9}, {"max_error": 0.1}])
@each_route
def test_shares_of_variance_become_cross_validation(settings, route):
    X, _ = low_rank(share=0.08)
    with pytest.warns(UserWarning, match="generalised cross-validation keeps 2 components"):
        model = PCA(missing=route, **settings).fit(X)
    assert model.n_components_ == 2
    assert model.transform(X).shape == (len(X), 2)


def test_shares_of_variance_by_nipals_on_complete_rows():
    _, X = low_rank(noise=1.0)
    for settings in ({"n_components": 0.8}, {"max_error": 0.3}, {"n_components": None}):
        expected = PCA(**settings).fit(X)
        model = PCA(missing="nipals", tol=1e-12, max_iter=100_000, **settings).fit(X)
        assert model.n_components_ == expected.n_components_
        np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-8)
    exact = np.outer(np.arange(6.0), [1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="NIPALS keeps 1 of 2 components"):
        assert PCA(2, missing="nipals").fit(exact).n_components_ == 1
    with pytest.raises(ValueError, match="all are equal"):
        PCA(2, missing="nipals").fit(np.ones((5, 3)))


def test_more_components_than_rows_can_carry():
    X, _ = low_rank(30, 4, share=0.1)
    with pytest.warns(UserWarning, match="n_components=4 is more than incomplete rows can have; keeping 3"):
        model = PCA(4).fit(X)
    assert model.n_components_ == 3
    with pytest.raises(ValueError, match="at least 3 rows and 2 columns where cells are missing; got 2 rows"):
        PCA(1).fit([[1.0, 2.0, np.nan], [2.0, 0.0, 1.0]])


@pytest.mark.parametrize("settings", [{"n_components": 0.9}, {"n_components": "drop"}, {"max_error": 0.1}, {}])
def test_rules_for_complete_rows_are_the_same_by_nipals(settings):
    X = low_rank(share=0.0)[1]
    ours, plain = PCA(missing="nipals", **settings).fit(X), PCA(**settings).fit(X)
    assert ours.n_components_ == plain.n_components_
    np.testing.assert_allclose(ours.explained_variance_, plain.explained_variance_, rtol=1e-6)


@each_route
def test_rows_without_weight_do_not_choose_the_number_of_components(route):
    X, _ = low_rank(share=0.05)
    junk = np.vstack([X, 1e3 * np.random.default_rng(1).standard_normal((40, 9))])
    weights = np.r_[np.ones(len(X)), np.zeros(40)]
    with pytest.warns(UserWarning, match="generalised cross-validation keeps 2 components"):
        model = PCA(missing=route).fit(junk, sample_weight=weights)
    with pytest.warns(UserWarning, match="cross-validation"):
        alone = PCA(missing=route).fit(X)
    np.testing.assert_allclose(model.explained_variance_, alone.explained_variance_, rtol=1e-6)


def test_cross_validation_counts_weights_as_copies():
    X, _ = low_rank(share=0.1)
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    ours, copies = gcv(X, 4, weights=weights), gcv(np.repeat(X, weights.astype(int), axis=0), 4)
    assert ours.n_components == copies.n_components
    np.testing.assert_allclose(ours.criterion, copies.criterion, rtol=1e-6)


def test_weights_bound_the_number_of_components():
    X, _ = low_rank(share=0.1)
    with pytest.warns(UserWarning, match="n_components=4 is more than incomplete rows can have; keeping 2"):
        assert PCA(4).fit(X, sample_weight=np.arange(len(X)) < 4).n_components_ == 2
    with pytest.raises(ValueError, match=r"PCA: sample_weight must sum to 3 or more for incomplete rows.*; got 1\."):
        PCA(1, ddof=0).fit(X, sample_weight=np.full(len(X), 1 / len(X)))


@each_route
def test_columns_seen_only_without_weight_are_named(route):
    X, _ = low_rank(d=20, share=0.02)
    X[1:, 4] = np.nan
    with pytest.raises(ValueError, match="PCA: column 4 must have an observed cell in a row with weight"):
        PCA(1, missing=route).fit(X, sample_weight=np.arange(len(X)) > 0)


# ---- trouble ------------------------------------------------------------------------------------------------------


@each_route
def test_rows_and_columns_without_cells_are_refused(route):
    X, _ = low_rank()
    for where, what in (((4, slice(None)), "1 row"), ((slice(None), 4), "1 column")):
        bad = X.copy()
        bad[where] = np.nan
        with pytest.raises(ValueError, match=rf"PCA: {what} of X has no observed cell"):
            PCA(2, missing=route).fit(bad)
    model = PCA(2, missing=route, tol=1e-6).fit(low_rank(share=0.02)[0])
    with pytest.raises(ValueError, match="no observed cell"):
        model.transform(np.full((1, 9), np.nan))
    column = np.where(np.arange(9) < 8, np.nan, 1.0)[None]
    assert np.isfinite(model.transform(column)).all()


@pytest.mark.filterwarnings("ignore:.*the map puts all .* rows in one place")
@each_method
@pytest.mark.parametrize("scale", [False, True])
def test_odd_tables(method, scale):
    """Constant columns, one cell in a row, a block missing, fewer rows than columns, equal rows."""
    X, _ = low_rank(40, 7)
    constant = X.copy()
    constant[:, 3] = np.where(np.arange(40) % 4, 5.0, np.nan)
    lonely = X.copy()
    lonely[0, 1:] = lonely[5, 1:] = np.nan
    block = X.copy()
    block[:20, 4:] = np.nan
    wide = low_rank(8, 40)[0]
    same = np.where(np.random.default_rng(0).random((20, 4)) < 0.1, np.nan, 2.0)
    same[:, 0] = 2.0
    for table in (constant, lonely, block, wide, same):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # EM on the block
            model = PCA(2, missing=method, scale=scale, reach=None).fit(table)
        for value in (model.completed_, model.transform(table), model.explained_variance_, model.shrinkage_):
            assert np.isfinite(value).all()
        np.testing.assert_allclose(model.transform(table), model.fit_transform(table), atol=1e-9)
    constant_model = PCA(2, missing=method, scale=scale).fit(constant)
    np.testing.assert_allclose(constant_model.completed_[:, 3], 5.0)


def test_single_precision():
    X, _ = low_rank(500, 20, dtype=np.float32)
    for route in ROUTES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PCA(2, missing=route).fit(X)
            reference = PCA(2, missing=route, tol=1e-10).fit(X.astype(np.float64))
        np.testing.assert_allclose(model.completed_, reference.completed_, rtol=2e-3, atol=2e-3)
        assert model.converged_


@each_route
def test_the_same_bits_for_any_number_of_threads(route):
    X, _ = low_rank(700, 450 if route == "regularized" else 40, share=0.05)
    models = [PCA(2, missing=route, tol=1e-5, n_jobs=n).fit(X) for n in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.completed_, models[0].completed_)
        np.testing.assert_array_equal(model.transform(X), models[0].transform(X))


@each_route
def test_models_in_files(route, tmp_path):
    X, _ = low_rank(share=0.05)
    model = PCA(2, missing=route).fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.completed_, model.completed_)
    assert again.agreement_["angle"] == model.agreement_["angle"]


def test_not_converged_is_said():
    X, _ = low_rank(noise=1.0, share=0.3)
    with pytest.warns(ConvergenceWarning, match="not converged after max_iter=1 steps") as caught:
        model = PCA(3, max_iter=1, tol=1e-14).fit(X)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert np.isfinite(model.completed_).all()
    with pytest.warns(ConvergenceWarning, match="for component 1, 2"):
        PCA(2, missing="nipals", max_iter=2, tol=1e-14).fit(low_rank(share=0.05)[0])


def test_what_crawls_is_not_taken_for_settled():
    """Along a narrow valley the criterion changes by less than `tol` a step long before the end."""
    X, _ = low_rank(300, 8, share=0.05)
    X[:250, 3] += 5 * X[:250, 2]
    X[:250, 5] = np.nan
    tight = complete(X, 2, tol=1e-12, max_iter=5000, quiet=True)
    loose = complete(X, 2, tol=1e-6, quiet=True)
    assert loose.run.losses[-1] == pytest.approx(tight.run.losses[-1], rel=6e-3)
    default = complete(X, 2, quiet=True)
    np.testing.assert_allclose(default.completed, tight.completed, atol=0.03)


def test_few_ranks_are_tried_and_a_local_minimum_does_not_end_the_search():
    curve = np.concatenate([[9.0, 5.0, 6.0, 5.5, 4.0], np.linspace(3.9, 2.0, 16), np.linspace(2.1, 9.0, 300)])
    tried = []
    found = few(lambda q: tried.append(q) or curve[q], len(curve) - 1)
    assert np.nanargmin(found) == np.argmin(curve) == 20
    assert len(tried) == len(set(tried)) <= 25
    assert few(lambda q: float(q), 300)[0] == 0


def test_indicator_columns_do_not_choose_the_rank_of_their_dependency():
    """The indicators of a question sum to 1 and are missing together: generalised cross-validation would take all."""
    rng = np.random.default_rng(0)
    group, sizes = rng.integers(4, size=150), [2, 3, 3, 4, 4, 2, 3, 2]
    answers = [np.where(rng.random(150) < 0.7, rng.permutation(4)[group] % k, rng.integers(k, size=150)) for k in sizes]
    X = np.hstack([np.eye(k)[a] for k, a in zip(sizes, answers, strict=True)])
    lost = rng.random((150, len(sizes))) < 0.1
    H = np.where(np.repeat(lost, sizes, axis=1), np.nan, X)
    with pytest.warns(UserWarning, match="columns depend on each other exactly; a comparison on left-out cells keeps"):
        found = lowdim.PCA(n_jobs=1).fit(H)
    hole = np.isnan(H)
    means = np.broadcast_to(np.nanmean(H, axis=0), H.shape)
    assert 1 <= found.n_components_ <= 6
    assert np.mean((found.completed_ - X)[hole] ** 2) < 0.95 * np.mean((means - X)[hole] ** 2)


def test_equations_between_columns_are_counted():
    """Indicators of categories obey one each, with holes of whole categories too; other columns obey none."""
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(k)[rng.integers(k, size=200)] for k in (3, 4, 5)])
    lost = np.repeat(rng.random((200, 3)) < 0.2, [3, 4, 5], axis=1)
    assert exact_dependencies(X) == exact_dependencies(np.where(lost, np.nan, X)) == 3
    assert exact_dependencies(np.where(lost, np.nan, X + 1e-3 * rng.standard_normal(X.shape))) == 0


def test_the_work_of_a_search_is_bounded():
    """Fewer steps for many components, none for those that would take minutes; small tables know no bound."""
    small = Effort(cells=60 * 8, rows=30, fewer=60)
    assert small.most(7) == 7
    assert small.steps(7) == 50
    large = Effort(cells=3000 * 2000, rows=3000, fewer=600_000)
    most = large.most(1999)
    assert 50 < most < 500
    assert 5 * large.step(most) <= MOST_WORK < 5 * large.step(most + 1)
    assert large.steps(1) == 50 > large.steps(most) == 5


def test_indicators_of_many_categories_are_searched_in_seconds():
    """683 rows of 35 questions, as in Soybean: the search took minutes of ranks between which nothing was to choose."""
    rng = np.random.default_rng(0)
    group, sizes = rng.integers(19, size=683), rng.integers(2, 6, size=35)
    answers = [
        np.where(rng.random(683) < 0.8, (group * 7 + i) % k, rng.integers(k, size=683)) for i, k in enumerate(sizes)
    ]
    H = np.hstack([np.eye(k)[a] for k, a in zip(sizes, answers, strict=True)])
    H[np.repeat(rng.random((683, 35)) < 0.1, sizes, axis=1)] = np.nan
    before = time.process_time()
    with pytest.warns(UserWarning, match="columns depend on each other exactly; a comparison on left-out cells keeps"):
        model = lowdim.PCA(n_jobs=1).fit(H[~np.isnan(H).all(axis=1)])
    assert time.process_time() - before < 10  # two to four, on most machines
    assert 2 <= model.n_components_ <= 30


def test_em_that_is_worse_than_means_says_so():
    rng = np.random.default_rng(0)
    noise = lowdim.datasets.hide_cells(rng.standard_normal((60, 8)), 0.1, random_state=0).X
    with pytest.warns(UserWarning, match="missing='em' with 4 components fills .* worse than column means"):
        PCA(4, missing="em", tol=1e-4, reach=None).fit(noise)
    signal = np.outer(rng.standard_normal(60), np.ones(8)) + 0.1 * rng.standard_normal((60, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCA(1, missing="em").fit(lowdim.datasets.hide_cells(signal, 0.1, random_state=0).X)


def test_the_first_local_minimum_is_taken():
    assert _first_minimum(np.array([5.0, 3.0, 4.0, 1.0])).n_components == 1
    assert _first_minimum(np.array([5.0, 3.0, 2.0])).n_components == 2
    assert _first_minimum(np.array([2.0, 3.0])).n_components == 0


@each_route
def test_callbacks_see_the_completed_table_and_stop(route):
    X, _ = low_rank(share=0.08)
    seen = []

    def watch(step, loss, table):
        seen.append((step, table))
        table[:] = 0.0  # a copy: what a callback does to it does not matter
        return step == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PCA(2, missing=route, tol=1e-13, callback=watch).fit(X)
    assert [step for step, _ in seen] == [1, 2, 3]
    assert all(table.shape == X.shape for _, table in seen)
    assert not model.converged_
    assert np.isfinite(model.completed_).all()
    np.testing.assert_array_equal(model.completed_[~np.isnan(X)], X[~np.isnan(X)])
    free = PCA(2, missing=route, tol=1e-13, callback=lambda *_: None).fit(X)
    np.testing.assert_array_equal(free.completed_, PCA(2, missing=route, tol=1e-13).fit(X).completed_)


def test_complete_rows_do_not_enter_the_code_of_incomplete_ones():
    entered = set()

    def trace(frame, event, _):
        entered.add(frame.f_code.co_filename.replace("\\", "/"))

    X = low_rank(share=0.0)[1]
    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        PCA(2).fit(X).transform(X)
    finally:
        sys.setprofile(before)
    wrong = ("/pca/_incomplete.py", "/pca/_nipals.py", "/incomplete/completion.py", "/incomplete/fixed_point.py")
    assert not [name for name in entered if name.endswith(wrong)]
    assert any(name.endswith("/pca/_complete.py") for name in entered)


def test_nipals_trouble():
    X, _ = low_rank(share=0.3)
    with pytest.warns(UserWarning, match=r"2\d% of the cells are missing, and NIPALS is unstable above 10%"):
        PCA(1, missing="nipals").fit(X)
    # Column 2 is seen only where the largest column is constant: its slope is 0 / 0.
    X = np.zeros((6, 3))
    X[:3, 0] = [100.0, -50.0, -50.0]
    X[:, 1] = [0, 0, 0, 1, -1, 0]
    X[3:, 2] = [1.0, 2.0, 3.0]
    X[:3, 2] = np.nan
    with pytest.raises(ValueError, match=r"every row in which column 2 is observed \(3 rows\) has score 0"):
        nipals(X, 1)
    with pytest.raises(ValueError, match=r"score of row 0, as the component has loading 0 in all the columns .*\(1\)"):
        place(np.array([[np.nan, 1.0]]), np.zeros(2), None, np.array([[1.0], [0.0]]), np.zeros((1, 1)))
    exact = np.outer(np.arange(5.0), [1.0, 2.0, 3.0])
    assert nipals(exact, 3).loadings.shape == (3, 1)
    plane = low_rank(r=2, noise=0.0)[1]
    with pytest.warns(UserWarning, match="NIPALS keeps 2 of 4 components; the residual after them is 0"):
        assert PCA(4, missing="nipals").fit(plane).n_components_ == 2
    for flat in (np.full((9, 12), 2.5), np.where(np.eye(9, 12) > 0, np.nan, 2.5)):
        with pytest.raises(ValueError, match="PCA: missing='nipals' needs rows that vary; all are equal"):
            PCA(2, missing="nipals").fit(flat)


def test_bad_settings():
    X, _ = low_rank()
    with pytest.raises(ValueError, match="missing must be one of 'regularized', 'em', 'nipals', 'error'"):
        PCA(2, missing="mean").fit(X)
    with pytest.raises(ValueError, match="ridge must be a number >= 0"):
        PCA(2, ridge=-1).fit(X)
    with pytest.raises(ValueError, match="missing values"):
        PCA(2, missing="error").fit(X)
    with pytest.raises(ValueError, match="r must be between 0 and min"):
        complete(X, 9)
    from scipy import sparse

    with pytest.raises(ValueError, match="needs dense rows"):
        PCA(2, missing="nipals").fit(sparse.random(30, 5, 0.5, "csr", random_state=0))


def test_three_copies_at_most():
    X, _ = low_rank(50_000, 40, share=0.2)
    model = PCA(2, tol=1e-6)
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.4 * X.nbytes  # beside X: the completed rows, their variances, blocks
    assert model.estimate_memory(X) > 2 * X.nbytes
    tracemalloc.start()
    gcv(X, 1, tol=1e-3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.4 * X.nbytes


def test_filling_alone_does_not_change_its_input():
    X, _ = low_rank()
    found = complete(X, 2)
    filled, leverage = fill(X, found.mean, found.scale, found.loadings, found.eigenvalues, found.sigma2, leverage=True)
    np.testing.assert_allclose(filled, found.completed, rtol=1e-12)
    assert (leverage[~np.isnan(X)] == 0).all()
    assert (leverage[np.isnan(X)] > 0).all()


def test_nipals_cannot_stream():
    X, _ = low_rank(share=0.0)
    with pytest.raises(ValueError, match="missing='nipals' reads the rows many times"):
        PCA(2, missing="nipals").fit(iter([X[:40], X[40:]]))


@pytest.mark.parametrize("model", [PCA(2), lowdim.ProbabilisticPCA(2), lowdim.FactorAnalysis(2)])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_memory_of_a_data_frame_is_that_of_its_array(model, library):
    frame = pytest.importorskip(library, reason="a table library that [test] brings").DataFrame
    for share in (0.0, 0.1):
        X, _ = low_rank(share=share)
        table = frame({f"c{j}": X[:, j] for j in range(X.shape[1])})
        assert model.estimate_memory(table) == model.estimate_memory(X)

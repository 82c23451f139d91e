"""How every estimator takes missing cells: the column of docs/methods.md, and what holds for all that take them."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from tests.estimators import CASES, second_view, thirds

pytestmark = pytest.mark.filterwarnings("ignore:ICA")  # some sources of few rows look Gaussian
DOCS = (Path(__file__).parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
COLUMN = dict(re.findall(r"^\| `(\w+)` \|(?:[^|]*\|){5} ([^|]*?) \|", DOCS, flags=re.MULTILINE))
# Those that cannot: the reason is in the documentation.
REFUSE = {"TruncatedSVD", "RandomProjection"}
ESTIMATORS = [getattr(lowdim, name) for name in COLUMN]


def policies(cls):
    """Values of `missing` under which a class takes incomplete rows; ("always",) where its model does."""
    model = cls()
    if "missing" in model.get_params():
        return model._accepts(fitting=True).policies
    return ("always",) if model._takes_nan else ()


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_the_documentation_says_how_missing_cells_are_taken(cls):
    said, found = COLUMN[cls.__name__], policies(cls)
    assert (not found) == said.startswith("no")
    assert found or cls.__name__ in REFUSE
    assert not said.startswith("no") or len(said) > 4, "the reason"
    assert all(f'"{policy}"' in said for policy in found if policy != "always")


def test_every_estimator_is_in_the_table():
    assert set(COLUMN) >= {type(case.estimator).__name__ for case in CASES} | {"MCA", "CA"}


def structured(n=90, share=0.15, seed=0):
    """Rows near a plane, and the same with missing cells."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2)) @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((n, 6))
    hole = rng.random(X.shape) < share
    hole[np.arange(n), rng.integers(0, 6, n)] = False
    hole[:, 0] = False  # labels come from it
    return X, np.where(hole, np.nan, X)


OPTIONAL = [
    (case, policy)
    for case in CASES
    for policy in policies(type(case.estimator))
    if case.name in ("ICA", "LDA", "CCA", "Whitening", "FeatureMapPCA", "KernelCCA")
]
LINEAR = [pair for pair in OPTIONAL if pair[0].name in ("ICA", "LDA", "CCA", "Whitening")]
each = pytest.mark.parametrize(("case", "policy"), OPTIONAL, ids=lambda v: getattr(v, "name", v))
each_linear = pytest.mark.parametrize(("case", "policy"), LINEAR, ids=lambda v: getattr(v, "name", v))


def target(case, X):
    return () if case.target is None else (case.target(X),)


@each
def test_without_a_missing_cell_nothing_changes(case, policy):
    X, _ = structured()
    plain, other = clone(case.estimator), clone(case.estimator).set_params(missing=policy)
    plain.fit(X, *target(case, X))
    other.fit(X, *target(case, X))
    np.testing.assert_allclose(plain.transform(X), other.transform(X), atol=1e-10)


@each
def test_incomplete_rows_are_nearer_to_their_place_than_with_column_means(case, policy):
    X, Y = structured()
    means = np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)
    model = clone(case.estimator).set_params(missing=policy).fit(X, *target(case, X))
    where, hole = model.transform(X), np.isnan(Y).any(axis=1)
    gap, filled = (np.square(model.transform(T) - where)[hole].sum() for T in (Y, means))
    assert gap < 0.5 * filled
    np.testing.assert_array_equal(model.transform(Y)[~hole], where[~hole])


@each_linear
def test_a_fit_of_incomplete_rows_is_nearer_to_that_of_all_than_with_column_means(case, policy):
    X, Y = structured(150)
    means = np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)
    extra = target(case, X)
    whole = clone(case.estimator).fit(X, *extra).transform(X)
    taken = clone(case.estimator).set_params(missing=policy).fit(Y, *extra).transform(X)
    filled = clone(case.estimator).fit(means, *extra).transform(X)
    assert _apart(taken, whole) < 0.5 * _apart(filled, whole)


def _apart(Z, W):
    """What a linear map from Z to W leaves, and from W to Z, as shares."""
    Z, W = Z - Z.mean(axis=0), W - W.mean(axis=0)
    size = np.abs(np.log(np.linalg.norm(Z, axis=0).prod() / np.linalg.norm(W, axis=0).prod()))
    left = W - Z @ np.linalg.lstsq(Z, W, rcond=None)[0]
    return size + np.linalg.norm(left) / np.linalg.norm(W)


@each
def test_new_rows_are_on_their_own_and_models_are_kept_in_files(case, policy, tmp_path):
    X, Y = structured()
    model = clone(case.estimator).set_params(missing=policy).fit(Y, *target(case, X))
    Z = model.transform(Y)
    assert np.isfinite(Z).all()
    alone = np.vstack([model.transform(Y[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, Z[:20], atol=1e-9 * np.abs(Z).max())
    lowdim.save(model, tmp_path / "model")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model").transform(Y), Z)
    for where, what in ((np.s_[5], "row"), (np.s_[:, 2], "column")):
        empty = Y.copy()
        empty[where] = np.nan
        with pytest.raises(ValueError, match=rf"{case.name}: 1 {what} of X has no observed cell"):
            clone(model).fit(empty, *target(case, X))


def batches(model, X, y=None):
    parts = np.array_split(np.arange(len(X)), 4)
    return model.fit((X[i] if y is None else (X[i], y[i])) for i in parts)


@pytest.mark.parametrize(
    "model", [lowdim.PCA(2), lowdim.PCA(2, missing="em", scale=True), lowdim.Whitening(2, missing="em")]
)
def test_a_stream_of_incomplete_batches_is_the_table(model):
    _, Y = structured(200)
    Y[:, 3:] = Y[:, 3:] + 0 * Y[:, 2:3]  # few patterns with many rows: their moments are kept
    table, stream = clone(model).fit(Y), batches(clone(model), Y)
    np.testing.assert_allclose(stream.transform(Y), table.transform(Y), atol=1e-6)


def test_streams_of_pairs_of_incomplete_batches_are_the_table():
    X, Y = structured(200)
    for model, second in ((lowdim.LDA(2, missing="em"), thirds(X)), (lowdim.CCA(2, missing="em"), second_view(X))):
        table, stream = clone(model).fit(Y, second), batches(clone(model), Y, second)
        np.testing.assert_allclose(stream.transform(Y), table.transform(Y), atol=1e-6)


# ---- single methods ------------------------------------------------------------------------------------------


def test_lda_classifies_incomplete_rows_by_their_observed_cells():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.standard_normal((180, 5)) @ rng.standard_normal((5, 5)) + 2.5 * np.eye(3, 5)[y]
    hole = rng.random(X.shape) < 0.2
    hole[:, 4] = False
    Y = np.where(hole, np.nan, X)
    fitted, new = np.arange(180) % 2 == 0, np.arange(180) % 2 == 1
    model = lowdim.LDA(missing="em").fit(Y[fitted], y[fitted])
    means = np.where(hole, np.nanmean(Y[fitted], axis=0), X)
    filled = lowdim.LDA().fit(means[fitted], y[fitted])
    assert model.score(Y[new], y[new]) > filled.score(means[new], y[new])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(Y)).sum(axis=1), 1.0)
    # Of a row of which one cell is known, the class follows from the normal densities of that cell alone.
    one = np.full((1, 5), np.nan)
    one[0, 4] = X[0, 4]
    v = model._holes.covariance[4, 4]
    density = model.priors_ * np.exp(-((X[0, 4] - model.means_[:, 4]) ** 2) / (2 * v))
    np.testing.assert_allclose(model.predict_proba(one)[0], density / density.sum(), rtol=1e-6)
    empty = Y.copy()
    empty[y == 1, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 has none in class 1"):
        lowdim.LDA(missing="em").fit(empty, y)


def test_cca_takes_missing_cells_in_either_table():
    rng = np.random.default_rng(0)
    T = rng.standard_normal((200, 2))
    X, Y = (T @ rng.standard_normal((2, d)) + 0.5 * rng.standard_normal((200, d)) for d in (5, 4))
    holes = [rng.random(table.shape) < 0.2 for table in (X, Y)]
    Xh, Yh = (np.where(hole, np.nan, table) for hole, table in zip(holes, (X, Y), strict=True))
    some = ~np.isnan(Xh).all(axis=1)
    Xf, Yf = (np.where(np.isnan(table), np.nanmean(table, axis=0), table) for table in (Xh, Yh))
    whole = lowdim.CCA(2).fit(X, Y).correlations_
    taken = lowdim.CCA(2, missing="em").fit(Xh[some], Yh[some]).correlations_
    filled = lowdim.CCA(2).fit(Xf, Yf).correlations_
    assert np.abs(taken - whole).max() < 0.3 * np.abs(filled - whole).max()


def test_ica_finds_the_sources_of_incomplete_rows():
    rng = np.random.default_rng(1)
    S = rng.uniform(-1.7, 1.7, (600, 3))
    X = S @ rng.standard_normal((3, 5)) + 0.1 * rng.standard_normal((600, 5))
    hole = rng.random(X.shape) < 0.2
    hole[np.arange(600), rng.integers(0, 5, 600)] = False
    Y = np.where(hole, np.nan, X)
    taken = lowdim.ICA(3, missing="em", random_state=0).fit(Y).sources_
    filled = lowdim.ICA(3, random_state=0).fit(np.where(hole, np.nanmean(Y, axis=0), X)).sources_
    near, far = (np.abs(np.corrcoef(S.T, T.T)[:3, 3:]).max(axis=1).min() for T in (taken, filled))
    assert 1 - near < 0.6 * (1 - far)


@pytest.mark.parametrize(("degree", "coef0"), [(2, 0.0), (2, 1.0), (3, 1.0)])
def test_expected_features_have_the_expected_kernel(degree, coef0):
    _, Y = structured(40)
    ours = lowdim.FeatureMapPCA(3, degree=degree, coef0=coef0, missing="expected", random_state=0).fit(Y)
    settings = {"kernel": "poly", "gamma": 1.0, "degree": degree, "coef0": coef0, "missing": "expected"}
    theirs = lowdim.KernelPCA(3, random_state=0, **settings).fit(Y)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-7)


def test_features_of_a_function_are_averaged_over_points():
    _, Y = structured(40)
    settings = {"feature_map": lambda T: np.column_stack([T, T**2]), "random_state": 0}
    model = lowdim.FeatureMapPCA(2, missing="expected", **settings).fit(Y)
    assert np.isfinite(model.embedding_).all()


def test_missing_counts_are_found_by_the_axes_of_the_completed_table():
    rng = np.random.default_rng(0)
    X = rng.poisson(200 * rng.random((20, 2)) @ rng.random((2, 8))) + 1.0
    hole = rng.random(X.shape) < 0.15
    hole[:, 0] = False
    Y = np.where(hole, np.nan, X)
    for policy in ("regularized", "em"):
        model = lowdim.CA(1, missing=policy).fit(Y)
        error = np.square(model.completed_ - X)[hole].mean()
        assert error < 0.2 * np.square(np.nanmean(Y, axis=0) - X)[hole].mean()
        np.testing.assert_array_equal(model.completed_[~hole], X[~hole])
        np.testing.assert_allclose(model.transform(Y), model.row_coordinates_, atol=1e-4)
        np.testing.assert_allclose(model.transform_columns(Y), model.column_coordinates_, atol=1e-4)
        again = lowdim.CA(1).fit(model.completed_)
        np.testing.assert_allclose(again.row_coordinates_, model.row_coordinates_)
    plain, other = lowdim.CA(2).fit(X), lowdim.CA(2, missing="em").fit(X)
    np.testing.assert_array_equal(plain.transform(X), other.transform(X))
    # New rows with holes are nearer to their place than where the means fill them.
    fitted, new = slice(12), slice(12, None)
    places = lowdim.CA(1, missing="regularized").fit(X[fitted])
    gaps = [
        np.square(places.transform(table[new]) - places.transform(X[new])).sum()
        for table in (Y, np.where(hole, np.nanmean(Y[fitted], axis=0), X))
    ]
    assert gaps[0] < 0.5 * gaps[1]
    # A table of independent rows and columns is its own completion.
    table = np.outer(np.arange(1.0, 7.0), [3.0, 1.0, 2.0, 5.0])
    table[2, 1] = np.nan
    table[0, 0] += 1
    found = lowdim.CA(1, missing="em").fit(table).completed_[2, 1]
    assert found == pytest.approx(3.0, abs=0.2)
    with pytest.raises(ValueError, match="missing='regularized' or missing='em'"):
        lowdim.CA().fit(table)

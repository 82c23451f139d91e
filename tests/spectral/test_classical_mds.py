"""ClassicalMDS against R's cmdscale, PCA, and its closed forms."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim import PCA, ClassicalMDS
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign
from tests.oracles import case, load_expected

NON_EUCLIDEAN = "ignore:ClassicalMDS. the distances are not Euclidean"


@pytest.mark.filterwarnings(NON_EUCLIDEAN)
@pytest.mark.parametrize("name", ["eurodist", "ekman_dissim", "morse_dissim"])
def test_cmdscale(name):
    D, case_id = numeric(name), f"mds_classical_{name}"
    D = D[:, -len(D) :]  # a column of numeric names may come first
    k = load_expected(case_id, "points.csv").shape[1]
    model = ClassicalMDS(k, metric="precomputed").fit(D)
    points = load_expected(case_id, "points.csv")
    scale = np.abs(points).max()
    np.testing.assert_allclose(up_to_sign(points, model.embedding_), points, atol=1e-7 * scale)
    np.testing.assert_allclose(model.eigenvalues_, load_expected(case_id, "eig.csv")[:k], rtol=1e-8)
    np.testing.assert_allclose(model.goodness_of_fit_, load_expected(case_id, "GOF.csv"), rtol=1e-8)
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-9 * scale)


@pytest.mark.parametrize("name", ["eurodist", "ekman_dissim", "noneuclid_dissim"])
def test_cmdscale_with_the_additive_constant(name):
    D, case_id = numeric(name), f"mds_classical_add_{name}"
    D = D[:, -len(D) :]
    points = load_expected(case_id, "points.csv")
    model = ClassicalMDS(points.shape[1], metric="precomputed", correction="cailliez").fit(D)
    assert model.correction_ == pytest.approx(case(case_id)["scalars"]["ac"], rel=1e-6)
    np.testing.assert_allclose(up_to_sign(points, model.embedding_), points, atol=1e-5 * np.abs(points).max())
    np.testing.assert_allclose(model.goodness_of_fit_, load_expected(case_id, "GOF.csv"), rtol=1e-5)
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-8 * np.abs(points).max())
    assert model.negative_share_ < 1e-6


def test_lingoes_makes_distances_euclidean():
    D = numeric("noneuclid_dissim")
    n = len(D)
    model = ClassicalMDS(n, metric="precomputed", correction="lingoes")
    with pytest.warns(UserWarning, match="positive eigenvalue"):
        Z = model.fit_transform(D)
    lowest = np.linalg.eigvalsh(-0.5 * (H := np.eye(n) - 1 / n) @ D**2 @ H)[0]
    assert model.correction_ == pytest.approx(-lowest, rel=1e-9)
    np.testing.assert_allclose(squareform(pdist(Z)) ** 2, (D**2 + 2 * model.correction_) * (1 - np.eye(n)), atol=1e-8)


@pytest.mark.parametrize("kind", ["rows", "square", "condensed", "frame"])
def test_euclidean_distances_give_pca_scores(kind):
    X = cloud(50, 5)
    D = pdist(X)
    given = {"rows": X, "condensed": D, "square": squareform(D), "frame": pd.DataFrame(squareform(D))}[kind]
    model = ClassicalMDS(3, metric="euclidean" if kind == "rows" else "precomputed").fit(given)
    scores = PCA(3).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(scores, model.embedding_), scores, atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, 49 * PCA(3).fit(X).explained_variance_, rtol=1e-9)
    assert model.negative_share_ < 1e-9
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-10)


def test_full_rank_reproduces_the_distances():
    X = cloud(30, 4)
    for model in (ClassicalMDS(4), ClassicalMDS(4, metric="precomputed")):
        Z = model.fit_transform(X if model.metric == "euclidean" else squareform(pdist(X)))
        np.testing.assert_allclose(pdist(Z), pdist(X), rtol=1e-9)
        assert model.goodness_of_fit_ == pytest.approx((1.0, 1.0))


def test_new_rows_by_their_distances_land_where_the_linear_map_puts_them():
    X, new = cloud(40, 4), cloud(6, 4, seed=5)
    by_rows = ClassicalMDS(3).fit(X)
    by_distances = ClassicalMDS(3, metric="precomputed").fit(squareform(pdist(X)))
    to_fitted = np.linalg.norm(new[:, None] - X, axis=2)
    Z = by_distances.transform(to_fitted)
    np.testing.assert_allclose(up_to_sign(by_rows.transform(new), Z), by_rows.transform(new), atol=1e-9)


def test_negative_eigenvalues_are_reported_and_never_nan():
    """scikit-learn takes their square root."""
    D = numeric("noneuclid_dissim")
    with pytest.warns(UserWarning, match="not Euclidean; negative eigenvalues make up"):
        model = ClassicalMDS(2, metric="precomputed").fit(D)
    eigenvalues = np.linalg.eigvalsh(-0.5 * (H := np.eye(len(D)) - 1 / len(D)) @ D**2 @ H)
    assert model.negative_share_ == pytest.approx(-eigenvalues[eigenvalues < 0].sum() / np.abs(eigenvalues).sum())
    with (
        pytest.warns(UserWarning, match="of 12 axes have a positive eigenvalue; the others are zero"),
        pytest.warns(UserWarning, match="not Euclidean"),
    ):
        Z = ClassicalMDS(12, metric="precomputed").fit_transform(D)
    assert np.isfinite(Z).all()
    assert (Z[:, (eigenvalues > 1e-9).sum() :] == 0).all()


@pytest.mark.filterwarnings(NON_EUCLIDEAN)
@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "canberra", lambda x, y: np.abs(x - y).max()])
def test_any_metric(metric):
    X = np.abs(cloud(25, 4)) + 0.1
    model = ClassicalMDS(2, metric=metric).fit(X)
    name = metric if isinstance(metric, str) else "chebyshev"
    D = squareform(pdist(X, "cityblock" if name == "manhattan" else name))
    reference = ClassicalMDS(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(up_to_sign(reference.embedding_, model.embedding_), reference.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_sparse_rows():
    S = sparse.random_array((40, 10), density=0.4, random_state=np.random.default_rng(0), format="csr")
    expected = ClassicalMDS(2).fit_transform(S.toarray())
    Z = ClassicalMDS(2).fit_transform(S)
    np.testing.assert_allclose(up_to_sign(expected, Z), expected, atol=1e-7)


def test_bad_dissimilarities_are_refused():
    D = squareform(pdist(cloud(6, 3)))
    for change, message in (
        (lambda D: D[:, :5], "square"),
        (lambda D: -D, "negative"),
        (lambda D: D + np.triu(np.ones((6, 6)), 1), "symmetric"),
        (np.triu, r"Half of it is empty: pass D \+ D.T"),
        (np.tril, r"Half of it is empty: pass D \+ D.T"),
        (lambda D: D + np.eye(6), "diagonal"),
        (lambda D: np.where(D.max() == D, np.nan, D), "NaN"),
        (lambda D: squareform(D)[:-1], "condensed"),
    ):
        with pytest.raises(ValueError, match=message):
            ClassicalMDS(2, metric="precomputed").fit(change(D))
    with pytest.raises(ValueError, match="metric"):
        ClassicalMDS(2, metric="nonsense").fit(D)
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="needs the rows of X"):
        model.inverse_transform(model.embedding_)
    with pytest.raises(ValueError, match="negative"):
        model.transform(-D)


def test_fifty_thousand_rows_need_no_square_matrix():
    assert ClassicalMDS(2).estimate_memory((50_000, 10)) < 200e6
    assert ClassicalMDS(2, metric="manhattan").estimate_memory((50_000, 10)) > 40e9


def test_sparse_graphs_are_no_distance_table():
    with pytest.raises(TypeError, match="must be dense"):
        ClassicalMDS(2, metric="precomputed").fit(sparse.csr_array(squareform(pdist(cloud(10, 3)))))


def test_other_names_of_the_euclidean_distance_need_no_square_matrix():
    X = cloud(50, 3)
    np.testing.assert_array_equal(ClassicalMDS(2, metric="l2").fit_transform(X), ClassicalMDS(2).fit_transform(X))
    assert ClassicalMDS(2, metric="l2").estimate_memory((100_000, 3)) < 1e9


def test_goodness_of_fit_of_sparse_single_precision_rows():
    X = (np.random.default_rng(0).normal(size=(200, 5)) + 1000).astype(np.float32)
    assert max(ClassicalMDS(5).fit(sparse.csr_array(X)).goodness_of_fit_) < 1.01


# ---- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings(NON_EUCLIDEAN)
def test_wcmdscale():
    case_id = "mds_weighted_wcmdscale_eurodist"
    D, weights, points = numeric("eurodist"), case(case_id)["params"]["w"], load_expected(case_id, "points.csv")
    model = ClassicalMDS(2, metric="precomputed").fit(D, sample_weight=weights)
    size = np.abs(points).max()
    np.testing.assert_allclose(up_to_sign(points, model.embedding_), points, atol=1e-7 * size)
    np.testing.assert_allclose(model.eigenvalues_, load_expected(case_id, "eig.csv")[:2], rtol=1e-8)
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-9 * size)
    eig = load_expected(case_id, "eig.csv")
    assert model.goodness_of_fit_[0] == pytest.approx(eig[:2].sum() / np.abs(eig).sum())


@pytest.mark.filterwarnings(NON_EUCLIDEAN)
@pytest.mark.parametrize("correction", [None, "lingoes", "cailliez"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_a_weight_is_a_number_of_copies(metric, correction):
    """And a row of weight 0 is placed as a new one."""
    X, weights = cloud(30, 4), np.random.default_rng(0).integers(0, 4, 30)
    copies = np.repeat(np.arange(30), weights)

    def table(rows, columns):
        return pairwise_manhattan(X[rows], X[columns]) if metric == "precomputed" else X[rows]

    every = np.arange(30)
    found = ClassicalMDS(2, metric=metric, correction=correction).fit(table(every, every), sample_weight=weights)
    again = ClassicalMDS(2, metric=metric, correction=correction).fit(table(copies, copies))
    expected = again.transform(table(every, copies))
    if correction is not None and metric != "euclidean":  # the constant parts copies, which weights do not
        assert found.correction_ > 0
        return
    np.testing.assert_allclose(up_to_sign(expected, found.embedding_), expected, atol=1e-8)
    np.testing.assert_allclose(found.eigenvalues_, again.eigenvalues_, rtol=1e-9)
    assert found.goodness_of_fit_ == pytest.approx(again.goodness_of_fit_)
    assert found.negative_share_ == pytest.approx(again.negative_share_, abs=1e-9)
    np.testing.assert_allclose(found.transform(table(every, every)), found.embedding_, atol=1e-9)


def pairwise_manhattan(A, B):
    return np.abs(A[:, None] - B).sum(axis=2)


def test_weighted_scaling_of_rows_and_of_their_distances_agree():
    X, weights = cloud(40, 4), np.random.default_rng(1).uniform(0, 3, 40)
    weights[5] = 0
    rows = ClassicalMDS(3).fit(X, sample_weight=weights)
    distances = ClassicalMDS(3, metric="precomputed").fit(squareform(pdist(X)), sample_weight=weights)
    few = ClassicalMDS(3).fit(sparse.csr_array(X), sample_weight=weights)
    for other in (distances, few):
        np.testing.assert_allclose(up_to_sign(rows.embedding_, other.embedding_), rows.embedding_, atol=1e-8)
        np.testing.assert_allclose(other.eigenvalues_, rows.eigenvalues_, rtol=1e-9)
        assert other.goodness_of_fit_ == pytest.approx(rows.goodness_of_fit_)
    scores = PCA(3).fit(X, sample_weight=weights).transform(X)
    np.testing.assert_allclose(up_to_sign(scores, rows.embedding_), scores, atol=1e-9)
    np.testing.assert_allclose(weights @ rows.embedding_, 0, atol=1e-9)
    same = ClassicalMDS(3).fit(X, sample_weight=np.full(40, 2.0))
    np.testing.assert_allclose(same.embedding_, ClassicalMDS(3).fit_transform(X), atol=1e-9)


def test_bad_weights():
    X = cloud(10, 3)
    for bad, message in (
        (np.eye(10)[3], "above zero for at least two rows; got 1"),
        (-np.ones(10), "must not be negative"),
        (np.ones(9), "shape"),
    ):
        with pytest.raises(ValueError, match=message):
            ClassicalMDS(2).fit(X, sample_weight=bad)


@pytest.mark.filterwarnings(NON_EUCLIDEAN)
def test_the_stress_of_a_classical_solution():
    """Strain is what classical scaling makes least; how far the distances are off is asked of `quality`."""
    D = numeric("eurodist")
    Z = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    d, delta = pdist(Z), squareform(D)
    assert lowdim.quality.stress(D, Z, "stress1", reference="precomputed") == pytest.approx(
        np.sqrt(((d - delta) ** 2).sum() / (d**2).sum())
    )


@pytest.mark.parametrize("correction", ["cailliez", "lingoes"])
def test_the_constant_follows_the_unit(correction):
    D = squareform(pdist(cloud(), "cityblock"))
    one = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    for unit in (1e-100, 1e-6, 1e6, 1e100):
        model = ClassicalMDS(2, metric="precomputed", correction=correction).fit(unit * D)
        power = 1 if correction == "cailliez" else 2
        assert model.correction_ / unit**power == pytest.approx(one.correction_, rel=1e-9)
        assert model.negative_share_ < 1e-9

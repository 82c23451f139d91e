"""LandmarkMDS: classical scaling when all rows are landmarks, exact with few where it can be, never n x m."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

import lowdim
from lowdim import PCA, ClassicalMDS, LandmarkMDS
from lowdim._core.landmarks.choose import LANDMARK_METHODS
from lowdim._core.tables.align import procrustes
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign

NON_EUCLIDEAN = pytest.mark.filterwarnings("ignore:(LandmarkMDS|ClassicalMDS). the distances are not Euclidean")


@NON_EUCLIDEAN
@pytest.mark.parametrize("correction", [None, "cailliez", "lingoes"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
def test_with_all_rows_it_is_classical_scaling(metric, correction):
    X, new = np.abs(cloud(60, 4)) + 1, np.abs(cloud(9, 4, seed=1)) + 1
    model = LandmarkMDS(3, n_landmarks=60, metric=metric, correction=correction).fit(X)
    full = ClassicalMDS(3, metric=metric, correction=correction).fit(X)
    size = np.abs(full.embedding_).max()
    np.testing.assert_allclose(up_to_sign(full.embedding_, model.embedding_), full.embedding_, atol=1e-9 * size)
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs(full.transform(new)), atol=1e-9 * size)
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-9)
    assert model.goodness_of_fit_ == pytest.approx(full.goodness_of_fit_)
    assert model.negative_share_ == pytest.approx(full.negative_share_, abs=1e-12)
    assert model.correction_ == pytest.approx(full.correction_)


# With so few landmarks some lie close to a plane, and that is said; without noise it does no harm.
@pytest.mark.filterwarnings("ignore:LandmarkMDS. the landmarks have little extent")
@pytest.mark.parametrize("landmarks", LANDMARK_METHODS)
@pytest.mark.parametrize("route", ["rows", "distances", "pairwise"])
@pytest.mark.parametrize("r", [1, 2, 4])
def test_one_more_landmark_than_dimensions_is_exact(landmarks, route, r):
    """Noise-free rows in r dimensions: all distances are kept, not only those to the landmarks."""
    rng = np.random.default_rng(r)
    X = rng.normal(size=(80, r)) @ rng.normal(size=(r, 7)) + 3
    settings = {"n_landmarks": r + 1, "landmarks": landmarks, "random_state": 4}
    model = {
        "rows": LandmarkMDS(r, **settings),
        "distances": LandmarkMDS(r, metric="precomputed", **settings),
        "pairwise": LandmarkMDS(r, missing="pairwise", **settings),
    }[route]
    Z = model.fit_transform(squareform(pdist(X)) if route == "distances" else X)
    np.testing.assert_allclose(pdist(Z), pdist(X), rtol=1e-6)


def test_squared_distances_less_the_mean_of_squares():
    """An R package takes distances that are not squared, and the means in another order: far off with all landmarks."""
    X = cloud(50, 3)
    D = squareform(pdist(X))
    model = LandmarkMDS(3, n_landmarks=50, metric="precomputed").fit(D)
    values, vectors = np.linalg.eigh(-0.5 * (H := np.eye(50) - 1 / 50) @ D**2 @ H)
    values, vectors = values[:-4:-1], vectors[:, :-4:-1]
    wrong = -0.5 * (D - (D**2).mean(axis=0)) @ vectors / np.sqrt(values)
    right = vectors * np.sqrt(values)
    assert np.abs(np.abs(model.embedding_) - np.abs(right)).max() < 1e-9
    assert np.abs(np.abs(wrong) - np.abs(right)).max() > 1


def test_more_landmarks_come_closer_to_classical_scaling():
    X = lowdim.datasets.swiss_roll(1500, random_state=0).X
    full = ClassicalMDS(2).fit_transform(X)
    errors = [
        np.mean(
            [
                procrustes(full, LandmarkMDS(2, n_landmarks=m, random_state=s).fit_transform(X)).disparity
                for s in range(5)
            ]
        )
        for m in (5, 50, 500)
    ]
    assert errors[0] > errors[1] > 10 * errors[2]


def test_euclidean_landmarks_are_a_projection_on_their_principal_axes():
    X = cloud(300, 5)
    model = LandmarkMDS(2, n_landmarks=40, random_state=0).fit(X)
    axes = PCA(2).fit(X[model.landmarks_])
    np.testing.assert_allclose(up_to_sign(axes.transform(X), model.embedding_), axes.transform(X), atol=1e-9)
    by_distances = LandmarkMDS(2, landmarks=model.landmarks_, metric=lambda x, y: np.linalg.norm(x - y)).fit(X)
    np.testing.assert_allclose(up_to_sign(model.embedding_, by_distances.embedding_), model.embedding_, atol=1e-8)


@NON_EUCLIDEAN
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("n", [3, 200, 70_000])
def test_fitted_rows_come_out_of_transform_with_the_same_bits(n, metric, dtype):
    X = cloud(n, 3).astype(dtype)
    model = LandmarkMDS(1, n_landmarks=min(40, n - 1), metric=metric, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    single = LandmarkMDS(1, n_landmarks=min(40, n - 1), metric=metric, random_state=0, n_jobs=1).fit(X)
    np.testing.assert_array_equal(single.embedding_, model.embedding_)


# ---- distances given -------------------------------------------------------------------------------------------------


def test_square_condensed_rectangular_and_rows_agree():
    X, new = cloud(90, 4), cloud(7, 4, seed=2)
    D, some = squareform(pdist(X)), np.array([50, 3, 17, 88, 20, 31])
    rows = LandmarkMDS(3, landmarks=some).fit(X)
    expected, placed = rows.embedding_, rows.transform(new)
    for given, to_new in ((D, cdist(new, X)), (pdist(X), cdist(new, X)), (D[:, some], cdist(new, X[some]))):
        model = LandmarkMDS(3, landmarks=some, metric="precomputed").fit(given)
        np.testing.assert_allclose(up_to_sign(expected, model.embedding_), expected, atol=1e-8)
        np.testing.assert_allclose(up_to_sign(placed, model.transform(to_new)), placed, atol=1e-8)
        np.testing.assert_array_equal(model.landmarks_, some)


def test_rounding_among_the_landmarks_is_averaged_away():
    D, some = squareform(pdist(cloud(30, 3))), np.array([4, 9, 2, 25])
    noisy = D + 5e-7 * D.max() * np.triu(np.ones(D.shape), 1)
    before = noisy.copy()
    models = [LandmarkMDS(2, metric="precomputed", landmarks=some).fit(given) for given in (noisy, noisy[:, some])]
    np.testing.assert_allclose(models[0].eigenvalues_, models[1].eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(models[0].embedding_[some], models[1].embedding_[some], atol=1e-12 * D.max())
    np.testing.assert_array_equal(noisy, before)


def test_landmarks_by_number_survive_a_model_file(tmp_path):
    X = cloud(40, 3)
    for landmarks in ([3, 30, 8, 1], np.array([3, 30, 8, 1])):
        model = LandmarkMDS(2, landmarks=landmarks, missing="pairwise").fit(X)
        lowdim.save(model, tmp_path / "m")
        np.testing.assert_array_equal(lowdim.load(tmp_path / "m").transform(X), model.embedding_)


@pytest.mark.filterwarnings("ignore:.*the map puts all .* rows in one place")
@pytest.mark.parametrize("landmarks", LANDMARK_METHODS)
def test_copies_of_a_few_rows(landmarks):
    X = np.repeat(cloud(3, 4), 30, axis=0)
    model = LandmarkMDS(2, n_landmarks=10, landmarks=landmarks, random_state=0).fit(X)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(X), atol=1e-6)
    with pytest.warns(UserWarning, match="the landmarks span 0 dimensions"):
        assert not LandmarkMDS(2, n_landmarks=5).fit_transform(np.ones((20, 2))).any()


def test_a_table_of_landmark_columns_is_checked():
    D, some = squareform(pdist(cloud(30, 3))), [4, 9, 2, 25]
    with pytest.raises(ValueError, match=r"must be square, or landmarks must give .*got shape \(30, 4\)"):
        LandmarkMDS(2, metric="precomputed").fit(D[:, some])
    with pytest.raises(ValueError, match=r"must be square, or landmarks must give .*got shape \(30, 3\)"):
        LandmarkMDS(2, metric="precomputed", landmarks=some).fit(D[:, some[:3]])
    with pytest.raises(ValueError, match="0 on the diagonal"):  # the columns belong to other rows
        LandmarkMDS(2, metric="precomputed", landmarks=some[::-1]).fit(D[:, some])
    lop = D[:, some].copy()
    lop[4, 1] += 1
    with pytest.raises(ValueError, match="symmetric"):
        LandmarkMDS(2, metric="precomputed", landmarks=some).fit(lop)
    for bad, message in ((-D, "negative"), (np.where(D[0, 4] == D, np.nan, D), "finite")):
        with pytest.raises(ValueError, match=message):
            LandmarkMDS(2, metric="precomputed", landmarks=some).fit(bad[:, some])


@pytest.mark.parametrize("bad", [[1], [1, 1, 2], [0.5, 2.0], [[1, 2]], [-1, 3], [3, 30], "nearest", None])
def test_bad_landmarks(bad):
    with pytest.raises(ValueError, match="LandmarkMDS: landmarks must be"):
        LandmarkMDS(2, landmarks=bad).fit(cloud(30, 3))


def test_a_labelled_table():
    D = squareform(pdist(cloud(12, 3)))
    names = [f"item {i}" for i in range(12)]
    model = LandmarkMDS(2, n_landmarks=5, metric="precomputed", random_state=0).fit(pd.DataFrame(D, names, names))
    assert list(model.feature_names_in_) == names
    with pytest.raises(ValueError, match="needs the rows of X"):
        model.inverse_transform(model.embedding_)


# ---- what can go wrong -----------------------------------------------------------------------------------------------


def test_landmarks_in_a_plane_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    flat = np.arange(20)
    X[flat, 2] = 1e-3 * rng.normal(size=20)
    with pytest.warns(
        UserWarning,
        match=r"little extent along axis 2: the standard deviation .* times.*more landmarks, or land",
    ):
        LandmarkMDS(3, landmarks=flat).fit(X)
    with pytest.warns(UserWarning, match="little extent along axis 2"):
        LandmarkMDS(3, landmarks=flat, missing="pairwise").fit(X)
    X[flat, 2] = 0.0
    with pytest.warns(UserWarning, match=r"the landmarks span 2 dimensions; further axes are zero. Use more"):
        Z = LandmarkMDS(3, landmarks=flat).fit_transform(X)
    assert (Z[:, 2] == 0).all()
    LandmarkMDS(3, n_landmarks=20, landmarks="farthest", random_state=0).fit(X)  # the way out: no word


@pytest.mark.parametrize("seed", range(20))
def test_ordinary_rows_are_no_reason_to_warn(seed):
    rng = np.random.default_rng(seed)
    LandmarkMDS(2, n_landmarks=20, random_state=seed).fit(rng.standard_t(4, size=(500, 6)))


def test_negative_eigenvalues_are_left_out():
    """Taking roots of B'B, as others do, would keep the largest negative one as an axis."""
    D = numeric("noneuclid_dissim")
    with pytest.warns(UserWarning, match="LandmarkMDS: the distances are not Euclidean"):
        model = LandmarkMDS(3, landmarks=np.arange(11), metric="precomputed").fit(D[:, :11])
    B = -0.5 * (H := np.eye(11) - 1 / 11) @ D[:11, :11] ** 2 @ H
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(B)[:-4:-1], rtol=1e-9)
    assert np.isfinite(model.embedding_).all()


def test_rows_with_holes():
    X = cloud(200, 6)
    Y = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    full = ClassicalMDS(2).fit_transform(X)
    with pytest.raises(ValueError, match="missing='pairwise' or missing='expected'"):
        LandmarkMDS(2).fit(Y)
    for policy in ("pairwise", "expected"):
        with np.errstate(all="raise"):
            model = LandmarkMDS(2, n_landmarks=100, missing=policy, random_state=0)
            with pytest.warns(UserWarning, match="not Euclidean") if policy == "pairwise" else nullcontext():
                Z = model.fit_transform(Y)
        assert procrustes(full, Z).disparity < 0.1
        np.testing.assert_array_equal(model.transform(Y), Z)
        alone = np.vstack([model.transform(Y[i : i + 1]) for i in range(10)])
        np.testing.assert_allclose(alone, Z[:10], atol=1e-9)
    whole = LandmarkMDS(2, n_landmarks=30, missing="pairwise", random_state=0).fit_transform(X)
    plain = LandmarkMDS(2, n_landmarks=30, random_state=0).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(plain, whole), plain, atol=1e-8)


@NON_EUCLIDEAN
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows(metric):
    S = sparse.random_array((300, 20), density=0.3, random_state=np.random.default_rng(0), format="csr")
    settings = {"n_landmarks": 50, "metric": metric, "random_state": 0}
    expected = LandmarkMDS(2, **settings).fit_transform(S.toarray())
    Z = LandmarkMDS(2, **settings).fit_transform(S)
    np.testing.assert_allclose(up_to_sign(expected, Z), expected, atol=1e-7)


def test_the_way_back():
    X = cloud(400, 3)
    model = LandmarkMDS(3, n_landmarks=30, random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-6)


# ---- memory ----------------------------------------------------------------------------------------------------------


@NON_EUCLIDEAN
@pytest.mark.parametrize("settings", [{}, {"metric": "manhattan"}, {"landmarks": "farthest"}, {"missing": "pairwise"}])
def test_distances_to_all_landmarks_are_never_held_at_once(settings):
    """30,000 rows and 400 landmarks are 96 MB of distances; what is held beside X is a fraction of that."""
    n, m = 30_000, 400
    X = cloud(n, 4)
    if "landmarks" in settings:
        n, m = 30_000, 60
    model = LandmarkMDS(2, n_landmarks=m, random_state=0, n_jobs=2, **settings)
    model.fit(X[:500])  # loads what is loaded on first use
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.35 * n * 400 * 8
    assert peak < 1.2 * model.estimate_memory(X)


def test_a_million_rows_are_estimated_without_a_wide_table():
    assert LandmarkMDS(2, metric="manhattan", n_jobs=2).estimate_memory((1_000_000, 10)) < 250e6
    with pytest.raises(MemoryError, match="Use fewer landmarks"), lowdim.config(memory_limit=1e5):
        LandmarkMDS(2, metric="manhattan").fit(cloud(300, 3))


def test_new_rows_need_the_distances_to_the_landmarks_alone():
    rows = np.random.default_rng(0).normal(size=(60, 4))
    new = np.random.default_rng(1).normal(size=(5, 4))
    D, far = cdist(rows, rows), cdist(new, rows)
    model = lowdim.LandmarkMDS(2, n_landmarks=12, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(model.transform(far[:, model.landmarks_]), model.transform(far))
    with pytest.raises(ValueError, match="features"):
        model.transform(far[:, :30])


def test_distances_to_the_landmarks_in_any_container():
    rows, new = cloud(40, 3), cloud(5, 3, seed=2)
    D, far, names = cdist(rows, rows), cdist(new, rows), [f"item {i}" for i in range(40)]
    plain = LandmarkMDS(2, n_landmarks=9, metric="precomputed", random_state=0).fit(D)
    few = far[:, plain.landmarks_]
    for same in (few.tolist(), pd.DataFrame(few), np.asfortranarray(few)):
        np.testing.assert_array_equal(plain.transform(same), plain.transform(few))
    assert plain.transform((10 * few).astype(int)).shape == (5, 2)
    named = LandmarkMDS(2, n_landmarks=9, metric="precomputed", random_state=0).fit(pd.DataFrame(D, names, names))
    frame = pd.DataFrame(far, columns=names).iloc[:, named.landmarks_[::-1]]
    np.testing.assert_array_equal(named.transform(frame), plain.transform(few))
    with pytest.raises(ValueError, match="must be named as the 9 items are"):
        named.transform(pd.DataFrame(few, columns=list("abcdefghi")))


def test_all_rows_as_landmarks_in_another_order():
    rows, new = cloud(12, 3), cloud(4, 3, seed=2)
    D, far, order = cdist(rows, rows), cdist(new, rows), np.random.default_rng(0).permutation(12)
    model = LandmarkMDS(2, landmarks=order, metric="precomputed").fit(D)
    np.testing.assert_allclose(up_to_sign(PCA(2).fit_transform(rows), model.embedding_), PCA(2).fit_transform(rows))
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-12)
    np.testing.assert_allclose(np.abs(model.transform(far)), np.abs(PCA(2).fit(rows).transform(new)), atol=1e-12)

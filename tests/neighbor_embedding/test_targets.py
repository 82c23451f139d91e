"""Supervised UMAP: the graph against its definition and umap-learn's, and what targets do to the map."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import UMAP
from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _fuzzy, _targets

DIGITS = load_digits()
HALF = _targets.Settings(0.5, "categorical", 10, 1)
# Row sums of the graph that umap-learn 0.5.12 makes of the first 30 digits, every fifth without label, from 10 others.
UMAP_LEARN_LABELS = [
    *(6.139235, 2.401282, 1.098652, 2.728115, 2.470096, 6.696497, 3.555787, 2.514923, 3.048025, 4.795903),
    *(5.683603, 2.02179, 2.252772, 2.990232, 3.025736, 4.594017, 1.956628, 3.60986, 3.799629, 2.810771),
    *(5.808058, 2.403287, 2.780391, 2.758025, 2.373998, 6.658587, 3.304623, 2.11059, 4.281827, 3.231645),
]
# Of its intersection of the weights of the first 10 with those of a number, at two weights, over pairs that are both.
MIXED_02 = (1.808343, 2.482063, 2.042556, 1.35305, 2.370785, 2.522645, 3.18526, 1.337495, 2.241347, 1.945095)
MIXED_08 = (1.448612, 2.142565, 1.904493, 1.317812, 2.659956, 2.133898, 2.881216, 1.690404, 2.792565, 2.105525)


def graph(X, k=10):
    return _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(nearest(X, k), len(X)), 1.0), 1.0)


def labels(y):
    return _targets.Labels.of(y, len(y))


def supervised(W, y, weight=0.5, metric="categorical", k=10):
    target = _targets.read(y, W.shape[0], metric)
    return _targets.supervised(W, target, _targets.Settings(weight, metric, k, 1))


def silhouette(X, y, target, seed=0, **settings):
    return silhouette_score(UMAP(random_state=seed, max_iter=200, **settings).fit_transform(X, target), y)


def some(y, share, seed=0):
    """The labels of a share of the rows, -1 for the others."""
    return np.where(np.random.default_rng(seed).random(len(y)) < share, y, -1)


def line(n=400):
    """Noise in eight columns, of which the first is the target."""
    X = np.random.default_rng(0).normal(size=(n, 8))
    return X, X[:, 0].copy()


# ---- the graph --------------------------------------------------------------------------------------------------


def by_definition(W, y, weight):
    far = 5 * weight / (1 - weight)
    unknown = min(1.0, weight / (1 - weight))
    gaps = np.where(y[:, None] == y, 0.0, far)
    gaps[(y < 0)[:, None] | (y < 0)] = unknown
    A = W * np.exp(-gaps)
    return A / A.max(axis=1, keepdims=True) * W.max(axis=1, keepdims=True)


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9])
def test_the_graph_of_labels_is_its_definition(weight):
    X, y = DIGITS.data[:60], some(DIGITS.target[:60], 0.8)
    W = graph(X)
    A = by_definition(W.toarray(), y, weight)
    found = supervised(W, y, weight).toarray()
    np.testing.assert_allclose(found, np.maximum(A, A.T), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found, found.T)


def test_the_intersection_is_that_of_umap_learn():
    """Which then takes the union of both directions."""
    y = DIGITS.target[:30].copy()
    y[::5] = -1
    A = labels(y).intersection(graph(DIGITS.data[:30]), HALF).toarray()
    np.testing.assert_allclose((A + A.T - A * A.T).sum(axis=1), UMAP_LEARN_LABELS, rtol=1e-5)


def test_the_mixture_of_numbers_is_that_of_umap_learn():
    """Row sums over the pairs that are neighbours in the first 30 digits and in the number made of their cells."""
    X = DIGITS.data[:30]
    v = (X[:, 20:22].sum(axis=1) + X.mean(axis=1))[:, None]
    W, target = graph(X), _targets._TargetGraph.of(v, np.arange(30), _targets.Settings(0.5, "euclidean", 10, 1))
    near = target.weights(v, W, "euclidean")[0].toarray()
    for weight, sums in ((0.2, MIXED_02), (0.8, MIXED_08)):
        found = _targets.mixed(W.toarray(), near, weight) * (W.toarray() > 0) * (near > 0)
        np.testing.assert_allclose(found.sum(axis=1)[:10], sums, rtol=1e-4)


def test_the_graph_of_numbers_is_its_definition():
    X, y = line(80)
    y[::4] = np.nan
    W, known = graph(X), np.isfinite(y)
    found = supervised(W, y, 0.3, "euclidean", 6)
    D = np.abs(y[:, None] - y)
    T = np.zeros((80, 80))
    rows = np.flatnonzero(known)
    scaled = _fuzzy.calibrated(_affinity.as_graph(nearest(y[known, None], 6), len(rows)), 1.0)
    T[np.ix_(known, known)] = np.exp(
        -np.maximum(D[np.ix_(known, known)] - scaled.reaches[:, None], 0) / scaled.widths[:, None]
    )
    T = T + T.T - T * T.T
    near = np.zeros((80, 80))
    near[np.ix_(known, known)] = _fuzzy.union(scaled.memberships, 1.0).toarray()
    w = W.toarray()
    least = np.clip(near[near > 0].min() / 2, 1e-8, 1e-4)
    A = np.where(w > 0, w * np.maximum(T, least) ** (3 / 7), 0.0)
    A = np.where((w == 0) & (near > 0), W.data.min() / 2 * near ** (3 / 7), A)
    A[~(known[:, None] & known)] = (w * np.where(known, np.exp(-3 / 7), 1.0)[:, None])[~(known[:, None] & known)]
    A *= w.max(axis=1, keepdims=True) / A.max(axis=1, keepdims=True)
    np.testing.assert_allclose(found.toarray(), np.maximum(A, A.T), rtol=1e-9, atol=1e-14)


def test_neighbourhoods_without_labels_stay_as_they_are():
    W = graph(DIGITS.data[:200])
    y = np.where(np.arange(200) < 50, DIGITS.target[:200], -1)
    found = supervised(W, y)
    np.testing.assert_array_equal(found.toarray()[50:, 50:], W.toarray()[50:, 50:])
    assert not np.array_equal(found.toarray()[:50, :50], W.toarray()[:50, :50])


def test_all_of_the_weight_leaves_no_neighbour_of_another_class():
    """But of rows that have none of their own, which would be isolated."""
    y = DIGITS.target[:300]
    W = graph(DIGITS.data[:300])
    found = sparse.coo_array(supervised(W, y, 1.0))
    lonely = (W.multiply(y[:, None] == y)).max(axis=1).toarray() == 0
    across = y[found.row] != y[found.col]
    assert not (across & ~lonely[found.row] & ~lonely[found.col]).any()
    assert (np.diff(sparse.csr_array(found).indptr) > 0).all()


def test_neighbours_of_the_own_class_at_no_weight():
    """0 times anything is 0, yet they are the nearest of their class."""
    W = sparse.csr_array(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
    W.data[W.data == 2] = 0.0
    found = supervised(W, [0, 1, 0], 1.0).toarray()
    assert found[0, 2] == found[2, 0] == pytest.approx(1.0)


# ---- a target that says nothing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [200, 520], ids=["exact", "sampled"])
def test_a_target_that_says_nothing_changes_nothing(n):
    X, y = DIGITS.data[:n], DIGITS.target[:n]
    settings = {"max_iter": 60, "random_state": 0}
    expected = UMAP(**settings).fit_transform(X)
    for silent in (np.full(n, -1), [None] * n, np.full(n, np.nan), np.full(n, 3), ["a"] * n, np.arange(n)):
        np.testing.assert_array_equal(UMAP(**settings).fit_transform(X, silent), expected)
    np.testing.assert_array_equal(UMAP(target_weight=0, **settings).fit_transform(X, y), expected)
    unknown = np.where(np.arange(n) == 7, 1.5, np.nan)
    np.testing.assert_array_equal(UMAP(target_metric="euclidean", **settings).fit_transform(X, unknown), expected)
    assert not np.array_equal(UMAP(**settings).fit_transform(X, y), expected)


def test_little_weight_changes_little():
    W, y = graph(DIGITS.data[:200]), DIGITS.target[:200]
    for target, metric in ((y, "categorical"), (y + 0.01 * np.arange(200), "euclidean")):
        edges = W.toarray() > 0
        found = supervised(W, target, 1e-9, metric).toarray()
        np.testing.assert_allclose(found[edges], W.toarray()[edges], atol=1e-6)


# ---- labels -----------------------------------------------------------------------------------------------------


def test_labels_of_any_kind():
    y = DIGITS.target[:60] % 3
    names = np.array(["rose", "ash", "oak"])
    expected = labels(y).codes
    W = graph(DIGITS.data[:60])
    for same in (names[y], names[y].astype(object), list(names[y]), y.astype(float), y[:, None], y.astype(np.int8)):
        np.testing.assert_array_equal(supervised(W, same).toarray(), supervised(W, y).toarray())
    assert (expected >= 0).all()
    np.testing.assert_array_equal(labels([True, False, True]).codes, [1, 0, 1])


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b", "a"],
        np.array(["a", np.nan, "b", "a"], dtype=object),
        np.array(["a", -1, "b", "a"], dtype=object),
        [2, -1, 3, 2],
        [2.0, np.nan, 3.0, 2.0],
        [2, None, 3, 2],
    ],
)
def test_rows_without_label(y):
    np.testing.assert_array_equal(labels(y).codes, [0, -1, 1, 0])


def test_the_text_minus_one_is_a_label():
    np.testing.assert_array_equal(labels(["-1", "1", "-1"]).codes, [0, 1, 0])


def test_labels_of_a_data_frame():
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(labels(polars.Series(["a", None, "b", "a"])).codes, [0, -1, 1, 0])
    np.testing.assert_array_equal(labels(polars.DataFrame({"y": [2, 3, None, 2]})).codes, [0, 1, -1, 0])


def test_labels_of_equal_rows():
    """One point has one label: that of those known, none where they differ; of numbers the mean."""
    X = np.array([[0.0], [1.0], [0.0], [2.0], [1.0], [2.0]])
    same = Distinct.of(X)
    np.testing.assert_array_equal(labels([4, 5, -1, 5, 4, 5]).picked(same).codes, [0, -1, 1])
    numbers = _targets.Numbers.of([1.0, np.nan, 3.0, 5.0, np.nan, np.nan], 6).picked(same).values
    np.testing.assert_array_equal(numbers[:, 0], [2.0, np.nan, 5.0])


def test_numbers_that_are_not_known():
    for y in ([1.5, None, 2.0], [1.5, np.nan, 2.0], np.array([1.5, None, 2], dtype=object), [[1.5], [None], [2]]):
        np.testing.assert_array_equal(_targets.Numbers.of(y, 3).values, [[1.5], [np.nan], [2.0]])


def test_numbers_that_look_like_something_else():
    with pytest.warns(UserWarning, match="UMAP: y holds numbers that are not whole.*target_metric='euclidean'"):
        labels([0.5, 1.0, 2.0])
    with pytest.warns(UserWarning, match="UMAP: y holds 1 and -1 alone, and -1 means a row without label"):
        labels([1, -1, 1])


# ---- the map ----------------------------------------------------------------------------------------------------


def test_classes_separate():
    """Silhouettes of 800 digits, three seeds: without labels 0.59, umap-learn 0.57; with them 0.79 and 0.80."""
    X, y = DIGITS.data[:600], DIGITS.target[:600]
    without, light, half = (silhouette(X, y, y, target_weight=weight) for weight in (0.0, 0.2, 0.5))
    assert without + 0.03 < light < half
    assert half > without + 0.1


def test_labels_of_some_rows_help_the_others():
    """Noisy digits, half with a label: the nearest of these in the map says more about the others, on average."""
    X, y = DIGITS.data[:400] + np.random.default_rng(0).normal(0, 7, (400, 64)), DIGITS.target[:400]
    model, gains = UMAP(random_state=0, max_iter=150), []
    free = model.fit_transform(X)
    for seed in range(4):
        part = some(y, 0.5, seed)
        known = part >= 0
        right = [
            KNeighborsClassifier(1).fit(Z[known], y[known]).score(Z[~known], y[~known])
            for Z in (free, model.fit_transform(X, part))
        ]
        gains.append(right[1] - right[0])
    assert np.mean(gains) > 0.01


def test_shuffled_labels_do_not_make_groups():
    """Neighbours stay neighbours, as hardly any of them has the same label."""
    X, y = DIGITS.data[:500], np.random.default_rng(0).permutation(DIGITS.target[:500])
    free, bound = (UMAP(random_state=0, max_iter=200).fit_transform(X, target) for target in (None, y))
    assert silhouette_score(bound, y) < 0.0
    assert trustworthiness(X, bound) > trustworthiness(X, free) - 0.05


@pytest.mark.parametrize("ties", [False, True])
def test_numbers_are_ordered_along_the_map(ties):
    X, y = line()
    y = np.round(2 * y) if ties else y
    found = []
    for target in (None, y):
        Z = UMAP(random_state=0, max_iter=200, target_metric="euclidean").fit_transform(X, target)
        near = KNeighborsRegressor(5).fit(Z[::2], y[::2]).predict(Z[1::2])
        found.append(spearmanr(near, y[1::2]).statistic)
    assert found[1] > 0.93
    assert found[1] > found[0] + 0.1


def test_numbers_of_any_unit_and_metric():
    X, y = line(150)
    W = graph(X)
    expected = supervised(W, y, 0.5, "euclidean").toarray()
    for factor in (1e-200, 1e3, 1e200):
        np.testing.assert_allclose(
            supervised(W, factor * y, 0.5, "euclidean").toarray(), expected, rtol=1e-6, atol=1e-12
        )
    for metric in ("manhattan", lambda a, b: abs(a[0] - b[0])):
        np.testing.assert_allclose(supervised(W, y, 0.5, metric).toarray(), expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(supervised(W, np.c_[y, 0 * y], 0.5, "l2").toarray(), expected, rtol=1e-9, atol=1e-14)


def test_a_constant_number_says_nothing_about_neighbours():
    X, _ = line(100)
    found, W = supervised(graph(X), np.full(100, 4.0), 0.2, "euclidean").toarray(), graph(X).toarray()
    np.testing.assert_allclose(found[W > 0], W[W > 0], rtol=1e-12)


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_the_same_map_for_any_number_of_threads(weight):
    X, y = DIGITS.data[:520], DIGITS.target[:520]
    with pytest.warns(UserWarning, match="neighbour graph") if weight == 1.0 else nullcontext():
        one, two = (
            UMAP(target_weight=weight, max_iter=30, random_state=1, n_jobs=jobs).fit_transform(X, y) for jobs in (1, 2)
        )
    np.testing.assert_array_equal(one, two)
    assert np.isfinite(one).all()


def test_precomputed_distances_and_equal_rows():
    X, y = np.repeat(DIGITS.data[:60], 2, axis=0), np.repeat(DIGITS.target[:60], 2)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows = UMAP(random_state=0, n_neighbors=8).fit_transform(X, y)
    np.testing.assert_array_equal(rows[::2], rows[1::2])
    given = UMAP(random_state=0, n_neighbors=8, metric="precomputed").fit_transform(D, y)
    np.testing.assert_allclose(given, rows, atol=1e-3 * np.abs(rows).max())


def test_sparse_rows_and_sparse_graphs():
    X, y = DIGITS.data[:120], DIGITS.target[:120]
    settings = {"random_state": 0, "max_iter": 30, "n_neighbors": 8}
    expected = UMAP(**settings).fit_transform(X, y)
    found = UMAP(**settings).fit_transform(sparse.csr_array(X), y)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    edges = _affinity.as_graph(nearest(X, 8), 120)
    free, silent, bound = (
        UMAP(metric="precomputed", **settings).fit_transform(edges, target) for target in (None, [None] * 120, y)
    )
    np.testing.assert_array_equal(free, silent)
    assert silhouette_score(bound, y) > silhouette_score(free, y)


# ---- around the fit ---------------------------------------------------------------------------------------------


def test_new_rows_need_no_target():
    X, y = DIGITS.data[:600], DIGITS.target[:600]
    model = UMAP(random_state=0, max_iter=200).fit(X[:450], y[:450])
    np.testing.assert_allclose(model.transform(X[:20]), model.embedding_[:20], atol=1e-5)
    near = KNeighborsClassifier(5).fit(model.embedding_, y[:450])
    assert near.score(model.transform(X[450:]), y[450:]) > 0.85
    steps = make_pipeline(UMAP(random_state=0, max_iter=200), KNeighborsClassifier(5)).fit(X[:450], y[:450])
    np.testing.assert_array_equal(steps.predict(X[450:]), near.predict(model.transform(X[450:])))


def test_saved_with_its_parameters(tmp_path):
    X, y = DIGITS.data[:80], DIGITS.target[:80]
    model = UMAP(target_weight=0.7, max_iter=20).fit(X, y)
    lowdim.save(model, tmp_path / "model")
    again = lowdim.load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.transform(X[:3]), model.transform(X[:3]))


@pytest.mark.parametrize(
    ("settings", "y", "text"),
    [
        ({}, np.zeros(39), r"UMAP: y must hold one label for each of the 40 rows; got shape \(39,\)"),
        ({}, np.zeros((40, 2)), r"UMAP: y must hold one label.*got shape \(40, 2\)\. Several numbers"),
        ({}, 7, r"UMAP: y must hold one label for each of the 40 rows; got shape \(\)"),
        ({}, np.full(40, np.inf), "UMAP: y must hold labels.*infinite"),
        ({"target_metric": "euclidean"}, np.zeros(39), r"a number, or several, for each of the 40 rows; got .*39"),
        ({"target_metric": "euclidean"}, np.full(40, np.inf), "UMAP: y must hold finite numbers, or NaN"),
        ({"target_metric": "euclidean"}, ["a"] * 40, "UMAP: y must hold real numbers"),
        ({"target_metric": "euclidean"}, [1.0, "a"] * 20, "UMAP: y must hold real numbers"),
        ({"target_metric": "euclid"}, np.zeros(40), "UMAP: target_metric must be 'categorical', .*; got 'euclid'"),
        ({"target_metric": "precomputed"}, np.zeros(40), "UMAP: target_metric must be .*; got 'precomputed'"),
        ({"target_metric": 3}, np.zeros(40), "UMAP: target_metric must be a name or a callable; got 3"),
        ({"target_weight": 1.5}, np.zeros(40), "UMAP: target_weight must be a number >= 0 and <= 1; got 1.5"),
        ({"target_n_neighbors": 0}, np.zeros(40), "UMAP: target_n_neighbors must be None or a whole number >= 1"),
        ({"densities": 2.0}, np.zeros(40), "UMAP: densities must be 0 for a fit with y; got 2"),
        ({"target_weight": 0}, np.zeros(39), "UMAP: y must hold one label for each"),
    ],
)
def test_bad_targets(settings, y, text):
    with pytest.raises(ValueError, match=text):
        UMAP(**settings).fit(DIGITS.data[:40], y)


def test_densities_with_a_target_of_no_weight():
    settings = {"densities": 1.0, "max_iter": 20, "random_state": 0}
    X, y = DIGITS.data[:60], DIGITS.target[:60]
    expected = UMAP(**settings).fit_transform(X)
    np.testing.assert_array_equal(UMAP(target_weight=0, **settings).fit_transform(X, y), expected)


def test_more_target_neighbours_than_rows_with_a_target():
    X, y = line(60)
    y[5:] = np.nan
    assert np.isfinite(UMAP(target_metric="euclidean", max_iter=20).fit_transform(X, y)).all()


def test_the_memory_of_the_targets_is_counted():
    assert UMAP(target_metric="euclidean").estimate_memory((1000, 5)) > UMAP().estimate_memory((1000, 5))

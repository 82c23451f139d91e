"""Parameters of a metric (`metric_params`), over all estimators that take a metric."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.spatial import distance
from sklearn.base import clone

import lowdim
from lowdim._core.distances import pairwise, with_params
from lowdim._core.distances.metrics import _SCIPY
from tests.estimators import CASES, case_id

MEASURED = [case for case in CASES if "metric_params" in case.estimator.get_params()]
each = pytest.mark.parametrize("case", MEASURED, ids=case_id)
ROWS = np.random.default_rng(0).standard_normal((40, 4)) * [1.0, 2.0, 0.5, 1.0]
W = np.array([1.0, 0.5, 2.0, 1.5])


def embedded(case, X=ROWS, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.fit_transform(clone(case.estimator).set_params(**given), X)


def test_every_estimator_with_a_metric_takes_its_parameters():
    assert {type(case.estimator).__name__ for case in MEASURED} == {
        type(case.estimator).__name__ for case in CASES if "metric" in case.estimator.get_params()
    }


@each
def test_a_name_with_parameters_is_the_function_with_them(case):
    by_name = embedded(case, metric="minkowski", metric_params={"p": 3, "w": W})
    by_function = embedded(case, metric=distance.minkowski, metric_params={"p": 3, "w": W})
    by_partial = embedded(case, metric=partial(distance.minkowski, p=3, w=W))
    np.testing.assert_array_equal(by_function, by_partial)
    if case.agreement <= 1e-6:  # others amplify the last digit
        np.testing.assert_allclose(by_name, by_function, atol=1e-6 * np.ptp(by_name))
    assert np.abs(by_name - embedded(case)).max() > 1e-3 * np.ptp(by_name)


@each
def test_new_rows_are_measured_with_the_parameters(case, tmp_path):
    model = clone(case.estimator).set_params(metric="minkowski", metric_params={"p": 3.0, "w": W})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.fit(model, ROWS)
        Z = model.transform(ROWS[:5])
        lowdim.save(model, tmp_path / "model.lowdim")
        np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(ROWS[:5]), Z)
    if hasattr(model, "embedding_"):
        spread = np.nanmax(np.abs(model.embedding_))
        np.testing.assert_allclose(Z, model.embedding_[:5], atol=max(case.transform_tolerance, 1e-6) * spread)


def test_powers_with_names_of_their_own():
    assert [with_params("minkowski", {"p": p}, "X") for p in (1, 2, np.inf)] == ["manhattan", "euclidean", "chebyshev"]
    assert with_params("cityblock", None, "X") == "manhattan"


BINARY = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


@pytest.mark.parametrize(
    "name", ["euclidean", "manhattan", "cosine", *(name for name in _SCIPY if name != "jensenshannon")]
)
def test_blocks_with_weights_are_scipys(name):
    X = np.random.default_rng(1).random((10, 4))
    X = np.unique(X > 0.5, axis=0)[1:] if name in BINARY else X  # without the row of zeros
    function = getattr(distance, {"manhattan": "cityblock"}.get(name, name))
    expected = np.array([[function(a, b, w=W) for b in X] for a in X])
    np.fill_diagonal(expected, 0.0)
    found = pairwise(X.astype(float), metric=with_params(name, {"w": W}, "X"))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_fitted_metrics_take_what_they_would_estimate():
    V = ROWS.var(axis=0)
    scaled = pairwise(ROWS / np.sqrt(V))
    np.testing.assert_allclose(pairwise(ROWS, metric=with_params("seuclidean", {"V": V}, "X")), scaled, rtol=1e-9)
    VI = np.linalg.inv(np.cov(ROWS.T))
    white = lowdim.Whitening().fit_transform(ROWS)
    np.testing.assert_allclose(
        pairwise(ROWS, metric=with_params("mahalanobis", {"VI": VI}, "X")), pairwise(white), rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"metric": "minkowski", "metric_params": {"q": 3}}, "metric_params must be among p, w for metric='minkowski'"),
        ({"metric": "euclidean", "metric_params": {"p": 3}}, "must be among w for metric='euclidean'; got 'p'"),
        ({"metric": "precomputed", "metric_params": {"p": 3}}, "must be None for metric='precomputed'; got 'p'"),
        ({"metric": "minkowski", "metric_params": {"p": -1}}, r"metric_params\['p'\] must be positive; got -1"),
        ({"metric": "minkowski", "metric_params": {"p": "3"}}, r"metric_params\['p'\] must be finite numbers; got '3'"),
        ({"metric": "minkowski", "metric_params": {"p": 3, "w": [1, 2]}}, "must suit metric='minkowski' and the 4 col"),
        ({"metric": "minkowski", "metric_params": 3}, "metric_params must be None or a dict; got 3"),
        ({"metric": "mahalanobis"}, "give the inverse covariance, metric_params="),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given, text):
    with pytest.raises(ValueError, match=f"Isomap: .*{text}"):
        lowdim.Isomap(n_neighbors=5, **given).fit(ROWS)


def test_hellinger_is_the_distance_between_roots_of_shares():
    X = np.random.default_rng(2).random((8, 5)) * np.arange(1, 9)[:, None]  # rows of any sum
    P = X / X.sum(axis=1, keepdims=True)
    expected = np.sqrt(np.maximum(1 - np.sqrt(P) @ np.sqrt(P).T, 0))
    np.testing.assert_allclose(pairwise(X, metric="hellinger"), expected, atol=1e-7)
    np.testing.assert_allclose(pairwise(X[:2], X, metric="hellinger"), expected[:2], atol=1e-7)
    np.testing.assert_allclose(pairwise(np.eye(3), metric="hellinger"), 1 - np.eye(3), atol=1e-15)
    with pytest.raises(ValueError, match="must get shares that are not negative"):
        lowdim.UMAP(metric="hellinger").fit(-X)
    with pytest.raises(ValueError, match="metric_params must be None"):
        with_params("hellinger", {"w": [1, 2]}, "X")

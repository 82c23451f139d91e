"""Every metric by name in every method that takes one, dense and sparse: the map is that of the distances."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import lowdim
from lowdim._core.distances import pairwise
from tests.estimators import CASES
from tests.test_metrics import INSIDE

RNG = np.random.default_rng(5)
COUNTS = RNG.poisson(RNG.gamma(2.0, size=(3, 8))[np.arange(36) % 3] * 2, (36, 8)) + np.eye(36, 8)
PRESENT = (RNG.random((36, 40)) < 0.2 + 0.5 * RNG.random((3, 40))[np.arange(36) % 3]).astype(float)
PLACES = RNG.uniform([-1.2, -3.0], [1.2, 3.0], (36, 2))
REAL = ("cosine", "manhattan", "chebyshev", "canberra", "minkowski", "sqeuclidean")
METRICS = (*REAL, *INSIDE, "hamming", "tanimoto")
SPARSE = (
    *("cosine", "manhattan", "hellinger", "braycurtis", "ruzicka", "jaccard", "dice", "rogerstanimoto", "hamming"),
    *("canberra", "chebyshev", "correlation", "jensenshannon"),
)

MEASURED = [case for case in CASES if "metric" in case.estimator.get_params()]
OF_SPARSE = [case for case in MEASURED if case.estimator.__sklearn_tags__().input_tags.sparse]
# Each method is tried with some of the metrics, another choice for each; all of them with all when there is time.
EVERY = [
    pytest.param(case, metric, id=f"{case.name}-{metric}", marks=() if (i + j) % 9 == 0 else pytest.mark.deep)
    for i, case in enumerate(MEASURED)
    for j, metric in enumerate(METRICS)
]
EVERY_SPARSE = [
    pytest.param(case, metric, id=f"{case.name}-{metric}", marks=() if (i + j) % 7 == 0 else pytest.mark.deep)
    for i, case in enumerate(OF_SPARSE)
    for j, metric in enumerate(SPARSE)
]


def rows_for(metric):
    """Rows in the domain of the metric."""
    if metric == "haversine":
        return PLACES
    binary = metric in ("tanimoto", "hamming") or INSIDE.get(metric, COUNTS).dtype == bool
    return PRESENT if binary else COUNTS


def fitted(case, metric, X):
    model = clone(case.estimator).set_params(metric=metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.fit(model, X)


def places(model):
    """Distances in the map, over its extent; NaN where rows were left out."""
    D = pairwise(np.nan_to_num(np.asarray(model.embedding_, dtype=float)))
    return D / max(D.max(), 1e-300)


@pytest.mark.parametrize(("case", "metric"), EVERY)
def test_a_metric_by_name_is_the_metric(case, metric):
    """New rows that are fitted ones have their places, and the map is finite and has an extent."""
    X = rows_for(metric)
    model = fitted(case, metric, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = model.transform(X[:6])
    kept = np.isfinite(model.embedding_).all(axis=1)
    assert kept.mean() > 0.5
    spread = np.abs(model.embedding_[kept]).max()
    assert spread > 0
    if metric != "russellrao":  # a row is not at distance 0 from itself
        near = np.abs(Z - model.embedding_[:6])[kept[:6]].max()
        assert near <= max(case.transform_tolerance, 1e-6) * spread
    assert 0.3 < lowdim.quality.trustworthiness(X, np.nan_to_num(model.embedding_), n_neighbors=5, metric=metric) <= 1


@pytest.mark.parametrize(("case", "metric"), EVERY_SPARSE)
def test_sparse_rows_have_the_map_of_dense_ones(case, metric):
    X = rows_for(metric)
    dense, rows = fitted(case, metric, X), fitted(case, metric, sparse.csr_array(X))
    if case.agreement <= 1e-6 and case.transform_tolerance <= 1e-6:  # others amplify the last digit
        np.testing.assert_allclose(places(rows), places(dense), atol=1e-5)
    assert np.isfinite(places(rows)).all()
    named = {"n_neighbors": 5, "metric": metric}
    found = [lowdim.quality.trustworthiness(table, dense.embedding_, **named) for table in (X, sparse.csr_array(X))]
    assert found[0] == pytest.approx(found[1], abs=0.02)

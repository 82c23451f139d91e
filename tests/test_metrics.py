"""What a metric may be, over all estimators that take one: its domain, functions of the user, maps that say nothing."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics.pairwise import haversine_distances

import lowdim
from lowdim import quality, select, trust
from lowdim._core.distances import check_metric, pairwise
from lowdim._core.distances.domains import DOMAINS
from lowdim._core.distances.metrics import _SCIPY
from tests import odd_inputs as odd
from tests.estimators import CASES, case_id

MEASURED = [case for case in CASES if "metric" in case.estimator.get_params()]
each = pytest.mark.parametrize("case", MEASURED, ids=case_id)
BITS = np.random.default_rng(0).random((30, 6)) > 0.5


def with_metric(case, metric):
    return clone(case.estimator).set_params(metric=metric)


# ---- domains ------------------------------------------------------------------------------------------------

INSIDE = {
    **dict.fromkeys(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), BITS),
    "braycurtis": np.abs(odd.plain()),
    "ruzicka": np.abs(odd.plain()),
    "jensenshannon": np.abs(odd.plain()),
    "hellinger": np.abs(odd.plain()),
    "correlation": odd.plain(),
    "haversine": np.clip(odd.plain()[:, :2], -1.5, 1.5),
}
CONSTANT = np.vstack([odd.plain(), np.full((1, 4), 2.0)])
OUTSIDE = {**{name: odd.plain() for name in INSIDE}, "correlation": CONSTANT}


def hellinger(X):
    """By its definition: half the squared distance of the square roots of shares."""
    shares = X / X.sum(axis=1, keepdims=True)
    return np.sqrt(0.5 * ((np.sqrt(shares)[:, None] - np.sqrt(shares)[None]) ** 2).sum(axis=2))


def ruzicka(X):
    """By its definition: what two rows share, over what either has."""
    pairs = X[:, None], X[None]
    return 1 - np.minimum(*pairs).sum(axis=2) / np.maximum(*pairs).sum(axis=2)


OURS = {"hellinger": hellinger, "ruzicka": ruzicka, "haversine": haversine_distances}


def test_every_name_has_a_domain_that_its_formula_needs():
    """Within the domain no metric is negative, NaN or asymmetric; the table lists exactly those that need one."""
    real = np.vstack([odd.plain(), np.zeros((2, 4)), np.full((2, 4), 2.0)])
    for name in _SCIPY:
        D = cdist(real, real, name) if name not in INSIDE else pairwise(INSIDE[name], None, name)
        assert (D >= 0).all(), name
        np.testing.assert_allclose(D, D.T, atol=1e-12)
    assert INSIDE.keys() == DOMAINS.keys()


@pytest.mark.parametrize("name", INSIDE)
def test_rows_outside_the_domain_are_refused_by_name(name):
    inside = INSIDE[name].astype(float)
    D = pairwise(inside, inside.copy(), name)
    wanted = OURS[name](inside) if name in OURS else cdist(INSIDE[name], INSIDE[name], name)
    np.testing.assert_allclose(D, wanted, atol=1e-15)
    for call in (
        lambda X: lowdim.dissimilarities(X, metric=name),
        lambda X: lowdim.quality.stress(X, X[:, :2], metric=name),
        lambda X: lowdim.select.n_dimensions(X, metric=name),
        lambda X: (
            lowdim.MDS(metric=name, random_state=0).fit(inside).transform(X[:, [0, 1, 2, 3, 0, 1][: inside.shape[1]]])
        ),
    ):
        with pytest.raises(ValueError, match=rf"\w+: metric='{name}' must get "):
            call(OUTSIDE[name])


@each
def test_estimators_refuse_rows_outside_the_domain(case):
    for name, rows in OUTSIDE.items():
        with pytest.raises(ValueError, match=f"{case.name}: metric='{name}' must get "):
            with_metric(case, name).fit(rows)
    with pytest.raises(ValueError, match=f"{case.name}: metric must be a function of two rows or one of"):
        with_metric(case, "no such metric").fit(odd.plain())


@each
def test_missing_cells_are_not_taken_for_cells_outside_the_domain(case):
    """What is to be done about them is said in their own words, whatever the metric and the policy."""
    policies = ["error", *(lowdim.LandmarkMDS._hole_policies if "missing" in case.estimator.get_params() else ())]
    for name in (*_SCIPY, "hellinger"):
        X = INSIDE.get(name, odd.plain()).astype(float)
        X[3, 1] = np.nan
        for policy in policies if name != "minkowski" else ["error"]:  # of power 2 it is euclidean
            model = with_metric(case, name)
            wanted = "X has 1 missing values" if policy == "error" else f"missing='{policy}' must go with metric='eucl"
            with pytest.raises(ValueError, match=f"{case.name}: {wanted}") as error:
                (model if len(policies) == 1 else model.set_params(missing=policy)).fit(X)
            assert "lowdim.impute(X)" in str(error.value)
            leads_out = policy == "error" and name == "minkowski" and len(policies) > 1
            assert ("Use missing=" in str(error.value)) == leads_out


def test_equal_rows_are_at_zero_where_a_formula_divides_by_zero():
    rows = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    for name in (*(n for n, d in DOMAINS.items() if d is DOMAINS["dice"]), "braycurtis"):
        D = pairwise(rows, rows.copy(), name)
        assert np.isfinite(D).all()
        assert (D[:2, :2] == 0).all()


# ---- functions of the user ----------------------------------------------------------------------------------


def dice(a, b):
    """Has the name of a metric of scipy."""
    return np.abs(a - b).sum()


def negative(a, b):
    return -np.abs(a - b).sum()


def one_way(a, b):
    return max(0.0, float((a - b).sum()))


def likeness(a, b):
    return float(np.exp(-np.square(a - b).sum()))


def word(a, b):
    return "far"


def undefined(a, b):
    return np.nan


FAULTS = {
    negative: "must not be negative",
    one_way: "must be the same in both directions",
    likeness: "must give 0 for a row and itself",
    word: "must give a number for two rows",
    undefined: r"the function 'undefined' must be defined for every pair of rows; got nan for rows \d+ and \d+",
}


@pytest.mark.parametrize("name", _SCIPY)
def test_a_function_is_used_whatever_its_name(name):
    def own(a, b):
        return np.abs(a - b).sum()

    own.__name__ = name
    np.testing.assert_allclose(pairwise(odd.plain(), None, own), pairwise(odd.plain(), None, "manhattan"), rtol=1e-12)
    assert check_metric(own, "PCA") is own


def maps():
    X = odd.plain(30)
    return X, X[:, :2].copy()


# Functions that take a metric, and what they begin their errors with.
TAKING = {
    "NeighborGraph": lambda f: lowdim.NeighborGraph(5, metric=f).fit(maps()[0]),
    "knn_error": lambda f: quality.knn_error(maps()[1], np.arange(30) % 2, metric=f),
    "scores": lambda f: quality.scores(*maps(), metric=f),
    "trustworthiness": lambda f: quality.trustworthiness(*maps(), metric=f),
    "stress": lambda f: quality.stress(*maps(), metric=f),
    "trust.rows": lambda f: trust.rows(*maps(), metric=f),
    "trust.groups": lambda f: trust.groups(*maps(), np.arange(30) % 2, metric=f),
    "select.n_neighbors": lambda f: select.n_neighbors(maps()[0], method="isomap", metric=f),
    "n_dimensions": lambda f: select.n_dimensions(maps()[0], metric=f),
    "intrinsic_dimension": lambda f: select.intrinsic_dimension(maps()[0], metric=f),
}


@pytest.mark.parametrize("owner", TAKING)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_functions_refuse_what_is_no_metric(owner):
    for fault, text in FAULTS.items():
        with pytest.raises((ValueError, TypeError), match=f"^{owner}: .*{text}"):
            TAKING[owner](fault)


def test_a_table_of_dissimilarities_is_the_same_in_both_directions():
    with pytest.raises(ValueError, match=r"same in both directions.*symmetrize="):
        lowdim.dissimilarities(list(odd.plain()), metric=one_way)
    assert lowdim.dissimilarities(list(odd.plain()), metric=one_way, symmetrize="mean").shape == (30, 30)


@each
def test_functions_that_are_no_metrics_are_refused(case):
    if case.name != "MVU":  # its low-rank search is at the mercy of rounding
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, known = (with_metric(case, m).fit_transform(odd.plain()) for m in (dice, "manhattan"))
        np.testing.assert_allclose(pairwise(ours), pairwise(known), atol=1e-3 * np.ptp(known))
    for function, fault in FAULTS.items():
        with pytest.raises((ValueError, TypeError), match=f"{case.name}: metric {fault}"):
            with_metric(case, function).fit(odd.plain())


# ---- maps that say nothing ----------------------------------------------------------------------------------


def heard(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit()
        except ValueError as error:
            return [str(error)]
    return [str(warning.message) for warning in caught]


@each
def test_equal_distances_are_reported(case):
    """A simplex has no structure: named metrics, functions and tables of distances alike."""
    for metric, rows in (
        ("euclidean", np.eye(20)),
        ("hamming", odd.plain()),
        ("precomputed", 1.0 - np.eye(20)),
        (lambda a, b: float((a != b).any()), odd.plain()),
    ):
        told = heard(lambda m=metric, X=rows: with_metric(case, m).fit(X))
        if metric == "precomputed" and case.name == "LLE":  # it needs the rows
            continue
        assert any(f"{case.name}: all distances between rows are equal" in text for text in told), metric
    told = heard(lambda: clone(case.estimator).fit(odd.plain()))
    assert not any("all distances" in text or "one place" in text for text in told)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_one_place_is_reported_by_every_method(case):
    X = np.full((20, 4), 3.0)
    y = () if case.target is None else (case.target(odd.plain(20)),)
    told = heard(lambda: clone(case.estimator).fit(X, *y))
    assert told, "all rows are equal, and nothing was said"
    if case.keeps_embedding and not told[0].startswith(f"{case.name}: X must"):
        assert all(text.startswith(f"{case.name}:") for text in told)

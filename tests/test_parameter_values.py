"""Values of parameters, over all estimators and functions: numpy's numbers, absurd sizes."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.params import plain
from tests import odd_inputs as odd
from tests.estimators import CASES, case_id

each = pytest.mark.parametrize("case", CASES, ids=case_id)
SMALL = {int: (np.uint8, np.int8, np.int64), float: (np.float32,), bool: (np.bool_,), str: (np.str_,)}


def test_plain_values():
    assert plain(np.uint8(200)) * 2 == 400
    for value in (np.int8(3), np.float32(0.5), np.bool_(True), np.str_("a")):
        assert type(plain(value)) in SMALL
        assert plain(value) == value
    assert plain([np.uint8(2), (np.float32(0.5), "a")]) == [2, (0.5, "a")]
    for kept in ([1, 2], (3,), None, np.arange(3), "a", {}, np.array(["a"], dtype=object)):
        assert plain(kept) is kept


def in_numpy(value, pick):
    kind = SMALL.get(type(value))
    if kind is None or (type(value) is int and abs(value) > 127):
        return value
    return kind[pick % len(kind)](value)


@each
def test_numbers_of_numpy_are_numbers(case):
    """`np.uint8(2)` is 2: in the fit, and in the estimate of its memory, where its products would overflow."""
    given = case.estimator.get_params()
    strange = clone(case.estimator)
    for i, (name, value) in enumerate(given.items()):
        setattr(strange, name, in_numpy(value, i % 2 * 2))
    assert strange.estimate_memory((3000, 50)) == clone(case.estimator).estimate_memory((3000, 50))
    assert {name: type(value) for name, value in strange.get_params().items()} == {
        name: type(value) for name, value in given.items()
    }
    exact = clone(case.estimator).set_params(
        **{name: np.uint8(value) for name, value in given.items() if type(value) is int and 0 <= value < 128}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = (case.fit(model, odd.plain()).transform(odd.plain()) for model in (clone(case.estimator), exact))
    np.testing.assert_array_equal(a, b)
    assert clone(exact).get_params() == exact.get_params()


def test_functions_take_numbers_of_numpy():
    X, Z, two = odd.plain(), odd.plain()[:, :2].copy(), np.uint8(2)
    for call in (
        lambda k: lowdim.quality.trustworthiness(X, Z, k),
        lambda k: lowdim.quality.scores(X, Z, n_neighbors=k)["trustworthiness"],
        lambda k: lowdim.quality.knn_error(X, np.arange(30) % 2, k),
        lambda k: lowdim.select.n_dimensions(X, n_components=k, metric="euclidean").goodness_of_fit.sum(),
        lambda k: lowdim.low_rank(X, k).error,
        lambda k: lowdim.impute(np.where(X > 11, np.nan, X), k, n_components=k, random_state=0).mean.sum(),
        lambda k: lowdim.datasets.swiss_roll(30 * k, random_state=k).X.sum(),
    ):
        assert float(call(two)) == float(call(2))


@each
def test_absurd_sizes_are_refused_or_cut_before_memory_is_taken(case):
    given = case.estimator.get_params()
    for name in ("n_components", "n_neighbors", "n_landmarks"):
        if name in given:
            said = odd.outcome(lambda n=name: fitted(case, {n: 10**9}), (case.name,))
            assert said == "", name
    assert odd.outcome(lambda: fitted(case, {"n_jobs": 2**40}), (case.name,)) == ""
    assert odd.outcome(lambda: fitted(case, {"n_jobs": -(2**40)}), (case.name,)) == ""
    with pytest.raises(ValueError, match=f"{case.name}: n_jobs must be"):
        fitted(case, {"n_jobs": "many"})


def fitted(case, settings):
    return case.fit(clone(case.estimator).set_params(**settings), odd.plain()).transform(odd.plain())

"""One method among others."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import decomposition, manifold
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim.study.data import Data
from lowdim.study.json_values import plain
from lowdim.study.method_list import Entry, class_name, requested_methods
from lowdim.study.running import run
from lowdim.study.running.baselines import RandomEmbedding
from lowdim.study.settings import Settings

COMMON = Settings(2, 20, seed=3, n_jobs=1)


class Custom(BaseEstimator):
    """Does what its parameter says."""

    def __init__(self, act=None, random_state=None):
        self.act = act
        self.random_state = random_state

    def fit_transform(self, X, y=None):
        return self.act(X)


def outcome(act, X):
    return run(Entry("custom", Custom(act)), Data(X))


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 3))


def test_order_and_names_are_those_given():
    wanted = ["isomap", ("mine", decomposition.PCA(2)), decomposition.PCA(2), decomposition.PCA(3), "pca"]
    assert [e.name for e in requested_methods(wanted, COMMON)] == ["isomap", "mine", "pca-2", "pca-3", "pca"]
    assert [e.name for e in requested_methods("pca", COMMON)] == ["pca"]
    assert [e.baseline for e in requested_methods(["pca", decomposition.PCA(2)], COMMON)] == [True, False]


def test_plain_pca_is_the_baseline_however_it_is_given():
    wanted = [lowdim.PCA(2), ("mine", lowdim.PCA(3, random_state=4)), lowdim.PCA(2, solver="lapack"), lowdim.Isomap()]
    assert [e.baseline for e in requested_methods(wanted, COMMON)] == [True, True, False, False]


def test_seed_goes_to_named_methods_and_to_estimators_that_left_theirs_open():
    named, opened, chosen = requested_methods(
        ["isomap", ("a", manifold.TSNE()), ("b", manifold.TSNE(random_state=8))], COMMON
    )
    assert (named.estimator.random_state, opened.estimator.random_state, chosen.estimator.random_state) == (
        3,
        3,
        8,
    )


def test_what_an_estimator_says_itself_is_kept():
    zero, pipe = requested_methods(
        [("zero", manifold.TSNE(random_state=0)), make_pipeline(decomposition.PCA(2))], COMMON
    )
    assert zero.estimator.random_state == 0
    assert pipe.estimator.verbose is False
    quiet, loud, pipe = requested_methods(
        [("q", manifold.TSNE()), ("l", manifold.TSNE(verbose=3)), make_pipeline(decomposition.PCA(2))],
        replace(COMMON, verbose=2),
    )
    assert (quiet.estimator.verbose, loud.estimator.verbose, pipe.estimator.verbose) == (2, 3, True)


def test_anything_with_fit_transform_runs(X):
    class Bare:
        def fit_transform(self, X, y=None):
            self.fitted = True
            return X[:, :2]

    class Stiff(Bare):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def get_params(self, deep=True):
            return {"random_state": self.random_state}

    mine = Bare()
    bare, stiff = (run(entry, Data(X)) for entry in requested_methods([mine, Stiff()], COMMON))
    assert bare.name == "bare"
    assert bare.error is stiff.error is None
    assert not hasattr(mine, "fitted")


def test_estimators_that_cannot_be_prepared_fail_in_their_place(X):
    class Odd(BaseEstimator):
        def __init__(self, width=2):
            self.width = width + 1

        def fit_transform(self, X, y=None):
            return X[:, :2]

    (odd,) = (run(entry, Data(X)) for entry in requested_methods([Odd()], COMMON))
    assert "Cannot clone" in odd.error


def test_leaving_the_program_is_a_failure_of_the_method(X):
    def leave(X):
        raise SystemExit(3)

    assert outcome(leave, X).error == "SystemExit: 3"


def test_estimators_are_cloned(X):
    mine = decomposition.PCA(2)
    run(requested_methods([mine], COMMON)[0], Data(X))
    assert mine.random_state is None
    assert not hasattr(mine, "components_")


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ([], ValueError, "at least one method; got an empty list"),
        (["pca", "pca"], ValueError, "'pca' is given 2 times"),
        ([("a", decomposition.PCA()), ("a", decomposition.PCA())], ValueError, "must be different"),
        ([decomposition.PCA], TypeError, "names, estimators with fit_transform"),
        ([3], TypeError, r"\(name, estimator\) pairs, or a dictionary .*; got 3"),
        (["pcaa"], ValueError, "Did you mean 'pca'"),
    ],
)
def test_wrong_methods(wanted, error, message):
    with pytest.raises(error, match=message):
        requested_methods(wanted, COMMON)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (manifold.TSNE(), "tsne"),
        (manifold.LocallyLinearEmbedding(), "locally-linear-embedding"),
        (lowdim.ClassicalMDS(), "classical-mds"),
        (make_pipeline(decomposition.PCA()), "pipeline"),
    ],
)
def test_class_names(estimator, name):
    assert class_name(estimator) == name


def test_failure_is_kept_and_does_not_escape(X):
    def fail(X):
        raise RuntimeError("no luck")

    failed = outcome(fail, X)
    assert failed.error == "RuntimeError: no luck"
    assert failed.embedding is None
    assert failed.embedded is None
    assert failed.seconds >= 0


def test_ctrl_c_goes_through(X):
    def stop(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcome(stop, X)


def test_warnings_are_kept_each_once(X):
    def warn(X):
        for _ in range(3):
            warnings.warn("careful", UserWarning, stacklevel=2)
        warnings.warn("overflow", RuntimeWarning, stacklevel=2)
        return X[:, :2]

    assert outcome(warn, X).warnings == ("careful (3 times)", "RuntimeWarning: overflow")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda X: X[:5], r"one row for each of the 20 rows; got shape \(5, 3\)"),
        (lambda X: X[:, 0], "one row for each"),
        (lambda X: X[:, :0], "one row for each"),
        (lambda X: X * np.nan, "must embed at least 3 rows; 0 of 20 have no NaN"),
        (lambda X: X / 0.0, "infinite values"),
        (lambda X: X + 1j, "real numbers; got dtype complex128"),
    ],
)
def test_results_that_are_no_embedding(X, act, message):
    import re

    with np.errstate(all="ignore"):
        assert re.search(message, outcome(act, X).error)


def test_rows_left_out_are_marked(X):
    Z = X[:, :2].copy()
    Z[3] = np.nan
    assert np.flatnonzero(~outcome(lambda X: Z, X).embedded).tolist() == [3]


def test_random_embedding_is_its_seed_and_not_the_data_of_that_seed():
    X = np.random.default_rng(0).standard_normal((50, 2))
    first, again = (RandomEmbedding(2, 0).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert abs(np.corrcoef(X[:, 0], first[:, 0])[0, 1]) < 0.5
    assert not np.array_equal(first, RandomEmbedding(2, 1).fit_transform(X))


def test_plain_values_are_json():
    values = {
        "a": np.float64(1.5), "b": np.int32(2), "c": np.bool_(True), "d": float("nan"), "e": np.inf, "f": None,
        "g": np.arange(3), "h": np.zeros(1000), "i": (1, "x"), "j": print, "k": {1: np.float32(0.5)},
    }  # fmt: skip
    assert json.loads(json.dumps(plain(values), allow_nan=False)) == {
        "a": 1.5, "b": 2, "c": True, "d": None, "e": None, "f": None,
        "g": [0, 1, 2], "h": "array of shape (1000,)", "i": [1, "x"], "j": repr(print), "k": {"1": 0.5},
    }  # fmt: skip

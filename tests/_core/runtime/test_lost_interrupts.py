"""Where Python drops an exception: Ctrl-C that comes there would be lost, and the fit would go on."""

import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.runtime import background, blas
from tests.estimators import CASES, Case, case_id

X = np.random.default_rng(0).standard_normal((700, 4))
HOLES = np.where(X > 2, np.nan, X)
FEW = ("PCA", "FactorAnalysis", "MDS", "Isomap", "TSNE", "GPLVM")


class Finalisers:
    """Counts the calls of finalisers and of callbacks of weak references in this thread, which is the main one."""

    def __enter__(self):
        self.calls = Counter()
        sys.setprofile(self.count)
        return self.calls

    def __exit__(self, *_):
        sys.setprofile(None)

    def count(self, frame, event, _):
        code = frame.f_code
        if event == "call" and (
            code.co_name == "__del__" or (code.co_name == "_remove" and "weak" in code.co_filename)
        ):
            self.calls[f"{code.co_qualname} of {code.co_filename}"] += 1


def finalisers_of(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()  # modules are imported, caches are filled
        with Finalisers() as calls:
            call()
    return dict(calls)


def fit(case: Case):
    model = clone(case.estimator)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=2)  # threads, whatever the machine has
    case.fit(model, X).transform(X[:300])


def test_finalisers_are_counted():
    class Dropped:
        def __del__(self):
            pass

    assert len(finalisers_of(lambda: Dropped())) == 1


@pytest.mark.parametrize("case", [case for case in CASES if case.name in FEW], ids=case_id)
def test_a_fit_runs_nothing_where_ctrl_c_would_be_lost(case):
    assert finalisers_of(lambda: fit(case)) == {}


@pytest.mark.deep
@pytest.mark.parametrize("case", [case for case in CASES if case.name not in FEW], ids=case_id)
def test_no_fit_runs_anything_where_ctrl_c_would_be_lost(case):
    assert finalisers_of(lambda: fit(case)) == {}


CALLS = {
    "scores": lambda: lowdim.quality.scores(X, X[:, :2], n_jobs=2),
    "impute": lambda: lowdim.impute(HOLES, 2, method="regularized", n_components=1, random_state=0, n_jobs=2),
    "trust.rows": lambda: lowdim.trust.rows(X, X[:, :2], n_null=2, random_state=0, n_jobs=2),
    "intrinsic_dimension": lambda: lowdim.select.intrinsic_dimension(X, n_jobs=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_runs_nothing_where_ctrl_c_would_be_lost(name):
    assert finalisers_of(CALLS[name]) == {}


def test_threads_that_have_ended_keep_no_arrays():
    """They are dropped in the next thread; what they worked on is free before."""
    held = np.zeros(10)
    before = sys.getrefcount(held)
    assert background.aside(lambda: held.sum()) == 0
    assert background._Helper.ended  # else there is nothing to hold it
    assert sys.getrefcount(held) == before


def test_a_block_that_was_left_is_used_again():
    with blas.single_blas():
        inside = dict(blas._open)
    with blas.single_blas():
        assert blas._open == inside
    assert blas._open == {}

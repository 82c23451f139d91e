"""Gaps that maps by t-SNE and UMAP draw: the numbers of `trust.fractures`, also of maps kept from an earlier run."""

import base64
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim.study.columns import Wishes
from lowdim.study.data import data_of
from lowdim.study.running.one_method import Outcome
from lowdim.study.verdict.evidence import Attempts, Case
from lowdim.study.verdict.gaps import NO_LOSS, gaps

QUICK = {"tsne": {"max_iter": 60, "perplexity": 8}}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(25, 4)), rng.normal(6, 1, size=(25, 4))])


@pytest.fixture(scope="module")
def c(X):
    return lowdim.compare(X, None, ["tsne", "pca"], parameters=QUICK, fractures=True, random_state=0, n_jobs=1)


@pytest.fixture(scope="module")
def case(X, c):
    return Case(list(c.outcomes), c.scored, data_of(X, Wishes(), False), None, c.reference, {}, None, 0, n_jobs=1)


def test_the_numbers_are_those_of_trust_fractures(c, X):
    found = lowdim.trust.fractures(c.models["tsne"], X, n_jobs=1)
    assert list(c.evidence.gaps) == ["tsne"]
    np.testing.assert_array_equal(c.evidence.gaps["tsne"].overconfidence, found.overconfidence)
    (said,) = c.verdict.about("gaps")
    assert said.numbers["stand_out"] == int(found.overconfident.sum())
    assert said.evidence == "evidence-gaps"


def test_rows_are_coloured_by_both_and_those_that_nothing_holds_most(c):
    from lowdim.report.column_views import verdict_columns

    loose = replace(c.evidence.gaps["tsne"], fracture=np.r_[np.inf, np.linspace(1, 2, 49)])
    found = replace(c, evidence=replace(c.evidence, gaps={"tsne": loose}))
    columns = {column["name"]: column["values"] for column in verdict_columns(found, np.arange(50))}
    values = np.frombuffer(base64.b64decode(columns["fracture: tsne"]), np.float32)
    assert values[0] == values[-1] == 2
    assert "jumps when moved: tsne" in columns


def test_a_map_kept_from_an_earlier_run_is_made_again(case, c):
    outcome = next(o for o in c.outcomes if o.name == "tsne")
    kept = replace(outcome, estimator=clone(outcome.estimator))
    attempt = Attempts({})
    found = gaps(replace(case, outcomes=[kept]), {"tsne": kept.embedding}, attempt)
    np.testing.assert_array_equal(found["tsne"].fracture, c.evidence.gaps["tsne"].fracture)
    other = kept.embedding + 1
    assert gaps(replace(case, outcomes=[kept]), {"tsne": other}, attempt) == {}
    assert "made again it is another one" in attempt.skipped["gaps of tsne"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"in_this_process": False}, "under limits"), ({"targets": {"tsne": "classes"}}, "made with labels")],
)
def test_maps_that_are_not_looked_into_are_named(case, c, changes, reason):
    attempt = Attempts({})
    assert gaps(replace(case, **changes), c.embeddings, attempt) == {}
    assert reason in attempt.skipped["gaps of tsne"]


def test_without_such_a_map_it_is_said(case, c):
    attempt = Attempts({})
    pca = Outcome("pca", True, lowdim.PCA(2), {}, 0.0, c.embeddings["pca"])
    assert gaps(replace(case, outcomes=[pca]), {"pca": pca.embedding}, attempt) == {}
    assert attempt.skipped == {"gaps": NO_LOSS}

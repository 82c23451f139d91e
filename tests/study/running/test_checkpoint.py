"""Maps that an earlier run finished are used again, for the same data and settings only."""

import importlib

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowdim


class Counted(BaseEstimator):
    """Counts its fits."""

    fits = 0

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit_transform(self, X, y=None):
        type(self).fits += 1
        return self.factor * np.asarray(X)[:, :2]


class Stops(BaseEstimator):
    """Is interrupted by Ctrl-C."""

    def __init__(self, key=True):
        self.key = key

    def fit_transform(self, X, y=None):
        raise KeyboardInterrupt


@pytest.fixture
def X(rng):
    Counted.fits = 0
    return rng.normal(size=(40, 4))


def test_a_second_run_finds_the_maps_of_the_first(X, tmp_path):
    first = lowdim.compare(X, methods=[Counted()], checkpoint=tmp_path, verdict=False)
    again = lowdim.compare(X, methods=[Counted()], checkpoint=tmp_path, verdict=False)
    assert Counted.fits == 1
    assert first.table[0]["seconds"] == again.table[0]["seconds"]
    for name, Z in first.embeddings.items():
        np.testing.assert_array_equal(Z, again.embeddings[name])
    assert first.scores == again.scores
    assert [[o.reused for o in c.outcomes] for c in (first, again)] == [[False] * 3, [True] * 3]


def test_maps_of_an_earlier_run_are_told_apart(X, tmp_path, capsys):
    lowdim.compare(X, methods=["pca"], checkpoint=tmp_path, verdict=False)
    capsys.readouterr()
    c = lowdim.compare(X, methods=["pca", Counted()], checkpoint=tmp_path, verdict=False, verbose=True)
    steps = capsys.readouterr().err.splitlines()
    assert "compare: pca: finished by an earlier run" in steps
    assert "compare: counted" in steps
    assert {o.name for o in c.outcomes if o.reused} == {"pca", "random"}


@pytest.mark.parametrize("change", ["data", "parameters", "name"])
def test_another_run_finds_nothing(X, tmp_path, change):
    lowdim.compare(X, methods=[("it", Counted())], checkpoint=tmp_path, verdict=False)
    other = X + (1e-12 if change == "data" else 0.0)
    method = ("other" if change == "name" else "it", Counted(2.0 if change == "parameters" else 1.0))
    lowdim.compare(other, methods=[method], checkpoint=tmp_path, verdict=False)
    assert Counted.fits == 2


def test_labels_count_only_where_a_method_sees_them(X, tmp_path):
    y = np.arange(40) % 3
    lowdim.compare(X, y, methods=["pca", "lda"], checkpoint=tmp_path)
    before = sorted(path.name for path in tmp_path.glob("*.json"))
    lowdim.compare(X, y[::-1], methods=["pca", "lda"], checkpoint=tmp_path)
    assert len({path.name for path in tmp_path.glob("*.json")} - set(before)) == 1


def test_a_damaged_file_is_made_again(X, tmp_path):
    lowdim.compare(X, methods=[Counted()], checkpoint=tmp_path, verdict=False)
    for path in tmp_path.glob("*.npy"):
        path.write_bytes(b"\x93NUMPY broken")
    c = lowdim.compare(X, methods=[Counted()], checkpoint=tmp_path, verdict=False)
    assert Counted.fits == 2
    assert not c.failures


def test_an_interrupted_run_goes_on_where_it_was(X, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        lowdim.compare(X, methods=[Counted(), Stops()], checkpoint=tmp_path, verdict=False)
    c = lowdim.compare(X, methods=[Counted(), "pca"], checkpoint=tmp_path, verdict=False)
    assert Counted.fits == 1
    assert list(c.embeddings) == ["counted", "pca", "random"]


def test_finished_maps_can_be_scored_after_ctrl_c(X):
    c = lowdim.compare(X, methods=[Counted(), Stops(), "isomap"], on_interrupt="score")
    assert list(c.embeddings) == ["counted", "pca", "random"]
    assert set(c.failures) == {"stops", "isomap"}
    assert all("stopped by the user" in text for text in c.failures.values())
    assert c.scores["counted"]["auc"] > 0


def test_scores_are_kept_after_ctrl_c_during_the_verdict(X, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("lowdim.study.verdict.evidence"), "rank_all", stop)
    c = lowdim.compare(X, methods=["pca"], on_interrupt="score")
    assert c.scores["pca"]["auc"] > 0
    assert "the verdict was stopped by the user before it was finished" in c.notes
    assert (c.evidence, c.verdict.sentences) == (None, ())
    with pytest.raises(KeyboardInterrupt):
        lowdim.compare(X, methods=["pca"])


def test_a_wrong_choice(X):
    with pytest.raises(ValueError, match='on_interrupt must be "raise" or "score"'):
        lowdim.compare(X, on_interrupt="ignore")

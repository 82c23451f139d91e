"""`partial_fit`: batch after batch, the numbers of one fit to all of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lowdim

ROWS = np.random.default_rng(3).normal(size=(90, 4)) @ np.random.default_rng(4).normal(size=(4, 4)) + 1e3
LABELS = np.argsort(np.argsort(ROWS[:, 0])) * 3 // 90
OTHERS = np.tanh(ROWS[:, :2] - 1e3) + ROWS[:, 2:]
BESIDE = {"LDA": (LABELS,), "CCA": (OTHERS,)}
MODELS = [lowdim.PCA(2), lowdim.PCA(2, scale=True), lowdim.PCA(0.9), lowdim.Whitening(2), lowdim.LDA(2), lowdim.CCA(2)]


def beside(model):
    return BESIDE.get(type(model).__name__, ())


@pytest.mark.parametrize("sizes", [(90,), (30, 60), (1,) * 90, (5, 1, 84)], ids=lambda sizes: f"{len(sizes)} batches")
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.filterwarnings("ignore")  # the first batches have few rows
def test_batches_are_one_fit(model, sizes):
    wanted, found = clone(model).fit(ROWS, *beside(model)), clone(model)
    ends = np.cumsum(sizes)
    for stop, size in zip(ends, sizes, strict=True):
        batch = slice(stop - size, stop)
        assert found.partial_fit(ROWS[batch], *(y[batch] for y in beside(model))) is found
    np.testing.assert_allclose(found.transform(ROWS), wanted.transform(ROWS), rtol=0, atol=1e-7)


def test_missing_cells_come_in_batches():
    X = ROWS.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    found = lowdim.PCA(2).partial_fit(X[:40]).partial_fit(X[40:])
    np.testing.assert_allclose(found.transform(X), lowdim.PCA(2).fit(iter([X[:40], X[40:]])).transform(X), atol=1e-8)


def test_classes_wait_until_there_are_two():
    order = np.argsort(LABELS, kind="stable")
    model = lowdim.LDA(2).partial_fit(ROWS[order[:10]], LABELS[order[:10]], classes=[0, 1, 2])
    with pytest.raises(NotFittedError):
        model.transform(ROWS)
    model.partial_fit(ROWS[order[10:]], LABELS[order[10:]])
    np.testing.assert_allclose(model.transform(ROWS), lowdim.LDA(2).fit(ROWS, LABELS).transform(ROWS), atol=1e-7)
    with pytest.raises(ValueError, match="labels of `classes`; got"):
        model.partial_fit(ROWS[:2], [0, 7])


def test_what_is_wrong_is_said_and_changes_nothing():
    model = lowdim.PCA(2).partial_fit(ROWS)
    before = model.transform(ROWS)
    for wrong, says in ((ROWS[:, :3], "expecting 4 features"), (iter([ROWS]), "in memory"), ([["a"] * 4], "column")):
        with pytest.raises((TypeError, ValueError), match=says):
            model.partial_fit(wrong)
        np.testing.assert_array_equal(model.transform(ROWS), before)
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    named = lowdim.PCA(2).partial_fit(frame)
    assert list(named.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="same feature names"):
        named.partial_fit(frame[list("bacd")])


def test_a_model_that_was_fitted_at_once_does_not_go_on(tmp_path):
    for model in (lowdim.PCA(2).fit(ROWS), lowdim.PCA(2).partial_fit(ROWS).fit(ROWS)):
        with pytest.raises(ValueError, match="must follow partial_fit"):
            model.partial_fit(ROWS)
    model = lowdim.PCA(2).partial_fit(ROWS)
    lowdim.save(model, tmp_path / "pca.lowdim")
    loaded = lowdim.load(tmp_path / "pca.lowdim")
    np.testing.assert_array_equal(loaded.transform(ROWS), model.transform(ROWS))
    with pytest.raises(ValueError, match="must follow partial_fit"):
        loaded.partial_fit(ROWS)

"""`partial_fit`: batch after batch, the numbers of one fit to all of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lowdim
from tests import odd_inputs as odd

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


def test_a_model_that_was_fitted_in_memory_does_not_go_on():
    for model in (lowdim.PCA(2).fit(ROWS), lowdim.PCA(2).partial_fit(ROWS).fit(ROWS)):
        with pytest.raises(ValueError, match=r"rows in memory .*clone\(model\)\.partial_fit\(X\) is the same fit"):
            model.partial_fit(ROWS)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_fit_to_a_stream_goes_on(model):
    pairs = [tuple(part[half] for part in (ROWS, *beside(model))) for half in (slice(0, 40), slice(40, 90))]
    stream = iter([pairs[0] if beside(model) else pairs[0][0]])
    found = clone(model).fit(stream).partial_fit(*pairs[1])
    wanted = clone(model).fit(ROWS, *beside(model))
    np.testing.assert_allclose(found.transform(ROWS), wanted.transform(ROWS), rtol=0, atol=1e-7)


def test_a_fit_in_many_passes_has_no_sums():
    import dask.array as da

    model = lowdim.PCA(2, solver="randomized").fit(da.from_array(ROWS, chunks=(30, 4)))
    with pytest.raises(ValueError, match="must follow partial_fit"):
        model.partial_fit(ROWS)


@pytest.mark.parametrize("model", [m for m in MODELS if not isinstance(m, lowdim.LDA)], ids=str)
def test_a_model_from_a_file_goes_on(model, tmp_path):
    parts = [tuple(part[half] for part in (ROWS, *beside(model))) for half in (slice(0, 40), slice(40, 90))]
    found = clone(model).partial_fit(*parts[0])
    lowdim.save(found, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(loaded.transform(ROWS), found.transform(ROWS))
    np.testing.assert_array_equal(
        loaded.partial_fit(*parts[1]).transform(ROWS), found.partial_fit(*parts[1]).transform(ROWS)
    )


def test_sums_that_no_file_holds_are_said(tmp_path):
    """Of labels, and of patterns of missing cells."""
    X = ROWS.copy()
    X[0, 0] = np.nan
    for model in (lowdim.LDA(2).partial_fit(ROWS, LABELS), lowdim.PCA(2).partial_fit(X)):
        lowdim.save(model, tmp_path / "model.lowdim")
        loaded = lowdim.load(tmp_path / "model.lowdim")
        with pytest.raises(ValueError, match="its file has no sums over them"):
            loaded.partial_fit(ROWS, *([LABELS] if isinstance(model, lowdim.LDA) else []))


ODD = [lowdim.PCA(2), lowdim.Whitening(2), lowdim.LDA(2), lowdim.CCA(1), lowdim.PCA(2, missing="error")]


def rows_of(X):
    """How many rows a table has, or might have."""
    return max(1, *getattr(X, "shape", (20,))[:1])


def odd_batch(model, make):
    """`partial_fit` of an odd table, and where the model is fitted by then, the places of its rows."""
    X, model = make(), clone(model)
    n = rows_of(X)
    y = {"LDA": (np.arange(n) % 3,), "CCA": (np.random.default_rng(0).normal(size=(n, 2)),)}
    model.partial_fit(X, *y.get(type(model).__name__, ()))
    return model.transform(X) if hasattr(model, "_n_features_out") else None


@pytest.mark.parametrize("model", ODD, ids=str)
def test_odd_batches_end_as_odd_tables_do(model):
    """Malformed sparse batches reached compiled code here, and ended the process."""
    owner = type(model).__name__
    wrong = {
        name: said
        for name, make in (odd.TABLES | odd.MALFORMED).items()
        if (said := odd.outcome(lambda make=make: odd_batch(model, make), (owner,)))
    }
    assert wrong == {}
    for make in odd.MALFORMED.values():
        with pytest.raises(ValueError, match=f"{owner}: a block of rows is not a valid sparse table"):
            odd_batch(model, make)

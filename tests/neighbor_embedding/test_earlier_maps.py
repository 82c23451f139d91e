"""Maps that go on from an earlier one when rows are added."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import lowdim

X = load_digits().data[:600].astype(np.float32)
NAMES = np.array([f"row {i}" for i in range(len(X))])
OLD = 500
MODELS = [lowdim.TSNE(random_state=0), lowdim.UMAP(random_state=0)]
either = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
pytestmark = [
    pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has"),
    pytest.mark.filterwarnings("ignore:TSNE. not converged"),
    pytest.mark.filterwarnings("ignore:TSNE. perplexity=30 is more than a third"),
]


def moved(before, after):
    """The median way of a row, over the radius of the map."""
    ways = np.linalg.norm(before - after, axis=1)
    return float(np.median(ways)) / np.sqrt(((before - before.mean(axis=0)) ** 2).sum(axis=1).mean())


@either
def test_rows_are_found_by_name_and_stay_near_their_places(model):
    earlier = clone(model).fit(pd.DataFrame(X[:OLD], index=NAMES[:OLD]))
    order = np.random.default_rng(0).permutation(len(X))[:-40]  # some rows were removed, too
    Z = clone(model).set_params(init=earlier).fit_transform(pd.DataFrame(X[order], index=NAMES[order]))
    known = order < OLD
    assert moved(earlier.embedding_[order[known]], Z[known]) < 0.15
    fresh = clone(model).fit_transform(X[order])
    kept = [lowdim.quality.trustworthiness(X[order], found, n_neighbors=10) for found in (Z, fresh)]
    assert kept[0] > kept[1] - 0.01


@either
def test_a_frame_of_an_earlier_map_is_enough(model):
    earlier = clone(model).fit(pd.DataFrame(X[:OLD], index=NAMES[:OLD]))
    frame = pd.DataFrame(earlier.embedding_, index=NAMES[:OLD]).iloc[::-1]
    rows = pd.DataFrame(X, index=NAMES)
    settings = {"max_iter": 60}
    found = clone(model).set_params(init=frame, **settings).fit(rows)
    np.testing.assert_array_equal(found.row_names_, NAMES)
    wanted = clone(model).set_params(init=earlier, **settings).fit_transform(rows)
    np.testing.assert_array_equal(found.embedding_, wanted)
    unnamed = clone(model).set_params(init=clone(model).fit(X[:OLD]), **settings).fit(X)
    assert unnamed.row_names_ is None
    np.testing.assert_array_equal(unnamed.embedding_, wanted)


@either
def test_what_cannot_be_found_is_said(model):
    name = type(model).__name__
    short = clone(model).set_params(max_iter=5, init="random")
    earlier = clone(short).fit(pd.DataFrame(X[:50], index=NAMES[:50]))

    def goes_on(init, rows):
        return clone(short).set_params(init=init).fit(rows)

    with pytest.raises(ValueError, match=rf"{name}: init is a map of 50 other rows: none of its row names \('row 0'"):
        goes_on(earlier, pd.DataFrame(X[:60], index=[f"cell {i}" for i in range(60)]))
    with pytest.raises(ValueError, match="but only init has row names"):
        goes_on(earlier, X[:60])
    with pytest.raises(ValueError, match="row names of X must differ"):
        goes_on(earlier, pd.DataFrame(X[:60], index=["row 1"] * 60))
    with pytest.raises(ValueError, match="init must be a map of 2 columns"):
        goes_on(pd.DataFrame(X[:50, :5], index=NAMES[:50]), pd.DataFrame(X[:60], index=NAMES[:60]))
    earlier.row_names_ = None
    with pytest.raises(ValueError, match=r"init is a map of 50 rows, and X has 40\."):
        goes_on(earlier, X[:40])
    with pytest.raises(ValueError, match="which is not fitted"):
        clone(short).set_params(init=clone(model)).fit(X[:60])


def test_new_rows_begin_among_their_neighbours_and_strangers_about_the_centre():
    from lowdim.neighbor_embedding._init import filled

    Z = np.array([[0.0, 0], [4, 4], [np.nan, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    W = np.zeros((5, 5))
    W[2, :2] = [3, 1]  # a mean
    W[3, 2] = 1  # in the second wave
    found = filled(Z, W + W.T)
    np.testing.assert_allclose(found[:4], [[0, 0], [4, 4], [1, 1], [1, 1]])
    assert np.isfinite(found[4]).all()
    assert np.isnan(Z[4]).all()  # what was given is unchanged


def test_a_new_component_has_a_map_too():
    far = np.vstack([X[:200], X[200:260] + 1e4])
    earlier = lowdim.UMAP(random_state=0, max_iter=50).fit(X[:200])
    with pytest.warns(UserWarning, match="2 components"):
        Z = lowdim.UMAP(random_state=0, max_iter=50, init=earlier, disconnected="separate").fit_transform(far)
    assert np.isfinite(Z).all()
    assert lowdim.quality.trustworthiness(far[200:], Z[200:], n_neighbors=5) > 0.7


def test_affinities_and_files_of_a_model_that_went_on(tmp_path):
    earlier = lowdim.TSNE(perplexity=10).fit(X[:200])
    model = lowdim.TSNE(perplexity=10, init=earlier).fit(X[:250])
    assert model.affinities(X[:250]).shape == (250, 250)
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(X[250:260]), model.transform(X[250:260]))
    assert lowdim.UMAP(init=lowdim.UMAP(max_iter=5).fit(X[:50])).affinities(X[:60]).shape == (60, 60)

"""UMAP without neighbours that are too far away."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowdim
from lowdim import UMAP
from lowdim._core.manifold.neighborhood import Distinct


@pytest.fixture
def rows(rng):
    """Two groups, and two rows that are far from everything."""
    groups = np.concatenate([rng.standard_normal((40, 3)), rng.standard_normal((40, 3)) + 30])
    return np.concatenate([groups, [[200.0, 0, 0]], [[0.0, 200, 0]]])


SETTINGS = {"n_neighbors": 8, "random_state": 0, "max_iter": 60}


def test_rows_without_neighbours_are_left_out(rows):
    said = "2 rows have no neighbour nearer than disconnection_distance=20"
    with pytest.warns(UserWarning, match="2 components"), pytest.warns(UserWarning, match=said):
        model = UMAP(disconnection_distance=20, disconnected="separate", **SETTINGS).fit(rows)
    assert np.isnan(model.embedding_[80:]).all()
    assert np.isfinite(model.embedding_[:80]).all()
    assert (model.component_labels_[80:] == -1).all()
    assert model.n_components_graph_ == 2


def test_the_others_have_the_map_they_have_alone(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = UMAP(disconnected="separate", **SETTINGS).fit_transform(rows[:80])
        Z = UMAP(disconnection_distance=20, disconnected="separate", **SETTINGS).fit_transform(rows)
    np.testing.assert_array_equal(Z[:80], alone)


def test_new_rows_out_of_reach_have_no_place(rows, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UMAP(disconnection_distance=20, **SETTINGS).fit(rows)
    Z = model.transform(np.concatenate([rows[:3], [[0.0, 0, 300]]]))
    assert np.isfinite(Z[:3]).all()
    assert np.isnan(Z[3]).all()
    lowdim.save(model, tmp_path / "umap.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "umap.lowdim").transform(rows[:3]), Z[:3])


def test_a_distance_that_cuts_nothing_changes_nothing(rows):
    Z = UMAP(**SETTINGS).fit_transform(rows[:40])
    np.testing.assert_array_equal(UMAP(disconnection_distance=1e6, **SETTINGS).fit_transform(rows[:40]), Z)


def test_long_edges_are_cut_for_every_form_of_the_rows(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"disconnection_distance": 20, "disconnected": "separate", **SETTINGS}
        by_rows = UMAP(**settings).fit(rows)
        by_distances = UMAP(metric="precomputed", **settings).fit(cdist(rows, rows))
        dense = UMAP(disconnection_distance=20, densities=1.0, **SETTINGS).fit(rows)
        labelled = UMAP(**settings).fit(rows, np.arange(82) % 2)
        twice = UMAP(**settings).fit(np.concatenate([rows, rows[-3:]]))
    for model in (by_distances, dense, labelled):
        assert (np.isnan(model.embedding_) == np.isnan(by_rows.embedding_)).all()
    assert np.isnan(twice.embedding_[[80, 81, 83, 84]]).all()  # equal rows are no neighbours of each other
    np.testing.assert_array_equal(twice.embedding_[82], twice.embedding_[79])
    assert dense.local_radii_.shape == (82, 2)


def test_a_distance_that_cuts_everything_is_refused(rows):
    with pytest.raises(ValueError, match="UMAP: disconnection_distance must leave some rows a neighbour; 1e-09"):
        UMAP(disconnection_distance=1e-9, **SETTINGS).fit(rows)


def test_fractures_are_not_found_where_rows_were_left_out(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UMAP(disconnection_distance=20, **SETTINGS).fit(rows)
    with pytest.raises(ValueError, match="disconnection_distance must be None"):
        lowdim.trust.fractures(model, rows)


def test_kinds_that_are_left_out():
    same = Distinct.of(np.array([[0.0], [1.0], [0.0], [2.0]])).among(np.array([0, 2]))
    np.testing.assert_array_equal(same.spread(np.array([10.0, 20.0])), [10, np.nan, 10, 20])
    assert same.counts.tolist() == [2, 1]

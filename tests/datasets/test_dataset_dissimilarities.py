"""Tables between items: the numbers of R, and facts about the items."""

import numpy as np
import pytest

from lowdim import dissimilarities
from lowdim._core.distances import check_dissimilarities
from lowdim.datasets import eurodist, morse
from tests.linear.pca.test_pca import numeric
from tests.oracles import load_input


def test_roads_are_those_of_r():
    roads, (_, header) = eurodist(), load_input("eurodist")
    np.testing.assert_array_equal(roads.X, numeric("eurodist"))
    assert list(roads.label_names) == header[1:]
    assert check_dissimilarities(roads.X, "test") is roads.X


def test_cities_are_where_the_roads_say():
    """A slip in a coordinate would leave its city far from where all its distances put it."""
    roads = eurodist()
    longitude, latitude = np.deg2rad(roads.coordinates).T
    globe = np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )
    arc = 6371 * np.arccos(np.clip(globe @ globe.T, -1, 1))
    ratio = roads.X / np.where(arc > 1, arc, np.nan)
    names = np.array(roads.label_names)
    short = {frozenset(names[[i, j]]) for i, j in np.argwhere(ratio < 1)}
    assert short == {  # misprints of the source
        frozenset(pair)
        for pair in (
            ("Copenhagen", "Hook of Holland"),
            ("Athens", "Rome"),
            ("Lisbon", "Lyons"),
            ("Milan", "Munich"),
            ("Lyons", "Milan"),
        )
    }
    assert set(names[np.argwhere(ratio == np.nanmax(ratio))[0]]) == {"Cologne", "Geneva"}
    assert (np.nanmedian(ratio, axis=1) < 1.7).all()
    assert np.nanmedian(ratio) < 1.4


def test_confusions_are_those_of_r():
    signals, (_, header) = morse(), load_input("morse_dissim")
    D = numeric("morse_dissim")
    np.testing.assert_allclose(dissimilarities(signals.X, conversion=100), 100 * D[:, -36:], atol=1e-9)
    assert [name.split()[1] for name in signals.label_names] == header[1:]
    assert (np.diagonal(signals.X) == 100).all()
    assert signals.coordinates[0] == pytest.approx([2, 0.5])


def test_a_new_table_each_time():
    eurodist().X[:] = 0
    assert eurodist().X.any()

"""The clock turns, the face moves, the world is round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowdim import datasets


@pytest.mark.parametrize(("n", "size"), [(60, 28), (144, 28), (90, 17), (24, 12)])
def test_consecutive_frames_of_the_clock_are_the_closest(n, size):
    D = cdist(X := datasets.clock(n, size=size).X, X)
    np.fill_diagonal(D, np.inf)
    step = (D.argmin(axis=1) - np.arange(n)) % n
    assert set(step) <= {1, n - 1}


def test_clock_points_where_it_says():
    data = datasets.clock(48, size=41)
    assert data.image_shape == (41, 41)
    hand = np.where(data.X > 0.6, data.X, 0).reshape(-1, 41, 41)  # the dial is darker than that
    down, across = np.mgrid[:41, :41] - 20.0
    weight = hand.sum(axis=(1, 2))
    x, y = (hand * across).sum(axis=(1, 2)) / weight, (hand * down).sum(axis=(1, 2)) / weight
    angle = np.arctan2(x, -y) % (2 * np.pi)  # clockwise from 12, as x points right and y down
    off = (angle - data.coordinates[:, 0] + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(off).max() < np.deg2rad(1)


def test_a_quarter_turn_of_the_hand_is_a_quarter_turn_of_the_image():
    data = datasets.clock(48, size=28)
    images = data.X.reshape(-1, 28, 28)
    np.testing.assert_allclose(images[17], np.rot90(images[5], -1), atol=1e-12)


def test_clock_is_smooth():
    # Without anti-aliasing most steps of a fine motion would change nothing and some a whole pixel.
    X = datasets.clock(1000).X
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert steps.min() > 0.7 * steps.max()


@pytest.mark.parametrize("name", ["clock", "shifted-face"])
def test_images_are_grey_and_noise_is_as_asked(name):
    clean = datasets.load(name, 40, noise=0, random_state=0)
    assert clean.X.min() >= 0
    assert clean.X.max() <= 1
    noisy = datasets.load(name, 40, noise=0.1, random_state=0)
    np.testing.assert_array_equal(noisy.noise_free, clean.X)
    added = (noisy.X - noisy.noise_free)[clean.X[0, 0] == clean.X]  # background pixels
    assert added.std() == pytest.approx(0.1, rel=0.05)


def test_face_moves_with_its_coordinates():
    data = datasets.shifted_face(30, noise=0, random_state=0)
    images = data.X.reshape(-1, *data.image_shape)
    down, across = np.mgrid[:48, :48]
    changed = np.abs(images - 0.5)
    weight = changed.sum(axis=(1, 2))
    centre = np.column_stack([(changed * g).sum(axis=(1, 2)) / weight for g in (across, down)])
    # The weight is not at the middle of the face, but always the same way off.
    off = centre - data.coordinates
    assert np.abs(off - off.mean(axis=0)).max() < 0.1


def test_face_is_free_of_noise_and_inside_the_picture():
    data = datasets.shifted_face(200, noise=0.1, random_state=0)
    clean = data.noise_free.reshape(-1, *data.image_shape)
    edge = np.concatenate([clean[:, 0], clean[:, -1], clean[:, :, 0], clean[:, :, -1]], axis=1)
    np.testing.assert_array_equal(edge, 0.5)
    # The middle of the face: no noise there.
    rows = np.arange(200)
    across, down = np.rint(data.coordinates).astype(int).T
    same = (data.X - data.noise_free).reshape(clean.shape)[rows, down, across]
    np.testing.assert_array_equal(same, 0)


def test_face_by_a_whole_pixel_is_the_same_picture():
    data = datasets.shifted_face(1, noise=0, random_state=0)
    from lowdim.datasets.images import _face

    down, across = np.mgrid[:48, :48].astype(float)
    first, _ = _face((across - 20.3) / 8, (down - 22.1) / 8, 8)
    moved, _ = _face((across - 23.3) / 8, (down - 21.1) / 8, 8)
    np.testing.assert_allclose(np.roll(first, (-1, 3), axis=(0, 1)), moved, atol=1e-12)
    x, y = data.coordinates[0]
    own, _ = _face((across - x) / 8, (down - y) / 8, 8)
    np.testing.assert_array_equal(data.X[0], own.ravel())


def test_nearest_pictures_are_nearest_faces():
    data = datasets.shifted_face(400, random_state=0)
    D = cdist(data.X, data.X)
    np.fill_diagonal(D, np.inf)
    step = np.linalg.norm(data.coordinates - data.coordinates[D.argmin(axis=1)], axis=1)
    assert np.median(step) < 1  # of 27 pixels
    assert step.max() < 4


# ------------------------------------------------------------ the world


@pytest.fixture(scope="module")
def world():
    return datasets.world()


def test_world_is_on_the_unit_sphere(world):
    assert world.X.shape == (4918, 3)
    np.testing.assert_allclose(np.linalg.norm(world.X, axis=1), 1, rtol=1e-14)
    longitude, latitude = np.deg2rad(world.coordinates).T
    np.testing.assert_allclose(np.arctan2(world.X[:, 1], world.X[:, 0]), longitude, atol=1e-12)
    np.testing.assert_allclose(np.arcsin(world.X[:, 2]), latitude, atol=1e-7)


def test_world_points_are_points_of_the_fibonacci_lattice(world):
    i = np.arange(17000)
    height = 1 - (2 * i + 1) / 17000
    turn = i * np.pi * (3 - np.sqrt(5))
    around = np.sqrt(1 - height**2)
    lattice = np.column_stack([around * np.cos(turn), around * np.sin(turn), height])
    from scipy.spatial import cKDTree

    off, index = cKDTree(lattice).query(world.X)
    assert off.max() < np.deg2rad(0.008)  # stored to hundredths of a degree
    assert (np.diff(index) > 0).all()
    assert 0.28 < len(world.X) / 17000 < 0.3  # the share of land


@pytest.mark.parametrize(
    ("continent", "longitude", "latitude"),
    [
        ("Africa", 20, 5),  # Central Africa
        ("Antarctica", 90, -80),
        ("Asia", 105, 35),  # China
        ("Europe", 10, 50),  # Germany
        ("Europe", 100, 62),  # Siberia: all of Russia counts as Europe
        ("North America", -100, 42),  # Nebraska
        ("Oceania", 134, -25),  # Australia
        ("South America", -55, -10),  # Brazil
    ],
)
def test_places_are_in_their_continent(world, continent, longitude, latitude):
    a, b = np.deg2rad([longitude, latitude])
    place = np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
    nearest = np.argmax(world.X @ place)
    assert world.X[nearest] @ place > np.cos(np.deg2rad(2))
    assert world.label_names[world.labels[nearest]] == continent


@pytest.mark.parametrize(("longitude", "latitude"), [(-30, 0), (-150, 0), (80, -30), (-40, 45), (0, 90)])
def test_oceans_are_empty(world, longitude, latitude):
    a, b = np.deg2rad([longitude, latitude])
    place = np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
    assert (world.X @ place).max() < np.cos(np.deg2rad(4))


def test_world_draws_rows_without_repetition(world):
    some = datasets.world(4000, random_state=0)
    assert len(np.unique(some.coordinates, axis=0)) == 4000
    assert len(np.unique(world.coordinates, axis=0)) == 4918
    np.testing.assert_array_equal(np.bincount(world.labels), [999, 415, 1043, 771, 814, 283, 593])
    with pytest.raises(ValueError, match=r"world: n_samples must be at most 4918.*got 4919.*Use None"):
        datasets.world(4919)

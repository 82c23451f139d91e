"""Noise-free rows satisfy the equations of their set, and isometric coordinates measure lengths on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial import cKDTree

from lowdim import datasets
from lowdim.datasets.formulas import arc_length, spiral_length

N = 400


def roll_surface(t, h):
    return np.array([t * np.cos(t), h, t * np.sin(t)])


def eight_surface(t, h):
    return np.array([np.cos(t), np.sin(2 * t) / 2, h])


def coil(t):
    ring = np.array([np.cos(t), np.sin(t), 0 * t])
    return (2 + np.cos(8 * t)) * ring + np.array([0 * t, 0 * t, np.sin(8 * t)])


ROLLS = ["swiss-roll", "swiss-roll-hole", "changing-swiss-roll", "broken-swiss-roll"]


@pytest.mark.parametrize("name", ROLLS)
def test_rolls_lie_on_the_roll_and_inside_its_sheet(name):
    data = datasets.load(name, N, noise=0, random_state=1)
    t, h = data.coordinates.T
    np.testing.assert_allclose(data.X, roll_surface(t, h).T, atol=1e-12)
    assert t.min() >= 1.5 * np.pi
    assert t.max() <= 4.5 * np.pi
    assert h.min() >= 0
    assert h.max() <= (21 if name == "changing-swiss-roll" else 30)
    # The sheet is used from edge to edge (the density of the changing roll vanishes at its outer edge).
    assert np.ptp(t) > (2 if name == "changing-swiss-roll" else 2.95) * np.pi
    assert h.max() > (20 if name == "changing-swiss-roll" else 29)


def test_hole_is_empty_and_the_rest_is_uniform():
    t, h = datasets.swiss_roll_hole(8000, random_state=0).coordinates.T
    column = np.floor((t / (1.5 * np.pi) - 1) / 2 * 3).astype(int)
    counts = np.bincount(3 * column + np.floor(h / 10).astype(int), minlength=9)
    assert counts[4] == 0
    np.testing.assert_allclose(np.delete(counts, 4), 1000, atol=5 * np.sqrt(1000))
    flag = datasets.swiss_roll(8000, random_state=0, hole=True)
    np.testing.assert_array_equal(flag.coordinates[:, 0], t)


def test_broken_roll_misses_a_fifth_of_the_sheet():
    n = 2001
    t = datasets.broken_swiss_roll(n, random_state=0).coordinates[:, 0]
    u = (t / (1.5 * np.pi) - 1) / 2
    first, rest = u[:1001], u[1001:]  # ceil(n / 2) rows come first
    assert first.max() < 0.4
    assert first.max() > 0.395
    assert rest.min() > 0.6 - 1e-12
    assert rest.min() < 0.605
    assert rest.max() > 0.995


def test_changing_roll_thins_out_linearly():
    n = 20000
    t = datasets.changing_swiss_roll(n, random_state=0).coordinates[:, 0]
    r = (t / (1.5 * np.pi) - 1) / 2
    at = np.linspace(0.05, 0.95, 19)
    empirical = (r[:, None] <= at).mean(axis=0)
    np.testing.assert_allclose(empirical, 1 - (1 - at) ** 2, atol=4 / np.sqrt(n))


def test_helix_is_closed_and_on_a_grid():
    data = datasets.helix(N, noise=0)
    t = data.coordinates[:, 0]
    np.testing.assert_allclose(t, 2 * np.pi * np.arange(1, N + 1) / N, rtol=1e-15)
    np.testing.assert_allclose(data.X, coil(t).T, atol=1e-12)
    steps = np.linalg.norm(data.X - np.roll(data.X, 1, axis=0), axis=1)
    assert steps[0] < 1.02 * steps[1:].max()  # the seam is a step like every other


def test_helical_loop_heights():
    t = np.linspace(-np.pi, np.pi, N)
    unit, plain = datasets.helical_loop(N, 0), datasets.helical_loop(N, 0, unit_height=False)
    np.testing.assert_allclose(unit.X, np.column_stack([np.sin(t), np.cos(t), np.linspace(-1, 1, N)]), atol=1e-12)
    np.testing.assert_allclose(plain.X, np.column_stack([np.sin(t), np.cos(t), t]), atol=1e-12)
    np.testing.assert_array_equal(np.bincount(unit.labels), [N // 4] * 4)


def test_twin_peaks_surface_and_stretched_noise():
    clean, gentle = datasets.twin_peaks(N, 0, 3), datasets.twin_peaks(N, 0, 3, height=1)
    x, y = clean.coordinates.T
    np.testing.assert_allclose(clean.X, np.column_stack([x, y, 10 * np.sin(np.pi * x) * np.tanh(3 * y)]), atol=1e-12)
    np.testing.assert_allclose(gentle.X * [1, 1, 10], clean.X, rtol=1e-14)
    noisy = datasets.twin_peaks(4000, 0.05, 3)
    spread = (noisy.X - noisy.noise_free).std(axis=0)
    np.testing.assert_allclose(spread, [0.05, 0.05, 0.5], rtol=0.06)  # noise comes before the stretch


def test_intersecting_is_a_figure_eight():
    data = datasets.intersecting(N, 0, 0)
    t, h = data.coordinates.T
    np.testing.assert_allclose(t, 2 * np.pi * np.arange(1, N + 1) / N, rtol=1e-15)
    np.testing.assert_allclose(data.X, eight_surface(t, h).T, atol=1e-12)
    assert 4.9 < h.max() <= 5


def test_hd_rows_one_by_one():
    data = datasets.hd(300, noise=0)  # 300 ** 0.2 = 3.13
    assert data.X.shape == (243, 10)
    assert set(data.coordinates.ravel()) == {0.0, 0.5, 1.0}
    assert len(np.unique(data.coordinates, axis=0)) == 243
    for x, (a, b, c, d, e) in zip(data.X, data.coordinates, strict=True):
        expected = [np.cos(a), np.tanh(3 * b), a + c, d * np.sin(b), np.sin(a + e)]
        expected += [e * np.cos(b), e + d, b, c * d, a]
        np.testing.assert_allclose(x, expected, atol=1e-15)


@pytest.mark.parametrize(("asked", "levels"), [(1, 1), (7, 1), (8, 2), (1000, 4), (5000, 5), (7776, 6)])
def test_hd_grid_size(asked, levels):
    assert len(datasets.hd(asked).X) == levels**5


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_cubes_far_apart(seed):
    data = datasets.clusters_3d(1003, noise=0, random_state=seed)
    counts = np.bincount(data.labels)
    assert len(counts) == 5
    assert np.ptp(counts) <= 1
    members = [data.X[data.labels == k] for k in range(5)]
    middles = np.array([(m.max(axis=0) + m.min(axis=0)) / 2 for m in members])
    gaps = np.linalg.norm(middles[:, None] - middles, axis=2)
    side = gaps[gaps > 0].min() / np.sqrt(12)
    sides = np.array([np.ptp(m, axis=0) for m in members])
    np.testing.assert_allclose(sides, side, rtol=0.1)  # the extent of 200 draws falls a little short
    assert middles.min() > -1e-9
    assert middles.max() < 10


def test_concentric_spheres():
    data = datasets.concentric_spheres(2001, 0, 0, radii=(0.5, 3))
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), np.array([0.5, 3])[data.labels], rtol=1e-14)
    assert np.bincount(data.labels).tolist() == [1001, 1000]
    longitude, latitude = data.coordinates.T
    x, y, z = (data.X / np.linalg.norm(data.X, axis=1, keepdims=True)).T
    np.testing.assert_allclose(np.arctan2(y, x), longitude, atol=1e-12)
    np.testing.assert_allclose(z, np.sin(latitude), atol=1e-12)
    # Uniform on the sphere: mean 0 and second moments 1/3 in every direction.
    unit = np.column_stack([x, y, z])
    np.testing.assert_allclose(unit.mean(axis=0), 0, atol=4 * np.sqrt(1 / 3 / 2001))
    np.testing.assert_allclose(unit.T @ unit / 2001, np.eye(3) / 3, atol=0.03)


def test_spirals_and_circle():
    flat, rising = datasets.spiral(N, 0, 0), datasets.spiral(N, 0, 0, dim=3)
    t = flat.coordinates[:, 0]
    np.testing.assert_allclose(flat.X, np.column_stack([t * np.cos(t), t * np.sin(t)]), atol=1e-12)
    np.testing.assert_allclose(rising.X, np.column_stack([flat.X, 2 * t]), atol=1e-12)
    circle = datasets.noisy_circle(N, 0, 0)
    np.testing.assert_allclose(np.linalg.norm(circle.X, axis=1), 1, rtol=1e-14)
    angle = np.arctan2(circle.X[:, 1], circle.X[:, 0]) % (2 * np.pi)
    np.testing.assert_allclose(angle, circle.coordinates[:, 0], atol=1e-12)


# ------------------------------------------------------------ isometric coordinates


def metric(surface, at, step=1e-5):
    """J'J of a map by central differences."""
    columns = []
    for k in range(len(at)):
        move = step * np.eye(len(at))[k]
        columns.append((surface(*(at + move)) - surface(*(at - move))) / (2 * step))
    J = np.array(columns).T
    return J.T @ J


@pytest.mark.parametrize("t", [4.8, 7.0, 10.4, 14.1])
def test_roll_coordinates_have_the_metric_of_the_roll(t):
    flat = metric(lambda t, h: np.array([spiral_length(t), h]), np.array([t, 3.0]))
    np.testing.assert_allclose(flat, metric(roll_surface, np.array([t, 3.0])), rtol=1e-8, atol=1e-8)


def test_closed_form_of_the_roll_length():
    t = 3.7
    by_hand = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    assert spiral_length(np.array(t)) == pytest.approx(by_hand, rel=1e-15)
    assert spiral_length(np.array(t), 2.0) == pytest.approx(quad(lambda s: np.sqrt(5 + s * s), 0, t)[0], rel=1e-12)


@pytest.mark.parametrize("name", ["helix", "intersecting"])
def test_numerical_arc_length_against_adaptive_quadrature(name):
    data = datasets.load(name, 7, noise=0, random_state=0)
    curve = coil if name == "helix" else lambda t: eight_surface(t, 0)
    speed = lambda s: np.linalg.norm(curve(s + 1e-6j).imag / 1e-6)  # noqa: E731 (complex step derivative)
    for t, length in zip(data.coordinates[:, 0], data.isometric_coordinates[:, 0], strict=True):
        assert length == pytest.approx(quad(speed, 0, t, limit=400)[0], rel=1e-8)


def test_arc_length_of_a_circle_is_its_angle():
    t = np.array([0.0, 1e-9, 0.3, np.pi, 6.0, 2 * np.pi])
    np.testing.assert_allclose(arc_length(lambda s: np.full_like(s, 2.0), t), 2 * t, rtol=1e-14)


FLAT = [name for name in datasets.names() if datasets.load(name, 60).isometric_coordinates is not None]


def test_which_sets_are_flat():
    curved = {
        "twin-peaks",
        "twin-peaks-published",
        "hd",
        "concentric-spheres",
        "clock",
        "shifted-face",
        "world",
    }
    assert set(datasets.names()) - set(FLAT) == curved


@pytest.mark.parametrize("name", FLAT)
def test_close_rows_are_as_far_apart_as_their_isometric_coordinates(name):
    data = datasets.load(name, 2000, noise=0, random_state=0)
    flat = data.isometric_coordinates
    near = cKDTree(flat).query(flat, k=3)[1][:, 1:]
    along = np.linalg.norm(flat[:, None] - flat[near], axis=2)
    chord = np.linalg.norm(data.X[:, None] - data.X[near], axis=2)
    # A chord is never longer than the way along the data; curvature c makes it (c s)^2 / 24 shorter.
    ratio = chord[along > 0] / along[along > 0]
    assert ratio.max() < 1 + 1e-6
    bend = {"swiss": 1 / 4.7, "helix": 1.2, "helical": 1.0, "intersecting": 5.0, "spiral": 2.1, "noisy": 1.0}
    curvature = next((c for word, c in bend.items() if word in name), 0.0)
    assert (1 - ratio <= (curvature * along[along > 0]) ** 2 / 24 * 1.5 + 1e-6).all()

"""What every data set promises: shapes, types, seeds, messages."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import numpy as np
import pytest

from lowdim import datasets

NAMES = datasets.names()


def load(name, random_state, noise=0.05):
    return datasets.load(name, 120, noise=noise, random_state=random_state)


def test_names():
    assert (
        " ".join(NAMES)
        == "swiss-roll broken-swiss-roll swiss-roll-hole changing-swiss-roll helix helical-loop twin-peaks "
        "twin-peaks-published hd clusters-3d intersecting concentric-spheres spiral-2d spiral-3d "
        "noisy-circle clock shifted-face world"
    )


@pytest.mark.parametrize("name", NAMES)
def test_shapes_types_and_names(name):
    data = load(name, 0)
    n = 243 if name == "hd" else 120
    k = len(data.coordinate_names)
    assert data.name == name
    assert data.X.shape == data.noise_free.shape
    assert data.X.shape[0] == n
    assert data.coordinates.shape == (n, k)
    assert data.labels.shape == (n,)
    assert data.labels.dtype.kind == "i"
    assert data.labels.min() >= 0
    for array in (data.X, data.coordinates, data.noise_free):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
    if data.isometric_coordinates is not None:
        assert data.isometric_coordinates.shape == (n, k)
    if data.image_shape is not None:
        assert np.prod(data.image_shape) == data.X.shape[1]
    if data.label_names:
        assert data.labels.max() < len(data.label_names)
    assert data.description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_seeds(name):
    state = np.random.get_state()  # noqa: NPY002
    first, again, other = load(name, 7), load(name, 7), load(name, 8)
    for field in dataclasses.fields(datasets.Dataset):
        one, two = getattr(first, field.name), getattr(again, field.name)
        assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two
    assert not np.array_equal(first.X, other.X)
    np.testing.assert_array_equal(load(name, np.random.default_rng(7)).X, first.X)
    assert np.array_equal(state[1], np.random.get_state()[1])  # noqa: NPY002
    fresh = load(name, None).X
    assert not np.array_equal(fresh, load(name, None).X)


@pytest.mark.parametrize("name", NAMES)
def test_noise_changes_neither_truth_nor_labels(name):
    clean, noisy = load(name, 3, noise=0), load(name, 3, noise=0.3)
    np.testing.assert_array_equal(clean.X, clean.noise_free)
    np.testing.assert_array_equal(clean.noise_free, noisy.noise_free)
    np.testing.assert_array_equal(clean.coordinates, noisy.coordinates)
    if name != "twin-peaks-published":  # the one set whose labels are read off the noisy rows
        np.testing.assert_array_equal(clean.labels, noisy.labels)
    assert np.abs(noisy.X - clean.X).max() > 0.1


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("twin-peaks", "twin-peaks-published")])
def test_size_of_the_noise(name):
    data = datasets.load(name, 1000, noise=0.2, random_state=0)
    added = data.X - data.noise_free
    added = added[added != 0]  # the face itself stays clean
    assert added.std() == pytest.approx(0.2, rel=0.05)
    assert abs(added.mean()) < 0.02


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(name, n):
    data = datasets.load(name, n, random_state=0)
    assert len(data.X) == (1 if name == "hd" else n)
    assert np.isfinite(data.X).all()
    assert data.name in repr(data)


def test_defaults_of_load_are_those_of_the_functions():
    np.testing.assert_array_equal(datasets.load("swiss_roll", random_state=1).X, datasets.swiss_roll(random_state=1).X)
    assert len(datasets.load("clock").X) == 360
    assert len(datasets.load("world").X) == 4918
    assert np.array_equal(datasets.load("clock").X, datasets.load("clock").noise_free)
    assert len(datasets.load("helix", n_samples=np.int32(7)).X) == 7


def test_variants_by_name():
    np.testing.assert_array_equal(
        datasets.load("twin-peaks-published", 90, random_state=0).labels,
        datasets.twin_peaks(90, random_state=0, published=True).labels,
    )
    assert datasets.load("spiral-3d", 9).X.shape == (9, 3)
    assert datasets.load("spiral-2d", 9).X.shape == (9, 2)


def test_unpacks_and_shows_itself():
    data = datasets.helix(50, random_state=0)
    X, coordinates, labels = data
    assert X is data.X
    assert coordinates is data.coordinates
    assert labels is data.labels
    assert repr(data) == "<Dataset helix: 50 x 3, coordinates (t), 2 classes, isometric coordinates known>"
    assert str(data) == f"{data!r}\nA closed coil of eight turns around a ring."
    assert "1 class," in repr(datasets.clock(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.X = 0


def test_arrays_are_not_shared():
    for name in NAMES:
        data = load(name, 0, noise=0)
        arrays = [data.X, data.coordinates, data.noise_free]
        arrays += [] if data.isometric_coordinates is None else [data.isometric_coordinates]
        for i, one in enumerate(arrays):
            assert not any(np.shares_memory(one, two) for two in arrays[:i]), name


@pytest.mark.parametrize("name", NAMES)
def test_bad_arguments(name):
    for bad in (0, -3):
        with pytest.raises(ValueError, match=rf": n_samples must be at least 1; got {bad}\."):
            datasets.load(name, bad)
    for bad in (10.0, "10", True):
        with pytest.raises(TypeError, match=r": n_samples must be a whole number; got "):
            datasets.load(name, bad)
    for bad in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match=r": noise must be finite and at least 0; got "):
            datasets.load(name, 10, noise=bad)
    for bad in ("much", False, [0.1]):
        with pytest.raises(TypeError, match=r": noise must be a number"):
            datasets.load(name, 10, noise=bad)
    for bad in (-1, "seed"):
        with pytest.raises(ValueError, match="random_state must be None"):
            datasets.load(name, 10, random_state=bad)


def test_bad_options():
    with pytest.raises(ValueError, match=r"spiral: dim must be a whole number from 2 to 3; got 4\."):
        datasets.spiral(10, dim=4)
    with pytest.raises(ValueError, match=r"twin_peaks: height must be a number > 0; got 0\."):
        datasets.twin_peaks(10, height=0)
    for radii in ((2, 1), (0, 1), (1, 2, 3), (1, np.nan)):
        with pytest.raises(ValueError, match="concentric_spheres: radii must be two rising numbers"):
            datasets.concentric_spheres(10, radii=radii)
    with pytest.raises(ValueError, match=r"clock: size must be at least 12; got 5\."):
        datasets.clock(10, size=5)
    with pytest.raises(TypeError, match=r"shifted_face: size must be a whole number; got 48\.5\."):
        datasets.shifted_face(10, size=48.5)


def test_unknown_names_suggest_near_ones():
    with pytest.raises(ValueError, match=r"got 'swis-roll'\. Did you mean swiss-roll"):
        datasets.load("swis-roll")
    with pytest.raises(ValueError, match=r"got 'zzz'\. Known data sets: swiss-roll, .*world\."):
        datasets.load("zzz")
    with pytest.raises(TypeError, match="load: name must be a string; got 3"):
        datasets.load(3)


def test_options_are_keyword_only_and_signatures_agree():
    for name in datasets.__all__:
        function = getattr(datasets, name)
        if name in ("Dataset", "HiddenCells", "eurodist", "hide_cells", "load", "morse", "names", "remove_cells"):
            continue
        kinds = [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]
        assert [n for n, _ in kinds[:3]] == ["n_samples", "noise", "random_state"]
        assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind in kinds[3:])


def test_listing_names_loads_no_scientific_stack():
    code = (
        "import sys, lowdim.datasets as d; d.names(); "
        "sys.exit(','.join(m for m in ('sklearn', 'scipy', 'matplotlib', 'pandas') if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

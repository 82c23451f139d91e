"""Maps that show nothing are found, and others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

import lowdim
from lowdim import quality


def noise(n=300, r=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, r))


def test_one_place_and_outliers():
    Z = 1e-3 * noise(500)
    Z[:5] = 10 * noise(5, seed=1)
    (sentence,) = quality.degeneracy(Z)
    assert sentence.startswith("495 of 500 rows (99%) lie within 1 % of the map's diameter of one place")
    assert "5 outlying rows" in sentence
    assert quality.degeneracy(np.full((50, 2), 3.0)) == ("All 50 rows are at one place.",)
    assert quality.degeneracy(np.zeros((50, 1))) == ("All 50 rows are at one place.",)


def test_few_places():
    Z = noise(6, seed=2)[np.arange(300) % 6] + 1e-6 * noise()
    (sentence,) = quality.degeneracy(Z)
    assert sentence.startswith("The 300 rows are at 6 places only")
    assert quality.degeneracy(Z, n_distinct=6) == ()  # equal rows belong at one place
    assert quality.degeneracy(Z, n_distinct=300) == (sentence,)


def test_one_direction():
    for turn in (np.eye(2), np.array([[0.6, 0.8], [-0.8, 0.6]])):
        (sentence,) = quality.degeneracy(noise(500) * [1, 0.001] @ turn)
        assert sentence.startswith("The map is a line: the deviation along its second direction is 0.10% of that")
    assert quality.degeneracy(noise(500)[:, :1]) == ()  # one component is a line by choice
    assert "line" in quality.degeneracy(np.c_[noise(100, 1), np.zeros(100)])[0]


def test_a_direction_made_by_few_rows():
    Z = noise(500) * [1, 0.02]
    Z[:4, 1] = [20, -20, 15, -15]
    (sentence,) = quality.degeneracy(Z)
    assert sentence.startswith("10 of 500 rows make")
    assert "along a direction of the map" in sentence


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e8, 1e300])
def test_scale_and_place_do_not_matter(scale):
    Z = noise()
    line = Z * [1, 0.001]
    assert quality.degeneracy(Z * scale) == quality.degeneracy(Z * scale + 5 * scale) == ()
    assert quality.degeneracy(line * scale) == quality.degeneracy(line)


def test_rows_left_out_and_few_rows():
    Z = noise()
    Z[:100] = np.nan
    assert quality.degeneracy(Z) == ()
    assert quality.degeneracy(np.zeros((19, 2))) == ()
    assert quality.degeneracy(np.full((30, 2), np.nan)) == ()


def tables():
    made = {name: lowdim.datasets.load(name, 200, random_state=0).X for name in lowdim.datasets.names()}
    real = {"digits": load_digits().data[:300], "iris": load_iris().data, "wine": load_wine().data}
    return {**made, **real, "noise": noise(200, 3), "wide noise": noise(200, 50)}


@pytest.mark.parametrize(
    ("method", "some"),
    [
        (lowdim.PCA(2), None),
        (lowdim.MDS(2, n_init=1, random_state=0), None),
        (lowdim.Isomap(2), None),
        (lowdim.UMAP(2, random_state=0, max_iter=100), ["swiss-roll", "clusters-3d", "digits", "wine", "noise"]),
        (lowdim.TSNE(2, random_state=0, max_iter=300), ["swiss-roll", "clusters-3d", "digits", "wine", "noise"]),
    ],
    ids=["pca", "mds", "isomap", "umap", "tsne"],
)
def test_no_false_alarms(method, some):
    for name, X in tables().items():
        if some is None or name in some:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # disconnected graphs, early ends
                Z = method.fit_transform(X)
            assert quality.degeneracy(Z, n_distinct=len(np.unique(X, axis=0))) == (), name


@pytest.mark.parametrize("n", [2000, 100_000])
def test_many_rows_do_not_make_places_few(n):
    assert quality.degeneracy(noise(n)) == ()
    assert quality.degeneracy(noise(n)[:, :1]) == ()


def test_collapsed_maps_of_methods_are_found():
    heavy = np.random.default_rng(0).standard_t(1.5, size=(300, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        maps = [
            method.fit_transform(heavy)
            for method in (
                lowdim.DiffusionMaps(2, width="median"),
                lowdim.LaplacianEigenmaps(2, width="median", one_sided=1),
            )
        ]
    assert all(quality.degeneracy(Z) for Z in maps)


def test_wrong_calls_are_explained():
    with pytest.raises(ValueError, match="degeneracy: Z must be a table of rows and columns; got shape"):
        quality.degeneracy(np.zeros((30, 2, 2)))
    with pytest.raises(ValueError, match="degeneracy: Z must hold real numbers"):
        quality.degeneracy(np.full((30, 2), "a"))

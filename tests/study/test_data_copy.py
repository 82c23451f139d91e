"""The copy of the data in a comparison: distances and neighbours as they are in the data."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import lowdim
from lowdim.study import data_copy
from lowdim.study.data_copy import copy_of
from lowdim.study.reference_choice import ReferenceChoice


def reference(X, metric="euclidean", kind="ambient"):
    return ReferenceChoice("ambient", "", X, metric, kind)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_distances_keep_their_proportions(size):
    X = np.random.default_rng(0).normal(size=(200, 7)) * [1, 1, 1, 1, 5, 0.1, 0.01]
    copy = copy_of(reference(X * size))
    assert copy.kind == "components"
    assert copy.kept(7) == pytest.approx(1)
    found = pdist(copy.values.astype(float)) * (copy.step / size)
    np.testing.assert_allclose(found, pdist(X), atol=np.sqrt(7) * copy.step / size)


def test_left_out_components_are_stated():
    X = np.random.default_rng(0).normal(size=(300, 80))
    copy = copy_of(reference(X))
    assert copy.values.shape == (300, 50)
    parts = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert copy.kept(50) == pytest.approx(parts[:50].sum() / parts.sum(), rel=1e-6)
    assert copy.kept(10) == pytest.approx(parts[:10].sum() / parts.sum(), rel=1e-6)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_array_equal(copy.neighbors, np.argsort(distances, axis=1)[:, :20])  # of the data, not of the copy


def test_other_distances_are_kept_as_they_are_or_not_at_all(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    D = squareform(pdist(X, "cityblock"))
    for against in (reference(X, "cityblock"), reference(D, "precomputed", "precomputed")):
        copy = copy_of(against)
        assert copy.kind == "distances"
        np.testing.assert_allclose(copy.values * copy.step, D, atol=copy.step)
    monkeypatch.setattr(data_copy, "MOST_ITEMS", 50)
    copy = copy_of(reference(X, "cityblock"))
    assert (copy.kind, copy.values) == ("neighbours", None)
    monkeypatch.setattr(data_copy, "MOST_LISTED", 50)
    assert copy_of(reference(X, "cityblock")) is None
    assert copy_of(reference(X)).neighbors is None


def test_equal_rows_and_few_rows():
    copy = copy_of(reference(np.ones((4, 3))))
    assert (copy.values == 0).all()
    assert copy.neighbors.shape == (4, 3)


@pytest.mark.parametrize("how", ["holes", "mixed", "geodesic"])
def test_every_reference_has_a_copy(how):
    import polars as pl

    X = lowdim.datasets.swiss_roll(60, random_state=0).X
    if how == "holes":
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    given = {"a": X[:, 0], "b": X[:, 1], "c": np.array(["x", "y", "z"])[np.arange(60) % 3]}
    given["d"] = np.array(["u", "v"])[np.arange(60) % 2]
    data = pl.DataFrame(given) if how == "mixed" else X
    methods = ["famd"] if how == "mixed" else ["pca"]
    more = {"reference": "geodesic"} if how == "geodesic" else {}
    copy = lowdim.compare(data, methods=methods, verdict=False, random_state=0, **more).data_copy
    assert copy.kind == "distances"
    assert copy.neighbors.shape == (60, 20)
    found = copy.values * copy.step
    assert np.isfinite(found).all()
    assert (np.diag(found) <= found.max() / 100).all()

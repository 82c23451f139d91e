"""Columns in different units."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import lowdim
from lowdim.study.columns.scales import deviations, note_on_units, scaled, units_differ


def test_deviations_are_those_of_the_observed_cells():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(50, 4))
    X[::7, 1] = np.nan
    X[:, 2] = 5.1  # constant
    expected = np.nanstd(X, axis=0)
    np.testing.assert_allclose(deviations(X), [expected[0], expected[1], 0.0, expected[3]], rtol=1e-12)


def test_scaled_columns_have_unit_deviation_and_keep_their_holes():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1e-3, 1.0, 1e5]
    X[3, 0] = np.nan
    Y = scaled(X)
    np.testing.assert_allclose(np.nanstd(Y, axis=0), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(Y), np.isnan(X))
    assert scaled(X.astype(np.float32)).dtype == np.float32


def test_a_column_that_drowns_the_others_is_named():
    wine = load_wine(as_frame=True).data
    assert "'proline' has 99.8% of the total variance" in note_on_units(wine.to_numpy(), list(wine.columns))
    assert note_on_units(load_iris().data, None) is None
    assert note_on_units(scaled(wine.to_numpy()), None) is None


@pytest.mark.parametrize("scale", [False, True])
def test_compare_says_so_unless_it_scales(scale):
    wine = load_wine(as_frame=True).data
    result = lowdim.compare(wine, methods=["pca"], scale=scale)
    assert any("--scale" in note for note in result.notes) is not scale
    rows = wine.to_numpy() / (wine.to_numpy().std(axis=0) if scale else 1.0)
    expected = lowdim.PCA(2).fit_transform(rows)
    np.testing.assert_allclose(result.embeddings["pca"], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_scaling_does_not_change_the_maps_with_the_unit_of_a_column():
    X = load_wine().data
    a = lowdim.compare(X, methods=["isomap"], scale=True).scores["isomap"]
    b = lowdim.compare(X * np.logspace(-3, 3, 13), methods=["isomap"], scale=True).scores["isomap"]
    assert {k: v for k, v in a.items() if v is not None} == pytest.approx(
        {k: v for k, v in b.items() if v is not None}, rel=1e-6
    )


def test_bad_scale_is_refused():
    with pytest.raises(ValueError, match=r"scale must be True, False or .auto.; got 'std'"):
        lowdim.compare(load_iris().data, methods=["pca"], scale="std")


def test_units_differ_where_columns_are_of_another_size(rng):
    from lowdim.study.columns.scales import units_differ

    X = rng.normal(size=(100, 4))
    assert not units_differ(X)
    assert units_differ(X * [20000, 30000, 10, 1])
    assert units_differ(X[:, :3] * [1, 1000, 1000])
    assert units_differ(X * [1e300, 1, 1, 1])
    assert not units_differ(rng.normal(size=(100, 200)) * np.geomspace(1, 1e4, 200))  # wide tables have one unit
    from sklearn.datasets import load_digits, load_iris

    assert not units_differ(load_digits().data)
    assert not units_differ(load_iris().data)


def test_quantities_beside_flags_have_another_unit(rng):
    """Bits of a fingerprint beside a mass: the mass alone would decide all distances. Bits alone are alike."""
    bits = (rng.random((60, 150)) < 0.2).astype(float)
    mass = rng.normal(300, 50, size=(60, 1))
    assert units_differ(np.hstack([bits, mass]))
    assert not units_differ(bits)
    assert not units_differ(np.hstack([bits, mass / 100]))
    assert not units_differ(rng.normal(size=(60, 150)) * rng.gamma(1, 10, size=150))  # genes: measured all alike

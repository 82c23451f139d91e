"""Maps of a few outlying rows: measured, and reported by every spectral method that has made one."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from lowdim._core.manifold.crowding import JudgedMap, crowding, outlying, warn_of_crowding
from tests.estimators import CASES


def test_what_outlying_rows_pay_does_not_change_with_a_turn():
    Z = np.random.default_rng(0).normal(size=(200, 2))
    Z[[3, 7]] = [[20.0, 20.0], [-30.0, -30.0]]
    rows, paid = outlying(Z)
    assert {3, 7} <= set(rows.tolist())
    assert len(rows) == 4
    assert paid > 0.75
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    np.testing.assert_allclose(outlying(Z @ turn)[1], paid)
    assert outlying(np.random.default_rng(0).uniform(-(3**0.5), 3**0.5, (500, 2)))[1] < 0.12


def test_crowding_is_a_share():
    Z = np.random.default_rng(0).random((1000, 2))
    assert crowding(Z) < 0.01
    Z[:400] = 0.5
    assert 0.4 <= crowding(Z) < 0.41
    assert crowding(np.ones((5, 2))) == 1.0


FAMILY = [case for case in CASES if isinstance(case.estimator, JudgedMap)]


def said(model, X):
    """What a fit says about crowding."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X)
    return [str(w.message) for w in heard if "of the map's diameter" in str(w.message) or "shrunk" in str(w.message)]


def test_every_spectral_map_is_judged():
    names = {case.name for case in FAMILY}
    kept = [type(case.estimator) for case in CASES if case.keeps_embedding]
    spectral = {cls.__name__ for cls in kept if cls.__module__.startswith("lowdim.spectral")}
    assert spectral - names == {
        "KernelCCA",
        "FeatureMapPCA",
        "KernelPCA",
    }  # kernels put tight groups at points, rightly
    assert {"LLE", "LaplacianEigenmaps", "DiffusionMaps", "Isomap", "MVU"} <= names


@pytest.mark.parametrize("case", FAMILY, ids=lambda case: case.name)
def test_a_map_is_reported_exactly_where_it_is_crowded(case):
    """On a sheet nothing is said; with three rows far away the sentence agrees with the measure."""
    rng = np.random.default_rng(0)
    sheet = np.column_stack([rng.uniform(-1, 1, (80, 2)), np.zeros(80)])
    sheet[:, 2] = sheet[:, 0] ** 2
    assert said(clone(case.estimator), sheet) == []
    far = np.vstack([sheet, 400 * np.eye(3)])
    model = clone(case.estimator)
    sentences = said(model, far)
    Z = model.embedding_
    assert bool(sentences) == (crowding(Z) > 1 / 3 or (model._unit_axes and outlying(Z)[1] > 0.6))
    assert all(sentence.startswith(f"{case.name}: ") for sentence in sentences)
    if case.name in ("ClassicalMDS", "Isomap", "LandmarkMDS", "MVU"):
        assert sentences  # these keep the distances


def test_equal_rows_may_be_at_one_place():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 3)), np.ones((60, 3))])
    assert crowding(X) > 0.5
    warn_of_crowding(X, X, None, "Method", "Do this.")  # no warning, which would be an error here
    with pytest.warns(UserWarning, match="Method: 6.% of the rows .* Do this"):
        warn_of_crowding(X, np.arange(100.0)[:, None], None, "Method", "Do this.")


def test_components_side_by_side_are_judged_one_by_one():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(50, 2)), 1e-4 * rng.normal(size=(50, 2)) + 5
    Z, X, labels = np.vstack([one, other]), np.arange(100.0)[:, None], np.repeat([0, 1], 50)
    warn_of_crowding(Z, X, labels, "Method", "Do this.")
    with pytest.warns(UserWarning, match="50% of the rows"):
        warn_of_crowding(np.vstack([one * 0.001, other]), X, None, "Method", "Do this.")


def test_rows_that_are_not_placed_are_not_judged():
    Z = np.random.default_rng(0).normal(size=(60, 2))
    Z[::2] = np.nan
    warn_of_crowding(Z, np.arange(60.0)[:, None], None, "Method", "Do this.")

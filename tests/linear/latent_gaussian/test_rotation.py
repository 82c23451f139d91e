"""Varimax and promax against R, and where R's iteration would run in circles."""

from itertools import permutations

import numpy as np
import pytest

from lowdim.linear.latent_gaussian._rotation import promax, varimax
from tests.oracles import case, load_expected


def matched(found, expected):
    """Columns of `found` in the order and with the signs nearest to `expected`."""
    options = [found[:, list(order)] for order in permutations(range(found.shape[1]))]
    options = [A * np.where((A * expected).sum(axis=0) < 0, -1.0, 1.0) for A in options]
    return min(options, key=lambda A: np.abs(A - expected).max())


@pytest.mark.parametrize(("case_id", "normalize"), [("kaiser", True), ("raw", False)])
def test_varimax_of_r(case_id, normalize):
    case_id = f"rotation_varimax_decathlon_{case_id}"
    tolerance = {key: case(case_id)[key] for key in ("rtol", "atol")}
    L = load_expected(case_id, "loadings_in")
    turned, T = varimax(L, normalize=normalize)
    np.testing.assert_allclose(T.T @ T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(L @ T, turned, atol=1e-12)
    expected = load_expected(case_id, "loadings_rotated")
    np.testing.assert_allclose(matched(turned, expected), expected, **tolerance)


def test_promax_of_r():
    case_id = "rotation_promax_decathlon"
    tolerance = {key: case(case_id)[key] for key in ("rtol", "atol")}
    turned, T = promax(varimax(load_expected(case_id, "loadings_in"))[0])
    np.testing.assert_allclose(np.diag(np.linalg.inv(T.T @ T)), 1.0, rtol=1e-12)
    expected = load_expected(case_id, "loadings_rotated")
    np.testing.assert_allclose(matched(turned, expected), expected, **tolerance)
    np.testing.assert_allclose(abs(np.linalg.det(T)), abs(np.linalg.det(load_expected(case_id, "rotmat"))), rtol=1e-5)


def test_simple_structure_is_found_again():
    """Here the iteration by singular vectors alternates between two rotations for ever."""
    simple = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for angle in np.linspace(0, np.pi, 17):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        found = matched(varimax(simple @ turn)[0], simple)
        if np.abs(np.sin(4 * angle)) > 1e-9 or np.abs(np.sin(2 * angle)) < 1e-9:  # 45 degrees off is a saddle
            np.testing.assert_allclose(found, simple, atol=1e-9)


def test_a_start_does_not_matter():
    rng = np.random.default_rng(2)
    L = np.kron(np.eye(3), rng.uniform(0.5, 1.0, (4, 1))) + 0.05 * rng.standard_normal((12, 3))
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    np.testing.assert_allclose(matched(varimax(L @ turn)[0], varimax(L)[0]), varimax(L)[0], atol=1e-6)


def test_nothing_to_rotate():
    for L in (np.ones((4, 1)), np.zeros((4, 2))):
        for turned, T in (varimax(L), promax(L)):
            np.testing.assert_allclose(np.abs(turned), L, atol=1e-12)
            assert np.isfinite(T).all()
    zero = np.column_stack([np.ones(4), np.zeros(4)])
    assert np.isfinite(promax(zero)[1]).all()

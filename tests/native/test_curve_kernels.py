"""The nearest point of a polyline, beside a twin that looks at every segment."""

import numpy as np
import pytest

from lowdim.curves._polyline import Polyline

pytestmark = pytest.mark.kernel


def twin(X, chain):
    """Segment, share and squared distance; the last of equally near segments."""
    a, u, seen = chain[:-1], np.diff(chain, axis=0), ~np.isnan(X)[:, None]
    gap, U = np.where(seen, X[:, None] - a, 0.0), np.where(seen, u, 0.0)
    length = (U * U).sum(axis=2)
    share = np.where(length > 0, np.clip((gap * U).sum(axis=2) / np.where(length > 0, length, 1.0), 0, 1), 1.0)
    squared = np.square(gap - share[..., None] * U).sum(axis=2)
    segment = len(a) - 1 - squared[:, ::-1].argmin(axis=1)
    rows = np.arange(len(X))
    return segment, share[rows, segment], squared[rows, segment]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("m", "d"), [(2, 1), (3, 2), (6, 3), (40, 2), (333, 5)])
def test_the_tree_finds_what_a_look_at_every_segment_finds(m, d, closed):
    rng = np.random.default_rng(m + d)
    for chain in (np.cumsum(rng.standard_normal((m, d)), axis=0), rng.standard_normal((m, d))):
        curve = Polyline(chain, closed)
        X = rng.standard_normal((300, d)) * 3 + chain[rng.integers(m, size=300)]
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
        found, (_, _, squared) = curve.project(X), twin(X, curve.chain)
        np.testing.assert_allclose(found.squared, squared, rtol=1e-9, atol=1e-12)
        gaps = np.where(np.isnan(X), 0.0, X - curve.points(found))
        np.testing.assert_allclose(np.square(gaps).sum(axis=1), squared, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            curve.at(found.parameters), curve.points(found), atol=1e-9 * np.abs(chain).max() * (1 + m)
        )


def test_of_equally_near_points_the_last_counts():
    """Coordinates that are exact in binary, so that ties are ties: corners of a square, seen from the middle."""
    square = Polyline(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]), closed=True)
    X = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [np.nan, 1.0]])
    found = square.project(X)
    np.testing.assert_array_equal(found.parameters, [7.0, 8.0, 1.0, 7.5, 7.0])
    there_and_back = Polyline(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_array_equal(there_and_back.project(np.array([[0.25, 1.0]])).parameters, [2.25])
    # With nothing seen of where it leads, a whole segment is equally near.
    across = Polyline(np.array([[0.0, 0.0], [0.0, 3.0]]))
    np.testing.assert_array_equal(across.project(np.array([[5.0, np.nan]])).parameters, [3.0])


def test_bits_do_not_depend_on_threads_and_repeated_vertices_do_no_harm():
    rng = np.random.default_rng(0)
    chain = np.repeat(np.cumsum(rng.standard_normal((50, 3)), axis=0), 3, axis=0)
    X = 5 * rng.standard_normal((2000, 3))
    one, many = Polyline(chain).project(X, 1), Polyline(chain).project(X, 3)
    for name in ("parameters", "segments", "shares", "squared"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    np.testing.assert_allclose(one.squared, Polyline(chain[::3]).project(X).squared)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_any_unit_and_origin(scale, shift):
    rng = np.random.default_rng(1)
    chain, X = rng.standard_normal((60, 2)), rng.standard_normal((200, 2))
    plain = Polyline(chain).project(X)
    moved = Polyline(scale * (chain + shift)).project(scale * (X + shift))
    np.testing.assert_allclose(np.sqrt(moved.squared), scale * np.sqrt(plain.squared), atol=1e-9 * scale)


def test_bad_shapes_are_refused():
    with pytest.raises(ValueError, match="two vertices or more"):
        Polyline(np.zeros((1, 2))).project(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="as many columns as X"):
        Polyline(np.zeros((2, 2))).project(np.zeros((3, 3)))

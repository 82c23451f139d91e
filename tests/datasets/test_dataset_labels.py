"""Labels against their published rules, worked out row by row in exact decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from lowdim import datasets
from lowdim.datasets.formulas import checkerboard, parity, round_half_away


def away(value):
    """Half away from zero, by the decimal module (its HALF_UP rounds the size, not the number)."""
    return int(Decimal(float(value)).quantize(Decimal(1), ROUND_HALF_UP))


def roll(h_width):
    return lambda c: (away(c[0] / 2) + away(c[1] / h_width)) % 2


RULES = {
    "swiss-roll": roll(12),
    "swiss-roll-hole": roll(12),
    "changing-swiss-roll": roll(10),
    "broken-swiss-roll": lambda c: away(c[0]),
    "helix": lambda c: away(1.5 * c[0]) % 2,
    "intersecting": roll(2),
    "hd": lambda c: sum(1 + away(v) for v in c) % 2,
    "spiral-2d": lambda c: away(c[0] / 2) % 2,
    "spiral-3d": lambda c: away(c[0] / 2) % 2,
    "noisy-circle": lambda c: int(c[0] // (np.pi / 2)),
    "twin-peaks": lambda c: (int((c[0] + 1) // 0.5) + int((c[1] + 1) // 0.5)) % 2,
    "clock": lambda c: int((c[0] + 1e-9) // (np.pi / 6)),
}


@pytest.mark.parametrize("name", RULES)
def test_labels_row_by_row(name):
    data = datasets.load(name, 500, random_state=4)
    expected = [RULES[name](row) for row in data.coordinates]
    np.testing.assert_array_equal(data.labels, expected)


def test_labels_of_rows_worked_out_by_hand():
    # helix(4): t = pi/2, pi, 3pi/2, 2pi; 1.5 t = 2.36, 4.71, 7.07, 9.42 -> 2, 5, 7, 9.
    assert datasets.helix(4, 0).labels.tolist() == [0, 1, 1, 1]
    # hd(32): two levels, rounding changes nothing, so the label is the parity of 5 plus the number of ones.
    data = datasets.hd(32, 0)
    np.testing.assert_array_equal(data.labels, (5 + data.coordinates.sum(axis=1)) % 2)
    # hd(243): the middle level 0.5 rounds up to 1, not to the even 0.
    data = datasets.hd(243, 0)
    middle = data.labels[(data.coordinates == 0.5).all(axis=1)]
    assert middle.tolist() == [0]  # five times 1 + 1 is 10


def test_broken_roll_with_parity_labels():
    data = datasets.broken_swiss_roll(500, random_state=4, parity_labels=True)
    np.testing.assert_array_equal(data.labels, [RULES["swiss-roll"](row) for row in data.coordinates])
    plain = datasets.broken_swiss_roll(500, random_state=4)
    np.testing.assert_array_equal(plain.X, data.X)
    assert set(plain.labels) == {5, 6, 7, 8, 10, 11, 12, 13, 14}


def test_published_twin_peaks_row_by_row():
    data = datasets.twin_peaks(500, random_state=4, published=True)
    low = data.X.min(axis=0)
    expected = [sum(away(v) for v in (row + low) / 10) % 2 for row in data.X]
    np.testing.assert_array_equal(data.labels, expected)


def test_rounding_half_away_from_zero():
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, -0.2, 0.0, 4503599627370497.0])
    expected = [1, 2, 3, -1, -2, -3, 0, 0, 0, 4503599627370497]
    np.testing.assert_array_equal(round_half_away(values), expected)
    rng = np.random.default_rng(0)
    many = np.concatenate([rng.normal(scale=10, size=500), rng.integers(-20, 20, 100) / 2])
    np.testing.assert_array_equal(round_half_away(many), [away(v) for v in many])


def test_parity_and_checkerboard():
    assert parity(np.array([-3.0, -2.0, 0.0, 5.0])).tolist() == [1, 0, 0, 1]
    assert parity(np.array([1.0, 2.0]), np.array([3.0, 3.0])).tolist() == [0, 1]
    # Both far corners belong to the last cell, not to one beyond it.
    board = checkerboard(np.array([[0.0, 0.0], [0.3, 0.0], [0.3, 0.3], [1.0, 1.0], [1.0, 0.0]]))
    assert board.tolist() == [0, 1, 0, 0, 1]


# The smaller class of two, as a share; the published boards are uneven where a cell does not fit the sheet.
BALANCE = {
    "swiss-roll": 0.45,
    "swiss-roll-hole": 0.4,
    "changing-swiss-roll": 0.4,
    "helix": 0.4,
    "twin-peaks": 0.45,
    "twin-peaks-published": 0.45,
    "hd": 0.45,
    "intersecting": 0.4,
    "concentric-spheres": 0.5,
    "spiral-2d": 0.4,
    "spiral-3d": 0.4,
    "shifted-face": 0.4,
}


@pytest.mark.parametrize("name", BALANCE)
def test_two_classes_of_similar_size(name):
    data = datasets.load(name, 300 if name == "shifted-face" else 3000, random_state=0)
    counts = np.bincount(data.labels)
    assert len(counts) == 2
    assert counts.min() >= BALANCE[name] * len(data.labels)


@pytest.mark.parametrize(("name", "classes"), [("clusters-3d", 5), ("noisy-circle", 4), ("clock", 12)])
def test_several_classes_of_similar_size(name, classes):
    labels = datasets.load(name, 1200, random_state=0).labels
    np.testing.assert_allclose(np.bincount(labels), 1200 / classes, rtol=0.2)

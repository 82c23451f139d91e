"""Gower's distance by a double loop over pairs of rows, straight from its definition."""

import numpy as np


def is_hole(value):
    return value is None or value != value


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def contribution(a, b, low, high):
    """Of one column to the distance between two rows; the range is None for categories."""
    if low is None or low == high:
        return float(a != b)
    return abs(a - b) / (high - low)


def gower(new, fitted=None):
    """Distances between lists of rows, with ranges of the fitted ones; NaN where no column is shared."""
    fitted = new if fitted is None else fitted
    ranges = []
    for column in zip(*fitted, strict=True):
        there = [value for value in column if not is_hole(value)]
        numbers = all(is_number(value) for value in there)
        ranges.append((min(there), max(there)) if numbers else (None, None))
    D = np.full((len(new), len(fitted)), np.nan)
    for i, x in enumerate(new):
        for j, y in enumerate(fitted):
            shared = [
                contribution(a, b, *r)
                for a, b, r in zip(x, y, ranges, strict=True)
                if not is_hole(a) and not is_hole(b)
            ]
            if shared:
                D[i, j] = sum(shared) / len(shared)
    return D


def mixed_rows(n, rng, holes=0.0):
    """Rows in three groups, of two numbers, two kinds of categories and a truth value, as lists."""
    group = np.arange(n) % 3
    columns = [
        (group + rng.normal(scale=0.3, size=n)).tolist(),
        (100 * rng.random(n)).round(3).tolist(),
        [("red", "green", "blue")[g] if rng.random() < 0.8 else "grey" for g in group],
        rng.choice(["a", "b", "c"], n).tolist(),
        [bool(value) for value in rng.random(n) < 0.5],
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    for i, j in np.argwhere(rng.random((n, 5)) < holes):
        rows[i][j] = None
    return rows

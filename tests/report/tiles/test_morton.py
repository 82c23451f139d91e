"""The order of a quadtree: exact both ways, and every square in one piece."""

import itertools

import numpy as np

from lowdim.report.tiles.morton import BITS, interleaved, quantised, separated


def slow(x, y):
    return sum((((x >> b) & 1) << (2 * b)) | (((y >> b) & 1) << (2 * b + 1)) for b in range(BITS))


def test_bits_are_interleaved_and_come_back():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2**BITS, (2, 300)).astype(np.uint64)
    codes = interleaved(x, y)
    assert codes.tolist() == [slow(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    for found, given in zip(separated(codes), (x, y), strict=True):
        np.testing.assert_array_equal(found, given)


def test_ends_of_the_square():
    assert quantised(np.array([-0.1, 0.0, 0.5, 1.0, 2.0])).tolist() == [0, 0, 2 ** (BITS - 1), *[2**BITS - 1] * 2]


def test_a_square_is_one_piece_of_the_order():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 2**BITS, (2, 2000)).astype(np.uint64)
    order = np.argsort(interleaved(x, y))
    for level in (1, 2, 4):
        square = [(int(x[i]) >> (BITS - level), int(y[i]) >> (BITS - level)) for i in order]
        changes = sum(a != b for a, b in itertools.pairwise(square))
        assert changes == len(set(square)) - 1

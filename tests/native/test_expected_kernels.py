"""The compiled loop of `_native/tables/expected_gaussian.cpp` against a twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def blurred(n, d, r, share, seed):
    """Rows, their missing cells, and the covariance F F' + diag(noise) of each."""
    rng = np.random.default_rng(seed)
    hole = rng.random((n, d)) < share
    rows, roots = rng.normal(size=(n, d)), rng.normal(size=(n, d, r)) * hole[:, :, None]
    start = np.concatenate([[0], np.cumsum(hole.sum(axis=1))]).astype(np.int64)
    return rows, hole, roots, start, np.nonzero(hole)[1].astype(np.int32)


def twin(A, B, noise, gamma):
    """|I + 2 gamma S|^-1/2 exp(-gamma gap' (I + 2 gamma S)^-1 gap), with S written out."""
    S = [roots @ roots.transpose(0, 2, 1) + hole[:, :, None] * np.diag(noise) for _, hole, roots, *_ in (A, B)]
    M = np.eye(len(noise)) + 2 * gamma * (S[0][:, None] + S[1])
    gap = A[0][:, None] - B[0]
    square = np.einsum("ijk,ijk->ij", gap, np.linalg.solve(M, gap[..., None])[..., 0])
    return np.exp(-gamma * square) / np.sqrt(np.linalg.det(M))


def expected(A, B, noise, gamma, n_threads=1):
    out = np.empty((len(A[0]), len(B[0])))
    sides = [
        (rows, start, cells, np.sqrt(2 * gamma) * np.ascontiguousarray(roots[hole]))
        for rows, hole, roots, start, cells in (A, B)
    ]
    _native.expected_gaussian(*sides[0], *sides[1], noise, gamma, out, n_threads)
    return out


@pytest.mark.parametrize("gamma", [0.01, 0.3, 5.0])
@pytest.mark.parametrize(("d", "r", "share"), [(3, 1, 0.3), (9, 2, 0.2), (12, 5, 0.6), (6, 3, 0.0), (5, 2, 1.0)])
def test_pairs_equal_their_twin(d, r, share, gamma):
    A, B = blurred(17, d, r, share, 0), blurred(11, d, r, 0.5 * share, 1)
    noise = np.random.default_rng(2).uniform(0.01, 2, d)
    found = expected(A, B, noise, gamma)
    np.testing.assert_allclose(found, twin(A, B, noise, gamma), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(expected(B, A, noise, gamma), found.T, rtol=1e-12)


def test_the_bits_do_not_depend_on_the_threads():
    A, noise = blurred(90, 7, 3, 0.3, 0), np.full(7, 0.3)
    one = expected(A, A, noise, 0.2)
    for n_threads in (2, 3, 8):
        np.testing.assert_array_equal(expected(A, A, noise, 0.2, n_threads), one)


def test_arrays_that_do_not_belong_together_are_refused():
    (rows, hole, roots, start, cells), noise, out = blurred(4, 3, 2, 0.5, 0), np.ones(3), np.empty((4, 4))
    good = (rows, start, cells, np.ascontiguousarray(roots[hole]))
    for bad in (
        (rows, start[:-1].copy(), cells, good[3]),
        (rows, start, cells[:-1].copy(), good[3]),
        (rows, start, cells + np.int32(3), good[3]),
        (rows, start[::-1].copy(), cells, good[3]),
        (rows[:, :2].copy(), start, cells, good[3]),
    ):
        with pytest.raises(ValueError, match="expected_gaussian: "):
            _native.expected_gaussian(*bad, *good, noise, 1.0, out, 1)
    with pytest.raises(ValueError, match="shapes"):
        _native.expected_gaussian(*good, *good, noise, 1.0, out[:2].copy(), 1)

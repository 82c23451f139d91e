"""Rows with the same cells, found again in another table."""

import numpy as np
import pytest
from scipy import sparse

from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.tables import equal_rows
from lowdim._core.tables.equal_rows import equal_row


def test_rows_are_found_again(rng):
    rows = rng.integers(0, 3, size=(40, 3)).astype(float)
    X = np.vstack([rows[::-1], rows[:5] + 0.5, -0.0 * rows[:1]])
    found = equal_row(rows, X)
    for i, row in enumerate(X):
        same = np.flatnonzero((rows == row).all(axis=1))
        assert found[i] in same if len(same) else found[i] == -1


def test_rows_with_the_same_hash_are_told_apart(rng, monkeypatch):
    rows = rng.normal(size=(6, 2))
    monkeypatch.setattr(equal_rows, "hashes", lambda X: np.zeros(len(X), dtype=np.uint64))
    found = equal_row(rows, np.vstack([rows[:1], rows[:1] + 1]))
    assert found.tolist() == [0, -1]


@pytest.mark.parametrize("form", [np.float64, np.float32, sparse.csr_array])
def test_small_whole_numbers_are_told_apart(form):
    """Few of their bits are set, so that sums of products of them are often equal."""
    rows = np.stack(np.meshgrid(*[np.arange(5.0)] * 4), axis=-1).reshape(-1, 4)
    X = np.vstack([rows, rows[::3]])
    X = form(X) if form is sparse.csr_array else X.astype(form)
    same = Distinct.of(X)
    assert len(same.first) == 625
    assert same.kind[625:].tolist() == list(range(0, 625, 3))
    assert same.counts.sum() == X.shape[0]

"""Measures row by row add up to the measures of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import quality


def data(n=60, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, X[:, :2]


def test_means_are_the_whole():
    X, Z = data()
    rows = quality.per_row(X, Z, n_neighbors=7)
    ranks = quality.Ranks.of(X, Z)
    assert rows["auc"].mean() == pytest.approx(ranks.auc, abs=1e-14)
    assert rows["kept"].mean() == pytest.approx(ranks.qnx[6], abs=1e-14)
    assert rows["trustworthiness"].mean() == pytest.approx(ranks.trustworthiness[6], abs=1e-14)
    assert rows["continuity"].mean() == pytest.approx(ranks.continuity[6], abs=1e-14)
    assert (rows["k"], rows["reference"]) == (7, "ambient")


def test_stress_shares_equal_their_definition():
    X, Z = data()
    delta, d = (np.sqrt(((A[:, None] - A[None]) ** 2).sum(-1)) for A in (X, Z))
    error = ((delta - np.sum(delta * d) / np.sum(d * d) * d) ** 2).sum(axis=1)
    shares = quality.per_row(X, Z)["stress_share"]
    np.testing.assert_allclose(shares, error / error.sum(), rtol=1e-10)
    np.testing.assert_allclose(quality.per_row(X, 9 * Z)["stress_share"], shares, rtol=1e-10)


def test_the_misplaced_row_is_found():
    X, _ = data(80, 2)
    Z = X.copy()
    Z[17] += 30
    rows = quality.per_row(X, Z)
    assert np.argmin(rows["auc"]) == np.argmax(rows["stress_share"]) == np.argmin(rows["trustworthiness"]) == 17
    assert np.argmin(rows["kept"]) == 17
    np.testing.assert_allclose(quality.per_row(X, X)["stress_share"], 1 / 80)


def test_only_the_asked_rows():
    X, Z = data()
    some = quality.per_row(X, Z, anchors=[4, 9, 30])
    every = quality.per_row(X, Z)
    for name in ("auc", "kept", "trustworthiness", "continuity"):
        np.testing.assert_array_equal(some[name], every[name][[4, 9, 30]])
    assert some["stress_share"].sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="per_row: n_neighbors must be a whole number from 1 to 58; got 59"):
        quality.per_row(X, Z, n_neighbors=59)

"""The negative eigenvalues of distances that are not Euclidean, without all eigenvalues where there are many."""

import numpy as np
import pytest

from lowdim._core.distances import pairwise
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum.trace_sums import signed_sums


def matrix(metric, n=400, d=10):
    return inner_products(pairwise(np.random.default_rng(0).normal(size=(n, d)) + 1, metric=metric))[0]


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "canberra"])
def test_the_estimate_is_near(metric, monkeypatch):
    A = matrix(metric)
    values = np.linalg.eigvalsh(A)
    exact = (values[values > 0].sum(), -values[values < 0].sum())
    np.testing.assert_allclose(signed_sums(A, owner="test"), exact, rtol=1e-9)
    monkeypatch.setattr("lowdim._core.spectrum.trace_sums.EXACT", 10)
    found = signed_sums(A, owner="test")
    np.testing.assert_allclose(found, exact, rtol=0.1)
    assert found[0] - found[1] == pytest.approx(np.trace(A))
    assert signed_sums(A, owner="test") == found


@pytest.mark.parametrize("A", [np.zeros((50, 50)), np.eye(50), np.ones((50, 50))], ids=["zero", "one", "rank one"])
def test_what_has_no_negative_eigenvalue_has_none(A, monkeypatch):
    monkeypatch.setattr("lowdim._core.spectrum.trace_sums.EXACT", 10)
    positive, negative = signed_sums(A, owner="test")
    assert negative < 1e-9 * max(positive, 1)
    positive, negative = signed_sums(matrix("euclidean"), owner="test")
    assert negative < 1e-9 * positive


@pytest.mark.parametrize("scale", [2.0**-660, 2.0**660])  # about 1e-199 and 1e199, without rounding
def test_the_estimate_follows_the_scale(scale, monkeypatch):
    monkeypatch.setattr("lowdim._core.spectrum.trace_sums.EXACT", 10)
    A = matrix("manhattan")
    np.testing.assert_allclose(signed_sums(A * scale, owner="test"), np.multiply(signed_sums(A, owner="test"), scale))

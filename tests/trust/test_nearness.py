"""How near rows are to each other: entropy in closed form, and the choice of noise."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import digamma, gammaln

import lowdim
from lowdim._core.ranks.reference import euclidean
from lowdim.quality.row_curves import scales_of
from lowdim.trust.agreement import Compared
from lowdim.trust.nearness import fitting_null, nearness, sampled_nearness
from tests.trust.test_structure import components_of_groups


def chosen(X, **how):
    return fitting_null(X, Compared(**how), np.random.default_rng(0))


def test_it_is_the_entropy_up_to_a_constant():
    """Kozachenko and Leonenko: digamma(n) - digamma(k) + log(volume of the ball) + d * mean log distance."""
    n, d = 1500, 2
    X = np.random.default_rng(0).standard_normal((n, d))
    k, volume = scales_of(n)[0], 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1)
    entropy = digamma(n) - digamma(k) + volume - d * nearness(euclidean(X, "ambient"))[0]
    assert entropy == pytest.approx(0.5 * d * np.log(2 * np.pi * np.e), abs=0.1)


def test_units_shift_it_and_copies_are_not_infinitely_near():
    X = np.random.default_rng(0).standard_normal((60, 3))
    one, other = (nearness(euclidean(table, "ambient")) for table in (X, 10 * X))
    assert one - other == pytest.approx(np.full(len(one), np.log(10)))
    copies = nearness(euclidean(np.repeat(X[:6], 10, axis=0), "ambient"))
    assert np.all(np.isfinite(copies))
    assert copies[0] > one[0]


def test_shuffled_columns_unless_they_make_groups_of_their_own():
    rng = np.random.default_rng(1)
    X = components_of_groups()
    assert chosen(X) == "gaussian"
    assert chosen(X @ np.linalg.qr(rng.standard_normal((20, 20)))[0]) == "permuted"  # columns of another basis
    assert chosen(6.0 * rng.integers(0, 2, (150, 4)) - 3 + rng.standard_normal((150, 4))) == "permuted"  # unrelated
    assert chosen(rng.standard_t(3, (150, 6))) == "permuted"


def test_gaussian_noise_only_where_it_is_like_the_rows():
    X = components_of_groups()
    holes = X.copy()
    holes[0, 0] = np.nan
    words = pd.DataFrame({"a": list("xyz") * 50, "b": X[:, 0]})
    for table in (X - X.min(), holes, words):
        assert chosen(table) == "permuted"
    assert chosen(X, metric="cityblock") == "permuted"
    assert chosen(X, reference="precomputed") == "permuted"
    assert chosen(pd.DataFrame(X)) == chosen(pl.DataFrame(X)) == chosen(sparse.csr_array(X)) == "gaussian"


def test_what_has_no_distances_between_complete_rows_has_no_nearness():
    rng, X = np.random.default_rng(0), np.random.default_rng(1).standard_normal((30, 2))
    assert sampled_nearness(X, Compared(reference="precomputed"), rng) is None
    X[0, 0] = np.nan
    for table in (X, pd.DataFrame(X), pl.DataFrame(X)):
        assert sampled_nearness(table, Compared(metric="gower"), rng) is None
    words = pd.DataFrame({"a": list("xyz") * 10, "b": range(30)})
    assert sampled_nearness(words, Compared(metric="gower"), rng) is not None


@pytest.mark.filterwarnings("ignore:Isomap. the neighbour graph has")
def test_rows_of_components_are_compared_with_noise_without_groups():
    X, model = components_of_groups(shift=0.4), lowdim.Isomap(n_components=2, n_neighbors=8)
    Z = model.fit_transform(X)
    found = lowdim.trust.rows(X, Z, estimator=model, n_null=2, random_state=0)
    shuffled = lowdim.trust.rows(X, Z, estimator=model, n_null=2, null="permuted", random_state=0)
    assert "Gaussian rows with the same covariance" in found.against
    assert "each shuffled" in shuffled.against
    assert (found.p_values <= 0.05).mean() > (shuffled.p_values <= 0.05).mean() + 0.05
    assert "placed at random" in lowdim.trust.rows(X, Z, random_state=0).against

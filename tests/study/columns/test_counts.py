"""Tables of counts, told from other tables of whole numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_linnerud

from lowdim import compare
from lowdim.study.columns import counts as module
from lowdim.study.columns.counts import counts_in

SMOKING = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]], dtype=float)


def abundances(rng, rows=40, species=15):
    place, best = np.linspace(0, 10, rows)[:, None], np.linspace(0, 10, species)
    return rng.poisson(20 * np.exp(-((place - best) ** 2) / 4)).astype(float)


def genes(rng, samples=12, n=600):
    mean = rng.lognormal(3, 1.5, n)
    return rng.negative_binomial(5, 5 / (5 + mean), (samples, n)).astype(float)


def ratings(rng):
    return np.clip(np.round(rng.normal(3, 1.1, (200, 25))), 1, 5)


def words(rng):
    return rng.poisson(rng.gamma(0.3, 0.5, (300, 60))).astype(float)


@pytest.mark.parametrize("table", [abundances, genes, words])
def test_counts(rng, table):
    assert counts_in(table(rng), False) is not None


def test_a_contingency_table_has_named_rows():
    assert counts_in(SMOKING, True) == module.Counts(0)
    assert counts_in(SMOKING, False) is None  # five rows of four whole numbers can be anything


def test_missing_counts_and_rows_without_any(rng):
    X = abundances(rng)
    X[3, 4], X[7] = np.nan, 0.0
    assert counts_in(X, False) == module.Counts(1)


@pytest.mark.parametrize(
    "X",
    [
        load_digits().data,
        np.round(load_iris().data * 10),
        load_linnerud().target,
        np.array([[1.0, 2.0], [0.0, 5.0], [3.0, 0.0]]),
        np.eye(40),
        np.array([[0.5, 0, 3], [2, 0, 1], [0, 4, 2]]),
        np.array([[-1.0, 0, 3], [2, 0, 1], [0, 4, 2]]),
    ],
    ids=["pixels", "tenths of millimetres", "body", "two columns", "flags", "a fraction", "below zero"],
)
def test_other_whole_numbers(X):
    assert counts_in(X, True) is None


def test_ratings_ages_and_genotypes_are_no_counts(rng):
    n = 200
    people = np.c_[rng.integers(18, 90, n), rng.integers(1000, 9000, n), rng.poisson(1.2, n), rng.poisson(3, n)]
    genotypes = rng.binomial(2, rng.uniform(0.05, 0.5, 200), (n, 200))
    percent = rng.integers(0, 101, (n, 12))
    for X in (ratings(rng), people, genotypes, percent):
        assert counts_in(X.astype(float), True) is None


def test_the_end_of_a_large_table_is_looked_at(rng):
    X = words(rng)
    X[-1, -1] = 0.5
    assert counts_in(X, False) is None


def test_compare_maps_counts_by_their_profiles(rng):
    found = compare(abundances(rng), verdict=False, n_jobs=1)
    assert found.names[:2] == ["pca", "ca"]
    assert any("seem to be counts: ca (correspondence analysis)" in reason for reason in found.panel)
    table = pd.DataFrame(SMOKING.astype(int), index=["SM", "JM", "SE", "JE", "SC"], columns=list("nlmh"))
    named = compare(table, n_jobs=1)
    assert named.names == ["pca", "ca", "mds", "random"]
    assert named.failures == {}
    assert "ca" not in compare(load_iris().data[:40], verdict=False, n_jobs=1).names


def test_rows_without_counts_are_said_where_they_stop_ca(rng):
    X = abundances(rng)
    X[7] = 0.0
    found = compare(X, verdict=False, n_jobs=1)
    assert "ca" not in found.names
    assert any("1 row has only zeros: leave them out to get ca" in reason for reason in found.panel)

"""Gower's distance against its definition, worked examples and tables that are not as they should be."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim._core.distances import Gower, pairwise
from tests.mixed_tables import gower, mixed_rows

NAMES = ["size", "price", "colour", "kind", "new"]


def containers(rows):
    yield "lists", rows
    yield "objects", np.array(rows, dtype=object)
    yield "pandas", pd.DataFrame(rows, columns=NAMES)
    yield "pandas, nullable", pd.DataFrame(rows, columns=NAMES).convert_dtypes()
    yield "pandas, categories", pd.DataFrame(rows, columns=NAMES).astype({"colour": "category", "kind": "category"})
    yield "polars", pl.DataFrame(rows, schema=NAMES, orient="row")


def test_a_worked_example():
    # By hand: range of the numbers 4; two categories.
    rows = [[1.0, "red", "x"], [3.0, "red", "y"], [5.0, "blue", None], [None, "blue", "y"]]
    D = lowdim.dissimilarities(rows, metric="gower")
    expected = np.zeros((4, 4))
    expected[0, 1] = (2 / 4 + 0 + 1) / 3
    expected[0, 2] = (4 / 4 + 1) / 2
    expected[0, 3] = (1 + 1) / 2
    expected[1, 2] = (2 / 4 + 1) / 2
    expected[1, 3] = (1 + 0) / 2
    expected[2, 3] = 0.0
    np.testing.assert_allclose(D, expected + expected.T, rtol=1e-15)


def test_numbers_alone_are_city_block_distances_over_ranges():
    X = np.random.default_rng(0).normal(size=(40, 6))
    D = lowdim.dissimilarities(X, metric="gower")
    np.testing.assert_allclose(D, squareform(pdist(X / np.ptp(X, axis=0), "cityblock")) / 6, atol=1e-14)


def test_categories_alone_are_shares_of_differences():
    X = np.random.default_rng(1).choice(["a", "b", "c"], (40, 7))
    D = lowdim.dissimilarities(X, metric="gower")
    np.testing.assert_allclose(D, (X[:, None] != X[None]).mean(axis=2), atol=1e-15)


def test_the_root_of_complete_tables_is_euclidean():
    # Gower (1971): without missing cells the similarities 1 - d are positive semi-definite.
    D = lowdim.dissimilarities(mixed_rows(50, np.random.default_rng(2)), metric="gower")
    assert np.linalg.eigvalsh(1.0 - D).min() > -1e-12


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_tables_with_holes_agree_with_the_definition(data):
    n, m = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    kinds = data.draw(st.lists(st.sampled_from("nct"), min_size=1, max_size=5))
    number = st.none() | st.integers(-5, 5).map(float) | st.floats(-1e6, 1e6, allow_subnormal=False)
    cell = {"n": number, "c": st.none() | st.sampled_from("abc"), "t": st.none() | st.booleans()}
    row = st.tuples(*(cell[kind] for kind in kinds)).map(list).filter(lambda r: any(v is not None for v in r))
    old, new = data.draw(st.lists(row, min_size=n, max_size=n)), data.draw(st.lists(row, min_size=m, max_size=m))
    for j in range(len(kinds)):
        if all(r[j] is None for r in old):
            old[0][j] = {"n": 2.5, "c": "b", "t": True}[kinds[j]]
    wanted, among = gower(new, old), gower(old)
    fitted, table = Gower.of(old, "test") if not np.isnan(among).any() else _quietly(old)
    unknown = fitted.apart
    found = pairwise(fitted.table(new, "test", quiet=True), table, fitted.metric)
    np.testing.assert_allclose(found, np.where(np.isnan(wanted), unknown, wanted), rtol=1e-12, atol=1e-13)
    found = pairwise(table, metric=fitted.metric)
    np.testing.assert_allclose(found, np.where(np.isnan(among), unknown, among), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(found, found.T)


def _quietly(rows):
    with pytest.warns(UserWarning, match="no observed column in common"):
        return Gower.of(rows, "test")


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_every_container_gives_the_same_distances(holes):
    rows = mixed_rows(30, np.random.default_rng(3), holes)
    for name, X in containers(rows):
        D = lowdim.dissimilarities(X, metric="gower")
        np.testing.assert_allclose(D, gower(rows), atol=1e-13, err_msg=name)
        new = lowdim.dissimilarities(X[:4], X, metric="gower")
        np.testing.assert_allclose(new, gower(rows)[:4], atol=1e-13, err_msg=name)


def test_masked_cells_are_missing():
    X = np.random.default_rng(4).normal(size=(12, 3))
    hidden = X > 1
    D = lowdim.dissimilarities(np.ma.masked_array(X, hidden), metric="gower")
    np.testing.assert_array_equal(D, lowdim.dissimilarities(np.where(hidden, np.nan, X), metric="gower"))
    text = np.ma.masked_array(np.array([["a", "x"], ["b", "x"], ["b", "y"]]), [[0, 1], [0, 0], [0, 0]])
    D = lowdim.dissimilarities(text, metric="gower")
    np.testing.assert_array_equal(D, [[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]])


def test_rows_that_share_no_column_are_at_the_mean_distance():
    rows = [[1.0, None], [2.0, None], [4.0, "a"], [None, "b"]]
    with pytest.warns(UserWarning, match="2 or more pairs of rows have no observed column in common"):
        D = lowdim.dissimilarities(rows, metric="gower")
    numbers, text = np.mean([1 / 3, 3 / 3, 2 / 3]), 1.0  # means over the pairs that have them
    np.testing.assert_allclose(D[:2, 3], (numbers + text) / 2)


def test_new_rows_use_the_ranges_and_categories_of_the_fitted_ones():
    fitted = [[0.0, "a", 7.0], [10.0, "b", 7.0]]
    D = lowdim.dissimilarities([[25.0, "c", 7.0], [5.0, "a", 8.0]], fitted, metric="gower")
    np.testing.assert_allclose(D, [[(2.5 + 1 + 0) / 3, (1.5 + 1 + 0) / 3], [(0.5 + 0 + 1) / 3, (0.5 + 1 + 1) / 3]])


def test_columns_that_do_not_vary_count():
    D = lowdim.dissimilarities([[1.0, 3.0, "x"], [2.0, 3.0, "x"]], metric="gower")
    np.testing.assert_allclose(D[0, 1], 1 / 3)


def test_truth_values_and_the_numbers_zero_and_one_are_the_same():
    truth, numbers = [[True, 1.0], [False, 2.0], [True, 4.0]], [[1, 1.0], [0, 2.0], [1, 4.0]]
    wanted = lowdim.dissimilarities(numbers, metric="gower")
    for new in (truth, numbers):
        for old in (truth, numbers):
            np.testing.assert_array_equal(lowdim.dissimilarities(new, old, metric="gower"), wanted)


def test_coordinates_have_gowers_distance_as_city_block_distance():
    rows = mixed_rows(25, np.random.default_rng(5))
    fitted, table = Gower.of(rows, "test")
    U = fitted.rows(table)
    np.testing.assert_allclose(squareform(pdist(U, "cityblock")) / 5, gower(rows), atol=1e-13)
    assert fitted.decoded(U)[:, 2:].tolist() == [row[2:] for row in rows]
    np.testing.assert_allclose(fitted.decoded(U)[:, :2].astype(float), [row[:2] for row in rows], atol=1e-12)


BAD = {
    "dates": (pd.DataFrame({"a": [1.0, 2.0], "born": pd.to_datetime(["2020-01-01", "2021-01-01"])}), "column 'born'"),
    "polars dates": (pl.DataFrame({"a": [1.0], "born": [date(2020, 1, 1)]}), "column 'born'"),
    "dates among objects": ([[1.0, date(2020, 1, 1)], [2.0, None]], r"holds dates .*column 1"),
    "ids": (pd.DataFrame({"a": range(12), "name": [f"n{i}" for i in range(12)]}), "column 'name' has a different text"),
    "an empty row": ([[1.0, "a"], [None, None]], "1 row of X has no observed cell"),
    "an empty column": ([[1.0, None], [2.0, None]], "1 column of X has no observed cell"),
    "infinity": ([[1.0, "a"], [np.inf, "b"]], "infinity"),
    "too large": ([[1.0, "a"], [1e200, "b"]], "out of range"),
    "one dimension": (["a", "b"], "must be a table of rows and columns.*Reshape your data"),
    "ragged rows": ([[1.0, "a"], [2.0]], "must be a table"),
    "no columns": (np.empty((3, 0)), r"X has 0 feature\(s\)"),
    "imaginary parts": (np.eye(3) * 1j, "Complex data not supported"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_are_refused(name):
    X, message = BAD[name]
    with pytest.raises(ValueError, match=f"dissimilarities: .*{message}"):
        lowdim.dissimilarities(X, metric="gower")


def test_sparse_tables_are_refused():
    with pytest.raises(TypeError, match="dissimilarities: X must be dense"):
        lowdim.dissimilarities(sparse.eye_array(4).tocsr(), metric="gower")


def test_columns_of_new_rows_must_be_of_the_fitted_kind():
    frame = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    for new, message in (
        (frame.assign(size=["small", "large"]), "column 'size' held numbers at fit; got 'small'"),
        (frame.assign(colour=[1.0, 2.0]), "column 'colour' held text at fit; got numbers"),
        (frame[["size"]], "must have the 2 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            lowdim.dissimilarities(new, frame, metric="gower")


def test_blocks_alone_do_not_know_the_ranges():
    with pytest.raises(ValueError, match="metric must not be 'gower'"):
        pairwise(np.eye(3), metric="gower")

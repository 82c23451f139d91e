"""Columns of any container: numbers or categories, holes as NaN, categories as plain values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lowdim._core.tables.columns import UNSEEN, categories_of, code, decode, has_categories, raw_columns

PLAIN = {"n": [1.5, None, 3.0], "i": [1, 2, 3], "t": ["b", None, "a"], "f": [True, False, None], "k": ["x", "y", "x"]}


def containers():
    frame = pd.DataFrame(PLAIN).astype({"k": "category"})
    yield "pandas", frame
    yield "pandas, nullable", pd.DataFrame(PLAIN).convert_dtypes()
    yield "polars", pl.DataFrame(PLAIN, schema_overrides={"k": pl.Categorical})
    yield "objects", np.array(list(zip(*PLAIN.values(), strict=True)), dtype=object)
    yield "lists", [list(row) for row in zip(*PLAIN.values(), strict=True)]


@pytest.mark.parametrize(("name", "table"), list(containers()), ids=[name for name, _ in containers()])
def test_every_container_gives_the_same_columns(name, table):
    assert has_categories(table)
    n, i, t, f, k = raw_columns(table)
    np.testing.assert_array_equal(n, [1.5, np.nan, 3.0])
    np.testing.assert_array_equal(i, [1.0, 2.0, 3.0])
    assert [c.dtype.kind for c in (n, i, t, f, k)] == ["f", "f", "O", "O", "O"]
    assert t.tolist() == ["b", None, "a"]
    assert f.tolist() == [True, False, None]
    assert k.tolist() == ["x", "y", "x"]
    assert all(type(value) in (str, bool, type(None)) for column in (t, f, k) for value in column)


def test_codes_and_back():
    columns = raw_columns(np.array([["b", 1, True], [None, 2, 1], ["a", "2", 1.0]], dtype=object))
    found = [categories_of(c) for c in columns]
    assert found == [("a", "b"), (1, 2, "2"), (True, 1)]  # truth values are not numbers; 1 and 1.0 are the same
    coded = np.column_stack([code(c, f) for c, f in zip(columns, found, strict=True)])
    np.testing.assert_array_equal(coded, [[1, 0, 0], [np.nan, 1, 1], [0, 2, 1]])
    assert decode(coded, found).tolist() == [["b", 1, True], [None, 2, 1], ["a", "2", 1]]
    assert code(np.array(["z", None, "a"], dtype=object), found[0])[[0, 2]].tolist() == [UNSEEN, 0.0]
    numbers = np.arange(4.0).reshape(2, 2)
    assert decode(numbers, [None, None]) is numbers


def test_numbers_are_numbers():
    for table in (np.zeros((2, 2)), [[1, 2], [3, None]], np.zeros((2, 2), dtype=bool), pd.DataFrame({"a": [1.0, 2.0]})):
        assert not has_categories(table)
    for odd in (np.array(["a", "b"]), np.zeros(3), 3, iter([1])):
        assert not has_categories(odd)
    assert categories_of(np.array([2.0, np.nan, 1.0, 2.0])) == (1.0, 2.0)

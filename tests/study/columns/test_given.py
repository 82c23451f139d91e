"""What people pass as a table in Python: every form of the same table gives the same map."""

from collections import namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lowdim
from lowdim.study.columns.given import as_table, different_names

N = 12
FRAME = pd.DataFrame({
    "town": [f"t{i}" for i in range(N)],
    "height": [(i * 7 % 5) + i / 8 for i in range(N)],
    "weight": [float(i * 5 % 7) for i in range(N)],
    "sport": ["yes" if i % 3 else "no" for i in range(N)],
})  # fmt: skip
ROWS = FRAME.to_dict("records")
Person = namedtuple("Person", list(FRAME.columns))

FIELDS = [("town", "U9"), ("height", float), ("weight", float), ("sport", "U3")]


def compared(X, **more):
    return lowdim.compare(X, methods=["pca"], verdict=False, **more)


@pytest.mark.parametrize("make", [
    lambda: pl.from_pandas(FRAME),
    lambda: pl.from_pandas(FRAME).lazy(),
    lambda: pa.Table.from_pandas(FRAME),
    lambda: pa.RecordBatch.from_pandas(FRAME),
    lambda: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    lambda: FRAME.to_dict("list"),
    lambda: ROWS,
    lambda: tuple(ROWS),
    lambda: [Person(**row) for row in ROWS],
    lambda: FRAME.to_records(index=False),
    lambda: np.array([tuple(row.values()) for row in ROWS], dtype=FIELDS),
])  # fmt: skip
def test_one_table_in_many_forms(make):
    expected, found = compared(FRAME), compared(make())
    np.testing.assert_allclose(found.embeddings["pca"], expected.embeddings["pca"], atol=1e-12)
    assert [(c.name, c.kind, c.use) for c in found.columns] == [(c.name, c.kind, c.use) for c in expected.columns]
    assert found.row_names == list(FRAME["town"])


def test_fields_that_some_records_lack_are_missing_cells():
    found = as_table([{"a": 1, "b": 2}, {"a": 3}, {"b": 4, "c": 5}], "compare")
    assert found == {"a": [1, 3, None], "b": [2, None, 4], "c": [None, None, 5]}


def test_vectors_in_cells_are_columns(rng):
    vectors = rng.normal(size=(N, 3))
    frame = pd.DataFrame({"id": FRAME["town"], "emb": list(vectors), "x": np.arange(N) % 5.0}, index=FRAME["town"])
    found = compared(frame)
    assert [c.name for c in found.columns if c.use == "map"] == ["emb_1", "emb_2", "emb_3", "x"]
    expected = compared(
        np.column_stack([vectors, frame["x"]]), scale=bool(found.notes and "divided" in str(found.notes))
    )
    np.testing.assert_allclose(found.embeddings["pca"], expected.embeddings["pca"], atol=1e-9)
    ragged = frame.assign(emb=[[1.0] * (1 + i % 2) for i in range(N)])
    assert as_table(ragged, "compare") is ragged


def test_masked_cells_are_missing(rng):
    X = rng.normal(size=(20, 3))
    hidden = X < -1.2
    assert hidden.any()
    masked = compared(np.ma.MaskedArray(X, hidden))
    np.testing.assert_array_equal(masked.embeddings["pca"], compared(np.where(hidden, np.nan, X)).embeddings["pca"])


def test_infinite_cells(rng):
    X = rng.normal(size=(20, 3))
    X[[4, 9], 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match=r"compare: X has 2 infinite values \(first: row 4, column 1, counted"):
        compared(X)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(only=[np.inf, -np.inf] * 10)
    found = compared(table)
    assert found.notes[0].startswith(
        "22 infinite values (or beyond 1.8e308) in 'b', 'only' read as missing; first: row 5"
    )
    assert [(c.name, c.use) for c in found.columns if c.use != "map"] == [("only", "left out")]
    empty = np.where(np.isinf(X), np.nan, X)
    np.testing.assert_array_equal(found.embeddings["pca"], compared(pd.DataFrame(empty)).embeddings["pca"])


@pytest.mark.parametrize("path", ["table.csv", Path("table.csv")])
def test_a_path_is_no_table_and_the_error_says_who_reads_it(path):
    with pytest.raises(TypeError, match=r"got the text 'table.csv'.*command line.*: lowdim compare table.csv"):
        compared(path)


def test_a_field_of_several_values_is_refused():
    with pytest.raises(ValueError, match="field 'v' of X must have one value in each row"):
        compared(np.zeros(9, dtype=[("a", float), ("v", float, 3)]))


def test_repeated_names_take_free_numbers():
    assert different_names(["a", "a", "a_2", "a", "b"]) == ["a", "a_3", "a_2", "a_4", "b"]
    assert different_names(["a", "b"]) == ["a", "b"]

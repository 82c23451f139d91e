"""Tables: what each column is used for, and which rows are left."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.study.columns import Wishes, read_table

N = 60


@pytest.fixture
def penguins(rng):
    species = rng.choice(["Adelie", "Gentoo"], N)
    return {
        "rowid": [i + (i > 30) for i in range(N)],
        "species": species.tolist(),
        "island": rng.choice(["Dream", "Biscoe", "Torgersen"], N).tolist(),
        "bill": (40 + 5 * (species == "Gentoo") + rng.normal(size=N)).tolist(),
        "mass": [None if i == 7 else float(v) for i, v in enumerate(rng.normal(4000, 500, N))],
        "sex": [None if i == 3 else ["male", "female"][i % 2] for i in range(N)],
        "year": rng.integers(2007, 2010, N).tolist(),
        "date": [f"2007-11-{i % 28 + 1:02d}" for i in range(N)],
        "study": ["PAL"] * N,
        "nothing": [None] * N,
        "comment": [f"{'a long remark ' * 6}{i}" for i in range(N)],
    }


def uses(table):
    return {column.name: column.use for column in table.columns}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_uses(penguins, make):
    table = read_table(make(penguins))
    assert uses(table) == {
        "rowid": "name", "species": "label", "island": "map", "bill": "map", "mass": "map", "sex": "map", "year": "map",
        "date": "shown", "study": "left out", "nothing": "left out", "comment": "shown",
    }  # fmt: skip
    assert table.categories == ["island", "sex"]
    assert table.names[:3] == ["0", "1", "2"]
    assert set(table.shown) == {"date", "comment"}
    frame = table.frame()
    assert type(frame) is (np.ndarray if make is dict else make)
    assert frame.shape == (N, 5)
    assert len(lowdim.FAMD(2).fit_transform(frame)) == N


def test_what_the_user_says_counts(penguins):
    table = read_table(penguins, Wishes(kinds={"species": "category", "date": "number", "year": "category"}))
    assert uses(table)["species"] == uses(table)["date"] == "map"
    assert table.label is None
    assert "year" in table.categories
    table = read_table(penguins, Wishes(label="island", names="comment", drop=("sex",)))
    assert (uses(table)["island"], uses(table)["comment"], uses(table)["sex"]) == ("label", "name", "left out")
    assert uses(table)["species"] == "map"
    table = read_table(penguins, Wishes(columns=("mass", "bill")))
    assert table.column_names == ["mass", "bill"]
    assert (uses(table)["species"], uses(table)["rowid"], uses(table)["island"]) == ("label", "name", "left out")
    assert read_table(penguins, Wishes(find_label=False)).label is None


def test_a_single_column_of_categories_beside_numbers_is_the_label(rng):
    table = read_table({"a": rng.normal(size=N), "b": rng.normal(size=N), "variety": ["x", "y", "z"] * (N // 3)})
    assert table.label.name == "variety"
    assert "the only categories beside numbers" in table.label.reason
    two = read_table({"a": rng.normal(size=N), "variety": ["x", "y", "z"] * (N // 3)})
    assert two.label is None  # one column alone is no map


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (Wishes(columns=("bil",)), "columns 'bil' is not a column. Did you mean 'bill'"),
        (Wishes(drop=("zzz",)), "drop 'zzz' is not a column. Columns: rowid, species"),
        (Wishes(label="nothing"), "label 'nothing' has no values"),
        (Wishes(kinds={"bill": "numbir"}), "kinds of 'bill' must be one of .*; got 'numbir'. Did you mean 'number'"),
        (Wishes(columns=("date",)), "column 'date' cannot be in the map: dates, .* ask for it as a number"),
        (Wishes(columns=("comment",)), "column 'comment' cannot be in the map: .* use it as categories"),
        (Wishes(drop=("island", "bill", "mass", "sex", "year", "species")), "no column is left for the map"),
    ],
)
def test_mistakes(penguins, wishes, message):
    with pytest.raises(ValueError, match=message):
        read_table(penguins, wishes)


def test_rows_without_values_are_left_out_by_name():
    table = read_table({"who": ["ann", "bob", "cid", "dee"], "a": [1.0, None, 2.5, 4], "b": [2.5, None, 1, 7]})
    assert table.rows.tolist() == [0, 2, 3]
    assert table.notes == ("1 row has no value in any column of the map and is left out: row 2 (bob)",)
    assert table.names == ["ann", "cid", "dee"]


def test_single_precision_stays():
    frame = pd.DataFrame({"a": np.arange(9) / 7, "b": np.arange(9) % 4 / 3}, dtype=np.float32)
    assert read_table(frame).numbers().dtype == np.float32
    frame["c"] = np.arange(9) / 5
    assert read_table(frame).numbers().dtype == np.float64


def test_a_label_of_codes_is_not_doubted(rng):
    frame = {"a": rng.normal(size=60), "b": rng.normal(size=60), "stage": np.arange(60) % 3}
    asked, seen = (read_table(frame, Wishes(label=name)).columns[-1] for name in ("stage", None))
    assert (asked.use, asked.doubt) == ("label", "")
    assert (seen.use, seen.doubt[-26:]) == ("map", "may be codes of categories")


def test_columns_that_count_twice_are_named(rng):
    a, b = rng.normal(size=(2, 20))
    a[3] = np.nan
    colour = ["red", "green"] * 10
    frame = {"a": a, "b": b, "a again": a.copy(), "b + 1": b + 1, "colour": colour, "farbe": colour}
    note = next(note for note in read_table(frame).notes if "count twice" in note)
    assert "map: 'a again' as 'a', 'farbe' as 'colour'; drop=[...]" in note
    assert not read_table({"a": a, "b": b}).notes


def test_equal_names_are_made_different():
    frame = pd.DataFrame([[1.5, 2, 9, 4], [3, 4, 7, 1], [0, 5, 2, 2]], columns=["a", "a", "a_2", 1])
    found = read_table(frame)
    assert found.column_names == ["a", "a_3", "a_2", "1"]
    assert found.notes == ("repeated column names made different: 'a' -> 'a_3'",)
    np.testing.assert_array_equal(found.numbers()[:, 1], [2, 4, 5])


def test_wide_tables_are_read_quickly(rng):
    import time

    frame = pl.DataFrame({f"g{j}": rng.normal(size=200) for j in range(3000)})
    start = time.process_time()
    assert len(read_table(frame).used) == 3000
    assert time.process_time() - start < 5


def test_compare_takes_what_a_person_has(penguins):
    numbers = {name: penguins[name] for name in ("rowid", "species", "bill", "mass", "date")}
    c = lowdim.compare(pd.DataFrame(numbers), methods=["pca", "lda"])
    assert c.labels.name == "species"
    assert c.row_names[0] == "0"
    assert [column.use for column in c.columns] == ["name", "label", "map", "map", "shown"]
    assert any("columns have different units" in note for note in c.notes)
    assert c.to_dict()["column_kinds"][0]["kind"] == "id"

"""Rows left out by name or number, and last rows that seem to be summaries."""

import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions

TEXT = 'name,p,q\nann,1.5,2\nbob,2.5,1\n"c, d",0.5,5\neve,4.5,3\nTotal,9,11\n'


@pytest.fixture
def table(tmp_path):
    def make(text=TEXT, *left):
        (tmp_path / "t.csv").write_text(text)
        return read(tmp_path / "t.csv", ReadOptions(drop_rows=left, missing="keep"))

    return make


def test_by_name_and_by_number(table):
    assert table(TEXT, "Total,ann").names == ["bob", "c, d", "eve"]
    found = table(TEXT + "Zoe,9,1\n", "c, d", "1")
    assert found.names == ["bob", "eve", "Total", "Zoe"]
    assert found.numbers.tolist() == [2, 4, 5, 6]
    assert found.notes[-1] == "2 rows left out (--drop-rows): c, d, 1"


def test_a_row_that_is_not_there(table):
    with pytest.raises(UserError, match=r"--drop-rows 'anne' is not a row. Did you mean 'ann'\? Rows: ann, bob, .*"):
        table(TEXT, "anne")


LEFT = "the last row, {!r}, sums up or averages the rows above it and is left out"


def test_a_total_that_adds_up_is_left_out(table):
    found = table()
    assert found.n_rows == 4
    assert found.frame.height == 4
    assert found.notes == (LEFT.format("Total"),)
    assert table(TEXT, "Total").notes == ("1 row left out (--drop-rows): Total",)
    assert table(TEXT.replace("Total,9,11", "Total:,9.004,")).notes == (LEFT.format("Total:"),)  # rounded, with a gap


def test_a_row_that_is_only_called_a_total_is_pointed_out_and_kept(table):
    found = table(TEXT.replace("9,11", "8,10"))
    assert found.n_rows == 5
    assert found.notes == (
        "the last row has 'Total' in column 'name': if it summarises the others, leave it out with --drop-rows Total",
    )
    numbered = "nr,p,note\n" + "".join(f"{i},{i * 7 % 5}.5,{'xyz'[i % 3]}\n" for i in range(1, 9)) + "Total,3,x\n"
    assert any(note.endswith("--drop-rows 9") for note in table(numbered).notes)  # in a column of numbers


@pytest.mark.parametrize("text", [
    TEXT.replace("Total", "Tina"),  # a name
    TEXT.replace("ann", "Total").replace('"c, d"', "Total"),  # a category that others have too
])  # fmt: skip
def test_other_last_rows_are_rows(table, text):
    assert not any("summarises" in note for note in table(text).notes)


def test_without_names_the_number_is_the_way_out(table):
    text = "kind,p,q\n" + "".join(f"{'ab'[i % 2]},{i * 7 % 5}.5,{i}\n" for i in range(9)) + "mean,2.9,5\n"
    assert table(text).notes[-1].endswith("--drop-rows 10")
    assert table(text, "10").n_rows == 9

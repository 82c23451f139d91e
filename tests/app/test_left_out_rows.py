"""Rows left out by name or number, and last rows that seem to be summaries."""

import json

import pytest

from lowdim.app import cli
from lowdim.app.errors import UserError
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions

TEXT = 'name,p,q\nann,1.5,2\nbob,2.5,1\n"c, d",0.5,5\neve,4.5,3\nTotal,9,11\n'


@pytest.fixture
def table(tmp_path):
    def make(text=TEXT, *left, **how):
        (tmp_path / "t.csv").write_text(text)
        return read(tmp_path / "t.csv", ReadOptions(drop_rows=left, missing="keep", **how))

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


LEFT = "the last row, {!r}, sums up or averages the rows above it and is left out (--keep-totals keeps it)"


def test_a_total_that_adds_up_is_left_out(table):
    found = table()
    assert found.n_rows == 4
    assert found.frame.height == 4
    assert found.notes == (LEFT.format("Total"),)
    assert table(TEXT, "Total").notes == ("1 row left out (--drop-rows): Total",)
    assert table(TEXT.replace("Total,9,11", "Total:,9.004,")).notes == (LEFT.format("Total:"),)  # rounded, with a gap


def test_a_total_is_kept_where_asked_for(table):
    found = table(keep_totals=True)
    assert (found.n_rows, found.names[-1], found.notes) == (5, "Total", ())
    assert table(TEXT.replace("9,11", "8,10"), keep_totals=True).notes == ()  # nothing is pointed out either


def test_several_summaries_below_each_other(table):
    below = "Mittelwert,2.25,2.75\nStAbw.,1.708,1.708\nMin,0.5,1\nAnzahl,4,4\n"
    found = table(TEXT + below)
    assert found.names == ["ann", "bob", "c, d", "eve"]
    said = "rows below the others that summarise them (Total, Mittelwert, StAbw., Min, Anzahl) are left out"
    assert found.notes == (f"{said} (--keep-totals keeps them)",)
    wrong = table(TEXT + below.replace("1.708,1.708", "7,8"))  # what does not add up stays
    assert wrong.names == ["ann", "bob", "c, d", "eve", "StAbw."]
    assert wrong.notes[-1].endswith("leave it out with --drop-rows StAbw.")
    assert len(table(TEXT + below, keep_totals=True).names) == 9
    highest = table(TEXT.replace("Total,9,11", "all,4.5,5"))  # called a total, and equal to the largest
    assert (highest.n_rows, len(highest.notes)) == (5, 1)


@pytest.mark.parametrize("word", ["Summe", "Gesamt", "TOTAL:", "Suma", "Sum", "insgesamt"])
def test_what_does_not_add_up_is_pointed_out_in_other_languages(table, word):
    assert table(TEXT.replace("Total,9,11", f"{word},8,10")).notes[-1].endswith(f"leave it out with --drop-rows {word}")
    assert table(TEXT.replace("Total", word)).n_rows == 4


def test_the_command_line_keeps_totals(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(TEXT)
    for words, rows in (([], 4), (["--keep-totals"], 5)):
        assert cli.main(["describe", str(tmp_path / "t.csv"), *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["rows"] == rows


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
    assert not any("summarise" in note for note in table(text).notes)


def test_without_names_the_number_is_the_way_out(table):
    text = "kind,p,q\n" + "".join(f"{'ab'[i % 2]},{i * 7 % 5}.5,{i}\n" for i in range(9)) + "mean,2.9,5\n"
    assert table(text).notes[-1].endswith("--drop-rows 10")
    assert table(text, "10").n_rows == 9

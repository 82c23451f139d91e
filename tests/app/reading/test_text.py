"""What the set of messy files does not show: files read in place, and options against detection."""

from pathlib import Path

import polars as pl
import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import load, read
from lowdim.app.read_options import ReadOptions


def test_a_clean_file_is_not_copied(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [1.5, 2.5] * 5000, "t": ["x", "y"] * 5000}).write_csv(path)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("the file is read in place"))
    assert load(path, ReadOptions()).frame.shape == (10000, 2)


def test_lines_are_checked_to_the_end_of_a_long_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * 30000 + "1,2\n" + "1,2,3\n" * 10)
    with pytest.raises(UserError, match="line 30002 has 2 fields; 3 are expected"):
        load(path, ReadOptions())
    path.write_text("a,b,c\n" + "1,2,\n" * 30000)  # the last cell is missing, not left out
    assert load(path, ReadOptions()).frame.null_count().row(0) == (0, 0, 30000)


def test_a_word_for_missing_far_down(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 30000 + "?,3\n")
    loaded = load(path, ReadOptions())
    assert loaded.frame["a"].null_count() == 1
    assert loaded.notes == ("'?' read as missing: 1 cell in column a",)
    path.write_text("a,b\n" + "1,2\n" * 30000 + "?,3\nx,4\n")  # one cell is neither: nothing is converted
    loaded = load(path, ReadOptions())
    assert loaded.frame["a"].dtype == pl.String
    assert loaded.frame["a"][-2:].to_list() == ["?", "x"]


@pytest.mark.parametrize(
    ("text", "how", "columns"),
    [
        ("a;b\n1;2\n", ReadOptions(separator=","), ["a;b"]),
        ("5,3\n4,9\n", ReadOptions(has_header=True), ["5", "3"]),
        ("a,b\n1,2\n", ReadOptions(header=False), ["1", "2"]),
        ("größe,b\n1,2\n", ReadOptions(encoding="latin-1"), ["grÃ¶Ã\x9fe", "b"]),
    ],
)
def test_options_win_over_detection(tmp_path, text, how, columns):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    assert load(path, how).frame.columns == columns


def test_row_names_of_R_name_the_rows(tmp_path):
    (tmp_path / "t.csv").write_text('"a","b"\n"x",1,2\n"y",3,4\n"z",5,7\n')
    table = read(tmp_path / "t.csv")
    assert table.names == ["x", "y", "z"]
    assert table.columns == ["a", "b"]


def test_decimal_commas_found_late_reach_columns_that_looked_like_points(tmp_path):
    """1.234 beside decimal commas is no 1.234 but a thousand, which a note says."""
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;1.234\n" * 20000 + "2,5;1.234\n")
    loaded = load(path, ReadOptions())
    assert loaded.frame["a"][-1] == 2.5
    assert set(loaded.frame["b"]) == {1234.0}
    assert "thousands separators read in column b (1.234 is 1234)" in loaded.notes

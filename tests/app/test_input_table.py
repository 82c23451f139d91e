"""Tables from files: every format gives the same numbers, every oddity gets one clear line."""

import numpy as np
import polars as pl
import pytest

from lowdim.app import input_table
from lowdim.app.errors import UserError
from lowdim.app.file_formats import EXTENSIONS, write
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions

TEXT = "a,b,kind\n1,2.5,x\n2,-1,y\n3,0,x\n4.5,1e3,y\n"
NUMBERS = np.array([[1, 2.5], [2, -1], [3, 0], [4.5, 1e3]])


@pytest.fixture
def csv(tmp_path):
    def make(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_format_round_trips(tmp_path, extension):
    frame = pl.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]})
    path = write(tmp_path / f"t{extension}", frame)
    table = read(path)
    np.testing.assert_array_equal(table.X, NUMBERS)
    assert table.name == "t"
    assert table.columns == (["1", "2"] if extension in (".npy", ".npz") else ["a", "b"])
    assert table.X.flags.c_contiguous


def test_label_and_names_are_set_aside(csv):
    table = read(csv(TEXT), ReadOptions(label="kind", names="a"))
    assert table.columns == ["b"]
    assert table.labels.tolist() == ["x", "y", "x", "y"]
    assert table.names == ["1", "2", "3", "4.5"]
    assert table.label_name == "kind"


def test_labels_of_an_archive(tmp_path):
    np.savez(tmp_path / "t.npz", X=NUMBERS, y=np.array([0, 1, 0, 1]))
    assert read(tmp_path / "t.npz", ReadOptions(label="y")).labels.tolist() == [0, 1, 0, 1]
    np.savez(tmp_path / "u.npz", X=NUMBERS, y=np.array([0, 1]))
    with pytest.raises(UserError, match="'y' must have one value for each of the 4 rows"):
        read(tmp_path / "u.npz", ReadOptions(label="y"))


def test_float32_stays(tmp_path):
    np.save(tmp_path / "t.npy", NUMBERS.astype(np.float32))
    assert read(tmp_path / "t.npy").X.dtype == np.float32


def test_big_endian_and_half_precision(tmp_path):
    np.save(tmp_path / "t.npy", NUMBERS.astype(">f8"))
    np.testing.assert_array_equal(read(tmp_path / "t.npy").X, NUMBERS)
    np.save(tmp_path / "l.npy", NUMBERS.astype(np.longdouble))
    np.testing.assert_array_equal(read(tmp_path / "l.npy").X, NUMBERS)
    np.save(tmp_path / "h.npy", NUMBERS.astype(np.float16))
    np.testing.assert_array_equal(read(tmp_path / "h.npy").X, NUMBERS)


def test_pickled_array_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="cannot be read as npy"):
        read(tmp_path / "t.npy")


def test_tsv_and_byte_order_mark(csv):
    table = read(csv("\ufeff" + TEXT.replace(",", "\t"), "t.tsv"), ReadOptions(label="kind"))
    assert table.columns == ["a", "b"]


ERRORS = [
    ("", ReadOptions(), r"t\.csv is empty"),
    ("a,b\n", ReadOptions(), r"the table is empty \(0 rows, 2 columns"),
    ("a,b\n1,2\n3,4\n", ReadOptions(), "at least 3 rows are needed; got 2"),
    ("a,b,c\nx,1,y\nz,2,w\nx,3,y\n", ReadOptions(columns=("b",), kinds=(("a", "number"),)),
     "column 'a' must hold numbers; got 'x'"),
    ("a,b\n1,2\n2,\n3,4\n9,NA\n", ReadOptions(), r"2 missing values in 2 of 4 rows \(first: row 2, column 'b'\)\. "
                                             r"--rows complete uses only the 2 complete rows"),
    ("a,b\n1,\n,2\n3,\n,5\n", ReadOptions(rows="complete"), "no row is complete"),
    (TEXT, ReadOptions(label="knd"), "--label 'knd' is not a column. Did you mean 'kind'\\? Columns: a, b, kind"),
    (TEXT, ReadOptions(drop=("zzz",)), "--drop 'zzz' is not a column. Columns"),
    (TEXT, ReadOptions(names="zzz"), "--names 'zzz' is not a column"),
    (TEXT, ReadOptions(columns=("zzz",)), "--columns 'zzz' is not a column"),
    ("a,b\n1,2\n3,4,5\n5,6\n", ReadOptions(), "line 3 has 3 fields; 2 are expected"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "how", "message"), ERRORS)
def test_one_clear_line(csv, text, how, message):
    with pytest.raises(UserError, match=message) as caught:
        read(csv(text), how)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path, csv):
    csv(TEXT, "flowers.csv")
    with pytest.raises(UserError, match=r"no such file: .*flower\.csv\. Did you mean 'flowers\.csv'\?"):
        read(tmp_path / "flower.csv")
    with pytest.raises(UserError, match="is a folder without images; give one table file, or a folder of images"):
        read(tmp_path)
    for extension in (".parquet", ".arrow", ".npy", ".npz"):
        with pytest.raises(UserError, match=f"cannot be read as {extension[1:]}"):
            read(csv("rubbish", f"t{extension}"))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(5), r"two dimensions, rows and columns; got shape \(5,\)"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        (np.zeros((4, 2), complex), "real numbers; got dtype complex128"),
        (np.array([["a", "b"]] * 4), "real numbers"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(UserError, match=message):
        read(tmp_path / "t.npy")


def test_archive_with_several_tables(tmp_path):
    np.savez(tmp_path / "t.npz", first=NUMBERS, second=NUMBERS + 1)
    with pytest.raises(UserError, match="--array NAME; the file has: first, second"):
        read(tmp_path / "t.npz")
    np.testing.assert_array_equal(read(tmp_path / "t.npz", ReadOptions(array="second")).X, NUMBERS + 1)


def test_complete_rows_keep_their_numbers_labels_and_names(csv):
    path = csv("a,b,kind\n1,2,x\n2,,y\n3,4,z\n8,9,w\n")  # four texts: names, but for the option
    table = read(path, ReadOptions(rows="complete", label="kind"))
    assert table.numbers.tolist() == [1, 3, 4]
    assert table.labels.tolist() == ["x", "z", "w"]
    assert "1 row with missing values left out" in table.notes[-1]


def test_missing_values_can_be_kept_for_methods_that_take_them(csv):
    table = read(csv("a,b\n1,2\n2,\n3,4\n"), ReadOptions(missing="keep"))
    assert np.isnan(table.X).sum() == 1
    assert any("1 missing value in 1 of 3 rows" in note for note in table.notes)


def test_words_for_missing(csv):
    table = read(csv("a,b\n1,2\n2,?\n3,4\n9,9\n"), ReadOptions(na=("?",), rows="complete"))
    assert len(table.X) == 3


def test_nothing_is_taken_in_silence(csv):
    rows = "\n".join(f"{i + (i > 4)},{'true' if i % 3 else 'false'},{i * i % 7}.5" for i in range(1, 10))
    table = read(csv(f"id,flag,b\n{rows}\n"))
    told = {column.name: (column.kind, column.use, column.reason) for column in table.table.columns}
    assert told["id"] == (
        "id",
        "name",
        "whole numbers that only increase, as row numbers with gaps do; names of the rows",
    )
    assert told["flag"][:2] == ("number", "map")
    assert "true/false as 1/0" in told["flag"][2]
    assert any("--no-header" in note for note in read(csv("0,1\n3,4\n5,9\n7,8\n")).notes)
    labels = read(csv("a,b,kind\n1,2,x\n2,9,\n3,4,z\n"), ReadOptions(label="kind"))
    assert labels.labels.tolist() == ["x", None, "z"]


def test_a_missing_label_leaves_numbers_numbers_in_every_format(csv, tmp_path):
    path = csv("a,b,k\n1,2,0\n2,9,\n3,4,2\n5,3,0\n")
    expected = [0.0, np.nan, 2.0, 0.0]
    np.testing.assert_array_equal(read(path, ReadOptions(label="k")).labels, expected)
    for name, column in (("null", [0.0, None, 2.0, 0.0]), ("nan", expected), ("whole", [0, None, 2, 0])):
        frame = pl.DataFrame({"a": [1.0, 2, 3, 5], "b": [2.0, 9, 4, 3], "k": column})
        frame.write_parquet(tmp_path / f"{name}.parquet")
        np.testing.assert_array_equal(read(tmp_path / f"{name}.parquet", ReadOptions(label="k")).labels, expected)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\n1,2\n3,4\n5,9\n\n\n", None),
        ("a,b\r\n1,2\r\n3,4\r\n5,9\r\n\r\n", None),
        ("a,b\n1,2\n\n3,4\n   \n5,9\n", "2 blank lines between the rows left out"),
        ("\n\na,b\n1,2\n3,4\n5,9\n\n", None),
        ("a;b\n1;2\n3;4\n5;9\n", "columns are separated by semicolons (--separator chooses another separator)"),
        ("a\tb\n1\t2\n3\t4\n5\t9\n", "columns are separated by tabs (--separator chooses another separator)"),
        ("a|b\n1|2\n3|4\n5|9\n", "columns are separated by vertical bars (--separator chooses another separator)"),
        ("a,b\n 1, 2\n3 ,  4\n5,9\n", None),
        ("a,b\r1,2\r3,4\r5,9\r", "lines end in carriage returns alone; read as line ends"),
        ("#a,b\n1,2\n3,4\n5,9\n", None),
    ],
)
def test_dialects_of_text(tmp_path, text, note):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    table = read(path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 9]])
    assert table.notes == (() if note is None else (note,))
    assert table.numbers.tolist() == [1, 2, 3]


def test_a_line_of_missing_values_is_a_row_and_so_is_one_inside_quotes(csv):
    table = read(csv('a,b,t\n1,2,"x\n\ny"\n,,\n3,4,z\n\n5,6,w\n'), ReadOptions(names="t", missing="keep"))
    assert table.numbers.tolist() == [1, 3, 4]
    assert table.names == ["x\n\ny", "z", "w"]
    assert any("1 row has no value in any column of the map and is left out: row 2" in note for note in table.notes)


def test_blank_lines_of_a_single_column(csv):
    assert read(csv("a\n1\n\n2\n4\n\n")).X.ravel().tolist() == [1, 2, 4]
    assert read(csv("a\n1\nNA\n2\n4\n"), ReadOptions(missing="keep")).numbers.tolist() == [1, 3, 4]


def test_decimal_comma(csv):
    text = "a;b;k\n1,5;2; 3,25\n-2,0;1,5;0\n0;7;1e3\n"
    expected = [[1.5, 2, 3.25], [-2, 1.5, 0], [0, 7, 1000]]
    np.testing.assert_array_equal(read(csv(text)).X, expected)
    np.testing.assert_array_equal(read(csv(text), ReadOptions(decimal_comma=True)).X, expected)
    np.testing.assert_array_equal(read(csv(text), ReadOptions(decimal_comma=True, separator=";")).X, expected)
    with pytest.raises(UserError, match="needs a separator other than a comma"):
        read(csv(text), ReadOptions(decimal_comma=True, separator=","))


def test_encodings(tmp_path):
    path, text = tmp_path / "t.csv", "größe,b,stadt\n1,2,Köln\n3,4,Bonn\n5,9,Köln\n"
    for encoding, said in (("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("cp1252", "cp1252")):
        path.write_bytes(text.encode(encoding))
        table = read(path, ReadOptions(label="stadt", encoding=said))
        assert table.columns == ["größe", "b"]
        assert table.labels.tolist() == ["Köln", "Bonn", "Köln"]
        assert table.notes == (("read as UTF-16, by its byte order mark",) if encoding == "utf-16" else ())
    with pytest.raises(UserError, match="--encoding 'klingon' is not known"):
        read(path, ReadOptions(encoding="klingon"))
    with pytest.raises(UserError, match=r"is not ascii text \(byte 3\)"):
        read(path, ReadOptions(encoding="ascii"))


def test_distances_are_no_rows(csv):
    path = csv("x,y,z\n0,1,2\n1,0,3\n2,3,0\n")
    with pytest.raises(
        UserError, match=r"distances between 3 items, and rows are needed here\. .*--distances no reads"
    ):
        read(path)
    table = read(path, ReadOptions(distances="no", kinds=(("y", "number"),)))
    assert table.distances is None
    assert "z" in table.columns
    found = read(path, ReadOptions(takes_distances=True))
    assert found.distances.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    assert found.names == ["x", "y", "z"]
    assert found.take(np.array([0, 2]), "two").distances.tolist() == [[0, 2], [2, 0]]


def test_columns_named_twice_are_used_once(csv):
    assert read(csv(TEXT), ReadOptions(columns=("b", "b", "a"))).columns == ["b", "a"]


def test_only_the_arrays_that_are_needed_are_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "t.npz", X=NUMBERS, other=np.zeros((3, 3, 3)), y=np.arange(4))
    taken, take = [], np.lib.npyio.NpzFile.__getitem__
    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", lambda self, key: taken.append(key) or take(self, key))
    read(tmp_path / "t.npz", ReadOptions(label="y"))
    assert taken == ["X", "y"]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_disk_that_is_full_is_one_line_with_the_name_of_the_file(tmp_path, extension):
    resource = pytest.importorskip("resource", reason="limits of a process are set by Unix only")
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=5000)})
    path = write(tmp_path / f"t{extension}", frame.head(3))
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(UserError, match=r"cannot write .*t\..*(File too large|234 written)") as caught:
            write(path, frame)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_extensions_in_capitals(tmp_path):
    path = write(tmp_path / "t.NPY", pl.DataFrame({"a": NUMBERS[:, 0]}))
    np.testing.assert_array_equal(read(path).X, NUMBERS[:, :1])


def test_no_header(csv):
    table = read(csv("1,2\n3,4\n5,9\n"), ReadOptions(header=False))
    assert table.columns == ["1", "2"]
    assert table.X.shape == (3, 2)


def test_dates_and_nested_columns_are_named(tmp_path):
    days = pl.Series(["2020-01-01", "2020-01-03", "2020-02-01"]).str.to_date()
    frame = pl.DataFrame({"a": [1.0, 2, 3], "when": days, "l": [[1], [2], [3]]})
    frame.write_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet")
    assert table.columns == ["a"]
    assert {c.name: c.use for c in table.table.columns} == {"a": "map", "when": "shown", "l": "shown"}
    counted = read(tmp_path / "t.parquet", ReadOptions(kinds=(("when", "number"),)))
    assert counted.X.tolist() == [[1, 0], [2, 2], [3, 31]]


def test_unknown_extension_for_writing(tmp_path):
    with pytest.raises(UserError, match=r"the extension must be one of .csv.*got '.doc'"):
        write(tmp_path / "t.doc", pl.DataFrame({"a": [1]}))


def test_text_survives_an_archive(tmp_path):
    write(tmp_path / "t.npz", pl.DataFrame({"a": [1.0, 2, 3], "kind": ["x", "y", "z"]}))
    assert read(tmp_path / "t.npz", ReadOptions(label="kind")).labels.tolist() == ["x", "y", "z"]


def test_take_keeps_everything_together(csv):
    table = read(csv(TEXT), ReadOptions(label="kind", names="a")).take(np.array([1, 3]), "two rows")
    assert isinstance(table, input_table.InputTable)
    assert (table.labels.tolist(), table.names, table.numbers.tolist()) == (
        ["y", "y"],
        ["2", "4.5"],
        [2, 4],
    )
    assert table.notes[-1] == "two rows"

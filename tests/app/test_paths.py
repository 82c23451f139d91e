"""A path is a path: no reader expands patterns, home folders or escapes in the name of a file."""

import os

import numpy as np
import polars as pl
import pytest

from lowdim.app.cli import main
from lowdim.app.errors import UserError
from lowdim.app.input_table import load
from lowdim.app.read_options import ReadOptions

FRAME = pl.DataFrame({"a": [1.5, 2.0, 3.0], "b": [2.5, -1.0, 0.0]})
OTHER = pl.DataFrame({"a": [7.5, 8.0, 9.0], "b": [6.5, 5.0, 4.0]})
WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "csv.gz": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "arrows": lambda frame, path: frame.write_ipc_stream(path),
    "npy": lambda frame, path: np.save(path, frame.to_numpy()),
    "npz": lambda frame, path: np.savez(path, X=frame.to_numpy()),
    "json": lambda frame, path: frame.write_json(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}
# A name, and a file that it would match if it were a pattern.
NAMES = [("t[1]", "t1"), ("x*", "xy"), ("q?", "qq"), ("{a,b}", "a"), ("a b", "a"), ("-dash", "dash"), ("50%41", "50A"),
         ("two\nlines", "two"), ("~", "home"), ("$HOME", "home"), ("a\\b", "ab")]  # fmt: skip


def write(frame, path, extension):
    with open(path, "wb") as stream:
        WRITERS[extension](frame, stream)


@pytest.mark.parametrize("extension", WRITERS)
def test_every_name_is_taken_as_it_is(tmp_path, monkeypatch, extension):
    monkeypatch.chdir(tmp_path)
    for name, match in NAMES:
        write(FRAME, f"{name}.{extension}", extension)
        write(OTHER, f"{match}.{extension}", extension)
        found = load(f"{name}.{extension}", ReadOptions(distances="no")).frame
        np.testing.assert_array_equal(found.to_numpy(), FRAME.to_numpy(), err_msg=name)
        os.remove(f"{name}.{extension}")
        with pytest.raises(UserError, match="no such file"):
            load(f"{name}.{extension}", ReadOptions())


def test_columns_that_are_read_again(tmp_path):
    """Codes are read once more as they are written: some releases of polars then take the name for a pattern."""
    (tmp_path / "t[1].csv").write_text("code,b\n01,1.5\n02,2.5\n")
    (tmp_path / "t1.csv").write_text("code,b\n03,1.5\n04,2.5\n")
    assert load(str(tmp_path / "t[1].csv"), ReadOptions()).frame["code"].to_list() == ["01", "02"]


def test_a_home_folder_is_not_looked_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("~")
    FRAME.write_csv("~/t.csv".replace("~", "./~"))
    assert load("~/t.csv", ReadOptions()).frame.equals(FRAME)


def test_a_name_that_is_not_text(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.csv")
    with open(path, "wb") as stream:
        FRAME.write_csv(stream)
    assert load(os.fsdecode(path), ReadOptions()).frame.equals(FRAME)


def test_folders_with_such_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.mkdir("in[1]")
    FRAME.write_csv("in[1]/t*.csv")
    assert main(["fit", "in[1]/t*.csv", "--method", "pca", "--n-components", "1", "--out", "in[1]/m?.lowdim"]) == 0
    assert set(os.listdir("in[1]")) == {"t*.csv", "m?.lowdim", "m?-embedding.csv"}
    assert main(["transform", "in[1]/m?.lowdim", "in[1]/t*.csv", "--out", "in[1]/~[2].csv"]) == 0
    assert os.path.exists("in[1]/~[2].csv")
    capsys.readouterr()


def test_a_leading_dash_gets_a_hint(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("-x.csv")
    assert main(["describe", "-x.csv"]) == 2
    assert "Write ./-x.csv for the file of that name." in capsys.readouterr().err
    assert main(["describe", "./-x.csv"]) == 0
    assert main(["describe", "--", "-x.csv"]) == 0


def saved_by_libraries(path):
    """The same table in formats that other libraries write, a folder of images, and distances."""
    from tests.app.reading.test_workbook import xlsx

    pyreadstat, h5py, image = (pytest.importorskip(name) for name in ("pyreadstat", "h5py", "PIL.Image"))
    rows = [FRAME.columns, *map(list, FRAME.rows())]
    with open(f"{path}.xlsx", "wb") as stream:
        stream.write(xlsx({"one": rows}))
    table = pytest.importorskip("pandas").DataFrame(FRAME.to_dict(as_series=False))
    pyreadstat.write_sav(table, os.path.abspath(f"{path}.sav"))
    pyreadstat.write_dta(table, os.path.abspath(f"{path}.dta"))
    with open(f"{path}.h5ad", "wb+") as stream, h5py.File(stream, "w") as file:
        file["X"] = FRAME.to_numpy()
        for group, names in (("obs", ["r1", "r2", "r3"]), ("var", FRAME.columns)):
            file.create_group(group).attrs["_index"] = "_index"
            file[group]["_index"] = names
    os.mkdir(path)
    for i in range(3):
        image.fromarray(np.full((2, 2), 40 * i, dtype=np.uint8)).save(f"{path}/{i}[1].png")
    with open(f"{path}.phy", "w") as stream:
        stream.write("3\nx 0 1 2\ny 1 0 3\nz 2 3 0\n")


@pytest.mark.parametrize("name", ["t[1]", "~", "a *?{b}"])
def test_formats_of_other_libraries(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    saved_by_libraries(name)
    for extension in ("xlsx", "sav", "dta", "h5ad"):
        found = load(f"{name}.{extension}", ReadOptions()).frame.select("a", "b")
        np.testing.assert_array_equal(found.to_numpy(), FRAME.to_numpy(), err_msg=extension)
    assert load(name, ReadOptions()).frame.shape == (3, 5)
    assert load(f"{name}.phy", ReadOptions()).kind == "distances"

"""SPSS and Stata files, written by pyreadstat: numbers, text, value labels, missing cells."""

import sys

import polars as pl
import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import load
from lowdim.app.read_options import ReadOptions

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pl.DataFrame(
    {
        "a": [1.5, None, 3.0],
        "n": [1.0, 2.0, 3.0],
        "sex": [1.0, 2.0, 1.0],
        "t": ["x", "", "007"],
        "rate": [1.0, 4.0, 5.0],
    }
)
LABELS = {"sex": {1.0: "female", 2.0: "male"}, "rate": {1.0: "low", 5.0: "high"}}


@pytest.mark.parametrize(("extension", "write"), [("sav", "write_sav"), ("zsav", "write_sav"), ("dta", "write_dta")])
def test_columns_labels_and_missing_cells(tmp_path, extension, write):
    path = tmp_path / f"t.{extension}"
    labels = LABELS if write == "write_sav" else {c: {int(k): v for k, v in t.items()} for c, t in LABELS.items()}
    more = {"compress": True} if extension == "zsav" else {}
    frame = FRAME if write == "write_sav" else FRAME.with_columns(pl.col("sex", "rate").cast(pl.Int32))
    getattr(pyreadstat, write)(frame, str(path), variable_value_labels=labels, **more)
    loaded = load(path, ReadOptions())
    assert loaded.frame.to_dict(as_series=False) == {
        "a": [1.5, None, 3.0],
        "n": [1, 2, 3],
        "sex": ["female", "male", "female"],
        "t": ["x", None, "007"],
        "rate": [1, 4, 5],  # 4 has no label: codes are numbers
    }
    assert loaded.notes == ("value labels read instead of codes in column sex",)


def test_recognised_by_content(tmp_path):
    pyreadstat.write_sav(FRAME, str(tmp_path / "t.sav"))
    (tmp_path / "t.sav").rename(tmp_path / "t.csv")
    loaded = load(tmp_path / "t.csv", ReadOptions())
    assert loaded.frame.shape == (3, 5)
    assert loaded.notes == ("the file is SPSS, whatever its extension .csv says",)


def test_damaged_files_and_a_missing_library(tmp_path, monkeypatch):
    (tmp_path / "t.dta").write_bytes(b"\x72\x02rubbish" * 30)
    with pytest.raises(UserError, match="cannot be read as Stata: "):
        load(tmp_path / "t.dta", ReadOptions())
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(UserError, match=r'reading Stata files needs pyreadstat: pip install "lowdim\[formats\]"'):
        load(tmp_path / "t.dta", ReadOptions())

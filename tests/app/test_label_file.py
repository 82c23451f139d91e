"""Labels in a second file: by the names of the rows, else by their order, and never by a guess."""

import re

import numpy as np
import polars as pl
import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions

NAMES = ["a", "b", "c", "d", "e"]
CLASSES = ["x", "y", "x", "y", "y"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"sample": NAMES, "p": [1.5, 2.5, 0.5, 4.0, 2.0], "q": [1.0, 5.5, 2.5, 0.0, 1.0]})
    frame.write_csv("t.csv")
    return frame


def labels(text, **options):
    with open("labels.csv", "w") as stream:
        stream.write(text)
    found = read("t.csv", ReadOptions(label_file="labels.csv", **options))
    return found.label_name, found.labels.tolist(), found.notes[-1]


def test_by_the_names_of_the_rows_in_any_order(folder):
    rows = "\n".join(f"{NAMES[i]},{CLASSES[i]}" for i in (3, 0, 4, 2, 1))
    name, found, note = labels(f"who,class\n{rows}\nunknown,z\n")
    assert (name, found) == ("class", CLASSES)
    assert note == "labels 'class' from labels.csv, by the names of the rows ('sample' here, 'who' there)"


def test_rows_without_a_label_are_named(folder):
    _, found, note = labels("who,class\na,x\nb,y\nd,x\n")
    assert found == ["x", "y", None, "x", None]
    assert note.endswith("2 of 5 rows have none: c, e")


@pytest.mark.parametrize("text", ["class\nx\ny\nx\ny\ny\n", "x\ny\nx\ny\ny\n"])
def test_by_their_order_with_and_without_a_header(folder, text):
    _, found, note = labels(text)
    assert found == CLASSES
    assert "by the order of the rows" in note


def test_numbers_as_names_and_a_column_asked_for(folder):
    folder.with_columns(sample=pl.Series([11, 12, 13, 14, 15])).write_csv("t.csv")
    text = "nr,group,batch\n15.0,u,1\n14.0,v,1\n13.0,u,2\n12.0,v,2\n11.0,u,3\n"
    name, found, _ = labels(text, label="group")
    assert (name, found) == ("group", ["u", "v", "u", "v", "u"])


def test_a_column_of_the_same_name_keeps_its_own(folder):
    name, found, _ = labels("who,p\na,x\nb,y\nc,x\nd,y\ne,y\n")
    assert name == "p (labels.csv)"
    assert found == CLASSES


@pytest.mark.parametrize(("text", "message"), [
    ("class\nx\ny\nx\n", "labels.csv: 3 labels for 5 rows, and no column of names that both files have"),
    ("who,class\na,x\na,y\nb,x\nc,x\nd,y\n", "labels.csv: column 'who' has 'a' more than once"),
    ("who,site,part\na,x,1\nb,y,1\nc,x,2\nd,y,2\ne,y,3\n", "which column has the labels? Say --label COL"),
])  # fmt: skip
def test_what_would_be_a_guess_is_an_error(folder, text, message):
    with pytest.raises(UserError, match=re.escape(message)):
        labels(text)


def test_words_that_are_wrong(folder):
    with pytest.raises(UserError, match=r"--label 'clas' is not a column. Did you mean 'class'"):
        labels("who,class\na,x\nb,y\nc,x\nd,y\ne,y\n", label="clas")
    with pytest.raises(UserError, match=r"no such file: none.csv \(--label-file\)"):
        read("t.csv", ReadOptions(label_file="none.csv"))


def test_items_of_a_distance_matrix(folder):
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0) ** 1))
    pl.DataFrame({"": NAMES, **{name: D[:, j] for j, name in enumerate(NAMES)}}).write_csv("t.csv")
    with open("labels.csv", "w") as stream:
        stream.write("class,who\ny,b\nx,a\ny,e\ny,d\nx,c\n")
    found = read("t.csv", ReadOptions(label_file="labels.csv", takes_distances=True))
    assert found.distances is not None
    assert found.label_name == "class"
    assert found.labels.tolist() == CLASSES
    assert found.names == NAMES

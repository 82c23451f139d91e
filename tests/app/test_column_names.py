"""Names of columns with commas, quotes, spaces and equal signs reach every option that takes names."""

import json

import numpy as np
import polars as pl
import pytest

from lowdim.app.cli import main
from lowdim.app.column_names import listed_names, resolved
from lowdim.app.read_options import ReadOptions

NAMES = ["a, b", 'say "hi"', "x=y", "two words", "c;d", "k:v", " e"]


@pytest.mark.parametrize(
    ("value", "known", "names"),
    [
        ("a,b", ["a", "b"], ["a", "b"]),
        ("a, b", ["a", "b"], ["a", "b"]),
        ("a,b", ["a,b", "c"], ["a,b"]),  # a name as a whole
        ('"a,b",c', ["a,b", "c"], ["a,b", "c"]),
        ('"say ""hi""",c', ['say "hi"', "c"], ['say "hi"', "c"]),
        ('say "hi"', ['say "hi"'], ['say "hi"']),
        ('"a\nb",c', ["a\nb", "c"], ["a\nb", "c"]),
        ("", ["a"], []),
    ],
)
def test_values(value, known, names):
    assert listed_names(value, known) == names


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("category:a", [("a", "category")]),
        ('category:a,"x=y"', [("a", "category"), ("x=y", "category")]),
        ("ordinal:a", [("a", "ordinal")]),
        ("ordinal:a=low,mid,high", [("a", ("low", "mid", "high"))]),
        ("ordinal:x=y=low,high", [("x=y", ("low", "high"))]),
        ('ordinal:"x=y"=low,"very, very high"', [("x=y", ("low", "very, very high"))]),
        ("ordinal:x=y", [("x=y", "ordinal")]),
        ("category:k:v", [("k:v", "category")]),
    ],
)
def test_kinds(value, kinds):
    assert list(resolved(ReadOptions(asked=(value,)), ["a", "x=y", "k:v"]).kinds) == kinds


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.integers(1, 50, 30) + rng.normal(size=30).round(2) for name in NAMES})
    frame.write_csv("t.csv")
    return [name.strip() for name in NAMES]


def uses(capsys, *words):
    assert main(["describe", "t.csv", "--json", *words]) == 0
    return {
        column["name"]: (column["kind"], column["use"]) for column in json.loads(capsys.readouterr().out)["columns"]
    }


def test_every_option_takes_every_name(table, capsys):
    for name in table:
        typed = '"' + name.replace('"', '""') + '"'
        others = [other for other in table if other != name]
        for value in (name, typed):
            assert uses(capsys, "--drop", value)[name][1] == "left out"
            assert uses(capsys, "--label", value)[name][1] == "label"
            assert uses(capsys, "--names", value)[name][1] == "name"
            assert uses(capsys, "--as", f"category:{value}")[name][0] == "category"
            found = uses(capsys, "--columns", value)
            assert found[name][1] == "map"
            assert {found[other][1] for other in others} == {"left out"}


def test_several_names_in_one_option_and_in_several(table, capsys):
    for words in (["--drop", '"a, b","x=y"'], ["--drop", "a, b", "--drop", "x=y"]):
        found = uses(capsys, *words)
        assert [name for name, (_, use) in found.items() if use == "left out"] == ["a, b", "x=y"]
    found = uses(capsys, "--columns", "two words", "--columns", 'c;d,"say ""hi"""')
    assert {name for name, (_, use) in found.items() if use == "map"} == {"two words", "c;d", 'say "hi"'}


def test_columns_of_an_embedding(table, capsys):
    assert main(["score", "t.csv", "t.csv", "--embedding-columns", 'x=y,"a, b"', "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["x=y", "a, b"]
    assert main(["score", "t.csv", "t.csv", "--embedding-columns", "a, b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["a, b"]


def test_help_says_how(capsys):
    main(["describe", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "a name with a comma alone in its option, or in double quotes" in shown
    assert "ordinal:size=small,medium,large" in shown

"""What is printed cannot drive a terminal, and what is written cannot run in a spreadsheet."""

import csv
import json

import numpy as np
import polars as pl
import pytest

from lowdim._core.runtime.printable import printable, printable_json
from lowdim.app.cli import main
from lowdim.app.exports import harmless

ESC = "\x1b[31mred\x07"
WICKED = {"=cmd|' /C calc'!A0": "=1+1", "+a": "+1+1", "-b": "-1+1", "@c": "@SUM(A1)", "\td": "\tx"}


def forbidden(text):
    """Control characters that reached the terminal, but for line ends."""
    return [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u2028\u202e"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Control characters in the names, cells and file name, and text that a spreadsheet would run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 12
    frame = pl.DataFrame({
        "name": [f"{list(WICKED.values())[i % 5]}{i}" for i in range(n)],
        f"x{ESC}": rng.normal(size=n),
        "y\u202e\x9b": rng.normal(size=n),
        "=z": [None if i == 3 else float(i % 5) for i in range(n)],
        "group": ["=A()", f"b{ESC}", "-"] * 4,
        "kind": ["u", "v"] * 6,
        f"empty{ESC}": [None] * n,
    })  # fmt: skip
    frame.write_csv("t\x1b[1m.csv")
    return "t\x1b[1m.csv"


def say(capsys, *words):
    code = main(list(words))
    seen = capsys.readouterr()
    assert not forbidden(seen.out + seen.err), forbidden(seen.out + seen.err)
    return code, seen.out, seen.err


COMMANDS = [
    ["describe"],
    ["describe", "--json"],
    ["impute", "--out", "o.csv", "--draws", "2"],
    ["impute", "--out", "o.csv", "--draws", "2", "--json"],
    ["fit", "--method", "famd", "--out", "m\x1b.lowdim"],
    ["fit", "--method", "pca", "--out", "m"],
    ["compare", "--methods", "famd", "--out", "r\x1b"],
    ["compare", "--methods", "pca,nothing\x1b"],
    ["describe", "--drop", "none\x1b"],
    ["describe", "--as", f"number:group{ESC}"],
    ["describe", "--frobnicate\x1b"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_printed_is_obeyed(table, capsys, words):
    _, out, err = say(capsys, words[0], table, *words[1:])
    assert "\\x1b" in out + err or "u001b" in out + err
    if "--json" in words:
        json.loads(out)


def test_a_line_of_a_name_is_no_line_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("t.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["a\nnote: all is well", "b"], [1, 2], [3, 5], [4, 4]])
    _, out, _ = say(capsys, "describe", "t.csv")
    assert "\nnote: all" not in out
    assert "a\\nnote: all" in out


def test_escapes():
    assert printable("a\x1b\n\tb\x9b\u202e\ud800é🦆") == r"a\x1b\n\tb\x9b\u202e\ud800é🦆"
    text = json.dumps(["\x7f\x9b\u2028", "é"], ensure_ascii=False, indent=1)
    assert json.loads(printable_json(text)) == json.loads(text)
    assert not forbidden(printable_json(text))


def risky(path):
    """Cells of a CSV file that a spreadsheet would run."""
    with open(path, newline="", encoding="utf-8") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    return [cell for cell in cells if cell[:1] in tuple("=+-@\t\r") and cell and not is_number(cell) and cell != "-"]


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


WRITING = [
    (["impute", "{}", "--out", "o.csv", "--draws", "2", "--method", "neighbors"], ["o.csv", "o-cells.csv"]),
    (["compare", "{}", "--methods", "famd", "--out", "r"], ["r/embeddings.csv"]),
    (["fit", "{}", "--method", "famd", "--out", "m"], ["m-embedding.csv"]),
    (["transform", "m", "{}", "--out", "t.csv"], ["t.csv"]),
    (["inverse", "m", "m-embedding.csv", "--out", "i.csv"], ["i.csv"]),
]


@pytest.mark.parametrize(("words", "files"), WRITING, ids=[words[0] for words, _ in WRITING])
def test_no_command_writes_a_formula(table, capsys, words, files):
    if words[0] in ("transform", "inverse"):
        say(capsys, "fit", table, "--method", "famd", "--out", "m", "--names", "name")
    words = [word.format(table) for word in words]
    code, _, err = say(capsys, *words)
    assert code == 0, err
    for path in files:
        assert not risky(path), path
    assert "would run as a formula written with ' in front" in err
    code, _, err = say(capsys, *words, "--keep-formulas")
    assert code == 0
    assert any(risky(path) for path in files)
    assert "formula" not in err


def test_numbers_and_other_formats_stay(tmp_path):
    frame = pl.DataFrame({"a": ["-5", "+3.5e-2", "-", "--", "x=1", "=1", None], "b": [-1.0] * 7})
    safe, count = harmless(frame)
    assert count == 1
    assert safe["a"].to_list() == ["-5", "+3.5e-2", "-", "--", "x=1", "'=1", None]
    assert safe["b"].equals(frame["b"])

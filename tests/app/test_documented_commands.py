"""Every command in the README, the pages and the help is one that the parser takes; those of the guide are run."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lowdim.app import parsers
from lowdim.app.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDE = ROOT / "docs" / "guides" / "command-line.md"
WRITTEN = re.compile(r"`lowdim ([a-z]+ [^`\n]+)`|^(?:\.venv/bin/)?lowdim ([a-z]+ [^\n]+)$", re.MULTILINE)


def commands_in(text):
    """The commands that a text has between backticks or on lines of their own, without comments and results."""
    known = parsers.parser()._subparsers._group_actions[0].choices
    found = [(one or other).split("  ")[0].split(" # ")[0] for one, other in WRITTEN.findall(text)]
    return [words for words in found if words.split()[0] in known]


def help_texts():
    commands = parsers.parser()._subparsers._group_actions[0].choices
    return "\n".join([parsers.EPILOG, *(command.epilog or "" for command in commands.values())]).replace("\n  ", "\n")


def test_every_command_is_one_that_the_parser_takes():
    said = {page.name: page.read_text(encoding="utf-8") for page in PAGES if "decisions" not in page.parts}
    found = [(name, words) for name, text in {**said, "help": help_texts()}.items() for words in commands_in(text)]
    assert len(found) > 40
    for name, words in found:
        try:
            parsers.parser().parse_args(shlex.split(words))
        except SystemExit:
            pytest.fail(f"{name}: lowdim {words}")


@pytest.mark.deep
def test_the_commands_of_the_guide_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) + 4 * (np.arange(40) % 2)[:, None]
    table = pl.DataFrame({f"c{j}": [None if i == 3 * j else X[i, j] for i in range(40)] for j in range(4)})
    table.write_csv("table.csv")
    pl.DataFrame(X[:5], schema=table.columns, orient="row").write_csv("new.csv")
    words = [
        line for line in commands_in(GUIDE.read_text(encoding="utf-8")) if line.split()[0] not in ("view", "reproduce")
    ]
    assert [line.split()[0] for line in words][:7] == [
        "compare", "describe", "impute", "fit", "transform", "inverse", "score",
    ]  # fmt: skip
    for line in words[:7]:
        if line.startswith("inverse"):
            embedding = pl.read_csv("model-embedding.csv")
            embedding.drop("row").write_csv("points.csv")
            embedding.write_csv("map.csv")
        code = main(shlex.split(line))
        assert code == 0, (line, capsys.readouterr().err)
    assert {"complete.csv", "model.lowdim", "new-map.csv", "rows.csv"} <= {path.name for path in tmp_path.iterdir()}
    assert Path("lowdim-report-table/report.html").exists()
    assert pl.read_csv("complete.csv").null_count().sum_horizontal().item() == 0

"""The verdict where a user meets it: terminal, JSON, exported table, page."""

import base64
import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app.cli import main
from lowdim.app.console import BRIEF, LEGEND, column_lines
from lowdim.study.columns import read_table
from lowdim.study.verdict.against_noise import Judged, Noise
from lowdim.study.verdict.rules.words import named_rows


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Two groups and one row between them; the first line of data has no cells, so row numbers are not positions."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 4)), rng.normal(9, 1, size=(40, 4))])
    pl.DataFrame(X, schema=["a", "b", "c", "d"]).write_csv("table.csv")
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([lines[0], ",,,", *lines[1:]]) + "\n")


def test_the_verdict_comes_first_and_is_everywhere(table, capsys):
    assert main(["compare", "table.csv", "--methods", "pca,isomap", "--out", "o", "--stability", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("- There is structure")
    said = [line[2:] for line in out if line.startswith("- ")]
    found = json.loads(Path("o/scores.json").read_text())["verdict"]
    assert [sentence["text"] for sentence in found["sentences"]] == said
    assert all(sentence["numbers"] for sentence in found["sentences"] if sentence["topic"] != "not judged")
    assert any("Made again" in line for line in said)

    exported = pl.read_parquet("o/embeddings.parquet")
    best = found["recommended"]
    counts = exported[f"{best}_verdict"].value_counts()
    assert dict(counts.iter_rows()) == {kind: count for kind, count in found["rows"][best].items() if count}
    assert exported[f"{best}_p_value"].is_between(0, 1).all()

    page = Path("o/report.html").read_text()
    links = re.findall(r'</span><a href="#([\w-]+)">', page)
    assert len(links) == len(said)
    assert all(f'id="{link}"' in page for link in links)
    assert '<abbr title="Agreement of two orders' in page


def test_gaps_and_uncertain_places_from_the_command_line(table, capsys, monkeypatch):
    """What trust.fractures and impute find is in the page: colours, a sentence with its evidence, ellipses."""
    monkeypatch.setattr(Noise, "judge", lambda self: Judged())
    monkeypatch.setattr(lowdim, "impute", partial(lowdim.impute, method="regularized", n_components=1))  # no search
    lines = Path("table.csv").read_text().splitlines()
    holed = [line.replace(line.split(",")[0], "", 1) if 5 < k < 12 else line for k, line in enumerate(lines)]
    Path("holed.csv").write_text("\n".join(holed) + "\n")
    quick = ["--methods", "pca,tsne", "--set", "tsne.max_iter=50", "--out", "o"]
    assert main(["compare", "holed.csv", *quick, "--fractures", "--draws", "4"]) == 0
    said = capsys.readouterr().out
    assert "- In the tsne map" in said  # rows with missing cells cannot be moved in the data
    page = Path("o/report.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, flags=re.S)[1])
    names = [column["name"] for column in data["columns"]]
    assert "jumps when moved: tsne" not in names
    gaps = np.frombuffer(base64.b64decode(data["columns"][names.index("fracture: tsne")]["values"]), np.float32)
    assert np.isfinite(gaps).all()  # rows that nothing holds have a colour too
    assert 'id="evidence-gaps"' in page
    assert "cannot be moved</td>" in page
    places = next(found["ellipses"] for found in data["maps"] if found["name"] == "pca")
    rows = np.frombuffer(base64.b64decode(places["rows"]), np.int32)
    assert rows.tolist() == list(range(4, 10))  # the line without cells is left out
    assert "in 4 completed tables" in page


def test_draws_that_cannot_be_shown(table, capsys):
    assert main(["compare", "table.csv", "--methods", "pca", "--no-verdict", "--out", "o", "--draws", "3"]) == 0
    assert "no cell is missing, so that --draws has nothing to draw" in capsys.readouterr().err
    assert main(["compare", "table.csv", "--methods", "pca", "--n-components", "3", "--draws", "3"]) == 2
    assert "--draws needs --n-components 2" in capsys.readouterr().err


def test_rows_are_called_as_in_the_file(table, capsys, monkeypatch):
    """The number in the sentence is that of the exported table."""
    judge = Noise.judge

    def one_misplaced(self):
        found = judge(self)
        for verdict, p in zip(found.verdicts.values(), found.p_values.values(), strict=True):
            verdict[:], p[:] = "trusted", 0.01
            verdict[7], p[7] = "misplaced", 0.9
        return found

    monkeypatch.setattr(Noise, "judge", one_misplaced)
    assert main(["compare", "table.csv", "--methods", "pca", "--out", "o"]) == 0
    number = int(re.search(r"1 is misplaced: row (\d+)", capsys.readouterr().out)[1])
    exported = pl.read_parquet("o/embeddings.parquet")
    assert exported.filter(pl.col("pca_verdict") == "misplaced")["row"].to_list() == [number]
    assert number == 9  # the eighth of the rows that are used; an empty one is before it


def test_columns_with_the_same_reason_are_one_line_and_doubts_stay(rng):
    answers = {f"Q{i}": rng.permutation(np.arange(60) % 5 + 1) for i in range(1, 15)}
    table = read_table(answers | {"gender": rng.permutation(np.arange(60) % 3 + 1), "age": rng.normal(40, 9, 60)})
    lines = [" ".join(line.split()) for line in column_lines(table)]
    assert lines[0].startswith("Q1 ... Q14 number map 14 columns alike: whole numbers, 1 to 5; 5 different whole")
    assert lines[0].endswith("may be codes of categories: --as category:Q1")
    assert lines[1].endswith("--as category:gender")
    assert len(lines) == 3


def test_every_score_in_the_terminal_is_explained():
    assert set(LEGEND) == set(BRIEF)


def test_a_row_without_a_name_is_called_by_its_number():
    found = SimpleNamespace(n_rows=3, row_names=["ann", "", "bob"], row_numbers=np.array([1, 2, 4]))
    assert named_rows(found, np.array([0, 1])) == "ann and row 2"
    found.row_names = None
    assert named_rows(found, np.array([0, 2])) == "rows 1 and 4"

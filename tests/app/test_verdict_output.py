"""The verdict where a user meets it: terminal, JSON, exported table, page."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lowdim.app.cli import main


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


def test_rows_are_called_as_in_the_file(table, capsys, monkeypatch):
    """The number in the sentence is that of the exported table."""
    from lowdim.study.verdict.against_noise import Noise

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

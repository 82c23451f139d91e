"""What a user can do wrong is said at once: before scikit-learn is imported, which takes most of a second."""

import json
import re
import subprocess
import sys

import pytest

from lowdim.app.cli import main

PROBE = """
import contextlib, io, json, sys
from lowdim.app.cli import main
found = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as error:
        code = main(words)
    slow = [name for name in ("sklearn", "torch", "matplotlib", "scipy.stats") if name in sys.modules]
    found.append([code, error.getvalue(), slow])
print(json.dumps(found))
"""
MISTAKES = [
    (["comprae", "t.csv"], "Did you mean 'compare'?"),
    (["t.csv"], "To map that file: lowdim compare t.csv."),
    (["compare", "nosuch.csv"], "no such file: nosuch.csv."),
    (["compare", "swissroll"], "Did you mean 'swiss-roll'?"),
    (["compare", "ragged.csv"], "ragged.csv: line 3 has 3 fields"),
    (["compare", "t.csv", "--methods", "umpa"], "Did you mean 'umap'?"),
    (["compare", "t.csv", "--drop", "bill_dpeth"], "Did you mean 'bill_depth'?"),
    (["describe", "ragged.csv"], "ragged.csv: line 3 has 3 fields"),
    (["impute", "nosuch.csv", "--out", "c.csv"], "no such file: nosuch.csv."),
    (["fit", "nosuch.csv", "--method", "pca", "--out", "m.lowdim"], "no such file: nosuch.csv."),
    (["transform", "nosuch.lowdim", "t.csv", "--out", "n.csv"], "no such model file: nosuch.lowdim"),
    (["inverse", "nosuch.lowdim", "t.csv", "--out", "n.csv"], "no such model file: nosuch.lowdim"),
    (["score", "nosuch.csv", "t.csv"], "no such file: nosuch.csv."),
    (["datasets", "swisroll"], "Did you mean 'swiss-roll'?"),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Status, what was said and slow modules that are loaded, for each mistake, one after the other in a process."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "t.csv").write_text("bill_depth,mass\n1,2\n3,5\n4,4\n", encoding="utf-8")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n", encoding="utf-8")
    command = [sys.executable, "-c", PROBE, json.dumps([words for words, _ in MISTAKES])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True).stdout)


@pytest.mark.parametrize("k", range(len(MISTAKES)), ids=[" ".join(words) for words, _ in MISTAKES])
def test_errors_come_at_once(answers, k):
    status, said, slow = answers[k]
    assert MISTAKES[k][1] in said
    assert slow == []
    assert status == 2


@pytest.mark.parametrize("more", [[], ["--no-verdict"], ["--stability", "2"]])
def test_steps_are_counted_right_from_the_first(tmp_path, monkeypatch, capsys, more):
    monkeypatch.chdir(tmp_path)
    words = ["compare", "swiss-roll", "--max-rows", "60", "--methods", "pca,isomap,laplacian-eigenmaps", *more]
    assert main(words) == 0
    steps = re.findall(r"^.* \((\d+ of \d+)\)$", capsys.readouterr().err, re.MULTILINE)
    total = len(steps)
    assert total >= 6
    assert steps == [f"{i + 1} of {total}" for i in range(total)]

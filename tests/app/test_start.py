"""What a user can do wrong is said at once: before scikit-learn is imported, which takes most of a second."""

import re
import subprocess
import sys

import pytest

from lowdim.app.cli import main

PROBE = """
import sys
from lowdim.app.cli import main
code = main(sys.argv[1:])
slow = [name for name in ("sklearn", "torch", "matplotlib", "scipy.stats") if name in sys.modules]
sys.exit(f"imported: {slow}" if slow else code)
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
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
    ],
)
def test_errors_come_at_once(tmp_path, words, said):
    (tmp_path / "t.csv").write_text("bill_depth,mass\n1,2\n3,5\n4,4\n", encoding="utf-8")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", PROBE, *words], capture_output=True, text=True, cwd=tmp_path)
    assert said in done.stderr
    assert "imported" not in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("more", [[], ["--no-verdict"], ["--stability", "2"]])
def test_steps_are_counted_right_from_the_first(tmp_path, monkeypatch, capsys, more):
    monkeypatch.chdir(tmp_path)
    words = ["compare", "swiss-roll", "--max-rows", "60", "--methods", "pca,isomap,laplacian-eigenmaps", *more]
    assert main(words) == 0
    steps = re.findall(r"^.* \((\d+ of \d+)\)$", capsys.readouterr().err, re.MULTILINE)
    total = len(steps)
    assert total >= 6
    assert steps == [f"{i + 1} of {total}" for i in range(total)]

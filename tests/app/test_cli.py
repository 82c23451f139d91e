"""The command line end to end."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app import commands
from lowdim.app.cli import main

RESULTS = {"report.html", "embeddings.parquet", "embeddings.csv", "scores.json"}


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    """A small table with a class, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = np.repeat(["setosa", "virginica"], 20)
    X = rng.normal(size=(40, 4)) + 4 * (kind == "virginica")[:, None]
    frame = pl.DataFrame({f"c{j}": X[:, j] for j in range(4)}).with_columns(pl.Series("species", kind))
    frame.write_csv("flowers.csv")
    return tmp_path


def say(capsys, *words):
    """Run the words; the code, what was printed, and the error stream."""
    code = main(list(words))
    seen = capsys.readouterr()
    return code, seen.out, seen.err


def fails(capsys, *words):
    """The one line a user sees."""
    code, _, err = say(capsys, *words)
    assert code == 2
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if line.startswith("lowdim: ")]
    assert len(lines) == 1
    assert err.rstrip().endswith(lines[0])
    return lines[0]


def test_compare_writes_a_folder_and_says_where(flowers, capsys):
    code, out, err = say(capsys, "compare", "flowers.csv", "--label", "species", "--methods", "pca,isomap")
    assert code == 0
    folder = flowers / "lowdim-report-flowers"
    assert set(os.listdir(folder)) == RESULTS
    assert out.rstrip().endswith(f"report: {Path('lowdim-report-flowers/report.html').resolve()}")
    assert "40 rows, 4 columns used (c0, c1, c2, c3); label: species" in err
    assert "isomap" in out


def test_what_is_written(flowers, capsys):
    say(
        capsys,
        "compare",
        "flowers.csv",
        "--label",
        "species",
        "--methods",
        "pca",
        "--out",
        "o",
        "--seed",
        "7",
    )
    frame = pl.read_parquet("o/embeddings.parquet")
    assert frame.columns == [
        "row",
        "label",
        "pca_1",
        "pca_2",
        "pca_quality",
        "random_1",
        "random_2",
        "random_quality",
    ]
    assert frame["row"].to_list() == list(range(1, 41))
    assert pl.read_csv("o/embeddings.csv").shape == frame.shape
    X = pl.read_csv("flowers.csv").drop("species").to_numpy()
    c = lowdim.compare(X, frame["label"].to_numpy(), ["pca"], random_state=7)
    np.testing.assert_allclose(frame.select("pca_1", "pca_2").to_numpy(), c.embeddings["pca"])
    found = json.loads(Path("o/scores.json").read_text(), parse_constant=pytest.fail)
    assert found["seed"] == 7
    assert found["column_names"] == ["c0", "c1", "c2", "c3"]
    assert found["methods"][0]["auc"] == pytest.approx(c.table[0]["auc"])


def test_two_runs_in_a_row_give_the_same_files(flowers, capsys):
    words = ["compare", "flowers.csv", "--label", "species", "--methods", "pca,kernel-pca", "--out", "o"]
    assert say(capsys, *words)[0] == 0
    before = pl.read_parquet("o/embeddings.parquet")
    assert say(capsys, *words)[0] == 0
    assert pl.read_parquet("o/embeddings.parquet").equals(before)
    assert set(os.listdir("o")) == RESULTS


def test_a_failing_write_leaves_the_old_report(flowers, capsys, monkeypatch):
    words = ["compare", "flowers.csv", "--label", "species", "--methods", "pca", "--out", "o"]
    say(capsys, *words)
    before = Path("o/report.html").read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert "No space left on device" in fails(capsys, *words)
    assert Path("o/report.html").read_bytes() == before
    assert set(os.listdir("o")) == RESULTS


def test_failing_method_is_reported_and_the_rest_is_written(flowers, capsys, monkeypatch):
    def fail(self, X, y=None):
        raise RuntimeError("no luck")

    monkeypatch.setattr(lowdim.Isomap, "fit_transform", fail)
    code, out, _ = say(capsys, "compare", "flowers.csv", "--label", "species", "--methods", "isomap,pca", "--out", "o")
    assert code == 0
    assert "isomap failed: RuntimeError: no luck" in out
    assert "no luck" in Path("o/report.html").read_text()


def test_compare_a_built_in_set_by_either_spelling(flowers, capsys):
    for name in ("swiss-roll", "swiss_roll"):
        code, _, err = say(capsys, "compare", name, "--methods", "pca", "--max-rows", "60")
        assert code == 0
        assert "a random sample of 60 of 2000 rows" in err
    assert set(os.listdir("lowdim-report-swiss-roll")) == RESULTS


@pytest.mark.parametrize("extension", ["tsv", "parquet", "arrow", "feather", "npz"])
def test_compare_takes_every_format(flowers, capsys, extension):
    assert say(capsys, "datasets", "helix", "--n-samples", "30", "--out", f"h.{extension}")[0] == 0
    assert say(capsys, "compare", f"h.{extension}", "--methods", "pca", "--label", "label")[0] == 0


def test_compare_takes_arrays(flowers, capsys):
    np.save("a.npy", np.random.default_rng(0).normal(size=(20, 3)))
    assert say(capsys, "compare", "a.npy", "--methods", "pca")[0] == 0


def test_geodesic_reference_and_options(flowers, capsys):
    words = "compare flowers.csv --drop species --reference geodesic --n-neighbors 5 --n-components 1 --methods pca"
    code, out, _ = say(capsys, *words.split(), "--title", "My <flowers>")
    assert code == 0
    assert "reference: geodesic" in out
    page = Path("lowdim-report-flowers/report.html").read_text()
    assert "<title>My &lt;flowers&gt;</title>" in page


def test_row_names_reach_the_results(flowers, capsys):
    frame = pl.read_csv("flowers.csv").with_row_index("id").with_columns(pl.format("plant-{}", "id").alias("id"))
    frame.write_csv("named.csv")
    say(
        capsys,
        "compare",
        "named.csv",
        "--names",
        "id",
        "--label",
        "species",
        "--methods",
        "pca",
        "--out",
        "o",
    )
    assert pl.read_csv("o/embeddings.csv")["name"][3] == "plant-3"
    assert "plant-3" in Path("o/report.html").read_text()


def test_fit_then_transform(flowers, capsys):
    words = "fit flowers.csv --drop species --method isomap --set n_neighbors=6 --out m.lowdim"
    code, out, _ = say(capsys, *words.split())
    assert code == 0
    assert "model: m.lowdim" in out
    placed = pl.read_csv("m-embedding.csv")
    assert placed.columns == ["isomap0", "isomap1"]
    assert lowdim.load("m.lowdim").n_neighbors == 6
    # Columns are found by name: another order, and one column more, change nothing.
    pl.read_csv("flowers.csv").select("species", "c3", "c2", "c1", "c0").write_csv("new.csv")
    assert say(capsys, "transform", "m.lowdim", "new.csv", "--out", "new-places.parquet")[0] == 0
    again = pl.read_parquet("new-places.parquet")
    assert again.columns == placed.columns
    expected = lowdim.load("m.lowdim").transform(pl.read_csv("flowers.csv").drop("species"))
    np.testing.assert_allclose(again.to_numpy(), np.asarray(expected))
    np.testing.assert_allclose(again.to_numpy(), placed.to_numpy(), atol=0.2)


def test_settings(flowers, capsys):
    words = ["fit", "flowers.csv", "--drop", "species", "--out", "m", "--method", "isomap"]
    assert say(capsys, *words, "--set", "n_neighbors=7", "--set", "metric=manhattan")[0] == 0
    model = lowdim.load("m")
    assert (model.n_neighbors, model.metric) == (7, "manhattan")
    assert "Did you mean 'n_neighbors'" in fails(capsys, *words, "--set", "n_neighbours=7")
    assert "--set takes KEY=VALUE; got 'x'" in fails(capsys, *words, "--set", "x")
    assert "n_neighbors must be" in fails(capsys, *words, "--set", "n_neighbors=-1")


def test_score(flowers, capsys):
    say(capsys, "fit", "flowers.csv", "--drop", "species", "--method", "pca", "--out", "m")
    code, out, _ = say(capsys, "score", "flowers.csv", "m-embedding.csv", "--label", "species", "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    X = pl.read_csv("flowers.csv").drop("species").to_numpy()
    Z = pl.read_csv("m-embedding.csv").to_numpy()
    assert found["auc"] == pytest.approx(lowdim.quality.rnx_auc(X, Z))
    assert found["reference"] == "ambient"
    code, out, _ = say(capsys, "score", "flowers.csv", "m-embedding.csv", "--label", "species")
    assert "Trust." in out
    say(capsys, "compare", "flowers.csv", "--label", "species", "--methods", "pca", "--out", "o")
    words = [
        "score",
        "flowers.csv",
        "o/embeddings.csv",
        "--drop",
        "species",
        "--embedding-columns",
        "pca_1,pca_2",
        "--json",
    ]
    assert json.loads(say(capsys, *words)[1])["auc"] == pytest.approx(found["auc"])
    pl.read_csv("m-embedding.csv").head(10).write_csv("short.csv")
    assert "must have 40 rows, as the data has; got 10" in fails(
        capsys, "score", "flowers.csv", "short.csv", "--drop", "species"
    )


def test_datasets(flowers, capsys):
    code, out, _ = say(capsys, "datasets")
    assert code == 0
    assert all(name in out for name in lowdim.datasets.names())
    code, out, _ = say(capsys, "datasets", "helix")
    assert "helix" in out
    say(capsys, "datasets", "swiss_roll", "--n-samples", "50", "--coordinates", "--out", "s.csv")
    frame = pl.read_csv("s.csv")
    assert frame.columns == ["x1", "x2", "x3", "label", "true_t", "true_h"]
    np.testing.assert_allclose(
        frame.select("x1", "x2", "x3").to_numpy(), lowdim.datasets.swiss_roll(50, random_state=0).X
    )


MISTAKES = [
    (["compare", "nothing.csv"], "no such file: nothing.csv"),
    (
        ["compare", "swis-roll"],
        "swis-roll is neither a file nor a built-in data set. Did you mean 'swiss-roll'?",
    ),
    (
        ["compare", "flowers.csv"],
        "column 'species' has 40 values that are not numbers (first: 'setosa', row 1)",
    ),
    (["compare", "flowers.csv", "--label", "specis"], "Did you mean 'species'?"),
    (["compare", "flowers.csv", "--label", "species", "--methods", "isomapp"], "Did you mean 'isomap'?"),
    (
        ["compare", "flowers.csv", "--label", "species", "--n-components", "0"],
        "--n-components: must be a whole number of at least 1; got '0'",
    ),
    (
        ["compare", "flowers.csv", "--label", "species", "--max-rows", "1"],
        "--max-rows: must be a whole number of at least 3",
    ),
    (["compare", "flowers.csv", "--label", "species", "--out", "flowers.csv"], "it is a file"),
    (["compare", "flowers.csv", "--label", "species", "--seed", "-1"], "--seed: must be a whole number of at least 0"),
    (["compare", "flowers.csv", "--reference", "other"], "invalid choice: 'other'"),
    (["compare"], "the following arguments are required: FILE|NAME"),
    (["comparison"], "invalid choice: 'comparison'"),
    (["compare", "flowers.csv", "--frobnicate"], "unrecognized arguments: --frobnicate"),
    (["fit", "flowers.csv", "--method", "pcaa", "--out", "m"], "Did you mean 'pca'?"),
    (["fit", "flowers.csv", "--method", "pca", "--out", "no/where"], "the folder no does not exist"),
    (
        ["fit", "flowers.csv", "--method", "pca", "--out", "m", "--embedding", "e.doc"],
        "the extension must be one of",
    ),
    (["transform", "nothing", "flowers.csv", "--out", "t.csv"], "no such model file: nothing"),
    (["transform", "flowers.csv", "flowers.csv", "--out", "t.csv"], "flowers.csv"),
    (["score", "flowers.csv", "nothing.csv", "--drop", "species"], "no such file: nothing.csv"),
    (["datasets", "nothing"], "'nothing' is not a built-in data set"),
    (["datasets", "helix", "--out", "h.doc"], "the extension must be one of"),
    (["datasets", "--out", "h.csv"], "say which data set to write"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_mistakes_get_one_line(flowers, capsys, words, message):
    assert message in fails(capsys, *words)
    assert os.listdir() == ["flowers.csv"]


def test_a_name_that_is_both(flowers, capsys):
    Path("helix").mkdir()
    message = fails(capsys, "compare", "helix")
    assert "both a file here and a built-in data set; write ./helix for the file or dataset:helix" in message
    assert say(capsys, "compare", "dataset:helix", "--methods", "pca", "--max-rows", "30")[0] == 0


def test_new_rows_that_do_not_fit_the_model(flowers, capsys):
    say(capsys, "fit", "flowers.csv", "--drop", "species", "--method", "pca", "--out", "m")
    pl.read_csv("flowers.csv").drop("c1").write_csv("new.csv")
    assert "'c1' is not a column" in fails(capsys, "transform", "m", "new.csv", "--out", "t.csv")


def test_ctrl_c(flowers, capsys, monkeypatch):
    def stop(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "compare", stop)
    code, _, err = say(capsys, "compare", "flowers.csv")
    assert (code, err) == (130, "lowdim: stopped\n")


def test_traceback_on_demand(flowers):
    with pytest.raises(Exception, match="no such file"):
        main(["--traceback", "compare", "nothing.csv"])


def test_help_and_version(capsys):
    assert say(capsys, "--version")[:2] == (0, f"lowdim {lowdim.__version__}\n")
    assert "compare" in say(capsys, "--help")[1]
    assert "COMMAND" in say(capsys)[1]
    assert "--reference" in say(capsys, "compare", "--help")[1]


def run(*words, cwd):
    source = str(Path(lowdim.__file__).parents[1])
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return subprocess.run(
        [sys.executable, "-m", "lowdim.app", *words], cwd=cwd, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_as_a_program(flowers):
    done = run("compare", "flowers.csv", "--label", "species", "--methods", "pca", cwd=flowers)
    page = (flowers / "lowdim-report-flowers" / "report.html").resolve()
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"report: {page}")
    assert page.exists()
    assert "Traceback" not in done.stderr


def test_mistakes_as_a_program(flowers):
    wrong = run("compare", "nothing.csv", cwd=flowers)
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", "lowdim: no such file: nothing.csv\n")


def test_help_loads_nothing_heavy(flowers):
    code = (
        "import sys; from lowdim.app.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'polars', 'rich', 'jinja2') if m in sys.modules])"
    )
    source = str(Path(lowdim.__file__).parents[1])
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}, capture_output=True,
                          text=True, timeout=60, check=True)  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
    assert time.perf_counter() - start < 3  # about 0.1 s on a quiet machine

"""The command line end to end."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app import input_table
from lowdim.app.cli import main
from lowdim.app.commands import compare as compare_command
from lowdim.app.parsers import parser
from lowdim.app.read_options import ReadOptions
from tests._core.runtime.children import hear_ctrl_c
from tests._core.runtime.clocks import children

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


def test_columns_in_different_units_are_said_and_scaled(flowers, capsys):
    frame = pl.read_csv("flowers.csv").with_columns(pl.col("c2") * 1e6)
    frame.write_csv("wide.csv")
    words = ("compare", "wide.csv", "--label", "species", "--methods", "pca", "--out", "found")
    assert "'c2' has 100.0% of the total variance of 4 columns" in "".join(say(capsys, *words, "--no-scale")[1:])
    scores = json.loads(Path("found/scores.json").read_text(encoding="utf-8"))
    assert any("--scale" in note for note in scores["notes"])
    assert "scale" not in "".join(say(capsys, *words, "--scale")[1:]).replace("best scale", "")
    code, out, err = say(capsys, *words)
    assert "columns have different units" in out
    assert "--no-scale leaves them as they are" in out
    assert "replaces the earlier report in found" in err
    code, out, _ = say(
        capsys, "score", "wide.csv", "found/embeddings.csv", "--map", "pca", "--drop", "species", "--scale"
    )
    assert (code, "Trust." in out) == (0, True)


def test_compare_writes_a_folder_and_says_where(flowers, capsys):
    code, out, err = say(capsys, "compare", "flowers.csv", "--label", "species", "--methods", "pca,isomap")
    assert code == 0
    folder = flowers / "lowdim-report-flowers"
    assert set(os.listdir(folder)) == {*RESULTS, "maps"}
    assert out.rstrip().endswith(f"report: {Path('lowdim-report-flowers/report.html').resolve()}")
    assert "40 rows, 4 of 5 columns used" in err
    assert re.search(r"species +category +label +2 different values: 'setosa', 'virginica'; as asked", err)
    assert re.search(r"c0 +number +map +numbers, -?[0-9.]+ to [0-9.]+", err)
    assert [line for line in err.splitlines() if line.startswith("isomap")] == ["isomap (3 of 7)"]
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
        "pca_verdict",
        "pca_p_value",
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
    assert "earlier run" not in say(capsys, *words)[2]
    before = pl.read_parquet("o/embeddings.parquet")
    code, _, err = say(capsys, *words)
    assert code == 0
    assert "\npca: finished by an earlier run (2 of " in err
    assert "settings, with the times of that run: pca, kernel-pca, random; --fresh makes all maps again" in err
    assert "earlier run" not in say(capsys, *words, "--fresh")[2]
    assert pl.read_parquet("o/embeddings.parquet").equals(before)
    assert set(os.listdir("o")) == {*RESULTS, "maps"}


def test_a_failing_write_leaves_the_old_report(flowers, capsys, monkeypatch):
    words = ["compare", "flowers.csv", "--label", "species", "--methods", "pca", "--out", "o"]
    say(capsys, *words)
    before = Path("o/report.html").read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert "No space left on device" in fails(capsys, *words)
    assert Path("o/report.html").read_bytes() == before
    assert set(os.listdir("o")) == {*RESULTS, "maps"}


def test_a_failure_of_the_table_writer_is_one_line(flowers, capsys, monkeypatch):
    words = ["compare", "flowers.csv", "--label", "species", "--methods", "pca", "--out", "o"]
    say(capsys, *words)
    before = {name: (Path("o") / name).read_bytes() for name in RESULTS}

    def fail(self, path):
        Path(path).write_bytes(b"PAR1")
        raise pl.exceptions.ComputeError("parquet: underlying IO error: No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    assert "cannot write o/embeddings.parquet: parquet: underlying IO error: No space left" in fails(capsys, *words)
    assert {name: (Path("o") / name).read_bytes() for name in RESULTS} == before


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
    assert set(os.listdir("lowdim-report-swiss-roll")) == {*RESULTS, "maps"}


@pytest.mark.parametrize("extension", ["tsv", "parquet", "arrow", "feather", "npz"])
def test_compare_takes_every_format(flowers, capsys, extension):
    assert say(capsys, "datasets", "helix", "--n-samples", "30", "--out", f"h.{extension}")[0] == 0
    assert say(capsys, "compare", f"h.{extension}", "--methods", "pca", "--label", "label")[0] == 0


def test_compare_takes_arrays(flowers, capsys):
    np.save("a.npy", np.random.default_rng(0).normal(size=(20, 3)))
    assert say(capsys, "compare", "a.npy", "--methods", "pca")[0] == 0


def test_the_old_name_of_the_graph_option_still_works():
    words = "compare flowers.csv --reference geodesic"
    assert parser().parse_args([*words.split(), "--n-neighbors", "5"]).graph_neighbors == 5
    assert parser().parse_args(words.split()).graph_neighbors == 10


def test_geodesic_reference_and_options(flowers, capsys):
    words = "compare flowers.csv --drop species --reference geodesic --graph-neighbors 5 --n-components 1 --methods pca"
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
    assert placed.columns == ["row", "isomap0", "isomap1"]
    assert lowdim.load("m.lowdim").n_neighbors == 6
    # Columns are found by name: another order, and one column more, change nothing.
    pl.read_csv("flowers.csv").select("species", "c3", "c2", "c1", "c0").write_csv("new.csv")
    words = ["transform", "m.lowdim", "new.csv", "--label", "species", "--out", "new-places.parquet"]
    assert say(capsys, *words)[0] == 0
    again = pl.read_parquet("new-places.parquet")
    assert again.columns == ["row", "label", "isomap0", "isomap1"]
    assert again["row"].to_list() == list(range(1, 41))
    assert again["label"].to_list() == pl.read_csv("flowers.csv")["species"].to_list()
    expected = lowdim.load("m.lowdim").transform(pl.read_csv("flowers.csv").drop("species"))
    np.testing.assert_allclose(again.drop("row", "label").to_numpy(), np.asarray(expected))


def test_rows_seen_at_the_fit_are_placed_where_they_were(flowers, capsys):
    assert say(capsys, "fit", "flowers.csv", "--drop", "species", "--method", "pca", "--out", "m")[0] == 0
    assert say(capsys, "transform", "m", "flowers.csv", "--out", "t.csv")[0] == 0
    placed, again = pl.read_csv("m-embedding.csv"), pl.read_csv("t.csv")
    assert again.columns == placed.columns
    np.testing.assert_allclose(again.to_numpy(), placed.to_numpy(), atol=1e-12)


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "arrow", "npy", "npz"])
def test_places_come_with_number_name_and_label(flowers, capsys, extension):
    frame = pl.read_csv("flowers.csv").with_row_index("id").with_columns(pl.format("p{}", "id").alias("id"))
    numeric = pl.Series("size", [None if i == 3 else i / 4 for i in range(40)])
    frame.drop("species").with_columns(numeric).write_csv("named.csv")
    places = f"e.{extension}"
    words = ["fit", "named.csv", "--names", "id", "--label", "size", "--method", "pca", "--out", "m"]
    assert say(capsys, *words, "--embedding", places)[0] == 0
    Z = lowdim.load("m").transform(frame.select("c0", "c1", "c2", "c3"))
    if extension in ("npy", "npz"):
        found = np.load(places)
        np.testing.assert_allclose(found if extension == "npy" else found["X"], Z)
        if extension == "npz":
            assert found["name"][2] == "p2"
            assert np.isnan(found["label"][3])
        return
    found = pl.DataFrame(input_table.load(places, ReadOptions()).frame)
    assert found.columns == ["row", "name", "label", "pca0", "pca1"]
    assert found["label"].to_list() == numeric.to_list()
    np.testing.assert_allclose(found.select("pca0", "pca1").to_numpy(), Z)


def test_nothing_is_written_over_what_is_read(flowers, capsys):
    before = Path("flowers.csv").read_bytes()
    fit = ["fit", "flowers.csv", "--drop", "species", "--method", "pca"]
    assert "must be another file than the table that is read" in fails(capsys, *fit, "--out", "flowers.csv")
    assert "must be another file" in fails(capsys, *fit, "--out", "m", "--embedding", "./flowers.csv")
    assert "the embedding must be another file than the model" in fails(
        capsys, *fit, "--out", "m.csv", "--embedding", "m.csv"
    )
    assert os.listdir() == ["flowers.csv"]
    assert say(capsys, *fit, "--out", "m.csv")[0] == 0
    model = Path("m.csv").read_bytes()
    assert "another file than the table" in fails(capsys, "transform", "m.csv", "flowers.csv", "--out", "flowers.csv")
    assert "another file than the model" in fails(capsys, "transform", "m.csv", "flowers.csv", "--out", "m.csv")
    Path("hard.csv").hardlink_to("flowers.csv")
    assert "another file than the table" in fails(capsys, "transform", "m.csv", "flowers.csv", "--out", "hard.csv")
    Path("o").mkdir()
    Path("o/embeddings.csv").write_bytes(before)
    words = ["compare", "o/embeddings.csv", "--drop", "species", "--out", "o"]
    assert "embeddings.csv in --out must be another file than the table that is read" in fails(capsys, *words)
    assert Path("o/embeddings.csv").read_bytes() == Path("flowers.csv").read_bytes() == before
    assert Path("m.csv").read_bytes() == model


def test_settings(flowers, capsys):
    words = ["fit", "flowers.csv", "--drop", "species", "--out", "m", "--method", "isomap"]
    assert say(capsys, *words, "--set", "n_neighbors=7", "--set", "metric=manhattan")[0] == 0
    model = lowdim.load("m")
    assert (model.n_neighbors, model.metric) == (7, "manhattan")
    assert "Did you mean 'n_neighbors'" in fails(capsys, *words, "--set", "n_neighbours=7")
    assert "--set must be KEY=VALUE; got 'x'" in fails(capsys, *words, "--set", "x")
    assert "n_neighbors must be" in fails(capsys, *words, "--set", "n_neighbors=-1")


def test_score(flowers, capsys):
    say(capsys, "fit", "flowers.csv", "--drop", "species", "--method", "pca", "--out", "m")
    code, out, _ = say(capsys, "score", "flowers.csv", "m-embedding.csv", "--label", "species", "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    X = pl.read_csv("flowers.csv").drop("species").to_numpy()
    Z = pl.read_csv("m-embedding.csv").drop("row").to_numpy()
    assert found["columns"] == ["pca0", "pca1"]
    assert found["normalized_stress"] is None
    assert found["auc"] == pytest.approx(lowdim.quality.rnx_auc(X, Z))
    assert found["reference"] == "ambient"
    code, out, err = say(capsys, "score", "flowers.csv", "m-embedding.csv", "--label", "species", "--has-scale")
    assert "Trust." in out
    assert "2 (pca0, pca1)" in out
    assert "Stress  " in out
    assert "flowers: 40 rows, 4 of 5 columns used" in err
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
    pl.read_csv("m-embedding.csv").head(10).drop("row").write_csv("short.csv")
    assert "must have 40 rows, as many as the data; got 10" in fails(
        capsys, "score", "flowers.csv", "short.csv", "--drop", "species"
    )


def test_score_of_a_map_in_the_file_of_a_comparison(flowers, capsys):
    words = [
        "compare",
        "flowers.csv",
        "--label",
        "species",
        "--methods",
        "pca,isomap",
        "--out",
        "o",
        "--max-rows",
        "30",
    ]
    assert say(capsys, *words)[0] == 0
    told = {row["method"]: row for row in json.loads(Path("o/scores.json").read_text())["methods"]}
    score = ["score", "flowers.csv", "o/embeddings.csv", "--drop", "species"]
    assert "has the maps of 3 methods (pca, isomap, random); choose one with --map NAME" in fails(capsys, *score)
    assert "--map 'isomapp' is not in the file. Did you mean 'isomap'?" in fails(capsys, *score, "--map", "isomapp")
    for name in ("pca", "isomap"):
        _, out, err = say(capsys, *score, "--map", name, "--json")
        found = json.loads(out)
        assert found["columns"] == [f"{name}_1", f"{name}_2"]
        assert found["auc"] == pytest.approx(told[name]["auc"])
        assert "30 of 40 rows: those whose number is in o/embeddings.csv" in err
    pl.read_csv("flowers.csv").head(20).write_csv("half.csv")
    assert "which is not in the data" in fails(
        capsys, "score", "half.csv", "o/embeddings.csv", "--drop", "species", "--map", "pca"
    )


def test_score_of_rows_without_a_place_or_a_label(flowers, capsys):
    frame = pl.read_csv("flowers.csv")
    frame.with_columns(species=pl.when(pl.int_range(40) > 4).then("species")).write_csv("holes.csv")
    Z = frame.select("c0", "c1").with_columns(c0=pl.when(pl.int_range(40) != 7).then("c0"))
    Z.write_csv("z.csv")
    code, out, err = say(capsys, "score", "holes.csv", "z.csv", "--label", "species", "--json")
    X, kept = frame.drop("species").to_numpy(), np.arange(40) != 7
    assert code == 0
    assert json.loads(out)["auc"] == pytest.approx(lowdim.quality.rnx_auc(X[kept], X[kept, :2]))
    assert "note: 5 of 40 rows have no label (species)" in err
    assert "note: 1 missing value in 1 of 40 rows" in err


def test_numbers_of_a_label_stay_numbers_where_one_is_missing(flowers, capsys):
    frame = pl.read_csv("flowers.csv").drop("species")
    for name, label in (("kind", [None if i == 5 else i % 3 for i in range(40)]), ("size", [None, *np.arange(39) / 4])):
        for extension in ("csv", "parquet"):
            table = frame.with_columns(pl.Series(name, label))
            getattr(table, f"write_{extension}")(f"t.{extension}")
            words = ["compare", f"t.{extension}", "--label", name, "--methods", "pca", "--out", f"o-{name}-{extension}"]
            code, out, _ = say(capsys, *words)
            assert code == 0
            assert f"1 of 40 rows have no label ({name})" in out
            page = Path(f"o-{name}-{extension}/report.html").read_text()
            said = "3 classes" if name == "kind" else "a quantity"
            assert f"({said}, 1 rows without a label)" in page
            assert pl.read_csv(f"o-{name}-{extension}/embeddings.csv")["label"].to_list() == pytest.approx(label)


def test_rows_that_are_all_the_same(flowers, capsys):
    Path("same.csv").write_text("a,b\n" + "5,1\n" * 20)
    assert "no column is left for the map ('a': always 5; 'b': always 1)" in fails(capsys, "compare", "same.csv")
    assert sorted(os.listdir()) == ["flowers.csv", "same.csv"]


def test_options_for_text(flowers, capsys):
    text = Path("flowers.csv").read_text().replace(",", ";").replace(".", ",").replace("setosa", "größe")
    Path("german.csv").write_bytes(text.encode("latin-1"))
    words = ["compare", "german.csv", "--label", "species", "--methods", "pca"]
    for options in ([], ["--encoding", "latin-1", "--decimal-comma", "--separator", ";"]):
        code, _, err = say(capsys, *words, *options)
        assert code == 0
        assert "40 rows, 4 of 5 columns used" in err
        assert ("numbers have a decimal comma" in err) == (not options)
    assert pl.read_csv("lowdim-report-german/embeddings.csv")["label"][0] == "größe"
    assert "must be one character such as ';', or the word tab; got 'xx'" in fails(capsys, *words, "--separator", "xx")


def test_memory_in_words_of_the_command_line(flowers, capsys):
    words = ["--method", "isomap", "--out", "m", "--drop", "species", "--memory-limit", "2kB"]
    message = fails(capsys, "fit", "flowers.csv", *words)
    assert "--limit-memory" in message
    assert "lowdim.config" not in message
    words = ["--methods", "isomap", "--drop", "species", "--memory-limit", "2kB"]
    assert "lowdim.config" not in say(capsys, "compare", "flowers.csv", *words)[1]


def test_the_heading_is_one_line(flowers, capsys):
    out = say(capsys, "compare", "flowers.csv", "--label", "species", "--methods", "pca", "--out", "o")[1]
    assert "2 methods, 40 rows x 4 columns -> 2, reference: ambient, seed 0" in out.splitlines()
    assert "<h1>flowers: 2 maps compared</h1>" in Path("o/report.html").read_text()


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
    (["compare", "flowers.csv", "--as", "category"], "--as must be KIND:COLUMN, such as category:island"),
    (
        ["compare", "flowers.csv", "--as", "categry:c0"],
        "must be one of number, category, ordinal, date, text, id; got 'categry'",
    ),
    (["compare", "flowers.csv", "--as", "number:species"], "column 'species' must hold numbers; got 'setosa'"),
    (["compare", "flowers.csv", "--as", "date:c0"], "column 'c0' cannot be read as dates"),
    (["compare", "flowers.csv", "--limit-time", "soon"], "must be a time such as 30, 30s or 10m; got 'soon'"),
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
    (["compare", "flowers.csv", "--quux"], "unrecognized arguments: --quux. See lowdim compare --help"),
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
    (["datasets", "--out", "h.csv"], "--out needs the name of a data set"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_mistakes_get_one_line(flowers, capsys, words, message):
    assert message in fails(capsys, *words)
    assert os.listdir() == ["flowers.csv"]


def test_a_name_that_is_both(flowers, capsys):
    Path("helix").mkdir()
    message = fails(capsys, "compare", "helix")
    assert "both a file in this folder and a built-in data set; write ./helix for the file or dataset:helix" in message
    assert say(capsys, "compare", "dataset:helix", "--methods", "pca", "--max-rows", "30")[0] == 0


def test_new_rows_that_do_not_fit_the_model(flowers, capsys):
    say(capsys, "fit", "flowers.csv", "--drop", "species", "--method", "pca", "--out", "m")
    pl.read_csv("flowers.csv").drop("c1").write_csv("new.csv")
    assert "new.csv: the model needs 'c1', which is not a column." in fails(
        capsys, "transform", "m", "new.csv", "--out", "t.csv"
    )


def test_ctrl_c(flowers, capsys, monkeypatch):
    def stop(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_command, "compare", stop)
    code, _, err = say(capsys, "compare", "flowers.csv")
    assert (code, err) == (130, "lowdim: stopped\n")


STOPPED = """
import os, signal, sys, threading
import polars
from lowdim.app import cli
read = polars.read_csv
def slow(*words, **options):
    for wait in (0.05, 0.06):  # the user presses twice
        threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
    for _ in range(100000): read(*words, **options)
polars.read_csv = slow
sys.argv = ["lowdim", "compare", "flowers.csv", "--label", "species"]
sys.exit(cli.main())
"""


def test_ctrl_c_while_a_table_is_read(flowers):
    environment = {**os.environ, "PYTHONPATH": str(Path(lowdim.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", STOPPED], cwd=flowers, env=environment, capture_output=True, text=True,
                          timeout=240, check=False, preexec_fn=hear_ctrl_c)  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "lowdim: stopped\n")
    assert os.listdir(flowers) == ["flowers.csv"]


INTERRUPTED = """
import os, signal, sys
from lowdim.app import cli
class Compiled:
    def find_spec(self, name, path=None, target=None):
        if name != "polars":
            return None
        try:
            os.kill(os.getpid(), signal.SIGINT)
            while True: pass
        except KeyboardInterrupt:
            raise {error}("initialisation failed")
sys.meta_path.insert(0, Compiled())
sys.argv = ["lowdim", "compare", "flowers.csv"]
sys.exit(cli.main())
"""


@pytest.mark.parametrize("error", ["ImportError", "SystemError"])
def test_ctrl_c_that_a_compiled_module_turns_into_another_error(flowers, error):
    environment = {**os.environ, "PYTHONPATH": str(Path(lowdim.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(error=error)], cwd=flowers, env=environment,
                          capture_output=True, text=True, timeout=240, check=False, preexec_fn=hear_ctrl_c)  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "lowdim: stopped\n")


@pytest.mark.parametrize("wait", [0.15, 0.3, 0.45])
def test_ctrl_c_at_any_moment(flowers, wait):
    environment = {**os.environ, "PYTHONPATH": str(Path(lowdim.__file__).parents[1])}
    code = "import lowdim.app.cli as cli; print('ready', flush=True); cli.main()"
    words = ["compare", "swiss-roll", "--methods", "isomap,kernel-pca"]
    child = subprocess.Popen([sys.executable, "-c", code, *words], cwd=flowers, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=hear_ctrl_c)  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=240)
    assert child.returncode == 130
    assert err.endswith("lowdim: stopped\n")
    assert "Traceback" not in err


def test_traceback_on_demand(flowers):
    with pytest.raises(Exception, match="no such file"):
        main(["--traceback", "compare", "nothing.csv"])


def test_help_and_version(capsys):
    assert say(capsys, "--version")[:2] == (0, f"lowdim {lowdim.__version__}\n")
    assert "compare" in say(capsys, "--help")[1]
    assert "COMMAND" in say(capsys)[1]
    assert "--reference" in say(capsys, "compare", "--help")[1]


def test_what_a_bug_report_needs(capsys):
    code, said, _ = say(capsys, "--version", "--verbose")
    facts = dict(line.strip().split(": ", 1) for line in said.splitlines()[1:])
    assert code == 0
    assert facts["numpy"] == np.__version__
    assert facts["installed in"] == str(Path(lowdim.__file__).parent)
    assert facts["vector width"] in ("baseline", "avx2", "avx512", "neon")
    assert {"python", "system", "threads", "linear algebra", "scipy", "scikit-learn", "polars"} <= set(facts)
    assert "pytest" not in facts


def run(*words, cwd):
    source = str(Path(lowdim.__file__).parents[1])
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return subprocess.run(
        [sys.executable, "-m", "lowdim.app", *words], cwd=cwd, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def test_as_a_program(flowers):
    done = run("compare", "flowers.csv", "--label", "species", "--methods", "pca", cwd=flowers)
    page = (flowers / "lowdim-report-flowers" / "report.html").resolve()
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"report: {page}")
    assert page.exists()
    assert "Traceback" not in done.stderr


def test_mistakes_as_a_program(flowers):
    wrong = run("compare", "nothing.csv", cwd=flowers)
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", "lowdim: no such file: nothing.csv.\n")


def test_help_loads_nothing_heavy(flowers):
    code = (
        "import sys; from lowdim.app.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'polars', 'rich', 'jinja2') if m in sys.modules])"
    )
    source = str(Path(lowdim.__file__).parents[1])
    before = children()
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}, capture_output=True,
                          text=True, timeout=240, check=True)  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
    assert children() - before < 1  # seconds of processor time; about 0.1


def test_what_a_comparison_warns_of_is_a_plain_line(flowers, capsys):
    """A row of which one cell is known, and rows without that cell: their distance is unknown."""
    kind = ["a", "b"] * 20
    one, two = np.arange(40.0), np.arange(40.0)[::-1] ** 2
    rows = [f"{x},{y},{k}" for x, y, k in zip(one, two, kind, strict=True)]
    rows[3], rows[4], rows[5] = "7.5,,", ",3.5,b", ",,a"
    Path("apart.csv").write_text("one,two,kind\n" + "\n".join(rows) + "\n", encoding="utf-8")
    code, _, err = say(capsys, "compare", "apart.csv", "--methods", "famd", "--as", "category:kind", "--no-verdict")
    assert code == 0
    assert "UserWarning" not in err
    told = [line for line in err.splitlines() if line.startswith("compare warned: ")]
    assert len(told) == 1
    assert "no observed column in common" in told[0]


def test_compare_takes_a_table_with_holes(flowers, capsys):
    frame = pl.read_csv("flowers.csv")
    c1 = frame["c1"].to_list()
    c1[3] = c1[17] = None
    frame.with_columns(pl.Series("c1", c1)).write_csv("holes.csv")
    code, out, err = say(
        capsys, "compare", "holes.csv", "--label", "species", "--methods", "pca,isomap,ica,truncated-svd"
    )
    assert code == 0
    assert "reference: expected" in out
    assert "note: 2 missing values in 2 of 40 rows" in err
    assert "TruncatedSVD needs complete rows" in out
    assert "ICA needs complete rows" not in out
    page = Path("lowdim-report-holes/report.html").read_text(encoding="utf-8")
    assert "1.2% of the cells are missing" in page

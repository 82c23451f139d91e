"""Large files on the command line: read in parts, here or on a cluster, written to Parquet as they come."""

import json

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim._core.runtime.files import folder_for_one
from lowdim.app.cli import main
from lowdim.app.large import parts as large_files
from lowdim.app.large import placing
from lowdim.app.read_options import ReadOptions

ROWS = np.random.default_rng(0).normal(size=(5000, 6)).astype(np.float32) * np.arange(6, 0, -1, dtype=np.float32) + 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(large_files, "LARGE", 100_000)  # as if that was more than is read at once
    monkeypatch.setattr(large_files, "PART", 8 * 6 * 1200)
    monkeypatch.setattr(large_files, "SAMPLE", 400)
    np.save("rows.npy", ROWS)
    (tmp_path / "parts[1]").mkdir()
    for i in range(3):
        part = ROWS[i * 2000 : (i + 1) * 2000]
        pl.DataFrame({str(j + 1): part[:, j] for j in range(6)}).write_parquet(tmp_path / "parts[1]" / f"{i}.parquet")
    return tmp_path


def test_pca_reads_all_rows_and_places_all(folder, capsys):
    assert main(["fit", "rows.npy", "--method", "pca", "--no-scale", "--out", "pca.lowdim"]) == 0
    assert "all 5000 rows are read, 1200 at a time" in capsys.readouterr().err
    wanted = lowdim.PCA(2).fit(ROWS)
    found = pl.read_parquet("pca-embedding.parquet")
    np.testing.assert_array_equal(found["row"].to_numpy(), np.arange(1, 5001))
    np.testing.assert_allclose(found[:, 1:].to_numpy(), wanted.transform(ROWS), atol=1e-4)
    for source in ("rows.npy", "parts[1]"):
        assert main(["transform", "pca.lowdim", source, "--out", "again.parquet"]) == 0
        assert pl.read_parquet("again.parquet").equals(found)


def test_other_methods_are_fitted_to_a_sample(folder, capsys):
    assert main(["fit", "parts[1]", "--method", "lle", "--no-scale", "--out", "lle.lowdim"]) == 0
    assert "fitted to a random sample of 400 of 5000 rows" in capsys.readouterr().err
    model = lowdim.load("lle.lowdim")
    assert len(model.embedding_) == 400
    found = pl.read_parquet("lle-embedding.parquet")
    assert found.height == 5000
    frame = pl.DataFrame({str(j + 1): ROWS[:50, j] for j in range(6)})
    np.testing.assert_allclose(found[:50, 1:].to_numpy(), model.transform(frame), atol=1e-5)


def test_landmarks_are_chosen_among_all_rows(folder, capsys):
    words = ["--method", "isomap", "--set", "n_landmarks=50", "--no-scale", "--out", "isomap.lowdim"]
    assert main(["fit", "parts[1]", *words]) == 0
    said = capsys.readouterr().err
    assert "all 5000 rows are read" in said
    assert "50 landmarks were chosen among all 5000 rows" in said
    model = lowdim.load("isomap.lowdim")
    assert 400 <= len(model.embedding_) <= 450
    assert pl.read_parquet("isomap-embedding.parquet").height == 5000


def test_what_cannot_be_written_in_parts_is_said(folder, capsys):
    lowdim.save(lowdim.PCA(2).fit(ROWS), "pca.lowdim")
    assert main(["transform", "pca.lowdim", "rows.npy", "--out", "places.csv"]) != 0
    assert "--out NAME.parquet" in capsys.readouterr().err


class Stopped:
    """Ctrl-C after so many parts."""

    def __init__(self, monkeypatch, after):
        self.read, self.left = [], after
        self._of, self._patch = placing.Placed.frame, monkeypatch
        monkeypatch.setattr(placing.Placed, "frame", lambda given, border: self.placed(given, border))

    def placed(self, given, border):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.read.append(border[0])
        return self._of(given, border)


@pytest.mark.parametrize("source", ["rows.npy", "parts[1]"])
def test_a_stopped_placing_is_gone_on_with(folder, capsys, monkeypatch, source):
    lowdim.save(lowdim.PCA(2).fit(ROWS), "pca.lowdim")
    words = ["transform", "pca.lowdim", source, "--out", "places.parquet"]
    assert main([*words[:-1], "whole.parquet"]) == 0
    stopped = Stopped(monkeypatch, 2)
    assert main(words) == 130
    assert "2 of 5 parts are placed, and kept in" in capsys.readouterr().err
    assert stopped.read == [0, 1200]
    assert not (folder / "places.parquet").exists()
    (folder / "places.parquet.unfinished" / "00000001.parquet").write_bytes(b"")  # as after a loss of power
    stopped.left = -1
    assert main(words) == 0
    assert stopped.read == [0, 1200, 1200, 2400, 3600, 4800]
    assert "1 of 5 parts were placed by an earlier run" in capsys.readouterr().err
    assert pl.read_parquet("places.parquet").equals(pl.read_parquet("whole.parquet"))
    assert not (folder / "places.parquet.unfinished").exists()


def test_another_placing_begins_anew(folder, capsys, monkeypatch):
    """Of another model, or of a file that has changed since."""
    for k in (2, 3):
        lowdim.save(lowdim.PCA(k).fit(ROWS), f"pca{k}.lowdim")
    stopped = Stopped(monkeypatch, 2)
    assert main(["transform", "pca2.lowdim", "rows.npy", "--out", "places.parquet"]) == 130
    stopped.left = 3
    assert main(["transform", "pca3.lowdim", "rows.npy", "--out", "places.parquet"]) == 130
    assert "2 placed parts are of other data or settings, and are dropped" in capsys.readouterr().err
    np.save("rows.npy", 2 * ROWS)
    stopped.left = -1
    assert main(["transform", "pca3.lowdim", "rows.npy", "--out", "places.parquet"]) == 0
    assert "3 placed parts are of other data" in capsys.readouterr().err
    found = pl.read_parquet("places.parquet")[:, 1:].to_numpy()
    np.testing.assert_allclose(found, lowdim.load("pca3.lowdim").transform(2 * ROWS), atol=1e-4)


def test_the_places_of_a_comparison_are_gone_on_with(folder, capsys, monkeypatch):
    """Its models are fitted again, bit for bit."""
    words = ["compare", "rows.npy", "--methods", "pca,isomap", "--no-verdict", "--out", "report", "--no-scale"]
    stopped = Stopped(monkeypatch, 3)
    assert main(words) == 130
    assert (folder / "report" / "report.html").exists()
    stopped.left = -1
    assert main(words) == 0
    assert "3 of 5 parts were placed by an earlier run" in capsys.readouterr().err
    assert pl.read_parquet("report/places.parquet").height == 5000


def test_two_runs_do_not_write_one_result(folder, capsys):
    lowdim.save(lowdim.PCA(2).fit(ROWS), "pca.lowdim")
    (folder / "places.parquet.unfinished").mkdir()
    with folder_for_one("places.parquet.unfinished"):
        assert main(["transform", "pca.lowdim", "rows.npy", "--out", "places.parquet"]) == 2
    assert "is being written by another run" in capsys.readouterr().err


def test_small_files_are_read_whole(folder):
    np.save("few.npy", ROWS[:100])
    assert large_files.parts_of("few.npy", ReadOptions()) is None
    assert large_files.parts_of("nothing.csv", ReadOptions()) is None


def test_each_row_has_the_same_chance(folder):
    """Not only rows of some parts: files are often sorted."""
    parts = large_files.parts_of("rows.npy", ReadOptions())
    numbers, frame = parts.drawn(2000, 0, large_files.Here(), lambda *_: None)
    assert np.array_equal(frame.to_numpy(), ROWS[numbers])
    counts = np.bincount(numbers // 500, minlength=10)
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.6)


@pytest.mark.parametrize("source", ["rows.npy", "parts[1]"])
def test_a_sample_is_compared_and_all_rows_are_placed(folder, capsys, source):
    assert main(["compare", source, "--methods", "pca,isomap", "--out", "report", "--no-scale"]) == 0
    said = capsys.readouterr()
    assert "a random sample of 400 of 5000 rows is compared" in said.err
    assert "400 rows, drawn at random from 5,000; a group of fewer than 250 rows" in said.out.replace("\n", " ")
    page = (folder / "report" / "report.html").read_text()
    assert "pca and isomap place the other rows: places.parquet" in page
    sample = pl.read_parquet(folder / "report" / "embeddings.parquet")
    places = pl.read_parquet(folder / "report" / "places.parquet")
    assert sample.height == 400
    np.testing.assert_array_equal(places["row"].to_numpy(), np.arange(1, 5001))
    for name in ("pca", "isomap"):  # the rows of the sample lie where the maps of the report show them
        here = places[(sample["row"] - 1).to_list()]
        shown = sample.select(f"{name}_1", f"{name}_2").to_numpy()
        tolerance = 1e-4 * np.abs(shown).max()
        np.testing.assert_allclose(here.select(f"{name}_1", f"{name}_2").to_numpy(), shown, atol=tolerance)
    assert json.loads((folder / "report" / "scores.json").read_text())["rows_drawn_from"] == 5000


def test_max_rows_places_nothing(folder, capsys):
    assert main(["compare", "rows.npy", "--methods", "pca", "--max-rows", "90", "--no-verdict", "--out", "report"]) == 0
    assert (
        "a random sample of 90 of 5000 rows is compared (--max-rows); no others are placed" in capsys.readouterr().err
    )
    assert not (folder / "report" / "places.parquet").exists()


def test_labels_and_units_of_a_large_table(folder, capsys):
    table = pl.DataFrame({str(j): ROWS[:, j] for j in range(6)}).with_columns(
        pl.Series("kind", np.array(["low", "high"])[(ROWS[:, 0] > 3).astype(int)]), pl.col("0") * 1000
    )
    (folder / "table").mkdir()
    table.write_parquet("table/a.parquet")
    words = ["compare", "table", "--methods", "pca", "--label", "kind", "--no-verdict", "--out", "report"]
    assert main(words) == 0
    places = pl.read_parquet("report/places.parquet")
    assert places["label"].to_list() == table["kind"].to_list()
    assert main(["fit", "table", "--method", "pca", "--label", "kind", "--out", "pca.lowdim"]) == 0
    assert "all 5000 rows are read" in capsys.readouterr().err
    model = lowdim.load("pca.lowdim")
    scaled = table[:, :6].to_numpy() / [column.spread for column in model.columns]
    np.testing.assert_allclose(
        model.estimator.explained_variance_, lowdim.PCA(2).fit(scaled).explained_variance_, rtol=1e-6
    )


CSV = ["id;size;colour;weight"]
CSV += [
    f"row {i};{x[0]:.4f};{'red' if x[1] > 3 else 'dark; blue'!r};{1e3 * x[2]:.2f}" for i, x in enumerate(ROWS[:2000])
]
CSV = "\n".join(CSV).replace("'", '"').replace(".", ",").replace('"red"', '"red\nred"')


def test_text_beyond_memory_is_read_in_parts(folder, capsys, monkeypatch):
    """With quoted separators and line ends, decimal commas and a blank line: as the same rows read at once."""
    (folder / "rows.csv").write_text(CSV.replace("row 7;", "\nrow 7;"))
    words = ["--methods", "pca", "--label", "colour", "--no-verdict", "--scale"]
    assert main(["compare", "rows.csv", *words, "--out", "whole"]) == 0
    monkeypatch.setattr(large_files, "SAMPLE", 5000)
    monkeypatch.setattr(large_files, "PART", 15_000)
    monkeypatch.setenv("LOWDIM_MEMORY_LIMIT", "280kB")
    parts = large_files.parts_of("rows.csv", ReadOptions())
    assert parts.n_rows == 2000
    assert len(parts.borders()) > 4
    assert main(["fit", "rows.csv", "--method", "pca", "--label", "colour", "--scale", "--out", "pca.lowdim"]) == 0
    whole, found = pl.read_parquet("whole/embeddings.parquet"), pl.read_parquet("pca-embedding.parquet")
    assert found["label"].to_list() == whole["label"].to_list()
    assert set(found["label"]) == {"red\nred", "dark; blue"}
    np.testing.assert_allclose(
        found[:, -2:].to_numpy(), whole.select("pca_1", "pca_2").to_numpy(), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (CSV.encode("utf-16"), "is not UTF-8"),
        (CSV.replace("colour", "größe").encode("latin-1"), "is not UTF-8"),
        ((CSV + '\nrow x;1,5;"red;3').encode(), "never closed"),
    ],
)
def test_text_that_cannot_be_read_in_parts_is_said(folder, capsys, monkeypatch, text, says):
    (folder / "rows.csv").write_bytes(text)
    monkeypatch.setenv("LOWDIM_MEMORY_LIMIT", "30kB")
    assert main(["compare", "rows.csv"]) == 2
    assert says in capsys.readouterr().err


def test_a_cluster_must_be_there_and_the_file_have_parts(folder, capsys):
    dask = pytest.importorskip("distributed").client.dask
    assert main(["compare", "swiss-roll", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "--cluster is for .npy, Parquet and text files" in capsys.readouterr().err
    assert main(["fit", "rows.npy", "--method", "pca", "--out", "m.lowdim", "--cluster", "127.0.0.1:nothing"]) == 2
    assert "no scheduler of dask.distributed answers" in capsys.readouterr().err
    assert dask.config.get("scheduler", None) is None  # else all work of Dask in this process would wait for it

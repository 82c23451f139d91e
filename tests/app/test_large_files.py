"""Large files on the command line: read in parts, written to Parquet as they come."""

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app.cli import main
from lowdim.app.commands import large_files

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
    assert main(["fit", "parts[1]", "--method", "isomap", "--no-scale", "--out", "isomap.lowdim"]) == 0
    assert "fitted to a random sample of 400 of 5000 rows" in capsys.readouterr().err
    model = lowdim.load("isomap.lowdim")
    assert len(model.embedding_) == 400
    found = pl.read_parquet("isomap-embedding.parquet")
    assert found.height == 5000
    frame = pl.DataFrame({str(j + 1): ROWS[:50, j] for j in range(6)})
    np.testing.assert_allclose(found[:50, 1:].to_numpy(), model.transform(frame), atol=1e-5)


def test_what_cannot_be_written_in_parts_is_said(folder, capsys):
    lowdim.save(lowdim.PCA(2).fit(ROWS), "pca.lowdim")
    assert main(["transform", "pca.lowdim", "rows.npy", "--out", "places.csv"]) != 0
    assert "--out NAME.parquet" in capsys.readouterr().err


def test_small_files_are_read_whole(folder):
    np.save("few.npy", ROWS[:100])
    assert large_files.parts_of("few.npy") is None
    assert large_files.parts_of("nothing.csv") is None

"""Standard input, packed files that do not fit, and the names of tables."""

import gzip
import io
import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app import sources
from lowdim.app.errors import UserError
from lowdim.app.input_table import load, read, table_name
from lowdim.app.read_options import ReadOptions

TEXT = b"a,b\n1,2\n3,4\n5,9\n"


def written(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        gzip.compress(TEXT),
        TEXT.decode().encode("utf-16"),
        b'[{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 9}]',
        written(lambda out: pl.read_csv(io.BytesIO(TEXT)).write_parquet(out)),
    ],
    ids=["text", "gzip", "utf-16", "json", "parquet"],
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    table = sources.load("-", ReadOptions())
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 9]])
    assert table.name == "standard-input"


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    if not hasattr(os, "mkfifo"):
        pytest.skip("pipes with names are of Unix")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,))
    writer.start()
    found = load(pipe, ReadOptions())
    writer.join()
    assert found.frame.rows() == [(1, 2), (3, 4), (5, 9)]


def test_errors_name_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(UserError, match="standard input is empty"):
        load("-", ReadOptions())


def test_a_packed_file_larger_than_the_memory_limit(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 5_000_000))
    with (
        lowdim.config(memory_limit="1MB"),
        pytest.raises(UserError, match="does not end within half of the memory limit"),
    ):
        load(path, ReadOptions())


def test_packed_often(tmp_path):
    content = TEXT
    for _ in range(4):
        content = gzip.compress(content)
    (tmp_path / "t.gz").write_bytes(content)
    with pytest.raises(UserError, match="compressed several times"):
        load(tmp_path / "t.gz", ReadOptions())


def test_zstd(tmp_path, monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "t.csv.zst").write_bytes(zstandard.compress(TEXT))
    assert read(tmp_path / "t.csv.zst").X.shape == (3, 2)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UserError, match=r'reading zstd needs zstandard: pip install "lowdim\[formats\]"'):
        load(tmp_path / "t.csv.zst", ReadOptions())


def test_names_of_tables():
    names = [table_name(name) for name in ("x/flowers.csv", "flowers.csv.gz", "a.b.csv", "folder", "-")]
    assert names == ["flowers", "flowers", "a.b", "folder", "standard-input"]

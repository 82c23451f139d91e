"""The memory limit while files are read: small files that unpack to large tables, and streams that do not end."""

import gzip
import io
import json
import os
import sys
import threading
import zipfile
from types import SimpleNamespace

import h5py
import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app.cli import main
from lowdim.app.errors import UserError
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading import source
from lowdim.app.reading.any_file import read_any

ROWS = 400_000  # of one column: 3.2 MB of numbers, of which hardly anything is left in a packed file
LIMIT = "2MB"


def bomb(path):
    """A small file with a large table, in the format of its extension."""
    zeros = np.zeros((ROWS, 1))
    make = {
        ".npz": lambda: np.savez_compressed(path, X=zeros),
        ".npy": lambda: np.save(path, zeros),
        ".csv": lambda: path.write_text("a\n" + "0\n" * ROWS),
        ".csv.gz": lambda: path.write_bytes(gzip.compress(b"a\n" + b"0\n" * 2 * ROWS)),
        ".parquet": lambda: pl.DataFrame({"a": zeros[:, 0]}).write_parquet(path),
        ".arrow": lambda: pl.DataFrame({"a": zeros[:, 0]}).write_ipc(path, compression="zstd"),
        ".json": lambda: path.write_text(json.dumps([{"a": 0}] * 20_000)),
        ".jsonl": lambda: path.write_text('{"a": 0}\n' * 20_000),
        ".xlsx": lambda: _office(path, "xl/worksheets/sheet1.xml"),
        ".ods": lambda: _office(path, "content.xml", ("mimetype", "application/vnd.oasis.opendocument.spreadsheet")),
        ".h5ad": lambda: _annotated(path, zeros),
    }
    make["".join(path.suffixes)]()
    return path


def _office(path, sheet, *first):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in first:
            archive.writestr(name, content)
        archive.writestr("xl/workbook.xml" if not first else "meta.xml", "<x/>")
        archive.writestr(sheet, b"<c><v>0</v></c>" * 200_000)


def _annotated(path, zeros):
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=zeros, compression="gzip")
        obs = file.create_group("obs")
        obs.attrs["_index"] = "_index"
        obs.create_dataset("_index", data=np.array([b"a"]))


FORMATS = (".npz", ".npy", ".csv", ".csv.gz", ".parquet", ".arrow", ".json", ".jsonl", ".xlsx", ".ods", ".h5ad")


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_larger_than_the_limit_is_refused_before_it_is_read(form, tmp_path, monkeypatch, capsys):
    path = bomb(tmp_path / f"t{form}")
    assert path.stat().st_size < 4e6
    with lowdim.config(memory_limit=LIMIT), pytest.raises(UserError, match=r"t\..*memory limit.*--limit-memory"):
        read(path, ReadOptions())
    monkeypatch.setenv("LOWDIM_MEMORY_LIMIT", LIMIT)
    with pytest.raises(UserError, match="memory limit"):
        read(path, ReadOptions())
    monkeypatch.delenv("LOWDIM_MEMORY_LIMIT")
    assert main(["describe", str(path), "--limit-memory", LIMIT]) == 2
    said = capsys.readouterr().err
    assert "memory limit" in said
    assert "unrecognized" not in said
    assert len(said.splitlines()) == 1
    if form not in (".xlsx", ".ods", ".h5ad"):
        assert read_any(path, ReadOptions()).frame.height >= 20_000  # nothing is wrong with it but its size


def test_a_workbook_whose_list_of_members_lies(tmp_path):
    path = bomb(tmp_path / "t.xlsx")
    content = bytearray(path.read_bytes())
    size = (15 * 200_000).to_bytes(4, "little")
    for _ in range(2):  # in the list, and before the member
        at = content.index(size)
        content[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(content)
    with lowdim.config(memory_limit=LIMIT), pytest.raises(UserError, match="not what its list of them says"):
        read(path, ReadOptions())


class Endless(io.RawIOBase):
    """Text that never ends."""

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = (b"1,2\n" * (len(buffer) // 4 + 1))[: len(buffer)]
        return len(buffer)


def test_streams_that_never_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(Endless())))
    with lowdim.config(memory_limit="8MB"), pytest.raises(UserError, match="standard input: its content does not end"):
        read("-", ReadOptions())
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb", buffering=0) as stream:
            try:
                while True:
                    stream.write(b"1,2\n" * 10_000)
            except BrokenPipeError:
                pass

    writer = threading.Thread(target=write)
    writer.start()
    with lowdim.config(memory_limit="8MB"), pytest.raises(UserError, match=r"pipe\.csv: its content does not end"):
        read(pipe, ReadOptions())
    writer.join(120)
    assert not writer.is_alive()


def test_of_a_stream_without_a_limit_of_memory_a_stated_part_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(Endless())))
    monkeypatch.setattr(source, "ENDLESS", 2**22)
    monkeypatch.delenv("LOWDIM_MEMORY_LIMIT", raising=False)
    with pytest.raises(UserError, match=r"does not end within 4\.19 MB, which is what is read of a pipe or a device"):
        read("-", ReadOptions())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(Endless())))  # the first one is closed
    with lowdim.config(memory_limit="16MB"), pytest.raises(UserError, match=r"half of the memory limit \(8"):
        read("-", ReadOptions())


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_is_refused_by_its_first_bytes():
    for device in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(UserError, match=f"{device}"):
            read(device, ReadOptions())

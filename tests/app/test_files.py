"""Files are written whole or not at all."""

import errno
import os
import stat

import pytest

from lowdim.app import files
from lowdim.app.files import UserError, check_writable, make_folder, write_atomically, write_text


def test_failing_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = write_text(tmp_path / "a.txt", "old")

    def fail(temporary):
        temporary.write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_interrupt_keeps_the_old_file(tmp_path):
    path = write_text(tmp_path / "a.txt", "old")

    def stop(temporary):
        temporary.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, stop)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    path = write_text(tmp_path / "new", "x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    write_text(path, "y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_text_is_utf8_with_plain_newlines(tmp_path):
    assert write_text(tmp_path / "a", "é\n–").read_bytes() == "é\n–".encode()


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match=r"cannot write into .*taken: it is a file.*--out"):
        make_folder(tmp_path / "taken")


def test_output_in_a_missing_folder_or_on_a_folder(tmp_path):
    with pytest.raises(UserError, match=r"the folder .*nowhere does not exist"):
        check_writable(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(UserError, match="it is a folder"):
        check_writable(tmp_path)


def test_folder_without_permission(tmp_path, monkeypatch):
    def refuse(dir):
        raise PermissionError(errno.EACCES, "Permission denied", str(dir))

    monkeypatch.setattr(files.tempfile, "TemporaryFile", refuse)  # root may write anywhere, so it is played
    with pytest.raises(UserError, match=r"cannot write into .*: permission denied; choose another folder"):
        make_folder(tmp_path)
    with pytest.raises(UserError, match=r"cannot write .*x\.csv: permission denied"):
        check_writable(tmp_path / "x.csv")

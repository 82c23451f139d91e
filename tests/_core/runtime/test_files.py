"""Several files that replace earlier ones together."""

import errno
import os

import pytest

from lowdim._core.runtime import files


def test_files_that_are_written_together_replace_the_old_ones_together(tmp_path):
    old = {"a": "old a", "b": "old b"}
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    (tmp_path / ".lowdim-together").mkdir()
    (tmp_path / ".lowdim-together" / "c").write_text("of a process that was killed")

    def content():
        return {name: (tmp_path / name).read_text() for name in old}

    with files.written_together(tmp_path) as parts:
        (parts / "a").write_text("new a")
        assert content() == old
        (parts / "b").write_text("new b")
        assert content() == old
    assert content() == {"a": "new a", "b": "new b"}
    with pytest.raises(FileNotFoundError), files.written_together(tmp_path) as parts:
        (parts / "a").rename(parts / "b")
    assert content() == {"a": "new a", "b": "new b"}
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_link_among_files_written_together_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").write_text("old")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a").symlink_to(tmp_path / "elsewhere" / "a")
    with files.written_together(tmp_path / "here") as parts:
        (parts / "a").write_text("new")
    assert (tmp_path / "elsewhere" / "a").read_text() == "new"
    assert (tmp_path / "here" / "a").is_symlink()


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    def fill(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = tmp_path / "model.lowdim"
    kept.write_text("old")
    with pytest.raises(OSError, match=r"No space left on device: .*model\.lowdim") as raised:
        files.write_atomically(kept, fill)
    assert raised.value.errno == errno.ENOSPC
    assert kept.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.lowdim"]

"""Files are written whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim._core.runtime.files import write_atomically, write_text
from lowdim.app import output_paths
from lowdim.app.errors import UserError
from lowdim.app.output_paths import check_writable, output_folder, report_folder


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


def test_a_link_is_followed(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    assert write_text(link, "new") == link
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_names_as_long_as_the_system_allows(tmp_path):
    assert write_text(tmp_path / ("é" * 120 + ".html"), "x").read_text() == "x"


KILLED = """
import time
from lowdim._core.runtime.files import write_atomically
def write(temporary):
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(240)
write_atomically("a.txt", write)
"""


def test_what_a_killed_process_left_goes_with_the_next_write_but_not_the_file_of_a_living_one(tmp_path):
    source = str(Path(lowdim.__file__).parents[1])
    child = subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path, env={**os.environ, "PYTHONPATH": source},
                             stdout=subprocess.PIPE, text=True)  # fmt: skip
    with child:
        assert child.stdout.readline() == "writing\n"
        write_text(tmp_path / "a.txt", "mine")
        assert len(os.listdir(tmp_path)) == 2
        child.send_signal(signal.SIGKILL)
        child.wait(240)
    write_text(tmp_path / "b.txt", "another name")
    assert len(os.listdir(tmp_path)) == 3
    write_text(tmp_path / "a.txt", "mine")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


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
    with (
        pytest.raises(UserError, match=r"cannot write into .*taken: it is a file.*--out"),
        output_folder(tmp_path / "taken"),
    ):
        pass


def test_a_folder_that_stays_empty_is_removed_with_the_folders_made_for_it(tmp_path):
    with report_folder(str(tmp_path / "a" / "b"), "t", "one", 0.0) as (folder, _):
        (folder / "maps").mkdir()
    assert os.listdir(tmp_path) == []
    with output_folder(tmp_path / "a") as folder:
        (folder / "report.html").touch()
    assert os.listdir(tmp_path) == ["a"]
    (tmp_path / "mine").mkdir()
    with output_folder(tmp_path / "mine"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a", "mine"]


def test_an_earlier_report_is_not_replaced_without_a_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def finished(folder, run):
        Path(folder).mkdir()
        (Path(folder) / "report.html").touch()
        (Path(folder) / "scores.json").write_text(f'{{"run": "{run}"}}')

    def found(chosen, run, started=np.inf):
        with report_folder(chosen, "t", run, started) as answer:
            return answer

    assert found(None, "one") == (Path("lowdim-report-t"), None)
    assert os.listdir() == []
    finished("lowdim-report-t", "one")
    assert found(None, "one") == (Path("lowdim-report-t"), None)
    folder, said = found(None, "two")
    assert folder == Path("lowdim-report-t-2")
    assert "has the report of other data or settings" in said
    finished(folder, "two")
    assert found(None, "two")[0] == folder
    assert found(None, "three")[0] == Path("lowdim-report-t-3")
    assert found("lowdim-report-t", "two")[1] == "replaces the earlier report in lowdim-report-t"
    assert found("lowdim-report-t", "two", started=0.0)[0] == Path("lowdim-report-t-2")  # the other ran beside this one
    (Path("lowdim-report-t") / "scores.json").write_text("broken")
    assert found(None, "one")[0] == Path("lowdim-report-t-3")


@pytest.mark.parametrize("chosen", [None, "o"])
def test_two_runs_at_once_have_a_folder_each(tmp_path, monkeypatch, chosen):
    monkeypatch.chdir(tmp_path)
    first = Path(chosen or "lowdim-report-t")
    with report_folder(chosen, "t", "one", 0.0) as (one, nothing):
        (one / "maps").mkdir()  # it is about to write its first map
        assert (one, nothing) == (first, None)
        with report_folder(chosen, "t", "two", 0.0) as (two, said):
            assert (one / "maps").is_dir()
            assert two == Path(f"{first}-2")
            assert said == f"another run is writing into {first}; this one goes to {two}"
            (two / "report.html").touch()
        with report_folder(chosen, "t", "one", 0.0) as (three, _):
            assert three == Path(f"{first}-3")
    assert os.listdir() == [f"{first}-2"]  # folders that stayed empty are gone


@pytest.mark.parametrize("chosen", [None, "o"])
def test_a_run_that_ends_while_this_one_asks_for_the_folder_keeps_its_report(tmp_path, monkeypatch, chosen):
    monkeypatch.chdir(tmp_path)
    first = Path(chosen or "lowdim-report-t")

    @contextmanager
    def asked_late(folder):
        if folder == first:
            (folder / "report.html").touch()
            (folder / "scores.json").write_text('{"run": "other"}')
        yield True

    monkeypatch.setattr(output_paths, "folder_for_one", asked_late)
    with report_folder(chosen, "t", "mine", 0.0) as (folder, said):
        assert folder == Path(f"{first}-2")
        assert said.endswith(f"this one goes to {folder}")


def test_output_in_a_missing_folder_or_on_a_folder(tmp_path):
    with pytest.raises(UserError, match=r"the folder .*nowhere does not exist"):
        check_writable(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(UserError, match="it is a folder"):
        check_writable(tmp_path)


def test_folder_without_permission(tmp_path, monkeypatch):
    def refuse(dir):
        raise PermissionError(errno.EACCES, "Permission denied", str(dir))

    monkeypatch.setattr(output_paths.tempfile, "TemporaryFile", refuse)  # root may write anywhere, so it is played
    with (
        pytest.raises(UserError, match=r"cannot write into .*: permission denied; choose another folder"),
        output_folder(tmp_path),
    ):
        pass
    with pytest.raises(UserError, match=r"cannot write .*x\.csv: permission denied"):
        check_writable(tmp_path / "x.csv")

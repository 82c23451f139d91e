"""Checks of output paths, made before anything long is computed: they can be written and are no input file."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lowdim._core.runtime.files import folder_for_one
from lowdim.app.errors import UserError

MAPS = "maps"  # the folder of finished maps, inside that of the report


def check_apart(outputs: dict[str, str | os.PathLike[str]], inputs: dict[str, str | os.PathLike[str]]) -> None:
    """Raise an error if an output would overwrite an input or another output; the keys say what each file is."""
    seen = {os.path.realpath(path): what for what, path in inputs.items()}
    for what, path in outputs.items():
        real = os.path.realpath(path)
        same = [other for known, other in seen.items() if known == real or _same(known, real)]
        if same:
            raise UserError(f"{what} must be another file than {same[0]}; both are {path}.")
        seen[real] = what


def _same(one: str, other: str) -> bool:
    """One file under two names: a hard link, or a file system that ignores case."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


@contextmanager
def report_folder(chosen: str | None, name: str, run: str, started: float) -> Iterator[tuple[Path, str | None]]:
    """The folder of a report, for this process alone, and what is to be said about it.

    The folder chosen, or lowdim-report-NAME. Where another run is writing into it, has written into it since `started`
    (in seconds of `time.time`), or, if it was not chosen, has left its report there (`run` identifies data and
    settings), the first of NAME-2, NAME-3, ... that is free or has the same run: no report is lost.
    """
    first = Path(chosen or f"lowdim-report-{name}")
    why = ""
    for number in itertools.count(1):
        folder = first if number == 1 else Path(f"{first}-{number}")
        may_replace = chosen is not None and number == 1
        if _is_kept(folder, run, started, may_replace):
            why = why or f"{first} has the report of other data or settings"
            continue
        with output_folder(folder), folder_for_one(folder) as mine:
            if mine and not _is_kept(folder, run, started, may_replace):  # another run may have ended in between
                replaces = f"replaces the earlier report in {folder}" if _has_other(folder, run) else None
                try:
                    yield folder, f"{why}; this one goes to {folder}" if why else replaces
                finally:  # while the folder is this run's: another one may be about to write its first map
                    with suppress(OSError):
                        (folder / MAPS).rmdir()
                return
            why = why or f"another run is writing into {first}"


def _has_other(folder: Path, run: str) -> bool:
    """Whether a folder has the report of another run."""
    return _run_of(folder) not in (None, run)


def _is_kept(folder: Path, run: str, started: float, may_replace: bool) -> bool:
    """Whether a folder has the report of another run that must stay there."""
    return _has_other(folder, run) and (not may_replace or _written_since(folder, started))


def _written_since(folder: Path, started: float) -> bool:
    """Whether the report in a folder is newer than this run: it was made at the same time."""
    return (folder / "report.html").stat().st_mtime > started


def _run_of(folder: Path) -> str | None:
    """What identifies the run whose report is in a folder; None if there is no report."""
    if not (folder / "report.html").exists():
        return None
    try:
        return str(json.loads((folder / "scores.json").read_text(encoding="utf-8")).get("run"))
    except (OSError, ValueError, AttributeError):
        return "unknown"


@contextmanager
def output_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make the folder if needed, and check that files can be written into it; left empty, it is removed again."""
    folder = Path(path)
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = "it is a file" if folder.is_file() else (error.strerror or str(error)).lower()
        raise UserError(f"cannot write into {folder}: {reason}; choose another folder with --out.") from error
    try:
        yield folder
    finally:
        with suppress(OSError):  # a folder that is not empty stays
            for part in missing:
                if part.is_dir():
                    part.rmdir()


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Check that a file can be written there."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; give a file name with --out.")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: the folder {path.parent} does not exist.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UserError(f"cannot write {path}: {(error.strerror or str(error)).lower()}.") from error
    return path

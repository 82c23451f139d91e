"""Checks of output paths, made before anything long is computed: they can be written and are no input file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lowdim.app.errors import UserError


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


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make the folder if needed, and check that files can be written into it."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = "it is a file" if folder.is_file() else (error.strerror or str(error)).lower()
        raise UserError(f"cannot write into {folder}: {reason}; choose another folder with --out.") from error
    return folder


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

"""Where results go: found out before anything long is computed, and never over what they are made from."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class UserError(Exception):
    """Something the person at the keyboard can put right: shown as one line, without a traceback."""


def in_words_of_options(message: str) -> str:
    """The text of an error with the option people can type in the place of the Python call."""
    return message.replace("lowdim.config(memory_limit=...)", "--memory-limit")


def check_apart(outputs: dict[str, str | os.PathLike[str]], inputs: dict[str, str | os.PathLike[str]]) -> None:
    """Refuse to write over what is read, or twice to the same place; names say what each file is."""
    seen = {os.path.realpath(path): what for what, path in inputs.items()}
    for what, path in outputs.items():
        place = os.path.realpath(path)
        same = [other for known, other in seen.items() if known == place or _same(known, place)]
        if same:
            raise UserError(f"{what} must be another file than {same[0]}; both are {path}.")
        seen[place] = what


def _same(one: str, other: str) -> bool:
    """One file under two names: a hard link, or letters that the file system takes for the same."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def make_folder(path: str | os.PathLike[str]) -> Path:
    """A folder that exists and takes files; found out before anything long is computed."""
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
    """A file name whose folder takes files; found out before anything long is computed."""
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

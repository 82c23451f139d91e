"""Writing files so that a reader sees the old content or the new one, never a half."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


class UserError(Exception):
    """Something the person at the keyboard can put right: shown as one line, without a traceback."""


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> Path:
    """Call `write(temporary)` and move the temporary file over `path` once it is complete and on disk.

    When `write` fails, whatever was at `path` is still there and the temporary file is gone.
    """
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix or ".part", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(_mode(path))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """`text` as UTF-8 with plain newlines, atomically."""
    return write_atomically(path, lambda temporary: temporary.write_bytes(text.encode("utf-8")))


def _mode(path: Path) -> int:
    """The permissions `path` has, or those a new file would get: temporary files are made private."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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

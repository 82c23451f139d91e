"""Atomic writing of files: a reader sees the old content or the new one, never a part."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without file locks: what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object], *, owner: str = "write") -> Path:
    """Call `write(temporary)` and move the temporary file over `path` once it is complete and on disk.

    A link is followed: the file it points to is replaced. When `write` fails, whatever was at `path` is still there
    and the temporary file is gone; one that a killed process left is removed by the next write to the same place.
    """
    path = os.fsdecode(path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{owner}: path must be a file name; got the folder {path!r}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{owner}: path must be in a folder that exists; got {path!r}.")
    _remove_stale(target)
    with _naming(path), _temporary(target) as temporary:
        write(temporary)
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    _sync_folder(target.parent)
    return Path(path)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Errors of the system that name no file, such as a full disk, name this one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, path) from error


def _prefix(target: Path) -> str:
    """What the temporary files of one target begin with; of a fixed length, so that long names fit too."""
    return f".lowdim-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """An empty file beside the target, locked as long as it is being written."""
    temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}{target.suffix[:16]}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        if fcntl is None:  # an open file cannot be moved on such systems
            os.close(handle)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if fcntl is not None:
            os.close(handle)


def _remove_stale(target: Path) -> None:
    """Remove temporary files of this target that nobody holds a lock on: their writer was killed."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    for name in os.listdir(target.parent):
        if not name.startswith(prefix):
            continue
        with suppress(OSError), open(target.with_name(name), "rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(target.with_name(name))


def _sync_folder(folder: Path) -> None:
    """Make the new name durable (survive a power cut), where the system can synchronise folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def folder_for_one(folder: str | os.PathLike[str]) -> Iterator[bool]:
    """Whether this process has the folder for itself; others that ask are told no until the `with` block ends.

    The lock is on the folder itself: no file stays behind, and after a kill it is free. No too where the folder was
    removed and made again in between. Where the system has no file locks, the answer is yes.
    """
    if fcntl is None:
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield _locked(handle) and os.path.samestat(os.fstat(handle), os.stat(folder))
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def written_together(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder inside `folder`, whose files all move to `folder`, first written first, when the `with` block ends.

    Until then earlier files of these names are as they were: a process that is killed while it writes leaves no mixture
    of old and new files. Only the process that has the folder for itself may use it (`folder_for_one`).
    """
    parts = Path(folder) / ".lowdim-together"
    shutil.rmtree(parts, ignore_errors=True)  # of a process that was killed
    parts.mkdir()
    try:
        yield parts
        written = sorted(parts.iterdir(), key=lambda part: part.stat().st_mtime_ns)
        for part in written:
            target = Path(os.path.realpath(Path(folder) / part.name))
            if target.parent != Path(os.path.realpath(folder)):  # a link to elsewhere
                write_atomically(target, partial(shutil.copyfile, part))
                continue
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
        _sync_folder(Path(folder))
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def write_text(path: str | os.PathLike[str], text: str, *, owner: str = "write") -> Path:
    """`text` as UTF-8 with plain newlines, atomically."""
    return write_atomically(path, lambda temporary: temporary.write_bytes(text.encode("utf-8")), owner=owner)

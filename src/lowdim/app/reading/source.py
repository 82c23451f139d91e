"""Where the bytes of a table are: a file, standard input, or the content of a compressed file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import IO, Any

from lowdim._core.runtime.memory import asked_limit, limit, show
from lowdim.app.errors import UserError
from lowdim.app.reading.loaded import library

STANDARD_INPUT = "-"
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED_EXTENSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
BLOCK = 2**20
ENDLESS = 2**30  # bytes of a pipe or a device that are read unless a limit of memory is set


@dataclass(frozen=True, eq=False)
class Source:
    """A table's bytes. `shown` is its name in messages, `suffix` the extension of the table itself (without .gz)."""

    shown: str
    suffix: str
    content: Path | bytes
    notes: list[str] = field(default_factory=list)

    def open(self) -> IO[bytes]:
        return open(self.content, "rb") if isinstance(self.content, Path) else io.BytesIO(self.content)

    def head(self, size: int) -> bytes:
        with self.open() as stream:
            return stream.read(size)

    def bytes(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    @contextmanager
    def path(self) -> Iterator[Path]:
        """A file with the bytes, for libraries that read files only."""
        if isinstance(self.content, Path):
            yield self.content
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table{self.suffix}"
            path.write_bytes(self.content)
            yield path


def source_of(path: str | Path) -> Source:
    """The bytes of a file or of standard input, unpacked if they are compressed."""
    if str(path) == STANDARD_INPUT:
        source = _streamed(Source("standard input", "", b""), sys.stdin.buffer)
    else:
        place = Path(path)
        source = Source(str(path), place.suffix.lower(), _in_place(place))
        if not place.is_file():  # a pipe can be read only once
            with open(place, "rb") as stream:
                source = _streamed(source, stream)
    for _ in range(3):  # a compressed file in an archive; nobody packs more often
        inner = _unpacked(source)
        if inner is None:
            return source
        source = inner
    raise UserError(f"{source.shown} is compressed several times; unpack it first.")


def _in_place(place: Path) -> Path | bytes:
    """The absolute path, in which no library sees a home folder (~) or an address; bytes if its name is not text."""
    try:
        os.fspath(place).encode("utf-8")
    except UnicodeEncodeError:
        return place.read_bytes() if place.is_file() else place
    return place.absolute()


def _streamed(source: Source, stream: IO[bytes]) -> Source:
    """All bytes of a pipe or a device, which may never end: its beginning must be that of a table, and it must fit."""
    from lowdim.app.reading.kinds import kind_of

    start = stream.read(BLOCK)
    head = replace(source, content=start, notes=[])
    if start and not start.startswith((b"PK", *PACKED)):
        kind_of(head)
    most = limit() // 2 if asked_limit() is not None else min(ENDLESS, limit() // 2)
    return replace(source, content=_limited(source, stream, most, start))


def _unpacked(source: Source) -> Source | None:
    """The content of a compressed file; None if it is not compressed. Decided by the first bytes."""
    head = source.head(8)
    packing = next((name for mark, name in PACKED.items() if head.startswith(mark)), None)
    if packing is None and head.startswith(b"PK\x03\x04"):
        return _member(source)
    inner = _inner_suffix(source)
    if packing is None:
        if source.suffix in PACKED_EXTENSIONS and not (source.suffix == ".zip" and head.startswith(b"PK")):
            source.notes.append(f"the file is not compressed, though its name ends in {source.suffix}")
            return replace(source, suffix=inner)
        return None
    if PACKED_EXTENSIONS.get(source.suffix) != packing:
        inner = source.suffix
        if source.shown != "standard input":
            source.notes.append(f"the file is compressed ({packing}), though its name does not say so")
    with source.open() as raw:
        return replace(source, suffix=inner, content=_limited(source, _stream(source, packing, raw), limit() // 2))


def _inner_suffix(source: Source) -> str:
    if source.suffix not in PACKED_EXTENSIONS:
        return source.suffix
    return PurePath(PurePath(source.shown).stem).suffix.lower()


def _stream(source: Source, packing: str, raw: IO[bytes]) -> IO[bytes]:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if packing == "bzip2":
        return bz2.BZ2File(raw)
    if packing == "xz":
        return lzma.LZMAFile(raw)
    zstd: Any = library("zstandard", "formats", source.shown, "reading zstd")
    return zstd.ZstdDecompressor().stream_reader(raw, read_across_frames=True)


def _limited(source: Source, stream: IO[bytes], most: int, start: bytes = b"") -> bytes:
    """All bytes of a stream; an error before they are more than `most`, or where the packed data is damaged.

    They are there twice while they are joined, and then beside the table.
    """
    parts, size = [start], len(start)
    try:
        with stream:
            while block := stream.read(BLOCK):
                size += len(block)
                if size > most:
                    raise UserError(
                        f"{source.shown}: its content does not end within {_what_is_read(most)}. Take fewer rows, "
                        "write it to a file first, or raise --limit-memory."
                    )
                parts.append(block)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{source.shown} cannot be unpacked: {str(error).rstrip('.')}.") from error
    return b"".join(parts)


def _what_is_read(most: int) -> str:
    if most == ENDLESS:
        return f"{show(most)}, which is what is read of a pipe or a device without --limit-memory"
    return f"half of the memory limit ({show(most)})"


def _member(source: Source) -> Source | None:
    """The only file of a zip archive; None for formats that are zip archives themselves."""
    with source.open() as raw, zipfile.ZipFile(raw) as archive:
        files = [info for info in archive.infolist() if not info.is_dir() and not _is_clutter(info.filename)]
        names = [info.filename for info in files]
        if is_own_format(names):
            return None
        if len(files) != 1:
            shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "") or "none"
            raise UserError(
                f"{source.shown} must hold one file; it holds {len(names)}: {shown}. Unpack it and name one."
            )
        if files[0].flag_bits & 1:
            raise UserError(f"{source.shown} is encrypted; unpack it first.")
        content = _limited(source, archive.open(files[0]), limit() // 2)
    if source.suffix != ".zip":
        source.notes.append("the file is a zip archive, whatever its name says")
    return Source(f"{source.shown} ({names[0]})", PurePath(names[0]).suffix.lower(), content, source.notes)


def _is_clutter(name: str) -> bool:
    return name.startswith("__MACOSX/") or PurePath(name).name in (".DS_Store", "Thumbs.db")


def is_own_format(names: list[str]) -> bool:
    """Whether the members of a zip archive are those of a workbook, of a text document or of numpy arrays."""
    office = any(name.startswith(("xl/", "word/", "ppt/")) or name == "mimetype" for name in names)
    return office or (bool(names) and all(name.endswith(".npy") for name in names))

"""The encoding and the line ends of text: every text becomes UTF-8 with line feeds, and notes say from what.

A UTF-8 file with usual line ends stays where it is; one pass over its bytes checks it. Other files are converted in
memory.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from pathlib import Path

from lowdim.app.errors import UserError
from lowdim.app.reading.kinds import is_binary, utf16_without_mark
from lowdim.app.reading.loaded import counted
from lowdim.app.reading.source import Source

MARKS = {  # the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
BLOCK = 2**22
HEAD = 2**16
QUOTED_OR_END = re.compile(rb'"[^"]*"|\r\n?')


def as_utf8(source: Source, encoding: str | None) -> Path | bytes:
    """The text in UTF-8: the path if the file is so already, else bytes. Notes are added to the source's."""
    start = source.head(HEAD)
    content: Path | bytes = source.content
    if encoding is not None:
        content = _decoded(source, encoding)
    elif mark := next((mark for mark in MARKS if start.startswith(mark)), None):
        content = _decoded(source, MARKS[mark])
        source.notes.append(f"read as {MARKS[mark].upper()}, by its byte order mark")
    elif order := utf16_without_mark(start):
        content = _decoded(source, order)
        source.notes.append("read as UTF-16 without a byte order mark (--encoding chooses another encoding)")
    elif is_binary(start):
        raise UserError(f"{source.shown} is not a text table: it has binary data.")
    elif (wrong := _first_wrong_byte(content)) is not None:
        content = _legacy(source, wrong)
    return _usual_lines(content, source)


def _decoded(source: Source, encoding: str) -> bytes:
    try:
        return source.bytes().decode(encoding).encode("utf-8")
    except LookupError:
        raise UserError(
            f"--encoding {encoding!r} is not known; common encodings are latin-1, cp1252 and utf-16."
        ) from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{source.shown} is not {encoding} text (byte {error.start + 1}); choose another --encoding."
        ) from None


def _first_wrong_byte(content: Path | bytes) -> int | None:
    """The position (from 1) of the first byte that is not UTF-8; None if all are."""
    decoder, done = codecs.getincrementaldecoder("utf-8")(), 0
    for block in blocks(content):
        if block and block.isascii() and not decoder.getstate()[0]:
            done += len(block)
            continue
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return done - waiting + error.start + 1
        done += len(block)
    return None


def _legacy(source: Source, wrong: int) -> bytes:
    """Text in one byte per character. Text that is UTF-8 but for a few bytes is damaged, and an error."""
    data = source.bytes()
    text = data.decode("utf-8", errors="replace")
    lost, kept = text.count("\ufffd"), sum(ord(letter) > 127 for letter in text if letter != "\ufffd")
    if kept > lost:
        raise UserError(
            f"{source.shown}: {lost} bytes are not UTF-8, though the other text is (first: byte {wrong}); the file is "
            "damaged or mixes encodings. --encoding cp1252 or --encoding latin-1 reads every byte."
        )
    try:
        found, name = data.decode("cp1252"), "cp1252 (Western European)"
    except UnicodeDecodeError:
        found, name = data.decode("latin-1"), "latin-1 (Western European)"
    source.notes.append(f"the text is not UTF-8, read as {name} (--encoding chooses another encoding)")
    return found.encode("utf-8")


def _usual_lines(content: Path | bytes, source: Source) -> Path | bytes:
    """Without zero bytes and with line feeds; carriage returns before line feeds may stay."""
    zeros = returns = feeds = False
    for block in blocks(content):
        zeros, feeds, returns = zeros or b"\0" in block, feeds or b"\n" in block, returns or b"\r" in block
    if zeros:
        data = as_bytes(content)
        source.notes.append(f"{counted(data.count(0), 'zero byte')} in the text left out")
        content = data.replace(b"\0", b"")
    if not returns:
        return content
    data = as_bytes(content)
    if not feeds:
        source.notes.append("lines end in carriage returns alone; read as line ends")
        return data.replace(b"\r", b"\n")
    alone = data.count(b"\r") - data.count(b"\r\n")
    if not alone or not any(match[0] == b"\r" for match in QUOTED_OR_END.finditer(data)):
        return content
    source.notes.append("some lines end in carriage returns alone; read as line ends")
    return QUOTED_OR_END.sub(lambda match: match[0] if match[0].startswith(b'"') else b"\n", data)


def as_bytes(content: Path | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def blocks(content: Path | bytes) -> Iterator[bytes]:
    """The bytes in blocks, then one empty block."""
    with open(content, "rb") if isinstance(content, Path) else io.BytesIO(content) as stream:
        while block := stream.read(BLOCK):
            yield block
    yield b""

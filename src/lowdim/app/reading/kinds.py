"""What a file holds, by its first bytes; its extension decides where they do not."""

from __future__ import annotations

import codecs
import zipfile

from lowdim.app.errors import UserError
from lowdim.app.reading.source import PACKED_EXTENSIONS, Source

# Kind -> how messages call it, and the extensions of its files.
KINDS = {
    "text": ("delimited text", (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", ".phy", ".phylip", ".dist")),
    "parquet": ("Parquet", (".parquet", ".pq")),
    "arrow": ("Arrow", (".arrow", ".feather", ".ipc")),
    "arrow stream": ("an Arrow stream", (".arrows",)),
    "npy": ("a numpy array", (".npy",)),
    "npz": ("a numpy archive", (".npz",)),
    "matrix market": ("Matrix Market", (".mtx",)),
    "workbook": ("a spreadsheet", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")),
    "json": ("JSON", (".json",)),
    "json lines": ("JSON lines", (".jsonl", ".ndjson")),
    "spss": ("SPSS", (".sav", ".zsav")),
    "stata": ("Stata", (".dta",)),
    "anndata": ("HDF5 (AnnData)", (".h5ad", ".h5")),
}
BY_EXTENSION = {extension: kind for kind, (_, extensions) in KINDS.items() for extension in extensions}
SUPPORTED = (*BY_EXTENSION, *(f".csv{packed}" for packed in PACKED_EXTENSIONS))
MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"\x93NUMPY": "npy",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "workbook",
    b"%%MatrixMarket": "matrix market",
    b"\x89HDF\r\n\x1a\n": "anndata",
    b"$FL2": "spss",
    b"$FL3": "spss",
    b"<stata_dta>": "stata",
}
# What is no table, and the way out.
OTHERS = {
    b"%PDF": "a PDF document; save the table as CSV",
    b"\x89PNG": "one image; give the folder that holds the images",
    b"\xff\xd8\xff": "one image; give the folder that holds the images",
    b"GIF8": "one image; give the folder that holds the images",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
    b"FEA1": "a Feather file of version 1; write it again as version 2 or Parquet",
    b"RDX": "R data; write the table with write.csv",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"Rar!": "a RAR archive; unpack it first",
}
PAGES = (b"<!doctype", b"<html", b"<?xml", b"<table")


def kind_of(source: Source) -> str:
    """The kind of a file; a note where its extension says something else."""
    start = source.head(4096)
    said = BY_EXTENSION.get(source.suffix)
    for mark, what in OTHERS.items():
        if start.startswith(mark):
            raise UserError(f"{source.shown} is not a table: it is {what}.")
    found = next((kind for mark, kind in MARKS.items() if start.startswith(mark)), None)
    if found is None and start.startswith(b"PK\x03\x04"):
        found = _kind_of_archive(source)
    if found is None and _is_text(start):
        found = _kind_of_text(source, start, said)
    found = found or said
    if found is None:
        called = f"the extension {source.suffix!r}" if source.suffix else "a file without an extension"
        known = ", ".join(SUPPORTED)
        raise UserError(f"{source.shown}: {called} is not supported and the content is not known; use one of {known}.")
    if said is not None and found != said:
        source.notes.append(f"the file is {KINDS[found][0]}, whatever its extension {source.suffix} says")
    return found


def _kind_of_archive(source: Source) -> str:
    with source.open() as raw, zipfile.ZipFile(raw) as archive:
        names = archive.namelist()
        if any(name.startswith("xl/") for name in names):
            return "workbook"
        if "mimetype" in names and b"spreadsheet" in archive.read("mimetype"):
            return "workbook"
    if any(name.startswith(("word/", "ppt/")) or name == "mimetype" for name in names):
        raise UserError(f"{source.shown} is not a table: it is a text document; save the table as CSV.")
    return "npz"


def _kind_of_text(source: Source, start: bytes, said: str | None) -> str | None:
    """Text under any name is read as text; None where the extension promises something that text cannot be."""
    opening = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if opening.startswith(PAGES):
        raise UserError(f"{source.shown} is a web page or XML, not a table; save the table as CSV.")
    if said in ("text", "workbook", None):
        return "json" if opening[:1] in (b"[", b"{") and _looks_like_records(opening) else "text"
    return said


def _looks_like_records(opening: bytes) -> bool:
    """Whether text goes on like JSON: objects, or an array of objects; a column may be called "[cm]" or "{x}"."""
    inner = opening[1:].lstrip()
    return inner[:1] in ((b'"', b"}") if opening[:1] == b"{" else (b"{", b"["))


def _is_text(start: bytes) -> bool:
    """Whether bytes could be text in some encoding: with few control characters, or in UTF-16."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        return True
    return not is_binary(start)


def is_binary(start: bytes) -> bool:
    """Whether bytes are full of control characters. Zeros at every second byte are text in UTF-16."""
    if utf16_without_mark(start):
        return False
    control = sum(byte < 9 or 13 < byte < 32 for byte in start)
    return control > max(2, len(start) // 50)


def utf16_without_mark(start: bytes) -> str | None:
    """The byte order of UTF-16 text without a byte order mark, by its zeros; None if it is not that."""
    even, odd = start[0::2], start[1::2]
    if len(start) < 4:
        return None
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.7 and zeros_even < 0.05:
        return "utf-16-le"
    if zeros_even > 0.7 and zeros_odd < 0.05:
        return "utf-16-be"
    return None

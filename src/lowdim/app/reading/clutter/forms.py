"""Text that is a table in another dress: drawn with lines, or with the head of ARFF or GCT, becomes plain text."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.dialect import first_lines
from lowdim.app.reading.encodings import as_bytes
from lowdim.app.reading.loaded import counted
from lowdim.app.reading.source import Source

SEPARATED = re.compile(r'^"?sep=(.)"?$', re.IGNORECASE)
RULE = re.compile(r"^[\s|+:=-]*(?:-{3,}|={3,})[\s|+:=-]*$")
LOOKED_AT = 30  # lines in which the first rule of a drawn table stands
GENES = ("#1.2", "#1.3")  # the first line of GCT, of expression tables; the second has the numbers of rows and columns
ATTRIBUTE = re.compile(r"""^@attribute\s+('(?:[^']|\\')*'|"(?:[^"]|\\")*"|\S+)""", re.IGNORECASE)


def as_plain_text(content: Path | bytes, source: Source, how: ReadOptions) -> tuple[Path | bytes, ReadOptions]:
    """The same content without what is no part of a table, and the options that its first line gives."""
    lines = [line.strip() for line in first_lines(content)]
    told = [line.removeprefix("\ufeff") for line in lines if line][:LOOKED_AT]
    if not told:
        return content, how
    if (mark := SEPARATED.match(told[0])) is not None:
        source.notes.append(f"the first line, {told[0]!r}, gives the separator and is no row")
        return _without_first(content, 1), replace(how, separator=how.separator or mark[1])
    if told[0] in GENES and len(told) > 2:
        source.notes.append(f"the file is GCT: the lines {told[0]} and {told[1]!r} are no rows")
        return _without_first(content, 2), how
    if any(line.lower() == "@data" for line in lines):
        return _of_arff(content, source), replace(how, separator=how.separator or ",", has_header=True)
    if how.separator in (None, "|") and any(_is_rule(line) for line in told):
        return _without_rules(content, source), how
    return content, how


def _without_first(content: Path | bytes, count: int) -> bytes:
    """The text below its first lines, blank ones not counted."""
    lines = as_bytes(content).splitlines(keepends=True)
    filled = [i for i, line in enumerate(lines) if line.strip(b" \t\r\n\xef\xbb\xbf")]
    return b"".join(lines[filled[count - 1] + 1 :])


def _is_rule(line: str) -> bool:
    """Whether a line is drawn, as in Markdown and in the output of databases; a lone run of dashes may be a cell."""
    return bool(RULE.match(line)) and ("|" in line or "+" in line or len(line.split()) > 1)


def _without_rules(content: Path | bytes, source: Source) -> bytes:
    """A table drawn with lines: without these, and without the bars at its sides."""
    lines = as_bytes(content).decode("utf-8-sig").splitlines()
    kept = [line.strip() for line in lines if not _is_rule(line.strip())]
    source.notes.append(f"{counted(len(lines) - len(kept), 'drawn line')} left out")
    if any("|" in line for line in kept):
        kept = [re.sub(r"[ \t]*\|[ \t]*", "|", line) for line in kept]
    if all(line.startswith("|") and line.endswith("|") for line in kept if "|" in line):
        kept = [line[1:-1] if "|" in line else line for line in kept]
    return "\n".join([*kept, ""]).encode()


def _of_arff(content: Path | bytes, source: Source) -> bytes:
    """ARFF, the format of Weka, as rows below the names that its head declares."""
    lines = as_bytes(content).decode("utf-8-sig").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    names = [found[1].strip("'\"") for line in lines[:begin] if (found := ATTRIBUTE.match(line.strip()))]
    rows = [line for line in lines[begin + 1 :] if line.strip() and not line.lstrip().startswith("%")]
    if any(line.lstrip().startswith("{") for line in rows):
        raise UserError(f"{source.shown} is sparse ARFF, which is not read; save the table as CSV.")
    if not names:
        raise UserError(f"{source.shown} seems to be ARFF, but its head declares no columns.")
    source.notes.append("the file is ARFF: its head has the names of the columns")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerow(names)
    return (out.getvalue() + "\n".join([*rows, ""])).encode()

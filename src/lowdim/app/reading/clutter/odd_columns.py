"""Columns that no usual character separates: marks such as :: or ~, and columns that begin at the same place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lowdim.app.reading.encodings import as_bytes
from lowdim.app.reading.source import Source

MARKS = ("::", "~", "^")
FEWEST = 3  # lines that must agree
GAP = 2  # blank places between columns of fixed width, in every line


def with_odd_columns(content: Path | bytes, lines: Sequence[str], source: Source) -> bytes | None:
    """The text with tabs between its columns; None where no line shows any."""
    told = [line.rstrip("\r\n").removeprefix("\ufeff") for line in lines if line.strip()]
    if len(told) < FEWEST or any("\t" in line for line in told) or any('"' in line for line in told):
        return None
    for mark in MARKS:
        if len({line.count(mark) for line in told}) == 1 and mark in told[0]:
            source.notes.append(f"columns are separated by {mark}")
            return as_bytes(content).replace(mark.encode(), b"\t")
    begins = _begins(told)
    if len(begins) < 2:
        return None
    text = as_bytes(content).decode("utf-8-sig").splitlines()
    if begins != _begins([line for line in text if line.strip()]):
        return None
    source.notes.append("columns have a fixed width, with spaces between them")
    ends = [*begins[1:], None]
    rows = ["\t".join(line[a:b].strip() for a, b in zip(begins, ends, strict=True)) for line in text if line.strip()]
    return "\n".join([*rows, ""]).encode()


def _begins(lines: Sequence[str]) -> list[int]:
    """Where columns begin: after at least two places that are blank in all lines."""
    width = max(map(len, lines))
    filled = [False] * width
    for line in lines:
        for match in re.finditer(r"\S+", line):
            filled[match.start() : match.end()] = [True] * (match.end() - match.start())
    first = filled.index(True)
    return [i for i in range(first, width) if filled[i] and (i == first or (i >= GAP and not any(filled[i - GAP : i])))]

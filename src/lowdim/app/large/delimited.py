"""Delimited text that is larger than what may be read at once, in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from lowdim._core.runtime import memory
from lowdim.app.errors import UserError
from lowdim.app.large import parts as sizes
from lowdim.app.large.parts import Array, Parts
from lowdim.app.large.records import Form, Span, form_of, records, spans_of, table_of
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.kinds import kind_of
from lowdim.app.reading.source import PACKED, Source
from lowdim.app.unpacked_size import text_size


@dataclass(frozen=True, eq=False)
class TextParts(Parts):
    """Records of a text file."""

    form: Form
    spans: tuple[Span, ...]
    how: ReadOptions

    @property
    def typed(self) -> bool:
        """What a column holds is seen of each part anew."""
        return False

    def borders(self) -> list[tuple[int, int]]:
        """First row, and the one after the last, of each span."""
        found, start = [], 0
        for span in self.spans:
            if span.n_rows:
                found.append((start, start + span.n_rows))
            start += span.n_rows
        return found

    def read(self, start: int, stop: int) -> pl.DataFrame:
        """The rows of one part."""
        return table_of(records(self.path, self.form, self._span(start)), self.form, self.how, stop - start)

    def piece(self, start: int, stop: int, at: Array) -> tuple[bytes, int]:
        """The text of some rows: what their columns are is seen of all pieces together."""
        return records(self.path, self.form, self._span(start), at), len(at)

    def joined(self, pieces: list[Any]) -> pl.DataFrame:
        """The rows of some pieces."""
        data, count = b"".join(text for text, _ in pieces), sum(n for _, n in pieces)
        return table_of(data, self.form, self.how, count)

    def as_read(self, how: ReadOptions) -> ReadOptions:
        """The options with what the form of the text says."""
        return replace(how, names=how.names or self.form.row_names)

    def _span(self, start: int) -> Span:
        return {first: span for (first, _), span in zip(self.borders(), self._filled, strict=True)}[start]

    @property
    def _filled(self) -> list[Span]:
        return [span for span in self.spans if span.n_rows]


def of(path: Path, how: ReadOptions, most: float) -> TextParts | None:
    """The records of a text file that takes more than so many bytes once it is read; None for other files."""
    if not path.is_file() or path.stat().st_size < most / 64:
        return None
    source = Source(str(path), path.suffix.lower(), path.absolute())
    head = source.head(8)
    if head.startswith((b"PK", *PACKED)) or kind_of(source) != "text" or text_size(source) <= most:
        return None
    try:
        form = form_of(source, how)
        spans = tuple(spans_of(path, form, sizes.PART))
    except UserError:
        if text_size(source) <= memory.limit():  # it can be read at once all the same
            return None
        raise
    n = sum(span.n_rows for span in spans)
    return TextParts(path, n, len(form.header.names), form, spans, how, notes=tuple(source.notes))

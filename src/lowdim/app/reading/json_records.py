"""JSON: an array of records, one record per line, or an object of columns. Objects inside records become columns."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.encodings import as_bytes, as_utf8
from lowdim.app.reading.loaded import Loaded, listed
from lowdim.app.reading.marks import note_suspects, with_numeric_words
from lowdim.app.reading.number_text import Findings
from lowdim.app.reading.source import Source
from lowdim.app.reading.values import column_of

DEEPEST = 4


def read_json(source: Source, how: ReadOptions) -> Loaded:
    """Records from one JSON text; several, one per line, are read too."""
    text = _text(source, how)
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return read_json_lines(source, how, text)
        raise UserError(
            f"{source.shown} is not JSON: line {error.lineno}, character {error.colno}: {error.msg}."
        ) from None
    return _table(_records(found, source), source, how)


def read_json_lines(source: Source, how: ReadOptions, text: str | None = None) -> Loaded:
    """One record per line."""
    if text is None:
        text = _text(source, how)
        if text.lstrip().startswith("["):
            return read_json(source, how)
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(
                f"{source.shown}: line {number} is not JSON (character {error.colno}: {error.msg})."
            ) from None
        if not isinstance(record, dict):
            raise UserError(f'{source.shown}: line {number} must be an object such as {{"a": 1}}; got {line[:40]!r}.')
        records.append(record)
    return _table(records, source, how)


def _text(source: Source, how: ReadOptions) -> str:
    text = as_bytes(as_utf8(source, how.encoding)).decode("utf-8-sig")
    if not text.strip():
        raise UserError(f"{source.shown} is empty.")
    return text


def _records(found: Any, source: Source) -> list[dict[str, Any]]:
    """The records in an array, in the only array of an object, or in an object of columns."""
    if isinstance(found, dict):
        lists = {key: value for key, value in found.items() if isinstance(value, list)}
        inner = [key for key, value in lists.items() if value and all(isinstance(item, dict) for item in value)]
        if len(inner) == 1:
            source.notes.append(f"records read from {inner[0]!r}")
            return lists[inner[0]]
        if lists and len(lists) == len(found) and len({len(value) for value in lists.values()}) == 1:
            return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    if isinstance(found, list) and found and all(isinstance(item, dict) for item in found):
        return found
    if isinstance(found, list) and found and all(isinstance(item, list) for item in found):
        width = max(len(item) for item in found)
        if any(len(item) != width for item in found):
            raise UserError(f"{source.shown}: the arrays must have the same length, one for each row.")
        return [{str(j + 1): cell for j, cell in enumerate(item)} for item in found]
    raise UserError(f'{source.shown} must be an array of records such as [{{"a": 1}}, {{"a": 2}}].')


def _table(records: list[dict[str, Any]], source: Source, how: ReadOptions) -> Loaded:
    notes = source.notes
    flat = [_flat(record) for record in records]
    names = list(dict.fromkeys(name for record in flat for name in record))
    if not names:
        raise UserError(f"{source.shown} is empty: its records have no fields.")
    if any(isinstance(value, dict) for record in records for value in record.values()):
        notes.append("objects inside records became columns such as " + listed([n for n in names if "." in n], 3))
    absent = sum(name not in record for record in flat for name in names)
    if absent:
        notes.append(f"{absent} fields that some records do not have are missing cells")
    findings = Findings(decimal="," if how.decimal_comma else None, thousands=how.thousands)
    columns = [column_of(name, [record.get(name) for record in flat], how.na, findings) for name in names]
    frame = with_numeric_words(pl.DataFrame(columns), how.na)
    notes += findings.notes()
    note_suspects(frame, notes)
    return Loaded(frame, tuple(notes))


def _flat(record: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """Objects inside a record as fields of their own: {"a": {"b": 1}} has the column a.b."""
    cells: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and depth < DEEPEST:
            cells |= _flat(value, f"{prefix}{key}.", depth + 1)
        else:
            cells[f"{prefix}{key}"] = value
    return cells

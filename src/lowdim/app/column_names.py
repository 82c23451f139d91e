"""Names of columns as people type them: several in one value, with the quotes of CSV where a name has a comma.

A value that is the name of a column as a whole means that column, whatever is in it. Otherwise it is a list separated
by commas, in which a name may stand in double quotes.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.study.columns import Kind

_QUOTED_OR_EQUALS = re.compile(r'"(?:[^"]|"")*"|=')
AS_RULE = "--as must be KIND:COLUMN, such as category:island"


def quoted(name: str) -> str:
    """A column name as it must be typed on a command line."""
    return shlex.quote(name)


def listed_names(value: str, known: Sequence[str] = ()) -> list[str]:
    """The names in one value of an option."""
    if value in known:
        return [value]
    rows = csv.reader(io.StringIO(value, newline=""), skipinitialspace=True)
    cells = [cell for row in rows for cell in row]
    return [cell if cell in known else cell.strip() for cell in cells if cell.strip()]


def one_name(value: str | None, known: Sequence[str]) -> str | None:
    """The column that a value means where one is expected; the value itself where it is none."""
    if value is None or value in known:
        return value
    found = listed_names(value, known)
    return found[0] if len(found) == 1 else value


def all_names(values: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for value in values for name in listed_names(value, known))


def check_asked(values: Sequence[str]) -> None:
    """An error for a value of --as that has no kind or no column, before the file is read."""
    for value in values:
        kind, colon, columns = value.partition(":")
        if not colon or not kind.strip() or not columns.strip():
            raise UserError(f"{AS_RULE}; got {value!r}.")


def resolved(how: ReadOptions, known: Sequence[str]) -> ReadOptions:
    """The options with the names of the columns that are meant."""
    kinds = [pair for value in how.asked for pair in _kinds(value, known)]
    return replace(
        how,
        label=one_name(how.label, known),
        names=one_name(how.names, known),
        drop=all_names(how.drop, known),
        columns=all_names(how.columns, known),
        kinds=(*how.kinds, *kinds),
        asked=(),
    )


def _kinds(value: str, known: Sequence[str]) -> list[tuple[str, Kind]]:
    """KIND:COLUMN as (column, kind); ordinal:COLUMN=LOW,MID,HIGH as (column, values in their order)."""
    kind, _, rest = value.partition(":")
    kind = kind.strip().lower()
    if kind == "ordinal" and rest not in known and (parts := _at_equals(rest, known)) is not None:
        return [(parts[0], tuple(listed_names(parts[1])))]
    return [(name, kind) for name in listed_names(rest, known)]


def _at_equals(text: str, known: Sequence[str]) -> tuple[str, str] | None:
    """A column and what stands behind the = after it; the first = outside of quotes that a column stands before."""
    places = [found.start() for found in _QUOTED_OR_EQUALS.finditer(text) if found.group() == "="]
    parts = [(one_name(text[:place].strip(), known) or "", text[place + 1 :]) for place in places]
    return next((part for part in parts if part[0] in known), parts[0] if parts else None)

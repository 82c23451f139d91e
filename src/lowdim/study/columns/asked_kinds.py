"""Columns as the kinds that a user asks for, or that a fitted model knows, whatever they look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lowdim.study.columns.column import Column, Conversion, as_text
from lowdim.study.columns.date_text import as_dates
from lowdim.study.columns.kinds import (
    NO_ANSWER,
    NOTHING,
    as_objects,
    as_texts,
    different_values,
    in_order,
    kind_of,
    short,
)
from lowdim.study.columns.scales_of_words import order_of, plain_word
from lowdim.study.columns.text_values import Reading, as_numbers
from lowdim.study.columns.wishes import Kind


def as_kind(name: str, values: np.ndarray, kind: Kind, owner: str, known: Conversion | None = None) -> Column:
    """The column as the kind that the user names (a list: these values in this order); an error where it cannot be.

    `known`: how the cells of such a column became numbers before.
    """
    if kind == "number":
        numbers, conversion = _as_number(name, values, owner, known)
        days = (
            f": days since {as_text(np.datetime64(conversion.first, 's'))}" if conversion and conversion.first else ""
        )
        return Column(name, kind, numbers, f"as asked{days}", conversion=conversion)
    if kind == "ordinal" or not isinstance(kind, str):
        return _as_order(name, values, None if isinstance(kind, str) else tuple(map(str, kind)), owner)
    if kind == "date":
        found = kind_of(name, values)
        if found.kind != "date":
            raise ValueError(f"{owner}: column {name!r} cannot be read as dates; {found.why}.")
        return Column(name, kind, found.values, "as asked")
    return Column(name, kind, as_texts(values), "as asked")


def without_marks(values: np.ndarray, known: Sequence[object] | None) -> np.ndarray:
    """Text without words for missing cells that are none of the known values; as it is where nothing is known."""
    if known is None or values.dtype.kind != "O":
        return values
    words = {v for v in values.tolist() if isinstance(v, str) and v not in known}
    marks = {v for v in words if v.strip().lower() in NOTHING or plain_word(v) in NO_ANSWER}
    return as_objects([None if v in marks else v for v in values.tolist()]) if marks else values


def _as_order(name: str, values: np.ndarray, levels: tuple[str, ...] | None, owner: str) -> Column:
    """Ordered categories: in the order that the user gives, of a known scale of words, or of numbers."""
    cells = as_texts(without_marks(values, levels or ()))
    different = different_values(cells)
    if levels is None:
        numbers = as_numbers(different, codes=True)
        if numbers is not None and not numbers.words:
            levels = tuple(sorted(different, key=lambda text: numbers.values[text]))
        else:
            levels = order_of(name, different)
    if levels is None:
        shown = ", ".join(short(text, 20) for text in different[:6])
        raise ValueError(
            f"{owner}: the order of the values of column {name!r} is not known ({shown}). List them, lowest first: "
            f"kinds={{{name!r}: [...]}} (on the command line: --as 'ordinal:{name}=LOW,...,HIGH')."
        )
    strange = next((text for text in different if text not in levels), None)
    if strange is not None:
        raise ValueError(
            f"{owner}: column {name!r} must hold one of its ordered values ({', '.join(levels)}); got {strange!r}."
        )
    return Column(name, "ordinal", cells, f"as asked, {in_order(levels)}", levels=levels)


def _as_number(
    name: str, values: np.ndarray, owner: str, known: Conversion | None
) -> tuple[np.ndarray, Conversion | None]:
    """Numbers of a column of numbers, yes/no, numbers as text, or dates (days since the first), and how they became."""
    if values.dtype.kind == "f":
        return values, known
    if known is not None:
        return _converted(name, values, owner, known), known
    found = kind_of(name, values)
    if found.values.dtype.kind == "M":
        first = str(np.nanmin(found.values))
        conversion = Conversion(first, found.conversion.forms if found.conversion else ())
        return conversion.days(found.values), conversion
    if found.values.dtype.kind == "f":
        return found.values, found.conversion
    read = as_numbers(different_values(values), codes=True)
    if read is not None:
        return read.column(values, np.nan, np.float64), None
    first = next((text for text in different_values(values) if as_numbers([text], codes=True) is None), "")
    raise ValueError(f"{owner}: column {name!r} must hold numbers; got {first!r}.")


def _converted(name: str, values: np.ndarray, owner: str, known: Conversion) -> np.ndarray:
    """The cells as the numbers that such cells became before; an error that names one that cannot."""
    if values.dtype.kind == "M":
        return known.days(values)
    cells = as_texts(_without_nothing(values))
    different = different_values(cells)
    if known.first:
        dates = as_dates(different, known.forms) if different else Reading({}, "")
        if dates is None:
            raise ValueError(f"{owner}: column {name!r} held dates before; {different[0]!r} cannot be read as one.")
        return known.days(dates.column(cells, np.datetime64("NaT", "s"), "datetime64[s]"))
    words = dict(known.words)
    read = {text: words.get(text.strip().lower()) for text in different}
    read |= {text: as_number for text in different if (as_number := _plain_number(text)) is not None}
    strange = next((text for text, value in read.items() if value is None), None)
    if strange is not None:
        raise ValueError(f"{owner}: column {name!r} must hold {' or '.join(words)}; got {strange!r}.")
    return Reading(read, "").column(cells, np.nan, np.float64)


def _plain_number(text: str) -> float | None:
    read = as_numbers([text], codes=True)
    return None if read is None or read.words else read.values[text]


def _without_nothing(values: np.ndarray) -> np.ndarray:
    """The cells, None where their text stands for a missing cell."""
    return as_objects([None if v is None or str(v).strip().lower() in NOTHING else v for v in values.tolist()])

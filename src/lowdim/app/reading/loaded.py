"""What reading a file gives, and the error where the library that reads it is not installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import polars as pl

from lowdim.app.errors import UserError


@dataclass(frozen=True, eq=False)
class Loaded:
    """The columns of a file as they are, or distances between items.

    `notes` are sentences about what was recognised. `kind` is "table" (rows and columns) or "distances": then `frame`
    is square, symmetric, with zeros on the diagonal, its columns named by the items in the order of its rows; a pair
    that the file does not have is null. `names` and `label` are the columns that the format itself gives these roles
    (names of observations or of images, the folder of an image); None for formats that have none.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    kind: Literal["table", "distances"] = "table"
    names: str | None = None
    label: str | None = None
    features: tuple[str, ...] = ()  # columns that are measurements, where the format tells them from annotations
    about: Mapping[str, str] = field(default_factory=dict)  # column -> what the file says it is, such as a question


def library(name: str, extra: str, shown: str, task: str) -> Any:
    """An optional library; an error with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise UserError(f'{shown}: {task} needs {name.split(".")[0]}: pip install "lowdim[{extra}]".') from None


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names for a sentence; a long list is cut, and so is a long name."""
    short = [name if len(name) <= 40 else f"{name[:37]}..." for name in names[:most]]
    return ", ".join(short) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def counted(count: int, noun: str) -> str:
    """1 cell, 2 cells."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def in_columns(names: Sequence[str]) -> str:
    """In column a; in columns a, b."""
    return f"in column{'' if len(names) == 1 else 's'} {listed(names)}"


def missing_values(cells: int, rows: int, n: int) -> str:
    """How many cells are missing, in how many of the rows, for a note."""
    return f"{counted(cells, 'missing value')} in {rows} of {counted(n, 'row')}"


def told_apart(names: Sequence[str], about: Sequence[str]) -> dict[str, str]:
    """Column -> what is said of it, where that is more than its name."""
    return {name: text for name, text in zip(names, about, strict=False) if text and text != name}


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Every name once and none of them empty; what was changed becomes a note."""
    taken, found, empty, twice = set(names), [], [], []
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        new = name or f"column_{position}"
        if not name:
            new = _free(new, taken)
            empty.append(new)
        elif name in seen:
            new = _free(f"{name}_2", taken, start=name)
            twice.append(f"{name!r} -> {new!r}" if len(name) <= 40 else "a long name")
        seen.add(name)
        taken.add(new)
        found.append(new)
    if empty:
        count = "1 column without a name is" if len(empty) == 1 else f"{len(empty)} columns without a name are"
        notes.append(f"{count} named {listed(empty)}")
    if twice:
        notes.append(f"repeated column names made different: {listed(twice)}")
    return found


def _free(name: str, taken: set[str], start: str | None = None) -> str:
    count, base = 2, start or name
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    return name

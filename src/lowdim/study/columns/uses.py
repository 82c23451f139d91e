"""What each column is used for: seen by the methods, label, names of the rows, shown with a row, or left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowdim._core.tables.labels import MOST_CLASSES, are_classes
from lowdim.study.columns.column import MAPPED, Column
from lowdim.study.columns.ids import named_id
from lowdim.study.columns.kinds import CODES, LISTS
from lowdim.study.columns.wishes import Wishes

# Names that say "label", the clearest first; compared in lower case without separators.
LABEL_NAMES = (
    *("label", "labels", "target", "class", "classes", "y", "species", "diagnosis", "outcome", "celltype", "cluster"),
    *("clusters", "celltypes", "leiden", "louvain", "annotation", "phenotype"),
    *("group", "groups", "cohort", "condition", "treatment"),
)
GROUPS = ("category", "ordinal")
QUANTITY_NAMES = ("label", "target", "y")  # labels also where they are quantities
NOT_ASKED = "not among the columns asked for"
ROW_NAMES = ("name", "names", "id", "title", "label", "sample", "samplename", "sampleid")


def decide(columns: list[Column], wishes: Wishes) -> list[Column]:
    """The columns with their uses."""
    found = [_first_use(column, wishes) for column in columns]
    found = [_sure_of_codes(column) for column in _with_label(found, wishes)]
    return _with_names(found, wishes)


def _sure_of_codes(column: Column) -> Column:
    """A label without the doubt whether its whole numbers are codes: they are used as classes."""
    return replace(column, doubt="", other="") if column.use == "label" and column.doubt.endswith(CODES) else column


def _first_use(column: Column, wishes: Wishes) -> Column:
    """The use that a column has by itself, before one of them becomes the label and one the names."""
    if column.name == wishes.label:
        return _asked_label(column, wishes)
    if column.name == wishes.names:
        return column.used("name", "as asked")
    if column.name in wishes.drop:
        return column.used("left out", "as asked")
    chosen = column.name in wishes.columns
    if wishes.columns and not chosen and column.kind in MAPPED:
        return column.used("left out", NOT_ASKED)
    if column.kind in ("empty", "constant"):
        return column.used("left out")
    if column.kind in MAPPED:
        return column.used("map", "as asked" if chosen else "")
    if chosen or wishes.kinds.get(column.name) == "date":
        raise ValueError(_cannot_map(column, wishes))
    if column.kind == "date":
        doubt = "; ".join(part for part in (column.doubt, "dates are not measured in the map") if part)
        return replace(column.used("shown"), doubt=doubt, other="number")
    return column.used("shown" if column.kind in ("text", "id") else "left out")


def _cannot_map(column: Column, wishes: Wishes) -> str:
    kinds = wishes.option["kinds"]
    way = {
        "date": f"To count days, ask for it as a number ({kinds} number).",
        "text": f"To use it as categories all the same, ask for that ({kinds} category).",
        "id": f"If it is a quantity, ask for it as a number ({kinds} number).",
    }[column.kind]
    return f"{wishes.owner}: column {column.name!r} cannot be in the map: {column.why}. {way}"


def _asked_label(column: Column, wishes: Wishes) -> Column:
    if column.kind == "empty":
        raise ValueError(f"{wishes.owner}: {wishes.option['label']} {column.name!r} has no values.")
    return column.used("label", "as asked")


def _with_label(columns: list[Column], wishes: Wishes) -> list[Column]:
    """At most one column becomes the label: by its name, or as the only one of categories beside numbers."""
    if wishes.label is not None or not wishes.find_label:
        return columns
    open_ = [c for c in columns if c.name not in wishes.kinds and c.name not in wishes.columns]
    free = [c for c in open_ if c.use == "map" or c.why_use == NOT_ASKED]
    if {"x", "y"} <= {c.name.lower() for c in columns}:  # coordinates
        free = [c for c in free if c.name.lower() != "y"]
    inside = [c for c in columns if c.use == "map"]
    ranked = sorted((c for c in free if _label_rank(c) is not None), key=lambda c: _label_rank(c) or 0)
    if ranked and (len(inside) > 1 or ranked[0] not in inside):
        return _replace(columns, ranked[0].used("label", "by its name; the methods do not see it"))
    categories = [c for c in inside if c.kind in GROUPS and not c.doubt.startswith(LISTS)]
    if len(categories) == 1 and categories[0] in free and len(inside) > 2 and _levels(categories[0]) <= MOST_CLASSES:
        why = "the only categories beside numbers; the methods do not see it"
        return _replace(columns, categories[0].used("label", why))
    beside = [c for c in free if c.why_use == NOT_ASKED and c.kind in GROUPS and _levels(c) <= MOST_CLASSES]
    if len(beside) == 1 and not categories:
        return _replace(columns, beside[0].used("label", "the only categories beside the columns of the map"))
    return columns


def _label_rank(column: Column) -> int | None:
    """The place of a column's name among those that say "label"; None where it cannot be one."""
    word = "".join(c for c in column.name.lower() if c.isalnum())
    if word not in LABEL_NAMES:
        return None
    if (
        column.kind == "number"
        and not are_classes(column.values[~np.isnan(column.values)])
        and word not in QUANTITY_NAMES
    ):
        return None
    if column.kind in GROUPS and _levels(column) > MOST_CLASSES:
        return None
    return LABEL_NAMES.index(word)


def _levels(column: Column) -> int:
    return len({value for value in column.values.tolist() if value is not None})


def _with_names(columns: list[Column], wishes: Wishes) -> list[Column]:
    """The column with the names of the rows: without gaps, text before numbers, a telling name before others."""
    if wishes.names is not None:
        return columns
    ids = [c for c in columns if c.kind == "id" and c.use == "shown"]
    if not ids:
        return columns

    def rank(column: Column) -> tuple[bool, bool, int]:
        word = "".join(c for c in column.name.lower() if c.isalnum())
        telling = 0 if word in ROW_NAMES else 1 if named_id(column.name) else 2
        numbers = column.values.dtype.kind == "f" or all(text.isdigit() for text in column.texts())
        return bool(column.missing.any()), numbers, telling

    return _replace(columns, min(ids, key=rank).used("name", "names of the rows"))


def _replace(columns: list[Column], new: Column) -> list[Column]:
    return [new if column.name == new.name else column for column in columns]

"""Tables whose columns are the items, such as genes in rows and samples in columns: turned, or pointed out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded, listed, unique_names
from lowdim.app.reading.number_text import Findings, is_number
from lowdim.app.reading.values import column_of, text_of

ITEM = "item"
FEWEST = 3  # columns of numbers that may be items
MOSTLY = 0.8
_FEATURES = re.compile(
    r"^#?(gene|probe|protein|peptide|transcript|metabolite|feature|variable|taxon|otu|asv|snp|marker|wavelength|"
    r"ensembl|symbol)"
    r"([ _.-]?(s|id|ids|name|names|symbol|symbols|set))?$|^geneid$|^genesymbol$"
)
_ITEMS = re.compile(
    r"^(sample|patient|subject|participant|person|student|cell|case|mouse|donor|individual|gsm|srr)[ _.-]?[0-9]+"
)


def transposed(loaded: Loaded, how: ReadOptions, shown: str) -> Loaded:
    """The table with rows and columns exchanged; the first column of different texts names the new columns."""
    frame = loaded.frame
    if loaded.kind == "distances":
        raise UserError(
            f"{shown}: --transpose needs a table of rows and columns; the file has distances between items."
        )
    names = _naming(frame, how, loaded)
    body = [column for column in frame.columns if column != names]
    kept = [name for name in body if _has_numbers(frame[name])]
    if not kept or not frame.height:
        raise UserError(f"{shown}: --transpose needs columns of numbers, one for each item; got none.")
    notes = [*loaded.notes]
    new = [str(i + 1) for i in range(frame.height)] if names is None else [text_of(v) for v in frame[names].to_list()]
    new = unique_names(new, notes)
    if names is not None and how.label == names:
        how = replace(how, label=None)
    cells = [frame[name].to_list() for name in kept]
    findings = Findings()
    columns = [column_of(name, [column[i] for column in cells], how.na, findings) for i, name in enumerate(new)]
    item = ITEM
    while item in new:
        item += "_"
    left = [name for name in body if name not in kept]
    said = f"rows and columns exchanged: {len(kept)} rows, named by the column names, and {len(new)} columns"
    notes.append(f"{said}, named by {names!r}" if names is not None else said)
    if unlike := _unlike(kept):
        notes.append(f"named unlike the other rows, and perhaps no item: {listed(unlike)} (--drop-rows leaves it out)")
    if left:
        notes.append(f"columns without numbers left out: {listed(left)}")
    table = pl.DataFrame([pl.Series(item, kept, dtype=pl.String), *columns])
    return Loaded(table, (*notes, *findings.notes()), names=item)


def _naming(frame: pl.DataFrame, how: ReadOptions, loaded: Loaded) -> str | None:
    """The column whose cells name the new columns."""
    wanted = how.names or loaded.names
    if wanted in frame.columns:
        return wanted
    texts = [c.name for c in frame if c.dtype == pl.String and c.n_unique() == frame.height and not _has_numbers(c)]
    return texts[0] if texts else None


def _has_numbers(column: pl.Series) -> bool:
    """Whether most cells are numbers; a row of text among numbers makes all columns text."""
    if column.dtype.is_numeric():
        return True
    if column.dtype != pl.String:
        return False
    present = column.drop_nulls().to_list()
    return bool(present) and 2 * sum(is_number(cell) for cell in present) >= len(present)


def refuse_turned(frame: pl.DataFrame, needed: Sequence[str], source: str) -> None:
    """An error where the columns that a model needs are the rows of a table."""
    lost = [name for name in needed if name not in frame.columns]
    named = next((c for c in frame if c.dtype == pl.String and lost and c.is_in(lost[:1]).any()), None)
    if named is not None:
        raise UserError(
            f"{source}: the model needs the column {lost[0]!r}, which is a row here, in {named.name!r}: --transpose "
            "exchanges rows and columns."
        )


def note_on_items_in_columns(loaded: Loaded) -> Loaded:
    """The table with a note where the names say that its columns are the items."""
    frame = loaded.frame
    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    if (classes := _classes_above(frame)) and not loaded.features:
        return replace(loaded, notes=(*loaded.notes, classes))
    if len(numeric) < FEWEST or loaded.features or frame.height < FEWEST:
        return loaded
    first = frame.columns[0]
    named = sum(bool(_ITEMS.match(name.lower())) for name in numeric) >= MOSTLY * len(numeric)
    features = frame[first].dtype == pl.String and bool(_FEATURES.match(first.strip().lower()))
    wide = features and len(numeric) > 2 * frame.height
    if not (named or wide or (features and _alike(numeric))):
        return loaded
    shown = [name for name in numeric if re.search(r"[0-9]$", name)] or numeric
    what = f"columns such as {listed(shown[:2])} may be the items, and rows what was measured"
    note = f"{what}: read as they are (--transpose exchanges rows and columns)"
    return replace(loaded, notes=(*loaded.notes, note))


def _classes_above(frame: pl.DataFrame) -> str:
    """A note where a first row of texts that come more than once stands above numbers: classes of the columns."""
    texts = [column for column in frame[:, 1:] if column.dtype == pl.String] if frame.height > FEWEST else []
    above = [column[0] for column in texts if column[0] is not None and not is_number(column[0])]
    if len(above) < FEWEST or len(above) < len(texts) or 2 * len(set(above)) > len(above):
        return ""
    if not all(is_number(cell) for column in texts for cell in column[1:].drop_nulls().head(20).to_list()):
        return ""
    return (
        f"the first row has texts such as {listed([repr(text) for text in dict.fromkeys(above)], 2)} above numbers: if "
        "columns are the items and these their classes, --transpose reads them so"
    )


def _unlike(names: list[str]) -> list[str]:
    """Columns without a number in their name among numbered ones: the length of a gene beside samples."""
    found = [name for name in names if not re.search(r"[0-9]$", name)]
    return found if _alike([name.lower() for name in names]) else []


def _alike(names: list[str]) -> bool:
    """Whether names differ in their digits and a letter or two only, as ctrl_1, ctrl_2, treated_1 do."""
    stems = {re.sub(r"[ _.-]?[0-9]+$", "", name.lower()) for name in names}
    numbered = sum(bool(re.search(r"[0-9]$", name)) for name in names)
    return numbered >= MOSTLY * len(names) and 2 * len(stems) <= len(names)

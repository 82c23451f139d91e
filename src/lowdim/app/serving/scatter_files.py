"""Maps for `lowdim view`: those of a folder that `lowdim compare` wrote, or coordinates in any table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.column_names import all_names
from lowdim.app.embedding_files import ABOUT, QUALITY, map_columns
from lowdim.app.errors import UserError
from lowdim.app.input_table import load, table_name
from lowdim.app.read_options import ReadOptions
from lowdim.report.tiles import Atlas, Colour, Places, Scatter
from lowdim.study.columns.asked_kinds import as_kind
from lowdim.study.columns.column import MAPPED, Column
from lowdim.study.columns.kinds import kind_of
from lowdim.study.columns.raw_columns import named_columns
from lowdim.study.labels import labels_of

TILES = "points.tiles"
JUDGED = (QUALITY, "_verdict", "_p_value", "_cluster")  # columns that belong to one map
PAIRS = (("x", "y"), ("x1", "x2"), ("1", "2"), ("component_1", "component_2"))


def tiles_of_study(folder: Path) -> Atlas | None:
    """The tiles that a comparison of many rows wrote; None if there are none, or those of another comparison."""
    path = folder / TILES
    if not path.is_file():
        return None
    try:
        run = json.loads((folder / "scores.json").read_text(encoding="utf-8")).get("run")
    except (OSError, ValueError, AttributeError):
        run = None
    atlas = Atlas(path)
    return atlas if run in (None, atlas.run) else None


def table_of_study(folder: Path) -> Path:
    """The table of coordinates in a folder."""
    for name in ("embeddings.parquet", "embeddings.csv"):
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{folder} must be a folder that lowdim compare wrote, or a table of coordinates; no map is in it.")


def read_scatter(path: Path, asked: tuple[str, ...] = ()) -> Scatter:
    """The maps of a table: of a comparison all of them, else the two columns that are asked for or recognised."""
    loaded = load(path, ReadOptions(distances="no"))
    frame = loaded.frame
    if not frame.height:
        raise UserError(f"{path}: the table is empty ({frame.height} rows, {frame.width} columns).")
    ours = frame.columns[:1] == ["row"] and frame["row"].dtype.is_integer()
    maps = map_columns(frame.columns) if ours and not asked else {}
    maps = maps or {_name(path): _coordinates(frame, all_names(asked, frame.columns), ours, path)}
    raw = named_columns(frame, str(path))
    used = {column for columns in maps.values() for column in columns}
    about = ABOUT if ours else ("name",)
    others = [_column(name, values) for name, values in raw.items() if name not in used and name not in about]
    return Scatter(
        title=_name(path),
        maps=[_places(name, columns, raw, path) for name, columns in maps.items()],
        numbers=frame["row"].to_numpy() if ours else np.arange(1, frame.height + 1),
        colours=[*_label(frame, ours), *(_colour(c, maps) for c in others if c.kind in MAPPED)],
        names=Column("name", "id", raw["name"], "").texts() if "name" in raw else None,
        texts={c.name: c.texts() for c in others if c.kind in ("date", "text", "id")},
        notes=loaded.notes,
    )


def _name(path: Path) -> str:
    """The study is called as its folder."""
    return path.resolve().parent.name if path.name.startswith("embeddings.") else table_name(path)


def _coordinates(frame: pl.DataFrame, asked: tuple[str, ...], ours: bool, path: Path) -> tuple[str, ...]:
    """The columns of the map of a table that holds one."""
    way_out = "Choose the columns of the map with --embedding-columns A,B."
    for name in asked:
        if name not in frame.columns:
            raise UserError(f"{path}: --embedding-columns {name!r} is not a column.")
    if asked:
        if len(asked) > 2:
            raise UserError(f"{path}: --embedding-columns must name one or two columns; got {len(asked)}.")
        return asked
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric() and not (ours and name in ABOUT)]
    lower = {name.lower(): name for name in numbers}
    pair = next((pair for pair in PAIRS if all(name in lower for name in pair)), None)
    if pair is not None:
        return tuple(lower[name] for name in pair)
    ends = [name for name in numbers if name.endswith(("_1", "_2", " 1", " 2", "1", "2"))]
    stems = {name[:-1] for name in ends}
    if len(stems) == 1 and len(ends) == 2:
        return tuple(sorted(ends))
    if len(numbers) == 2:
        return tuple(numbers)
    listed = ", ".join(numbers[:6]) + (", ..." if len(numbers) > 6 else "")
    raise UserError(
        f"{path}: which columns are the map is not clear; columns of numbers: {listed or 'none'}. {way_out}"
    )


def _places(name: str, columns: tuple[str, ...], raw: dict[str, np.ndarray], path: Path) -> Places:
    try:
        xy = np.column_stack([as_kind(c, raw[c], "number", str(path)).values for c in columns[:2]])
    except ValueError as error:
        raise UserError(f"{error} Choose the columns of the map with --embedding-columns A,B.") from error
    if not np.isfinite(xy).all(axis=1).any():
        raise UserError(f"{path}: the columns {', '.join(columns[:2])} have no row with finite numbers.")
    xy[~np.isfinite(xy)] = np.nan
    return Places(name, xy, xy.shape[1] == 1)


def _column(name: str, values: np.ndarray) -> Column:
    """What a column is; one that has the same value everywhere is only shown."""
    found = kind_of(name, values)
    return Column(name, "text", found.values, found.why) if found.kind == "constant" else found


def _label(frame: pl.DataFrame, ours: bool) -> list[Colour]:
    if not ours or "label" not in frame.columns or frame["label"].is_null().all():
        return []
    values = (
        frame["label"].to_numpy() if frame["label"].dtype.is_numeric() else np.array(frame["label"].to_list(), object)
    )
    found = labels_of(values, frame.height, "label", "view")
    return [Colour(found.name, found.values if found.codes is None else found.codes, found.classes)]


def _colour(column: Column, maps: dict[str, tuple[str, ...]]) -> Colour:
    """A column to colour by; what was judged of one map belongs to it."""
    only = next((name for name in maps for end in JUDGED if column.name == f"{name}{end}"), None)
    if column.kind == "number":
        return Colour(column.name, column.values, only=only)
    levels = list(column.levels) or sorted({str(v) for v in column.values.tolist() if v is not None})
    places = {level: k for k, level in enumerate(levels)}
    codes = np.array([-1 if v is None else places.get(str(v), -1) for v in column.values.tolist()])
    return Colour(column.name, codes, levels, only)

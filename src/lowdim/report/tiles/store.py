"""The file of tiles: a header in JSON and plain arrays, which are mapped into memory and not read as a whole.

Layout: 8 bytes that say what it is, the length of the header (8 bytes), the header, and the arrays it lists by kind,
length and position; all numbers little-endian. Rows are in random order, so that the first k of them are a fair sample
of any size; each map has its rows once more in the order of its quadtree (`morton`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lowdim._core.runtime.files import write_atomically
from lowdim._core.runtime.rng import generator
from lowdim.report.tiles.morton import interleaved, quantised
from lowdim.report.tiles.scatter import Colour, Places, Scatter

MAGIC = b"lowdimT1"
KINDS = {"u1": 1, "u2": 2, "u4": 4, "u8": 8, "i8": 8, "f4": 4}  # kinds of numbers in the file, and their bytes
NOWHERE = 2**32 - 1  # place in the order of a map, of a row that is not in it
NO_CLASS = 2**16 - 1
N_COLOURED = 16  # classes that have a colour of their own; of more classes the largest
MARGIN = 1e-6  # so that the largest coordinate is inside
MOST_HEADER = 2**24
ALIGNED = 64


class _Arrays:
    """Arrays for the file, and where each of them will be."""

    def __init__(self) -> None:
        self.kept: list[np.ndarray] = []
        self.size = 0

    def add(self, values: np.ndarray, kind: str) -> dict[str, Any]:
        made = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
        self.kept.append(made)
        listed = {"kind": kind, "length": int(made.size), "at": self.size}
        self.size += -(-made.nbytes // ALIGNED) * ALIGNED
        return listed

    def texts(self, texts: Iterable[str]) -> dict[str, Any]:
        """Texts as one piece of UTF-8, and where each of them ends."""
        pieces = [text.encode("utf-8", "replace") for text in texts]
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.uint64)
        return {"ends": self.add(ends, "u8"), "bytes": self.add(np.frombuffer(b"".join(pieces), np.uint8), "u1")}


def write(scatter: Scatter, path: str | Path, *, seed: int = 0, run: str | None = None) -> Path:
    """Write the file of a scatter atomically.

    Parameters
    ----------
    scatter : Scatter
        Maps, colours and names of the rows.
    path : str or Path
        The file.
    seed : int
        Of the random order of the rows.
    run : str, optional
        What identifies the comparison that the maps are of.

    Returns
    -------
    Path
        The file written.
    """
    arrays = _Arrays()
    order = generator(seed).permutation(len(scatter.numbers))
    header = {
        "title": scatter.title,
        "run": run,
        "notes": list(scatter.notes),
        "n": len(order),
        "numbers": arrays.add(np.asarray(scatter.numbers)[order], "i8"),
        "names": None if scatter.names is None else arrays.texts(scatter.names[i] for i in order.tolist()),
        "texts": [
            {"name": name, **arrays.texts(texts[i] for i in order.tolist())} for name, texts in scatter.texts.items()
        ],
        "maps": [_map(arrays, place, order) for place in scatter.maps],
        "colours": [_colour(arrays, colour, order) for colour in scatter.colours],
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    start = -(-(len(MAGIC) + 8 + len(text)) // ALIGNED) * ALIGNED
    head = (MAGIC + struct.pack("<Q", len(text)) + text).ljust(start, b"\0")

    def put(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            file.write(head)
            for values in arrays.kept:
                _put(file, values)

    return write_atomically(path, put, owner="tiles")


def _put(file: BinaryIO, values: np.ndarray) -> None:
    file.write(values.data)
    file.write(b"\0" * (-values.nbytes % ALIGNED))


def _map(arrays: _Arrays, place: Places, order: np.ndarray) -> dict[str, Any]:
    """The codes of a map in their order, the row of each, and the place of each row in that order."""
    xy = np.array(place.xy[order], dtype=np.float64)[:, :2]
    if place.flat or xy.shape[1] == 1:  # a line has no heights: rows are spread evenly so that they can be told apart
        xy = np.column_stack([xy[:, 0], (np.arange(len(xy)) * 0.6180339887) % 1])
    there = np.isfinite(xy).all(axis=1)
    low, high = xy[there].min(axis=0), xy[there].max(axis=0)
    extent = float((high - low).max()) or 1.0
    if place.flat:
        xy[:, 1] = (xy[:, 1] - 0.5) * 0.3 * extent
        low[1] = high[1] = 0.0
    unit = (xy[there] - (low + high) / 2) / extent * (1 - MARGIN) + 0.5
    codes = interleaved(*quantised(unit).T)
    placed = np.argsort(codes, kind="stable")
    rows = np.flatnonzero(there)[placed]
    where = np.full(len(xy), NOWHERE, dtype=np.uint32)
    where[rows] = np.arange(len(rows))
    return {
        "name": place.name,
        "flat": bool(place.flat),
        "n": len(rows),
        "codes": arrays.add(codes[placed], "u8"),
        "rows": arrays.add(rows, "u4"),
        "where": arrays.add(where, "u4"),
    }


def _colour(arrays: _Arrays, colour: Colour, order: np.ndarray) -> dict[str, Any]:
    values, found = np.asarray(colour.values)[order], {"name": colour.name, "only": colour.only}
    if colour.classes is not None:
        names, codes = _by_size(colour.classes, values.astype(np.int64))
        return {**found, "classes": names, "values": arrays.add(np.where(codes < 0, NO_CLASS, codes), "u2")}
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    known = single[np.isfinite(single)]
    low, high, clipped = _range(known)
    about = {"low": low, "high": high, "clipped": clipped, "known": len(known)}
    return {**found, **about, "classes": None, "values": arrays.add(single, "f4")}


def _by_size(names: Sequence[str], codes: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Of more classes than there are colours, the largest first; the last of too many share one name."""
    if len(names) <= N_COLOURED:
        return list(names), codes
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    largest = np.argsort(-sizes, kind="stable")
    place = np.empty(len(names), dtype=np.int64)
    place[largest] = np.arange(len(names))
    listed = [names[k] for k in largest[: NO_CLASS - 1]]
    if len(names) > len(listed):
        listed.append("other")
    return listed, np.where(codes < 0, -1, np.minimum(place[codes], len(listed) - 1))


def _range(known: np.ndarray) -> tuple[float, float, bool]:
    """From the smallest to the largest value, unless a few far ones would leave one colour for all the others."""
    if not len(known):
        return 0.0, 0.0, False
    low, inner_low, inner_high, high = (float(v) for v in np.quantile(known, [0, 0.02, 0.98, 1], method="nearest"))
    if inner_high > inner_low and high - low > 3 * (inner_high - inner_low):
        return inner_low, inner_high, True
    return low, high, False


class Opened:
    """A file of tiles: its header, and its arrays as they are asked for, mapped into memory."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with open(self.path, "rb") as file:
            head = file.read(len(MAGIC) + 8)
            length = struct.unpack("<Q", head[len(MAGIC) :])[0] if len(head) == len(MAGIC) + 8 else 0
            if not head.startswith(MAGIC) or length > MOST_HEADER:
                raise ValueError(f"tiles: {path} must be a file of tiles that this version of lowdim can read.")
            text = file.read(length)
            self._size = file.seek(0, 2)
        self._start = -(-(len(MAGIC) + 8 + length) // ALIGNED) * ALIGNED
        try:
            self.header: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise ValueError(f"tiles: {path} must be a whole file of tiles; its header is damaged.") from error

    def array(self, listed: dict[str, Any], length: int | None = None) -> np.ndarray:
        """One array of the file, read where it is looked at; of this length, if one is given."""
        kind, count, at = listed["kind"], listed["length"], listed["at"]
        whole = isinstance(count, int) and isinstance(at, int) and count >= 0 and at >= 0
        if kind not in KINDS or not whole or self._start + at + count * KINDS[kind] > self._size:
            raise ValueError(f"tiles: {self.path} must be a whole file of tiles; a part of it is missing.")
        if length is not None and count != length:
            raise ValueError(f"tiles: {self.path} must have {length} values in each column; got {count}.")
        if count == 0:
            return np.zeros(0, dtype=np.dtype(kind))
        return np.memmap(self.path, np.dtype(kind).newbyteorder("<"), "r", self._start + at, (count,))

"""What a page asks of a file of tiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.report.tiles import density
from lowdim.report.tiles.density import DEEPEST, Shades, square
from lowdim.report.tiles.kept import Kept
from lowdim.report.tiles.marked import MOST_CORNERS, inside
from lowdim.report.tiles.morton import BITS, separated
from lowdim.report.tiles.store import NO_CLASS, NOWHERE, Opened

CACHE_BYTES = 64 * 2**20  # answers that are kept
MASKS = 4  # sets of marked rows that are kept
LONGEST = 200  # characters of a text that are shown with a row
MOST_FOUND = 20


class Atlas:
    """A file of tiles, opened.

    Parameters
    ----------
    path : str or Path
        A file that `write` made. It is mapped into memory: answers read the part they need.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = file = Opened(path)
        about = file.header
        try:
            self.n: int = int(about["n"])
            self.run: str | None = about["run"]
            self._numbers = file.array(about["numbers"], self.n)
            self._maps = [_Map(file, listed, self.n) for listed in about["maps"]]
            self._colours = [_shades(file, listed, self.n) for listed in about["colours"]]
            self._names = None if about["names"] is None else _Texts(file, about["names"], self.n)
            self._texts = {str(listed["name"]): _Texts(file, listed, self.n) for listed in about["texts"]}
        except (KeyError, TypeError) as error:
            raise ValueError(f"tiles: {path} must be a whole file of tiles; its header is damaged.") from error
        self._answers: Kept[bytes] = Kept(CACHE_BYTES, len)
        self._masks: Kept[np.ndarray] = Kept(MASKS, lambda _: 1)
        self._full: Kept[float] = Kept(10_000, lambda _: 1)

    def about(self) -> dict[str, Any]:
        """What a page must know first: maps, colours, and the number of rows."""
        header = self._file.header
        kept = ("name", "classes", "only", "low", "high", "clipped", "known")
        return {
            "title": header["title"],
            "notes": header["notes"],
            "rows": self.n,
            "deepest": DEEPEST,
            "named": self._names is not None,
            "maps": [{key: listed[key] for key in ("name", "flat", "n")} for listed in header["maps"]],
            "colours": [{key: listed.get(key) for key in kept} for listed in header["colours"]],
        }

    def tile(self, k: int, level: int, x: int, y: int, colour: int | None = None, mark: str = "") -> bytes:
        """The density of a square of map k, as `density.tile` writes it."""
        return self._square(density.tile, k, level, x, y, colour, mark, 0)

    def points(
        self, k: int, level: int, x: int, y: int, colour: int | None = None, mark: str = "", *, half: int = 0
    ) -> bytes:
        """The points of a square of map k, of one row in 2**half, as `density.points` writes them."""
        below = -(-self.n // 2 ** min(max(half, 0), 40))
        return self._square(density.points, k, level, x, y, colour, mark, below)

    def _square(
        self, make: Callable[..., bytes], k: int, level: int, x: int, y: int, colour: int | None, mark: str, below: int
    ) -> bytes:
        if not (0 <= level <= DEEPEST and 0 <= x < 2**level and 0 <= y < 2**level):
            raise ValueError(f"tiles: no such square: level {level}, {x}, {y}.")
        chosen = self._map(k)
        shades = None if colour is None else self._colour(colour)

        def answer() -> bytes:
            marked = self.marked(mark) if mark else None
            begin, end = square(chosen.codes, level, x, y)
            third = below if make is density.points else self._filled(k, level)
            return make(chosen.codes[begin:end], chosen.rows[begin:end], level, third, shades, marked)

        return self._answers.get((make is density.points, k, level, x, y, colour, mark, below), answer)

    def _filled(self, k: int, level: int) -> float:
        return self._full.get((k, level), partial(density.full_bin, self._maps[k].codes, level))

    def nearest(self, k: int, x: float, y: float, reach: float) -> int | None:
        """The row of map k that is nearest to a place (from 0 to 1), within a reach; None if there is none."""
        chosen, best, least = self._map(k), None, float(reach) ** 2
        level = max(0, min(DEEPEST, int(-np.log2(max(2 * reach, 1e-12)))))
        side = 2**level
        across = {min(side - 1, max(0, int(v * side))) for v in (x - reach, x + reach)}
        up = {min(side - 1, max(0, int(v * side))) for v in (y - reach, y + reach)}
        for i, j in ((i, j) for i in across for j in up):
            begin, end = square(chosen.codes, level, i, j)
            for start in range(begin, end, density.BLOCK):
                stop = min(end, start + density.BLOCK)
                u, v = separated(np.asarray(chosen.codes[start:stop]))
                far = ((u + 0.5) / 2**BITS - x) ** 2 + ((v + 0.5) / 2**BITS - y) ** 2
                at = int(far.argmin())
                if far[at] <= least:
                    best, least = int(chosen.rows[start + at]), float(far[at])
        return best

    def row(self, row: int) -> dict[str, Any]:
        """What is known about a row: number, name, values, and its place in every map (from 0 to 1; None: nowhere)."""
        if not 0 <= row < self.n:
            raise ValueError(f"tiles: row must be from 0 to {self.n - 1}; got {row}.")
        facts = [{"name": name, "value": texts[row][:LONGEST]} for name, texts in self._texts.items() if texts[row]]
        values = []
        for shades, listed in zip(self._colours, self._file.header["colours"], strict=True):
            value = shades.values[row]
            if shades.classed:
                values.append(None if value == NO_CLASS else listed["classes"][int(value)])
            else:
                values.append(float(value) if np.isfinite(value) else None)
        return {
            "row": row,
            "number": int(self._numbers[row]),
            "name": None if self._names is None else self._names[row][:LONGEST],
            "texts": facts,
            "values": values,
            "places": [chosen.place(row) for chosen in self._maps],
        }

    def find(self, text: str) -> list[int]:
        """Rows with this number, then rows whose name has this text in it, at most 20."""
        found = []
        if text.lstrip("-").isdigit() and len(text) < 19:
            found = np.flatnonzero(self._numbers == int(text))[:MOST_FOUND].tolist()
        if self._names is not None and text:
            found += [row for row in self._names.holding(text, MOST_FOUND) if row not in found]
        return found[:MOST_FOUND]

    def marked(self, mark: str) -> np.ndarray:
        """Which rows are marked: "loop:MAP:x,y,x,y,..." or "class:COLOUR:CODE"."""
        return self._masks.get(mark, partial(self._mask, mark))

    def _mask(self, mark: str) -> np.ndarray:
        kind, _, rest = mark.partition(":")
        which, _, what = rest.partition(":")
        if kind == "class":
            shades = self._colour(int(which))
            if not shades.classed:
                raise ValueError(f"tiles: mark must name a colour with classes; got {mark!r}.")
            return np.asarray(shades.values == int(what))
        corners = np.array([float(v) for v in what.split(",")]) if kind == "loop" else np.zeros(0)
        if not 6 <= len(corners) <= 2 * MOST_CORNERS or len(corners) % 2 or not np.isfinite(corners).all():
            raise ValueError(
                f"tiles: mark must be a loop of 3 to {MOST_CORNERS} corners, or a class; got {mark[:60]!r}."
            )
        chosen = self._map(int(which))
        return inside(chosen.codes, chosen.rows, self.n, corners.reshape(-1, 2))

    def _map(self, k: int) -> _Map:
        if not 0 <= k < len(self._maps):
            raise ValueError(f"tiles: map must be from 0 to {len(self._maps) - 1}; got {k}.")
        return self._maps[k]

    def _colour(self, k: int) -> Shades:
        if not 0 <= k < len(self._colours):
            raise ValueError(f"tiles: colour must be from 0 to {len(self._colours) - 1}; got {k}.")
        return self._colours[k]


class _Map:
    """The codes of a map in order, the row of each, and where each row is among them."""

    def __init__(self, file: Opened, listed: dict[str, Any], n: int) -> None:
        self.codes = file.array(listed["codes"], int(listed["n"]))
        self.rows = file.array(listed["rows"], int(listed["n"]))
        self.where = file.array(listed["where"], n)

    def place(self, row: int) -> list[float] | None:
        at = int(self.where[row])
        if at == NOWHERE:
            return None
        return [(float(v[0]) + 0.5) / 2**BITS for v in separated(np.asarray(self.codes[at : at + 1]))]


def _shades(file: Opened, listed: dict[str, Any], n: int) -> Shades:
    values = file.array(listed["values"], n)
    if listed["classes"] is not None:
        return Shades(values, True)
    return Shades(values, False, float(listed["low"]), float(listed["high"]))


class _Texts:
    """One text for each row."""

    def __init__(self, file: Opened, listed: dict[str, Any], n: int) -> None:
        self.ends, self.bytes = file.array(listed["ends"], n), file.array(listed["bytes"])

    def __getitem__(self, row: int) -> str:
        start = int(self.ends[row - 1]) if row else 0
        return bytes(self.bytes[start : int(self.ends[row])]).decode("utf-8", "replace")

    def holding(self, text: str, most: int) -> list[int]:
        """The first rows with a text in them; capital letters do not count."""
        sought, found, ends = text.lower(), [], self.ends
        for start in range(0, len(ends), 2**16):
            begin = int(ends[start - 1]) if start else 0
            stops = np.asarray(ends[start : start + 2**16]).astype(np.int64) - begin
            piece = bytes(self.bytes[begin : begin + int(stops[-1])])
            starts = np.concatenate([[0], stops[:-1]])
            for i, (a, b) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
                if sought in piece[a:b].decode("utf-8", "replace").lower():
                    found.append(start + i)
                    if len(found) == most:
                        return found
        return found

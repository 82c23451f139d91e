"""What the server of a study has, by name: the page, tiles of its maps, facts about rows, the files of the study."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from lowdim.report.tiles import Atlas

# Files that `lowdim compare` writes. The page of a study is a page of its own: it may neither ask nor tell anyone.
ALONE = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
FILES = {
    "report.html": {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": ALONE},
    "scores.json": {"Content-Type": "application/json"},
    "embeddings.csv": {"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": "attachment"},
    "embeddings.parquet": {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment"},
}
MOST_FIELDS = 8
LONGEST_TEXT = 200


class NotHereError(Exception):
    """There is nothing of that name."""


@dataclass(frozen=True)
class Answer:
    """The bytes of an answer, how many there are, and what they are; closed at the end of a `with` block."""

    body: BinaryIO
    size: int
    headers: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.body.close()


class Answers:
    """Answers of one study.

    Parameters
    ----------
    atlas : Atlas
        The tiles of its maps.
    page : tuple of (str, str)
        The page, and its content security policy.
    folder : Path or None
        The folder that `lowdim compare` wrote; None if a table of coordinates is shown.
    """

    def __init__(self, atlas: Atlas, page: tuple[str, str], folder: Path | None = None) -> None:
        self.atlas, self.folder = atlas, None if folder is None else folder.resolve()
        self._page, self._policy = page[0].encode(), page[1]
        self._asked: dict[str, Callable[[dict[str, str]], bytes | Any]] = {
            "study.json": lambda asked: {**atlas.about(), "files": self.files()},
            "tile": lambda asked: atlas.tile(*_square(asked), asked.get("mark", "")),
            "points": lambda asked: atlas.points(*_square(asked), asked.get("mark", ""), half=int(asked["half"])),
            "near": lambda asked: self._near(asked),
            "row": lambda asked: atlas.row(int(asked["row"])),
            "find": lambda asked: atlas.find(asked["text"][:LONGEST_TEXT]),
            "marked": lambda asked: int(atlas.marked(asked["mark"]).sum()),
        }

    def get(self, name: str, query: str = "") -> Answer:
        """The answer to a request; ValueError if it is asked wrongly, NotHereError if there is nothing of that name."""
        if name == "":
            return _of_bytes(self._page, "text/html; charset=utf-8", {"Content-Security-Policy": self._policy})
        if name in FILES:
            return self._file(name)
        if name not in self._asked:
            raise NotHereError(name)
        try:
            found = self._asked[name](_fields(query))
        except KeyError as error:
            raise ValueError(f"{name} needs {error}") from error
        if isinstance(found, bytes):
            return _of_bytes(found, "application/octet-stream")
        return _of_bytes(json.dumps(found, allow_nan=False).encode(), "application/json")

    def files(self) -> list[str]:
        """The files of the study that are there."""
        return [] if self.folder is None else [name for name in FILES if self._is_plain(self.folder / name)]

    @staticmethod
    def _is_plain(path: Path) -> bool:
        try:
            return stat.S_ISREG(path.lstat().st_mode)
        except OSError:
            return False

    def _file(self, name: str) -> Answer:
        """A file of the study itself: no link, which could lead elsewhere, and no pipe, which could block."""
        if self.folder is None:
            raise NotHereError(name)
        path = self.folder / name
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            if not self._is_plain(path):
                raise NotHereError(name)
            handle = os.open(path, flags)
        except OSError as error:
            raise NotHereError(name) from error
        file = os.fdopen(handle, "rb")
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            file.close()
            raise NotHereError(name)
        return Answer(file, found.st_size, FILES[name])

    def _near(self, asked: dict[str, str]) -> dict[str, Any] | None:
        x, y, reach = (float(asked[name]) for name in ("x", "y", "reach"))
        if not (abs(x) <= 8 and abs(y) <= 8 and 0 < reach <= 1):  # not a number is refused too
            raise ValueError("a place in the map is needed")
        row = self.atlas.nearest(int(asked["map"]), x, y, reach)
        return None if row is None else self.atlas.row(row)


def _of_bytes(body: bytes, kind: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(io.BytesIO(body), len(body), {"Content-Type": kind, **(headers or {})})


def _fields(query: str) -> dict[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=MOST_FIELDS))


def _square(asked: dict[str, str]) -> tuple[int, int, int, int, int | None]:
    colour = asked.get("colour", "")
    k, level, x, y = (int(asked[name]) for name in ("map", "level", "x", "y"))
    return k, level, x, y, int(colour) if colour else None

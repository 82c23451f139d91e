"""Placings that were stopped: the parts that were placed are kept beside the result, for a run that goes on with them.

They are kept under a mark of the data, the models and the options. Another mark means another placing: its parts are of
no use, and go.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

import lowdim
from lowdim._core.runtime.files import folder_for_one, write_text
from lowdim.app.console import print_note
from lowdim.app.errors import UserError
from lowdim.app.large.parts import Parts

MARK = "mark.json"


def mark_of(parts: Parts, models: tuple[tuple[str, Any], ...], how: Any) -> str | None:
    """What a placing is of: the files, the models bit for bit, and the options; None where a model is no data."""
    from lowdim._core.persist import content_of  # loads scikit-learn, which errors about a file need not wait for

    try:
        contents = {name: hashlib.sha256(content_of(model)[0]).hexdigest() for name, model in models}
    except (TypeError, ValueError):  # such as a function of the user's: nothing can tell it from another one
        return None
    files = sorted(parts.path.glob("*")) if parts.path.is_dir() else [parts.path]
    sizes = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    about = [lowdim.__version__, contents, sizes, parts.borders(), repr(how)]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


class Unfinished:
    """The parts of one result that are placed, each in a Parquet file of its own.

    Parameters
    ----------
    folder : path
        Where they are.
    n_parts : int
        How many there will be.
    """

    def __init__(self, folder: Path, n_parts: int) -> None:
        self.folder, self.n_parts = folder, n_parts
        self.placed = {i for i in range(n_parts) if self._is_whole(i)}

    def path(self, i: int) -> Path:
        """The file of a part."""
        return self.folder / f"{i:08}.parquet"

    def keep(self, i: int, frame: pl.DataFrame) -> None:
        """Write a part; a reader sees all of it or nothing."""
        temporary = self.path(i).with_suffix(".part")
        frame.write_parquet(temporary)
        os.replace(temporary, self.path(i))
        self.placed.add(i)

    def together(self, out: Path) -> None:
        """All parts in their order in one file."""
        pl.scan_parquet([self.path(i) for i in range(self.n_parts)], glob=False).sink_parquet(out, engine="streaming")

    def _is_whole(self, i: int) -> bool:
        """Whether a part is there, and can be read: a machine that lost its power may leave an empty one."""
        try:
            pl.read_parquet(self.path(i), glob=False)
        except (OSError, pl.exceptions.PolarsError):
            return False
        return True


@contextmanager
def unfinished(out: Path, mark: str | None, n_parts: int) -> Iterator[Unfinished]:
    """The parts of `out` that an earlier run left; they stay where this one is stopped, and go when it is done."""
    folder = out.with_name(f"{out.name}.unfinished")
    folder.mkdir(exist_ok=True)
    with folder_for_one(folder) as alone:
        if not alone:
            raise UserError(f"{out} is being written by another run; wait for it, or give another name.")
        _clear_of_others(folder, mark)
        found = Unfinished(folder, n_parts)
        if found.placed:
            print_note(f"{len(found.placed)} of {n_parts} parts were placed by an earlier run, and are kept")
        try:
            yield found
        except BaseException:
            if mark is None or not found.placed:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                print_note(
                    f"{len(found.placed)} of {n_parts} parts are placed, and kept in {folder}: the same command goes "
                    "on with the others"
                )
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _clear_of_others(folder: Path, mark: str | None) -> None:
    """Remove what belongs to another placing."""
    before = None
    with suppress(OSError):
        before = (folder / MARK).read_text(encoding="utf-8")
    if mark is not None and before == mark:
        return
    left = list(folder.glob("*.parquet"))
    if left:
        print_note(f"{folder}: {len(left)} placed parts are of other data or settings, and are dropped")
    for path in folder.iterdir():
        path.unlink()
    if mark is not None:
        write_text(folder / MARK, mark)

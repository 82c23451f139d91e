"""Tables that are too large to be read at once: fitted and placed part by part, written as they come.

A `.npy` array is mapped, of Parquet (a file, or a folder of files) some rows are read at a time. What the columns are
is found out from a random sample, as if it was the table.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

import lowdim
from lowdim._core.runtime import memory
from lowdim._core.runtime.files import write_atomically
from lowdim.app.console import print_json, print_line, print_note, progress
from lowdim.app.embedding_files import embedding_frame
from lowdim.app.errors import UserError
from lowdim.app.input_table import InputTable, assemble
from lowdim.app.read_options import ReadOptions

LARGE = 2**30  # bytes of a table that is read in parts
PART = 2**25  # bytes of one part
SAMPLE = 20_000  # rows that say what the columns are, and that methods which need their rows together are fitted to


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows of a file, some at a time."""

    path: Path
    n_rows: int
    n_columns: int
    read: Callable[[int, int], pl.DataFrame]  # (first row, number of rows)

    @property
    def nbytes(self) -> int:
        return 8 * self.n_rows * self.n_columns

    def starts(self) -> range:
        return range(0, self.n_rows, self.size)

    @property
    def size(self) -> int:
        """Rows of one part."""
        return max(1000, PART // (8 * max(1, self.n_columns)))

    def sample(self, seed: int) -> pl.DataFrame:
        """Random rows, in their order; a few thousand in a row from as many places as there are parts."""
        rng, starts = np.random.default_rng(seed), list(self.starts())
        chosen = np.sort(rng.choice(starts, min(len(starts), 50), replace=False))
        each = -(-SAMPLE // len(chosen))
        frames = []
        for start in chosen.tolist():
            part = self.read(start, min(self.size, self.n_rows - start))
            frames.append(part[np.sort(rng.choice(part.height, min(each, part.height), replace=False)).tolist()])
        return pl.concat(frames)


def parts_of(source: str) -> Parts | None:
    """The rows of a large `.npy` or Parquet file, or of a folder of Parquet files; None for all other tables."""
    path = Path(source)
    found: Parts | None
    if (path.is_dir() and any(path.glob("*.parquet"))) or (path.suffix.lower() == ".parquet" and path.is_file()):
        found = _of_parquet(path)
    elif path.suffix.lower() == ".npy" and path.is_file():
        found = _of_array(path)
    else:
        return None
    large = found is not None and found.nbytes > min(LARGE, memory.limit() / 4)
    return found if large or path.is_dir() else None


def _of_parquet(path: Path) -> Parts:
    # Files by name: a folder whose name looks like a pattern is a folder all the same.
    scan = pl.scan_parquet(sorted(path.glob("*.parquet")) if path.is_dir() else path, glob=False)
    n, width = scan.select(pl.len()).collect().item(), len(scan.collect_schema())
    return Parts(path, n, width, lambda start, count: scan.slice(start, count).collect())


def _of_array(path: Path) -> Parts | None:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:  # said where the file is read
        return None
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        return None
    names = [str(j + 1) for j in range(array.shape[1])]

    def read(start: int, count: int) -> pl.DataFrame:
        # Read, not mapped: pages of a map count as memory of this process.
        rows = np.fromfile(path, array.dtype, count * array.shape[1], offset=array.offset + start * array.strides[0])
        rows = rows.reshape(count, -1).astype(array.dtype.newbyteorder("="), copy=False)
        return pl.DataFrame({name: np.ascontiguousarray(rows[:, j]) for j, name in enumerate(names)})

    n, width = array.shape
    return Parts(path, n, width, read) if array.flags.c_contiguous else None


def fit(parts: Parts, out: Path, embedding: Path, how: ReadOptions, arguments: Namespace, fitted: Any) -> Any:
    """Fit one method; `fitted(table)` gives estimator and model of a table in memory. The estimator."""
    _check_parquet(embedding, "--embedding")
    table = assemble(parts.path.stem, parts.sample(arguments.seed), how, source=str(parts.path))
    estimator, model, _ = fitted(table)
    by_sums = isinstance(estimator, (lowdim.PCA, lowdim.Whitening)) and model is estimator
    if by_sums and getattr(estimator, "solver", "auto") in ("auto", "covariance"):
        from sklearn.base import clone  # when it is needed: errors come before scikit-learn is there

        estimator = model = _on_all_rows(parts, clone(estimator), table.columns)
    else:
        print_note(f"fitted to a random sample of {table.n_rows} of {parts.n_rows} rows; the others are placed by it")
    lowdim.save(model, out)
    from lowdim.app.commands.models import needed_of

    seen = replace(how, min_rows=1, label=how.label, **needed_of(model))
    place(parts, model, embedding, seen, "placing rows")
    return estimator


def _on_all_rows(parts: Parts, estimator: Any, columns: list[str]) -> Any:
    """The estimator fitted to every row, by sums."""
    print_note(f"all {parts.n_rows} rows are read, {parts.size} at a time")
    with progress() as advance:
        for at, start in enumerate(parts.starts()):
            advance("reading rows", at, len(parts.starts()))
            estimator.partial_fit(parts.read(start, min(parts.size, parts.n_rows - start)).select(columns))
    return estimator


def transform(parts: Parts, model: Any, how: ReadOptions, arguments: Namespace) -> None:
    """Place all rows, and write them as they come."""
    _check_parquet(arguments.out, "--out")
    place(parts, model, Path(arguments.out), how, "placing rows")
    if arguments.json:
        print_json({"embedding": str(arguments.out), "rows": parts.n_rows})
    else:
        print_line(f"embedding: {arguments.out}")


def place(parts: Parts, model: Any, out: Path, how: ReadOptions, what: str) -> None:
    """The coordinates of all rows in a Parquet file, a part in memory at a time."""
    from lowdim.app.commands.models import seen_by

    names = [str(name) for name in model.get_feature_names_out()]

    def placed(start: int) -> pl.DataFrame:
        frame = parts.read(start, min(parts.size, parts.n_rows - start))
        table: InputTable = assemble(parts.path.stem, frame, how, source=str(parts.path))
        found = embedding_frame(names, np.asarray(model.transform(seen_by(model, table))), table)
        return found.with_columns(pl.col("row") + start)

    first = placed(0)

    def every(*_: Any) -> Iterator[pl.DataFrame]:
        with progress() as advance:
            for at, start in enumerate(parts.starts()):
                advance(what, at, len(parts.starts()))
                yield placed(start).cast(first.schema) if start else first

    frames = register_io_source(every, schema=first.schema)
    write_atomically(out, lambda path: frames.sink_parquet(path, engine="streaming"))


def _check_parquet(path: Any, option: str) -> None:
    if Path(path).suffix.lower() != ".parquet":
        raise UserError(
            f"{path}: a table of this size is written as it comes, which needs a Parquet file: {option} NAME.parquet"
        )

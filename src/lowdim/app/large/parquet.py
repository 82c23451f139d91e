"""Parquet, a file or a folder of files, in parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lowdim.app.large.parts import Parts


@dataclass(frozen=True, eq=False)
class ParquetParts(Parts):
    """Rows of Parquet files in the order of their names."""

    def read(self, start: int, stop: int) -> pl.DataFrame:
        """The rows of one part."""
        return _scan(self.path).slice(start, stop - start).collect()


def _scan(path: Path) -> pl.LazyFrame:
    # Files by name: a folder whose name looks like a pattern is a folder all the same.
    return pl.scan_parquet(sorted(path.glob("*.parquet")) if path.is_dir() else path, glob=False)


def of(path: Path) -> ParquetParts:
    """The rows of a file or of the files in a folder."""
    scan = _scan(path)
    return ParquetParts(path, scan.select(pl.len()).collect().item(), len(scan.collect_schema()))

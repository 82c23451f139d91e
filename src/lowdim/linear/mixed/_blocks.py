"""Tables of numbers and categories in blocks: their categories, then the sums of their weighted columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim._core.spectrum import Moments
from lowdim._core.tables.columns import as_cells, categories_of, has_categories, is_frame, raw_columns
from lowdim._core.tables.indicators import Layout

Categories = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """The categories of each column of some rows (None: numbers), and the names of the columns if these are text."""

    categories: tuple[Categories | None, ...]
    names: tuple[str, ...] | None
    owner: str

    @classmethod
    def of(cls, block: Any, owner: str, every: bool) -> Found:
        """Of a block; with `every` numbers are categories too."""
        if has_categories(block):
            columns = raw_columns(block if is_frame(block) else as_cells(block))
        else:
            columns = list(np.asarray(block, dtype=np.float64).T)
        kinds = [every or column.dtype.kind == "O" for column in columns]
        found = (tuple(categories_of(c)) if kind else None for c, kind in zip(columns, kinds, strict=True))
        names = tuple(block.columns) if is_frame(block) else None
        return cls(tuple(found), names if names and all(isinstance(name, str) for name in names) else None, owner)

    def __add__(self, other: Found) -> Found:
        if len(other.categories) != len(self.categories):
            raise ValueError(
                f"{self.owner}: every batch of X must have {len(self.categories)} columns; got {len(other.categories)}."
            )
        both = zip(self.categories, other.categories, strict=True)
        return Found(tuple(self._both(a, b, j) for j, (a, b) in enumerate(both)), self.names, self.owner)

    def _both(self, a: Categories | None, b: Categories | None, j: int) -> Categories | None:
        if (a is None) != (b is None):
            raise ValueError(
                f"{self.owner}: column {j if self.names is None else repr(self.names[j])} holds numbers in one block "
                "and categories in another. Make it one of both in all: turn its numbers into text, for example."
            )
        return None if a is None or b is None else tuple(categories_of(np.array([*a, *b], dtype=object)))


def found_in(blocks: Any, owner: str, every: bool, least: int) -> Found:
    """The columns of all blocks that can be read again."""
    if not blocks.rereadable:
        raise TypeError(
            f"{owner}: X must be a table, a data set of Arrow or a collection of Dask; got an iterator, and {owner} "
            "cannot fit from a stream that is read once: it finds the categories first. Stack the batches first."
        )
    found: Found | None = blocks.gather(partial(Found.of, owner=owner, every=every))
    if found is None:
        raise ValueError(f"{owner}: the blocks must hold at least {least} rows together.")
    return found


def sums_in(blocks: Any, coded: Callable[[Any], np.ndarray], layout: Layout, owner: str, least: int) -> Moments:
    """Of the numbers and indicator columns of all blocks; `coded` makes numbers and codes of a block."""
    sums: Moments | None = blocks.gather(partial(_sums, coded=coded, layout=layout, owner=owner))
    if sums is None or sums.weight < least:
        raise ValueError(f"{owner}: the blocks must hold at least {least} rows together.")
    return sums


def _sums(block: Any, coded: Callable[[Any], np.ndarray], layout: Layout, owner: str) -> Moments:
    table = coded(block)
    if np.isnan(table).any():
        raise ValueError(
            f"{owner}: X must have no missing cells where it comes in blocks. Fill them, drop such rows, or fit on a "
            "sample of the rows in memory."
        )
    return Moments.of(layout.spread(table), n_jobs=1)

"""Batches of rows, alone or in pairs with their targets, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from lowdim._core.spectrum import Moments
from lowdim._core.tables.arrays import FLOATS
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.missing import refuse, refuse_sparse


def rows_of(batch: Any, owner: str, width: int | None, name: str = "X") -> np.ndarray:
    """A batch as a finite float table with `width` columns (None: any number)."""
    refuse_sparse(batch, owner, f"a batch of {name}")
    with naming_text(batch, owner, f"a batch of {name}"):
        rows = check_array(batch, dtype=FLOATS, ensure_all_finite=False, input_name=f"a batch of {name}")
    refuse(rows, owner, whole="complete rows where they come in batches")
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"{owner}: every batch of {name} must have {width} columns; got {rows.shape[1]}.")
    return rows


def moments_of_stream(batches: Iterable[Any], owner: str, least: int, n_jobs: int | None) -> tuple[Moments, np.dtype]:
    """Weight, mean and scatter of complete batches with at least so many rows, and the precision of the last."""
    total = None
    for batch in batches:
        rows = rows_of(batch, owner, None if total is None else len(total.mean))
        part = Moments.of(rows, n_jobs=n_jobs)
        total = part if total is None else total + part
    if total is None or total.weight < least:
        raise ValueError(f"{owner}: the batches must hold at least {least} rows together.")
    return total, rows.dtype


def pairs_of(batches: Iterable[Any], owner: str, name: str) -> Iterator[tuple[Any, Any]]:
    """The pairs of a stream; an error for anything else, so that two rows are not taken for a pair."""
    for batch in batches:
        if not (isinstance(batch, (tuple, list)) and len(batch) == 2):
            raise ValueError(
                f"{owner}: a stream must give pairs (X_batch, {name}_batch); got {type(batch).__name__}. "
                f"zip(batches_of_X, batches_of_{name}) makes one of two streams."
            )
        yield batch[0], batch[1]

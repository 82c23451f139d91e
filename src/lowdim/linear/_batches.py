"""Batches of rows, alone or in pairs with their targets, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.spectrum import Moments
from lowdim._core.tables.arrays import FLOATS
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.missing import admit, refuse, refuse_sparse, undisguised

DENSE_CELLS = 2**22  # of a sparse batch at a time


def rows_of(
    batch: Any, owner: str, width: int | None, name: str = "X", *, nan: bool = False, policies: tuple[str, ...] = ()
) -> np.ndarray:
    """A batch as a finite float table with `width` columns (None: any number), missing cells as NaN if `nan`.

    `policies` are the values of `missing` that would take missing cells, for the error.
    """
    batch = undisguised(batch, owner) if nan else batch
    refuse_sparse(batch, owner, f"a batch of {name}")
    with naming_text(batch, owner, f"a batch of {name}"):
        rows = check_array(batch, dtype=FLOATS, ensure_all_finite=False, input_name=f"a batch of {name}")
    if nan:
        admit(rows, owner, columns=False)
    else:
        refuse(rows, owner, policies, whole="complete rows" if policies else "complete rows where they come in batches")
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"{owner}: every batch of {name} must have {width} columns; got {rows.shape[1]}.")
    return rows


def moments_of_stream(batches: Iterable[Any], owner: str, least: int, n_jobs: int | None) -> tuple[Moments, np.dtype]:
    """Weight, mean and scatter of complete batches with at least so many rows, and the precision of the last."""
    found, dtype = stream_of_rows(batches, owner, least, n_jobs, nan=False)
    assert isinstance(found, Moments)
    return found, dtype


def stream_of_rows(
    batches: Iterable[Any], owner: str, least: int, n_jobs: int | None, policies: tuple[str, ...] = (), *, nan: bool
) -> tuple[Moments | ByPattern, np.dtype]:
    """Weight, mean and scatter of batches with at least so many rows, and the precision of the last.

    With `nan`, where a cell is missing, those of each pattern of missing cells instead.
    """
    total: Moments | None = None
    found, dtype = ByPattern(owner), np.dtype(np.float64)
    for batch in _dense_parts(batches):
        rows = rows_of(batch, owner, None if total is None else len(total.mean), nan=nan, policies=policies)
        dtype = rows.dtype
        if found.incomplete or (nan and np.isnan(rows).any()):
            found.add(rows)
            total = total or Moments(0.0, np.zeros(rows.shape[1]), np.zeros((rows.shape[1], rows.shape[1])))
            continue
        part = Moments.of(rows, n_jobs=n_jobs)
        total = part if total is None else total + part
    if total is None or total.weight + found.weight < least:
        raise ValueError(f"{owner}: the batches must hold at least {least} rows together.")
    return (found.joined(total) if found.incomplete else total), dtype


def _dense_parts(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches; sparse ones in parts of dense rows, so that the whole of one is never dense."""
    for batch in batches:
        if not sparse.issparse(batch):
            yield batch
            continue
        rows = sparse.csr_array(batch)
        size = max(1, DENSE_CELLS // max(1, rows.shape[1]))
        yield from (rows[start : start + size].toarray() for start in range(0, rows.shape[0], size))


def pairs_of(batches: Iterable[Any], owner: str, name: str) -> Iterator[tuple[Any, Any]]:
    """The pairs of a stream; an error for anything else, so that two rows are not taken for a pair."""
    for batch in batches:
        if not (isinstance(batch, (tuple, list)) and len(batch) == 2):
            raise ValueError(
                f"{owner}: a stream must give pairs (X_batch, {name}_batch); got {type(batch).__name__}. "
                f"zip(batches_of_X, batches_of_{name}) makes one of two streams."
            )
        yield batch[0], batch[1]

"""Batches of rows, alone or in pairs with their targets, checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.spectrum import Moments, Triangle
from lowdim._core.spectrum.triangles import OTHER_KIND
from lowdim._core.tables.arrays import FLOATS
from lowdim._core.tables.form import usual_indices
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.missing import admit, refuse, refuse_scale, refuse_sparse, undisguised, with_room
from lowdim._core.views import second_table

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
        largest = admit(rows, owner, columns=False)
    else:
        whole = "complete rows" if policies else "complete rows where they come in batches"
        largest = refuse(rows, owner, policies, whole=whole)
    refuse_scale(max(largest, 1.0), owner)  # a batch of small numbers may stand beside others
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"{owner}: every batch of {name} must have {width} columns; got {rows.shape[1]}.")
    return with_room(rows, largest)


@dataclass(frozen=True, eq=False)
class Sums:
    """What the fits of linear models need of some rows: moments of the complete ones, and patterns of the others.

    `a + b` are those of both; neither is changed, so blocks can be added in any tree, and again after a failure.
    """

    goes_on: ClassVar[bool] = True

    owner: str
    width: int
    dtype: str
    complete: Moments | None
    holes: ByPattern | None

    @property
    def has_file(self) -> bool:
        """Whether a model file can hold them: not with patterns of missing cells."""
        return self.holes is None

    @classmethod
    def of(cls, X: np.ndarray, owner: str, n_jobs: int | None) -> Sums:
        """Those of checked rows; NaN is a missing cell."""
        hole = np.isnan(X).any(axis=1)
        holes = None
        if hole.any():
            holes = ByPattern(owner)
            holes.add(X[hole])
            X = X[~hole]
        return cls(owner, X.shape[1], X.dtype.name, Moments.of(X, n_jobs=n_jobs) if len(X) else None, holes)

    def __add__(self, other: Any) -> Sums:
        if not isinstance(other, Sums):
            raise ValueError(f"{self.owner}: {OTHER_KIND}")
        if other.width != self.width:
            raise ValueError(f"{self.owner}: every batch of X must have {self.width} columns; got {other.width}.")
        dtype = np.promote_types(self.dtype, other.dtype).name
        complete, holes = _either(self.complete, other.complete), _either(self.holes, other.holes)
        return Sums(self.owner, self.width, dtype, complete, holes)

    @property
    def weight(self) -> float:
        """Number of rows."""
        return sum(part.weight for part in (self.complete, self.holes) if part is not None)

    def moments(self) -> Moments | ByPattern:
        """Moments of all rows, or of each pattern where a cell is missing."""
        if self.holes is None:
            assert self.complete is not None
            return self.complete
        whole = self.holes + ByPattern(self.owner)  # `joined` changes what it is called on
        return whole if self.complete is None else whole.joined(self.complete)


def _either(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def moments_of_stream(stream: Any, owner: str, least: int, n_jobs: int | None) -> tuple[Moments, np.dtype]:
    """Weight, mean and scatter of complete blocks with at least so many rows, and their precision."""
    found, dtype = stream_of_rows(stream, owner, least, n_jobs, nan=False)
    assert isinstance(found, Moments)
    return found, dtype


def stream_of_rows(
    stream: Any, owner: str, least: int, n_jobs: int | None, policies: tuple[str, ...] = (), *, nan: bool
) -> tuple[Moments | ByPattern, np.dtype]:
    """Weight, mean and scatter of the blocks of a stream with at least so many rows, and their precision.

    With `nan`, where a cell is missing, those of each pattern of missing cells instead.
    """
    found = stream.gather(partial(_sums_of, owner=owner, n_jobs=n_jobs, nan=nan, policies=policies))
    if found is None or found.weight < least:
        raise ValueError(f"{owner}: the batches must hold at least {least} rows together.")
    return found.moments(), np.dtype(found.dtype)


def triangle_of_stream(stream: Any, owner: str, least: int) -> Triangle:
    """The QR decomposition of complete blocks with at least so many rows."""
    found: Triangle | None = stream.gather(partial(_triangle_of, owner=owner))
    if found is None or found.weight < least:
        raise ValueError(f"{owner}: the batches must hold at least {least} rows together.")
    return found


def _triangle_of(batch: Any, owner: str) -> Triangle:
    return reduce(add, (Triangle.of(rows_of(part, owner, None), owner) for part in _dense_parts(batch)))


def _sums_of(batch: Any, owner: str, n_jobs: int | None, nan: bool, policies: tuple[str, ...]) -> Sums:
    """Of a batch; a sparse one in parts of dense rows, so that the whole of it is never dense."""
    parts = (rows_of(part, owner, None, nan=nan, policies=policies) for part in _dense_parts(batch))
    return reduce(add, (Sums.of(rows, owner, n_jobs) for rows in parts))


def _dense_parts(batch: Any) -> Iterator[Any]:
    if not sparse.issparse(batch):
        yield batch
        return
    rows = sparse.csr_array(usual_indices(batch))
    size = max(1, DENSE_CELLS // max(1, rows.shape[1]))
    yield from (rows[start : start + size].toarray() for start in range(0, max(1, rows.shape[0]), size))


def pair_of(batch: Any, owner: str, name: str) -> tuple[Any, Any]:
    """A pair of a stream; an error for anything else, so that two rows are not taken for a pair."""
    if not (isinstance(batch, (tuple, list)) and len(batch) == 2):
        raise ValueError(
            f"{owner}: a stream must give pairs (X_batch, {name}_batch); got {type(batch).__name__}. "
            f"zip(batches_of_X, batches_of_{name}) makes one of two streams."
        )
    return batch[0], batch[1]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the rows of two tables side by side: `width` columns of the first, rows of `shape` of the second."""

    goes_on: ClassVar[bool] = True

    width: int
    shape: tuple[int, ...]
    sums: Sums | Triangle

    @property
    def has_file(self) -> bool:
        """Whether a model file can hold them."""
        return self.sums.has_file

    @property
    def weight(self) -> float:
        """Number of rows."""
        return self.sums.weight

    def __add__(self, other: PairSums) -> PairSums:
        if other.width != self.width:
            raise ValueError(f"CCA: every batch of X must have {self.width} columns; got {other.width}.")
        if other.shape != self.shape:
            raise ValueError(f"CCA: every batch of Y must have rows of shape {self.shape}; got {other.shape}.")
        return PairSums(self.width, self.shape, self.sums + other.sums)


def pair_sums(batch: Any, make: Callable[[np.ndarray], Any], nan: bool, policies: tuple[str, ...]) -> PairSums:
    """What `make` makes of the rows of both tables in a pair (X_batch, Y_batch) for CCA."""
    X_batch, Y_batch = pair_of(batch, "CCA", "Y")
    X = rows_of(X_batch, "CCA", None, nan=nan, policies=policies)
    Y, shape = second_table(Y_batch, len(X), "CCA", nan=nan, policies=policies)
    return PairSums(X.shape[1], shape, make(np.hstack([X, Y])))

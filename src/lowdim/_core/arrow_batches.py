"""Record batches of Arrow in, record batches out: the form in which Spark, Ray and Dask pass rows to Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lowdim._core.persist import load


def transform_batches(model: Any, batches: Iterable[Any], *, keep: Sequence[str] = ()) -> Iterator[Any]:
    """Place the rows of Arrow record batches, batch by batch.

    One batch is in memory at a time, and each row is placed on its own, so the result does not depend on how rows are
    cut into batches. This is the form that Spark's ``mapInArrow`` asks for, and what a folder of Parquet files
    gives
    (``pyarrow.dataset.dataset("folder").to_batches()``).

    Parameters
    ----------
    model : estimator, str or Path
        A fitted model, or the file that `lowdim.save` wrote, which is loaded once, where the batches are: nothing
        executable travels.
    batches : iterable of pyarrow.RecordBatch
        Columns by name as at fit, in any order, others ignored. For a model that was fitted without names: as many
        columns as at fit, beside those of `keep`. Null cells are missing cells.
    keep : sequence of str
        Columns to hand on beside the coordinates, such as a key.

    Yields
    ------
    pyarrow.RecordBatch
        The columns of `keep`, then the coordinates.

    Examples
    --------
    >>> import lowdim, numpy as np, pyarrow as pa
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = lowdim.PCA(2).fit(X)
    >>> batch = pa.RecordBatch.from_arrays([pa.array(column) for column in X.T], names=["a", "b", "c"])
    >>> [found.schema.names for found in lowdim.transform_batches(model, [batch])]
    [['pca0', 'pca1']]
    """
    if isinstance(keep, str):
        raise TypeError(f"transform_batches: keep must be a list of column names; got {keep!r}.")
    fitted = load(model) if isinstance(model, (str, Path)) else model
    names = [str(name) for name in fitted.get_feature_names_out()]
    for batch in batches:
        rows = _rows(batch, fitted, list(keep))
        Z = np.asarray(fitted.transform(rows)) if batch.num_rows else np.empty((0, len(names)))
        columns = [*(batch.column(name) for name in keep), *map(_array, Z.T)]
        yield type(batch).from_arrays(columns, names=[*keep, *names])


def _array(column: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(column))


def _rows(batch: Any, model: Any, keep: list[str]) -> Any:
    """The columns that the model needs: a data frame where it knows names, else a table of numbers."""
    there, wanted = batch.schema.names, getattr(model, "feature_names_in_", None)
    if unknown := [name for name in keep if name not in there]:
        raise ValueError(f"transform_batches: keep must name columns of the batches; {unknown[0]!r} is not there.")
    if wanted is not None:
        if lost := [str(name) for name in wanted if name not in there]:
            raise ValueError(f"transform_batches: the batches lack {len(lost)} columns of the model: {lost[0]!r}, ...")
        return batch.select([str(name) for name in wanted]).to_pandas()
    rest = [name for name in there if name not in keep]
    if len(rest) != model.n_features_in_:
        raise ValueError(
            f"transform_batches: the model has {model.n_features_in_} columns without names; the batches have "
            f"{len(rest)} beside `keep`. Name the others in `keep`, or fit on a data frame."
        )
    return np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in rest])

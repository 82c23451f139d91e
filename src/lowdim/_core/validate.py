"""What estimators ask of their input: real, finite numbers in rows, or distances between them.

Plain functions of a table and a record of what its estimator takes; nothing here changes an estimator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core.distances import (
    all_equal,
    called_by,
    check_dissimilarities,
    check_domain,
    check_function,
    is_limited,
    pairwise,
)
from lowdim._core.distances.labelled import with_named_columns
from lowdim._core.distances.with_holes import METRICS
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.tables import missing
from lowdim._core.tables.arrays import FLOATS, extent, same_shape
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.mixed import mixed_cells


@dataclass(frozen=True)
class Accepts:
    """What an estimator takes."""

    owner: str
    distances: bool = False  # X holds distances instead of rows
    similarities: bool = False  # X holds values of a kernel instead of rows
    by_function: bool = False  # rows are compared by a function of two of them
    nan: bool = False  # missing cells as they are
    unknown_distances: bool = False  # distances of which some are unknown (NaN)
    policies: tuple[str, ...] = ()  # values of `missing` under which missing cells would be taken
    mixed: bool = False  # rows of numbers and categories, if its metric were "gower"
    sparse_rows: bool = False
    sparse_graphs: bool = False
    min_rows: int = 1


@dataclass(frozen=True, eq=False)
class Checked:
    """A table that can be computed with, and the precision of the answer."""

    rows: Any
    dtype: np.dtype
    incomplete: bool  # whether a cell is missing


def refuse_foreign(X: Any, accepts: Accepts) -> Any:
    """X without masks; an error for iterators, dates, sparse tables and items that this estimator does not take."""
    owner = accepts.owner
    _refuse_iterator(X, owner)
    if accepts.nan or (accepts.distances and accepts.unknown_distances):
        X = missing.undisguised(X, owner)
    missing.refuse_disguised(X, owner)
    if not accepts.sparse_rows:
        missing.refuse_sparse(X, owner)
    if accepts.by_function:
        _refuse_items(X, owner)
    return X


def check_mixed(X: Any, policy: str, accepts: Accepts) -> Any:
    """A table of numbers and categories for Gower's distance, of enough rows, under a policy that it can follow."""
    owner = accepts.owner
    _refuse_iterator(X, owner)
    if policy not in ("error", "pairwise"):
        raise ValueError(
            f"{owner}: missing={policy!r} must go with metric='euclidean'; got metric='gower'. Use missing='pairwise', "
            "which compares two rows by the columns that both have, as Gower's distance is defined."
        )
    X = mixed_cells(X, owner)
    if len(X) < accepts.min_rows:
        raise ValueError(f"{owner}: X must have at least {accepts.min_rows} rows; got {len(X)} sample(s).")
    return X


def _refuse_iterator(X: Any, owner: str) -> None:
    if isinstance(X, Iterator):
        raise TypeError(f"{owner}: X must be an array of rows; got an iterator. Pass its batches one by one.")


def _refuse_items(X: Any, owner: str) -> None:
    """Text, sets and the like are not rows of numbers."""
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (str, bytes, set, frozenset, dict)):
        raise TypeError(
            f"{owner}: X must be rows of numbers; got items of type {type(X[0]).__name__}. Pass "
            "lowdim.dissimilarities(items, metric=...) with metric='precomputed', and for new items "
            "lowdim.dissimilarities(new, items, metric=...)."
        )


def expanded(X: Any, accepts: Accepts, names: Any = None, *, fitting: bool) -> Any:
    """Dissimilarities as a table whose columns are the items in order: of labelled frames and condensed vectors.

    `names` are the fitted items, for distances of new ones.
    """
    if sparse.issparse(X):
        return X
    if fitting and np.ndim(X) == 1:
        return check_dissimilarities(X, accepts.owner, unknown=accepts.unknown_distances)
    return with_named_columns(X, accepts.owner, None if fitting else names)


def is_plain(X: Any, least: int) -> bool:
    """Whether X is a float table of at least so many rows already, so that nothing has to be converted."""
    if type(X) is not np.ndarray or X.dtype not in FLOATS or X.ndim != 2:
        return False
    return X.shape[1] >= 1 and X.shape[0] >= least


def check_cells(X: Any, accepts: Accepts, *, fitting: bool) -> Checked:
    """Finite cells (missing ones where the estimator takes them) whose squares are in range.

    Single-precision rows whose squares single precision cannot hold come back in double precision.
    """
    dtype, incomplete = X.dtype, False
    if accepts.distances:
        known = X.data if sparse.issparse(X) else X
        largest = float(np.fmax.reduce(known, axis=None, initial=0.0))
    elif accepts.nan and not sparse.issparse(X):
        largest, incomplete = missing.survey(X, accepts.owner, columns=fitting)
    else:
        policies = () if sparse.issparse(X) or accepts.similarities else accepts.policies
        largest = missing.refuse(X, accepts.owner, policies)
    missing.refuse_scale(largest, accepts.owner)
    return Checked(missing.with_room(X, largest), dtype, incomplete)


def check_there(X: DeviceRows, accepts: Accepts) -> Checked | None:
    """The same of rows on a device, where they are; None for what arrays are for: missing cells, too few rows."""
    if not np.isfinite(X.largest) or X.shape[0] < accepts.min_rows:
        return None
    missing.refuse_scale(X.largest, accepts.owner)
    return Checked(missing.with_room(X, X.largest), X.dtype, False)


def stays_on_device(model: Any) -> bool:
    """Whether dense rows in a tensor on a GPU may stay there: distances and the policy for missing cells are known."""
    metric = getattr(model, "metric", "euclidean")
    known = isinstance(metric, str) and metric in ("euclidean", "cosine")
    plain = known and not getattr(model, "metric_params", None) and getattr(model, "missing", "error") not in METRICS
    return plain and devices.find(model.device, type(model).__name__) is not None


def alike(X: Any, rows: Any) -> Any:
    """New rows in the form of the fitted ones: dense or sparse. Where none were kept, as they are."""
    if rows is None or sparse.issparse(X) == sparse.issparse(rows):
        return X
    return X.toarray() if sparse.issparse(X) else sparse.csr_array(X)


def check_measurable(X: Any, metric: Any, accepts: Accepts, *, fitting: bool) -> None:
    """Rows in the domain of a metric of that name; at fit, a function of the user that is a metric on some of them.

    Missing and infinite cells are in no domain: what is to be done about them is said elsewhere.
    """
    if not is_limited(metric) or not np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    check_domain(X, metric, accepts.owner)
    if fitting and not sparse.issparse(X):
        check_function(X, metric, accepts.owner)


def equal_distances(X: Any, metric: Any, measured: Any, owner: str) -> float | None:
    """The distance that all rows have from each other; None where they differ. `measured` is the metric used inside."""
    if isinstance(metric, str) and metric == "precomputed":
        n = X.shape[0]
        return all_equal(np.arange(n)[:, None], lambda A, B: X[np.ix_(A[:, 0], B[:, 0])]) if X.shape == (n, n) else None
    return all_equal(X, lambda A, B: pairwise(A, B, measured, owner=owner, undefined=True))


def warn_of_equal_distances(X: Any, metric: Any, measured: Any, owner: str) -> None:
    """Where every pair of rows is equally far apart, a map of them says nothing."""
    if not sparse.issparse(X) and (value := equal_distances(X, metric, measured, owner)) is not None:
        warn(
            f"{owner}: all distances between rows are equal ({value:.4g}, metric {called_by(metric)}), so the places "
            "in the map are arbitrary. Choose a metric that suits the columns."
        )


def warn_of_one_place(Z: Any, owner: str, said: list[str]) -> None:
    """Where all rows are put in one place, as a method that keeps no embedding does with equal rows.

    Not where the method itself has `said` that its axes have no extent.
    """
    if not any("the others are zero" in text for text in said) and in_one_place(Z):
        warn(
            f"{owner}: the map puts all {Z.shape[0]} rows in one place; they are equal, or this method sees no "
            "difference between them. Look at the columns, or use another metric or method."
        )


def warn_of_other_rows(X: Any, y: Any, owner: str) -> None:
    """Where a network that reproduces its rows is given others to reproduce."""
    if not same_shape(X, y):
        return
    rows, given = np.asarray(X), np.asarray(y)
    if not ((rows == given) | ((rows != rows) & (given != given))).all():
        warn(
            f"{owner}: y is ignored: the network reproduces the rows of X. To restore rows from corrupted ones fit "
            "Autoencoder(penalty='denoising') on the rows as they should be."
        )


def refuse_second_reading(owner: str) -> None:
    raise TypeError(f"{owner}: an iterator of batches can be read only once; call fit, then transform batch by batch.")


def refuse_absurd(X: Any, k: Any, owner: str) -> None:
    """More components than rows and columns are axes of zeros; they must fit into memory too."""
    n, d = X.shape
    if isinstance(k, int) and k > max(n, d):
        memory.check(owner, {f"coordinates of {k} components": 8 * (n + d) * k}, "Use fewer components.")


def in_precision(Z: Any, dtype: np.dtype, owner: str, what: str = "coordinates") -> np.ndarray:
    """The answer in the precision of the input; ValueError where that cannot hold it."""
    with np.errstate(over="ignore"):
        found = np.asarray(Z, dtype=dtype)
    if found.dtype.kind == "f" and np.isinf(found).any():
        raise ValueError(
            f"{owner}: {what} are beyond the range of {dtype}. Multiply X by a constant first, so that its numbers are "
            f"near 1{', or pass float64' if dtype == np.float32 else ''}."
        )
    return found


def finite_there(Z: Any, dtype: np.dtype, owner: str, what: str = "coordinates") -> DeviceRows:
    """`in_precision` for a tensor."""
    found = DeviceRows(Z).astype(dtype, copy=False)
    if found.size and not np.isfinite(found.largest):
        in_precision(found.host, dtype, owner, what)
    return found


def in_one_place(Z: Any) -> bool:
    """Whether all rows are equal but for rounding; rows that were not placed (NaN) do not count."""
    if sparse.issparse(Z) or len(Z) < 2 or np.abs(Z[0] - Z[-1]).max() > 1e-9 * np.abs(Z[0]).max():
        return False  # settles it for nearly all data
    placed = Z[np.isfinite(Z).all(axis=1)]
    return len(placed) > 1 and not (np.ptp(placed, axis=0) > 1e-12 * np.abs(placed).max()).any()


def check_fitted_distances(D: Any, accepts: Accepts) -> Any:
    """The dissimilarities to fit on."""
    return check_dissimilarities(D, accepts.owner, sparse_ok=accepts.sparse_graphs, unknown=accepts.unknown_distances)


def check_new_distances(D: Any, accepts: Accepts) -> Any:
    """Distances from new rows to the fitted ones."""
    values, owner = D.data if sparse.issparse(D) else D, accepts.owner
    least = float(np.fmin.reduce(values, axis=None, initial=0.0))
    if least < 0:
        raise ValueError(f"{owner}: distances to the fitted rows must not be negative; got {least:g}.")
    unknown = np.isnan(values) if accepts.unknown_distances else np.zeros(1, dtype=bool)
    if not (np.isfinite(values) | unknown).all():
        raise ValueError(f"{owner}: distances to the fitted rows must be finite; got NaN or infinity.")
    if unknown.ndim == 2 and unknown.all(axis=1).any():
        lost = int(unknown.all(axis=1).argmax())
        raise ValueError(f"{owner}: row {lost} of X has no known distance to a fitted row, so it cannot be placed.")
    return D


def refuse_without_rows(rows: Any, owner: str) -> None:
    """A learned inverse, where a model has kept no rows."""
    if rows is None:
        raise ValueError(
            f"{owner}: inverse_transform needs the rows of X; this model was fitted on distances or similarities "
            "alone. Fit on rows instead."
        )


def refuse_stream(owner: str, options: dict[str, Any], *, can_stream: bool) -> None:
    """An iterator of batches, for a method that cannot read one, or with options that need all rows."""
    for name in [name for name, value in options.items() if value is not None]:
        raise ValueError(f"{owner}: {name} must be None for an iterator of batches.")
    if not can_stream:
        raise TypeError(
            f"{owner}: X must be an array of rows; got an iterator, and {owner} cannot fit from a stream. Stack the "
            "batches first (np.concatenate)."
        )


def target_beside_blocks(options: dict[str, Any], owner: str, *, distances: bool) -> str:
    """The name of the option that holds targets (`y` or `Y`); an error for what blocks of rows cannot have."""
    if distances:
        raise TypeError(f"{owner}: distances or similarities must be in memory; got blocks of rows. Load them first.")
    for name, value in options.items():
        if name not in ("y", "Y") and value is not None:
            raise ValueError(f"{owner}: {name} must be None for rows in blocks (Dask, Arrow).")
    return next((name for name in options if name in ("y", "Y")), "y")


def warn_of_sample(n: int, owner: str) -> None:
    warn(
        f"{owner}: fitted to a random sample of {n} rows, as this method needs its rows in one memory; `transform` "
        "places the others by it. lowdim.config(sample_rows=...) takes more."
    )


def coordinates(Z: Any, k: int, owner: str, finite: Any) -> np.ndarray:
    """Coordinates of a map of k components."""
    with naming_text(Z, owner, "Z"), np.errstate(over="ignore", invalid="ignore"):  # it adds up what may be large
        Z = check_array(Z, dtype=FLOATS, input_name="Z", ensure_all_finite=finite)
    if Z.shape[1] != k:
        raise ValueError(f"{owner}: Z must have {k} columns, one per component; got {Z.shape[1]}.")
    return Z


def leaves_rows_out(estimator: Any) -> bool:
    """Whether rows may have no place in the map (NaN)."""
    cut = getattr(estimator, "disconnection_distance", None) is not None
    return cut or getattr(estimator, "disconnected", None) == "largest"


def possible_policies(model: Any, name: Any, metric: Any) -> tuple[str, ...]:
    """Values of `missing` that take incomplete rows under a metric, by the name given and as it is.

    Distances between such rows are Euclidean, or Gower's; given distances are measured already.
    """
    named = isinstance(name, str) and name in ("precomputed", "gower")
    possible = hasattr(model, "missing") and (named or metric is None or metric == "euclidean")
    return tuple(model._hole_policies) if possible else ()


def refuse_other_metric(metric: Any, policy: str, owner: str) -> None:
    """Distances between incomplete rows are Euclidean ones; a method without a metric has none to refuse."""
    if metric is not None and metric != "euclidean":
        also = " or 'gower'" if policy == "pairwise" else ""
        raise ValueError(
            f"{owner}: missing={policy!r} must go with metric='euclidean'{also}; got metric={called_by(metric)}. "
            "Fill the cells first, with lowdim.impute(X), or keep the complete rows."
        )


def refuse_overflow(Z: np.ndarray, dtype: np.dtype, owner: str, unplaced: bool) -> None:
    """A map of numbers only, in the precision of the input; `unplaced`: rows may be left out of it, as NaN."""
    with np.errstate(over="ignore"):
        Z = np.asarray(Z, dtype=dtype)
    bad = np.isinf(Z) if unplaced else ~np.isfinite(Z)
    if bad.any():
        raise ValueError(
            f"{owner}: the coordinates must be finite; got {int(bad.any(axis=1).sum())} rows of {len(Z)} that are not, "
            "as numbers left the range of their precision on the way. Rescale X, for example X / np.abs(X).max(), "
            "or pass float64."
        )


def bytes_on_device(model: Any, X: Any) -> int:
    """What a fit of the model needs on a GPU; X is a table or its shape."""
    needs = getattr(model, "_device_memory", None)  # as `_memory`, of methods that run on a GPU
    if needs is None:
        raise ValueError(f"{type(model).__name__}: device must be 'cpu': this method does not run on a GPU.")
    size = (*X, 8, None) if isinstance(X, tuple) else extent(X if hasattr(X, "shape") else np.asarray(X))
    return int(sum(needs(*size).values()))

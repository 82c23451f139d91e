"""Several methods on the same rows, scored the same way.

`compare` runs the methods one after the other, adds the two baselines that every embedding is compared with (PCA with
the same number of components, and random coordinates), ranks the distances of the data once for all of them, and
returns a `Comparison`.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import lowdim
from lowdim._core.neighbors import shared
from lowdim._core.renamed import renamed_arguments
from lowdim._core.runtime.memory import config
from lowdim._core.runtime.rng import generator
from lowdim.study.baselines import baselines_for
from lowdim.study.column_scales import note_on_units, scaled
from lowdim.study.comparison import Comparison
from lowdim.study.labels import labels_of
from lowdim.study.method_list import Entry, requested_methods
from lowdim.study.notes import notes_on_scores, scored_rows
from lowdim.study.reference_choice import check_rows_differ, choose_reference
from lowdim.study.running import Outcome, run
from lowdim.study.scoring import score_each

Progress = Callable[[str, int, int], None]


@renamed_arguments(callback="progress", n_neighbors="graph_neighbors")
def compare(
    X: Any,
    y: Any = None,
    methods: Any = None,
    *,
    n_components: int = 2,
    scale: bool = False,
    reference: Any = "ambient",
    graph_neighbors: int = 10,
    anchors: Any = "auto",
    label_name: str | None = None,
    row_names: Any = None,
    memory_limit: int | float | str | None = None,
    progress: Progress | None = None,
    metric: Any = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Comparison:
    """Embed the same rows by several methods and score every embedding the same way.

    A method that fails is reported with its message and does not stop the others. Two baselines are always there:
    PCA with the same number of components, and random coordinates.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows; a pandas or polars data frame can be passed. With missing cells (NaN), methods given by name use
        their own model of incomplete rows or expected distances, and methods that need complete rows are reported as
        failed; the reference distances are then the expected distances between the rows.
    y : array-like of shape (n,), optional
        A label for each row: classes (text, whole numbers) or a quantity. Classes add the 1-nearest-neighbour error.
    methods : list, optional
        Names such as ``"pca"`` or ``"isomap"``, estimators, or (name, estimator) pairs. Estimators are cloned and
        keep their own parameters; a `random_state` or `n_jobs` of None is set. Default: a selection of methods; those
        that need more than the memory limit are reported as failed.
    n_components : int
        Number of components for methods given by name.
    scale : bool
        Divide each column by its standard deviation first, for columns in different units; the methods and the
        reference see the scaled columns. A note in the result says where a few columns dominate the distances.
    reference : {"ambient", "geodesic"} or array-like of n rows
        Distances to compare with: between the rows of `X`, along its neighbour graph,
        or between the rows of another array, such as complete data or true coordinates.
    graph_neighbors : int
        Neighbours of each row in the graph, with ``reference="geodesic"``.
    anchors : "auto", None, int or array of int
        Rows to rank from: all (None), a random sample of this size, or these rows. "auto": all up to 20,000 rows, a
        sample beyond; then the area under R_NX comes with a confidence interval.
    label_name : str, optional
        Name of `y` in the report.
    row_names : list of str, optional
        A name for each row, shown in the report.
    memory_limit : int, float or str, optional
        The largest memory that one method may need, such as ``"4GB"``; a method that needs more is reported as failed.
    progress : callable, optional
        Called as ``progress(step, done, total)`` before each step: its name, the steps done, and their number.
    metric : str or callable
        Distance between rows for the reference: a name, a function of two rows, or "precomputed" where `reference`
        holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result. The result has the seed that was used.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr. Here: the name of each method; 2 also shows its own
        progress.

    Returns
    -------
    Comparison
        ``.table``, ``.embeddings``, ``.curves``, ``.per_row``, ``.report(path)``, ...

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> c = lowdim.compare(roll.X, roll.labels, methods=["pca", "isomap"])
    >>> [row["method"] for row in c.table]
    ['pca', 'isomap', 'random']
    """
    start = time.perf_counter()
    rows, seed, columns = _rows(X, scale), _seed(random_state), _column_names(X)
    common: dict[str, Any] = {"n_components": _width(n_components), "random_state": seed, "n_jobs": n_jobs}
    common |= {"missing": "expected"} if np.isnan(rows).any() else {}
    planned = requested_methods(methods, {**common, "verbose": max(0, verbose - 1)})
    labels = None if y is None else labels_of(y, rows.shape[0], label_name or getattr(y, "name", None))
    names = _row_names(row_names, rows.shape[0])
    announce = _announcer(progress, verbose, len(planned) + 4)
    outcomes: list[Outcome] = []
    with shared(rows):
        announce("reference distances")
        against = choose_reference(reference, rows, metric=metric, graph_neighbors=graph_neighbors, n_jobs=n_jobs)
        with config(memory_limit=memory_limit):
            for entry in _with_baselines(planned, outcomes, rows.shape, seed, n_components):
                announce(entry.name)
                outcomes.append(run(entry, rows))
        announce("scores")
        scored, warned = score_each(
            {o.name: o.embedding for o in outcomes if o.embedding is not None}, against,
            scale={o.name: o.has_scale for o in outcomes}, labels=labels, anchors=anchors, n_jobs=n_jobs, seed=seed,
        )  # fmt: skip
    units = None if scale else note_on_units(rows, columns)
    notes = (units, *notes_on_scores(outcomes, rows.shape), None if labels is None else labels.note, *warned)
    return Comparison(
        outcomes=tuple(outcomes), scored=scored, rows_scored=scored_rows(outcomes), n_columns=rows.shape[1],
        reference=against.without_rows(), seed=seed, labels=labels, row_names=names, column_names=columns,
        versions=versions(), notes=tuple(note for note in notes if note), seconds=time.perf_counter() - start,
    )  # fmt: skip


def _with_baselines(
    planned: list[Entry], outcomes: list[Outcome], shape: tuple[int, ...], seed: int, n_components: int
) -> Iterator[Entry]:
    """The methods, then the baselines, which depend on the outcomes of the methods."""
    yield from planned
    yield from baselines_for(outcomes, shape, seed, n_components)


def _rows(X: Any, scale: Any) -> np.ndarray:
    """X checked and converted once, so that methods and measures need no copies of their own.

    The array is read-only: a method that works in place fails, and does not change the rows of the caller or of the
    other methods.
    """
    from sklearn.utils import check_array

    if not isinstance(scale, (bool, np.bool_)):
        raise ValueError(f"compare: scale must be True or False; got {scale!r}.")
    rows = check_array(
        X, dtype=(np.float64, np.float32), order="C", ensure_all_finite="allow-nan", ensure_min_samples=3,
        estimator="compare", input_name="X",
    )  # fmt: skip
    check_rows_differ(rows, "compare")
    rows = scaled(rows) if scale else rows.view()
    rows.flags.writeable = False
    return rows


def _width(n_components: Any) -> int:
    if isinstance(n_components, bool) or not hasattr(n_components, "__index__") or n_components < 1:
        raise ValueError(f"compare: n_components must be a whole number of at least 1; got {n_components!r}.")
    return int(n_components)


def _seed(random_state: Any) -> int:
    """One whole number that repeats the run, whatever was passed."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        generator(random_state)  # raises an error for a negative one
        return int(random_state)
    return int(generator(random_state).integers(2**31 - 1))


def _row_names(names: Any, n: int) -> list[str] | None:
    if names is None:
        return None
    listed = [str(name) for name in names]
    if len(listed) != n:
        raise ValueError(f"compare: row_names must have one name for each of the {n} rows; got {len(listed)}.")
    return listed


def _column_names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _announcer(progress: Progress | None, verbose: int | bool, total: int) -> Callable[[str], None]:
    """A function that announces each step to `progress` and on stderr."""
    done = 0

    def announce(step: str) -> None:
        nonlocal done
        if progress is not None:
            progress(step, done, max(total, done + 1))
        if verbose:
            sys.stderr.write(f"compare: {step}\n")
        done += 1

    return announce


def versions() -> dict[str, str]:
    """The versions of the packages that made a result."""
    import scipy
    import sklearn

    return {
        "lowdim": lowdim.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }

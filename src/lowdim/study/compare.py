"""Several methods on the same rows, scored the same way.

`compare` finds out what the columns of the data are, runs the methods one after the other, adds the two baselines that
every embedding is compared with (PCA with the same number of components, and random coordinates), ranks the distances
of the data once for all of them, and returns a `Comparison`.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.neighbors import shared
from lowdim._core.params import checked, flag, function, mapping, none, place, shown, text, whole
from lowdim._core.params import names as list_of_names
from lowdim._core.renamed import renamed_arguments
from lowdim._core.runtime.rng import generator
from lowdim.study.columns import Kind, Wishes
from lowdim.study.comparison import Comparison
from lowdim.study.data import Data, data_of, data_of_distances
from lowdim.study.data_copy import copy_of
from lowdim.study.drawn import numbered, rows_in_memory, with_places
from lowdim.study.labels import Labels, in_order_of, labels_of
from lowdim.study.method_list import Entry, requested_methods
from lowdim.study.notes import note_on_device, notes_on_scores, scored_rows
from lowdim.study.panel import ALL, Panel, Traits, choose_panel, every_method, traits_of
from lowdim.study.reference_choice import choose_reference
from lowdim.study.running import NO_VERDICT, Checkpoint, Limits, Progress, Runner, Steps, expected_runs
from lowdim.study.running.one_method import Outcome
from lowdim.study.scoring import score_each
from lowdim.study.settings import Settings
from lowdim.study.verdict import Evidence, Verdict, gather, verdict_of
from lowdim.study.verdict.evidence import LEAST_ROWS, Case


@renamed_arguments(callback="progress", n_neighbors="graph_neighbors", memory_limit="limit_memory")
@checked(
    "compare",
    n_components=whole(1),
    columns=list_of_names() | none(),
    drop=list_of_names(),
    kinds=mapping() | none(),
    label_name=text() | none(),
    checkpoint=place() | none(),
    progress=function() | none(),
    verbose=whole(0) | flag(),
)
def compare(
    X: Any,
    y: Any = None,
    methods: Any = None,
    *,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    n_components: int = 2,
    scale: bool | str = "auto",
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    reference: Any = "ambient",
    graph_neighbors: int = 10,
    anchors: Any = "auto",
    label_name: str | None = None,
    row_names: Any = None,
    limit_time: float | None = None,
    limit_memory: int | float | str | None = None,
    own_process: bool = False,
    checkpoint: Any = None,
    on_interrupt: str = "raise",
    verdict: bool = True,
    stability: int = 0,
    fractures: bool = False,
    progress: Progress | None = None,
    metric: Any = "euclidean",
    device: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Comparison:
    """Embed the same rows by several methods and score every embedding the same way.

    Any table can be passed: columns of numbers and categories are mapped together, dates, names and free text are
    shown with the rows, a column that looks like a label is used for colours; ``.columns`` of the result lists what was
    done with each column and why. A method that fails is reported with its message and does not stop the others. Two
    baselines are always there: PCA (FAMD or MCA for tables with categories) with the same number of components, and
    random coordinates.

    Parameters
    ----------
    X : data frame, dict of columns, or array-like of shape (n, d)
        The rows. Of a Dask array or data frame or a pyarrow data set, a random sample is compared
        (`lowdim.config(sample_rows=...)`), and ``.places(X)`` places all rows. Of a data frame (pandas, polars, a table
        of Arrow), dictionary, list of records or structured array, each column is looked at; vectors in the cells of a
        pandas column become columns; an array of numbers is used as it is. With missing cells (NaN), methods given by
        name use their own model of incomplete rows or expected distances, and methods that need complete rows are
        reported as failed; the reference distances are then the expected distances between the rows. With categories,
        distances are Gower's.
    y : array-like of shape (n,) or str, optional
        A label for each row, or the column of `X` that has it: classes (text, whole numbers) or a quantity. Classes
        add the 1-nearest-neighbour error. A pandas Series whose index has the names of the rows of `X` in another
        order is put into their order. Methods that need labels (LDA, CCA, ...) get it; the others do not see it.
    methods : list, dict or "all", optional
        Names such as ``"pca"`` or ``"isomap"``, estimators, or (name, estimator) pairs; a dictionary can also hold
        embeddings that exist already: ``{"mine": Z}``. Estimators are cloned and keep their own parameters; a
        `random_state` or `n_jobs` of None is set. Default: a selection that suits the data, with reasons in
        ``.panel``. ``"all"``: every method.
    parameters : dict of dict, optional
        Method -> parameters that it gets, for methods given by name: ``{"umap": {"n_neighbors": 30}}``. All others
        stay as the data asks for (Gower's distance for categories, models of missing cells).
    n_components : int
        Number of components for methods given by name.
    scale : bool or "auto"
        Divide each column by its standard deviation first, for columns in different units; the methods and the
        reference see the scaled columns. "auto": where a few columns of a table would decide all distances; arrays
        are not scaled, but a note says where that is so.
    columns, drop : list of str, optional
        Use only these columns of a table; leave these out.
    kinds : dict of str, optional
        Column -> what it is, whatever it looks like: "number", "category", "ordinal", "date", "text" or "id". A date
        asked for as a number is counted in days. A list of values, lowest first, is the order of an ordinal column,
        which Gower's distance measures by rank; elsewhere it is a category.
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
    row_names : list of str or str, optional
        A name for each row, shown in the report; or the column of `X` that has it. Default: the index of a pandas
        frame where it is more than 0, 1, 2, ..., else a column of names.
    limit_time : float, optional
        Seconds that one method may take; it runs in a process of its own and is stopped and reported as failed beyond.
    limit_memory : int, float or str, optional
        The largest memory that one method may take, such as ``"4GB"``. A method that would need more is reported as
        failed before it starts; one that takes more all the same is stopped, as it runs in a process of its own.
    own_process : bool
        Run each method in a process of its own also without limits: a crash of one is then its failure alone.
    checkpoint : str or Path, optional
        A folder where each finished map is kept. A run with the same data and settings goes on where it was stopped;
        the estimators of maps found there are not fitted.
    on_interrupt : {"raise", "score"}
        On Ctrl-C while methods run: raise KeyboardInterrupt, or score the maps that are finished.
    verdict : bool
        Judge the maps: which one for which question, which rows and groups can be trusted. Maps of noise are made for
        it by the same methods: of more than 5,000 rows only for the recommended map, of more than 20,000 for a map of
        2,000 of them. What is not judged is named with the reason. False: scores alone.
    stability : int
        How often the recommended map is made again from parts of the rows, with other seeds and settings; 0: never.
    fractures : bool
        Look in maps by t-SNE and UMAP for rows that would jump if they moved a little in the data, and for rows that
        hardly anything holds (`lowdim.trust.fractures`): the report colours by both.
    progress : callable, optional
        Called as ``progress(step, done, total)`` before each step: its name, the steps done, and their number; during
        a method that reports its iterations also with fractions of a step.
    metric : str or callable
        Distance between rows for the reference: a name, a function of two rows, or "precomputed" where `reference`
        (or, without one, `X`) holds distances.
    device : str or None
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. Methods
        given by name that can run there do, and ranks for the scores are found there; a note says what ran where.
        Estimators keep their own. None: the CPU, and networks as they are set.
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
        ``.verdict``, ``.table``, ``.columns``, ``.embeddings``, ``.curves``, ``.per_row``, ``.report(path)``, ...

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0)
    >>> c = lowdim.compare(roll.X, roll.labels, methods=["pca", "isomap"])
    >>> [row["method"] for row in c.table]
    ['pca', 'isomap', 'random']
    """
    _check_given(y, on_interrupt)
    start, seed, width = time.perf_counter(), _seed(random_state), int(n_components)
    limits = Limits.of(limit_time, limit_memory, own_process, "compare")
    items = isinstance(metric, str) and metric == "precomputed" and isinstance(reference, str)
    X, y, drawn = rows_in_memory(X, y, seed, items, reference=reference, anchors=anchors, row_names=row_names)
    data = data_of_distances(X, "compare") if items else data_of(X, _wishes(y, row_names, columns, drop, kinds), scale)
    labels, names = _labels(in_order_of(X, y), data, label_name), _row_names(row_names, data)
    panel = _panel(methods, traits_of(data, labels, width), labels is not None)
    place = None if device is None else devices.find(device, "compare")
    settings = Settings.for_data(data, labels, width, seed, n_jobs, max(0, int(verbose) - 1), device)
    planned = requested_methods(methods if panel is None else panel.names, settings, parameters)
    steps = Steps(progress, verbose, *_expected(planned, data, settings, verdict, (stability, fractures)))
    with shared(data.rows):
        steps.announce("reference distances")
        against = choose_reference(reference, data, metric=metric, graph_neighbors=graph_neighbors, n_jobs=n_jobs)
        maps = Checkpoint(checkpoint, data, labels)
        outcomes = Runner(data, labels, limits, maps, limit_memory, steps, on_interrupt).run_all(planned, settings)
        steps.announce("scores")
        scored, warned = score_each(
            {o.name: o.embedding for o in outcomes if o.embedding is not None}, against, device=device or "cpu",
            scale={o.name: o.has_scale for o in outcomes}, labels=labels, anchors=anchors, n_jobs=n_jobs, seed=seed,
        )  # fmt: skip
        drawn = with_places(drawn or data.drawn, outcomes, "comparison.places(X)")
        case = Case(
            outcomes, scored, data, labels, against, {entry.name: entry.target for entry in planned}, names, seed,
            n_jobs, not limits.isolate, stability, bool(fractures), drawn,
        )  # fmt: skip
        evidence, stopped = _evidence(case, steps, on_interrupt) if verdict else (None, None)
        small = copy_of(against, n_jobs=n_jobs)
    notes = _notes(outcomes, data, planned, labels, (*warned, stopped, note_on_device(outcomes, device, place)))
    return Comparison(
        outcomes=tuple(outcomes), scored=scored, rows_scored=scored_rows(outcomes), n_columns=data.n_columns,
        reference=against.without_rows(), seed=seed, labels=labels, row_names=names,
        column_names=None if data.distances else data.names, versions=versions(), notes=notes,
        seconds=time.perf_counter() - start,
        columns=() if data.table is None else data.table.columns, panel=() if panel is None else panel.reasons,
        rows_used=numbered(drawn, np.arange(data.n) if data.table is None else data.table.rows, data.n), drawn=drawn,
        verdict=Verdict() if evidence is None else verdict_of(evidence), evidence=evidence, data_copy=small,
        treatment=data.treatment(),
    )  # fmt: skip


def _notes(
    outcomes: list[Outcome], data: Data, planned: list[Entry], labels: Labels | None, others: tuple[str | None, ...]
) -> tuple[str, ...]:
    """All notes there are, those on the data first."""
    own = labels.note if labels else None
    return tuple(note for note in (*data.notes, *notes_on_scores(outcomes, data, planned), own, *others) if note)


def _expected(
    planned: list[Entry], data: Data, settings: Settings, verdict: bool, more: tuple[int, bool]
) -> tuple[int, int]:
    """Runs of methods, and the steps besides: reference, scores; noise, groups, unless rows are too few; what is asked.

    `more` is the number of stability replicates and whether gaps are looked for.
    """
    others = 2 + (2 + sum(map(bool, more)) if verdict and data.n >= LEAST_ROWS else 0)
    return expected_runs(planned, data.rows.shape, settings), others


def _wishes(y: Any, row_names: Any, columns: Any, drop: Any, kinds: Any) -> Wishes:
    """What the user decided about the columns."""
    return Wishes(
        columns=() if columns is None else tuple(map(str, columns)),
        drop=tuple(map(str, drop)),
        label=y if isinstance(y, str) else None,
        names=row_names if isinstance(row_names, str) else None,
        kinds=dict(kinds or {}),
        find_label=y is None,
        option={"columns": "columns", "drop": "drop", "label": "y =", "names": "row_names =", "kinds": "kinds"},
    )


def _evidence(case: Case, steps: Steps, on_interrupt: str) -> tuple[Evidence | None, str | None]:
    """What the verdict rests on; after Ctrl-C nothing, and a note."""
    try:
        return gather(case, steps), None
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        return None, NO_VERDICT


def _check_given(y: Any, on_interrupt: Any) -> None:
    if isinstance(y, (list, tuple)) and any(hasattr(item, "fit_transform") for item in y):
        raise TypeError("compare: y must hold labels; got estimators. Pass them as methods=[...].")
    if not isinstance(on_interrupt, str) or on_interrupt not in ("raise", "score"):
        raise ValueError(f'compare: on_interrupt must be "raise" or "score"; got {on_interrupt!r}.')


def _panel(methods: Any, traits: Traits, has_label: bool) -> Panel | None:
    """The selection that suits the data; None where the user made one."""
    if methods is None:
        return choose_panel(traits)
    return every_method(has_label) if isinstance(methods, str) and methods == ALL else None


def _seed(random_state: Any) -> int:
    """One whole number that repeats the run, whatever was passed."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        generator(random_state)  # raises an error for a negative one
        return int(random_state)
    return int(generator(random_state).integers(2**31 - 1))


def _labels(y: Any, data: Data, name: str | None) -> Labels | None:
    """The labels given, or those of the column that is the label."""
    column = None if data.table is None else data.table.label
    if column is not None:
        return labels_of(column.label_values(), data.n, name or column.name)
    if y is None:
        return None
    found = labels_of(y, data.n_given, name or getattr(y, "name", None))
    return found if data.table is None else found.take(data.table.rows)


def _row_names(names: Any, data: Data) -> list[str] | None:
    if names is None or isinstance(names, str):
        return data.names if data.distances else None if data.table is None else data.table.names
    if not list_of_names().accepts(names):
        raise TypeError(
            f"compare: row_names must be {list_of_names().text}, or the column of X that has them; got {shown(names)}."
        )
    listed = [str(name) for name in names]
    if len(listed) != data.n_given:
        raise ValueError(
            f"compare: row_names must have one name for each of the {data.n_given} rows; got {len(listed)}."
        )
    return listed if data.table is None else [listed[i] for i in data.table.rows]


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

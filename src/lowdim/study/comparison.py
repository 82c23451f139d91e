"""Several methods on the same rows, scored the same way, with nothing left unsaid.

`compare` runs the methods one after the other, adds the two baselines every embedding should be held against (PCA
with the same number of components, and rows placed at random), ranks distances once for all of them, and returns a
`Comparison`: a record that keeps failures, warnings, parameters and times next to the scores.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim._core.neighbors import shared
from lowdim._core.runtime.memory import config
from lowdim._core.runtime.rng import generator
from lowdim.study.alignment import aligned_maps
from lowdim.study.baselines import notes_on, run_all
from lowdim.study.labels import Labels, labels_of
from lowdim.study.references import Reference, check_varied, reference_of
from lowdim.study.running import Outcome, entries, plain
from lowdim.study.scoring import LEAST_ROWS, Scored, placed_by_all, score_each
from lowdim.study.units import note_on_units, scaled


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Embeddings of the same rows by several methods, and how faithful each one is.

    Made by :func:`lowdim.compare`. There is no winner: measures disagree for good reasons, and embeddings with
    different numbers of columns cannot be ranked at all.

    Parameters
    ----------
    outcomes : tuple
        One record per method in the order they were given, baselines not asked for at the end: ``name``,
        ``baseline``, ``embedding``, ``estimator`` (fitted), ``parameters``, ``seconds``, ``warnings``, ``error``.
    scored : dict of str
        For each method that succeeded its ``scores``, ``rnx`` curve and ``per_row`` quality.
    rows_scored : ndarray of bool
        The rows every method gave a place to; all scores are over these. Where there are fewer than three, the rows
        any method placed: then each method is scored on its own, and a note says so.
    n_columns : int
        Columns of the data.
    reference : Reference
        What the embeddings are held against: ``name``, and ``text`` for the same in words.
    seed : int
        What made every random choice.
    labels : Labels or None
        The label of each row: ``values``, ``name``, and ``classes`` with ``codes`` unless it is a quantity.
    row_names, column_names : list of str or None
        Where they were given.
    versions : dict of str
        Of everything that computed.
    notes : tuple of str
        What must be known to read the scores.
    seconds : float
        Time of everything together.
    """

    outcomes: tuple[Outcome, ...]
    scored: dict[str, Scored]
    rows_scored: np.ndarray
    n_columns: int
    reference: Reference
    seed: int
    labels: Labels | None = None
    row_names: list[str] | None = None
    column_names: list[str] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def names(self) -> list[str]:
        """The methods, baselines included, failed ones too."""
        return [outcome.name for outcome in self.outcomes]

    @property
    def n_rows(self) -> int:
        return len(self.rows_scored)

    @property
    def embeddings(self) -> dict[str, np.ndarray]:
        """Method -> embedding, for the methods that succeeded."""
        return {o.name: o.embedding for o in self.outcomes if o.embedding is not None}

    @property
    def models(self) -> dict[str, Any]:
        """Method -> fitted estimator, for the methods that succeeded."""
        return {o.name: o.estimator for o in self.outcomes if o.embedding is not None}

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Method -> measure -> value."""
        return {name: dict(scored.scores) for name, scored in self.scored.items()}

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """Method -> R_NX(K) for K = 1, 2, ...: 0 is random, 1 is perfect."""
        return {name: scored.rnx for name, scored in self.scored.items()}

    @property
    def per_row(self) -> dict[str, np.ndarray]:
        """Method -> quality of each row's neighbourhood; NaN for rows that were not scored."""
        return {name: scored.per_row for name, scored in self.scored.items()}

    @property
    def original_error(self) -> float | None:
        """The 1-nearest-neighbour error without any map: what there was to lose.

        Measured between the rows of the reference where one was given, else between the rows of the data. None
        without classes, and where methods were scored on different rows.
        """
        found = {scored.scores.get("knn_error_data") for scored in self.scored.values()}
        return found.pop() if len(found) == 1 else None

    @property
    def failures(self) -> dict[str, str]:
        """Method -> why it has no embedding."""
        return {o.name: o.error for o in self.outcomes if o.error is not None}

    @property
    def warnings(self) -> dict[str, tuple[str, ...]]:
        """Method -> what it warned about, for the methods that warned."""
        return {o.name: o.warnings for o in self.outcomes if o.warnings}

    @property
    def table(self) -> list[dict[str, Any]]:
        """One plain dict per method in the order given; ``pandas.DataFrame(c.table)`` takes it as it is."""
        return [self._row(outcome) for outcome in self.outcomes]

    def _row(self, outcome: Outcome) -> dict[str, Any]:
        embedded = outcome.embedded
        measures = {key: None for scored in self.scored.values() for key in scored.scores}
        if outcome.name in self.scored:
            measures |= self.scored[outcome.name].scores
        return {
            "method": outcome.name,
            "baseline": outcome.baseline,
            "n_components": outcome.n_components,
            "rows": self.n_rows,
            "rows_embedded": 0 if embedded is None else int(embedded.sum()),
            "reference": self.reference.name,
            **{key: plain(value) for key, value in measures.items()},
            "seconds": round(outcome.seconds, 4),
            "seed": self.seed,
            "warnings": len(outcome.warnings),
            "error": outcome.error,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the embeddings and the per-row values, ready for JSON (no NaN, no numpy)."""
        about = {o.name: o for o in self.outcomes}
        rows = []
        for row in self.table:
            outcome = about[row["method"]]
            more = {"parameters": outcome.parameters, "diagnostics": outcome.diagnostics}
            curve = {"rnx": plain(list(self.curves[outcome.name]))} if outcome.name in self.scored else {}
            rows.append({**row, "warnings": list(outcome.warnings), **more, **curve})
        return {
            "rows": self.n_rows,
            "rows_scored": int(self.rows_scored.sum()),
            "columns": self.n_columns,
            "reference": self.reference.name,
            "reference_text": self.reference.text,
            "label": None if self.labels is None else self.labels.name,
            "seed": self.seed,
            "versions": self.versions,
            "notes": list(self.notes),
            "methods": rows,
        }

    def aligned(self) -> dict[str, np.ndarray]:
        """Method -> first two columns, turned and mirrored to lie like the first map: for pictures side by side."""
        return aligned_maps(self.embeddings)

    def report(
        self, path: str | Path = "report.html", *, title: str | None = None, max_points: int = 50_000, data: Any = None
    ) -> Path:
        """Write one self-contained page: maps side by side, R_NX curves, scores, warnings, how to read them.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing one is replaced once the new page is complete.
        title : str, optional
            The heading of the page.
        max_points : int
            The most rows drawn in a map; more are sampled, and the page says so. Scores do not depend on it.
        data : array or data frame of shape (n_rows, n_columns), optional
            The rows again, so that the maps can be coloured by a column; a comparison does not keep them.

        Returns
        -------
        Path
            The file written.
        """
        from lowdim.report import render

        return render.write(self, path, title=title, max_points=max_points, data=data)

    def __repr__(self) -> str:
        from lowdim.report.tables import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from lowdim.report.tables import as_html

        return as_html(self)


def compare(
    X: Any,
    y: Any = None,
    methods: Any = None,
    *,
    n_components: int = 2,
    reference: Any = "ambient",
    n_neighbors: int = 10,
    metric: str = "euclidean",
    scale: bool = False,
    anchors: Any = "auto",
    label_name: str | None = None,
    row_names: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory_limit: int | float | str | None = None,
    callback: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Embed the same rows by several methods and score every embedding the same way.

    A method that fails is reported with its message and does not stop the others. Two baselines are always there:
    PCA with the same number of components, and rows placed at random.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows; a pandas or polars frame is fine. With missing cells (NaN), methods named by name take them as their
        model says, or by expected distances; those that need complete rows are reported as failed. The maps are then
        held against the distances that are to be expected between the rows.
    y : array-like of shape (n,), optional
        A label per row: classes (text, whole numbers) or a quantity. Classes add the 1-nearest-neighbour error.
    methods : list, optional
        Names such as ``"pca"`` or ``"isomap"``, estimators, or (name, estimator) pairs. Estimators are cloned and
        keep their own parameters; a seed or a number of jobs that they left at None is set. Default: every method
        there is; those that need more than the memory limit are reported as failed.
    n_components : int
        Columns of the embedding for methods given by name.
    reference : {"ambient", "geodesic"} or array-like of n rows
        What the embeddings are held against: straight distances between the rows of `X`; distances along a graph of
        nearest neighbours; or straight distances between the rows of another array, such as complete data or true
        coordinates.
    n_neighbors : int
        Neighbours per row in the graph of the geodesic reference.
    metric : str
        Distance between rows for the reference.
    scale : bool
        Divide each column by its standard deviation before anything else, so that columns in different units count
        alike, for the methods and for the reference. A note in the result says where a few columns drown the others.
    anchors : {"auto"}, None, int or array of int
        Rows from which all rows are ranked: all of them (None), so many drawn at random, or these; "auto" takes all
        up to 20,000 and a sample beyond, and then the area under R_NX comes with an interval.
    label_name : str, optional
        What `y` is called in the report.
    row_names : list of str, optional
        A name per row, shown in the report.
    random_state : int, Generator or None
        Makes every random choice; the seed it came to is in the result.
    n_jobs : int, optional
        Threads; the numbers do not depend on it.
    verbose : int
        With 1, each method is announced on the error stream.
    memory_limit : int, float or str, optional
        The most memory one method may plan for, such as ``"4GB"``.
    callback : callable, optional
        Called as ``callback(step, done, total)`` before each step.

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
    rows, seed = _rows(X, scale), _seed(random_state)
    common: dict[str, Any] = {"n_components": _width(n_components), "random_state": seed, "n_jobs": n_jobs}
    common |= {"missing": "expected"} if np.isnan(rows).any() else {}
    planned = entries(methods, {**common, "verbose": max(0, verbose - 1)})
    labels = None if y is None else labels_of(y, rows.shape[0], label_name or getattr(y, "name", None))
    names = _row_names(row_names, rows.shape[0])
    report = _reporter(callback, verbose, len(planned) + 4)
    with shared(rows):
        report("reference distances")
        against = reference_of(reference, rows, metric=metric, n_neighbors=n_neighbors, n_jobs=n_jobs)
        with config(memory_limit=memory_limit):
            outcomes = run_all(planned, rows, seed, n_components, report)
        report("scores")
        scored, noticed = score_each(
            {o.name: o.embedding for o in outcomes if o.embedding is not None}, against,
            scale={o.name: o.has_scale for o in outcomes}, labels=labels, anchors=anchors, n_jobs=n_jobs, seed=seed,
        )  # fmt: skip
    mask, notes = _scored_rows(outcomes, rows.shape)
    units = None if scale else note_on_units(rows, _column_names(X))
    notes = tuple(note for note in (units, *notes, None if labels is None else labels.note, *noticed) if note)
    return Comparison(
        outcomes=tuple(outcomes), scored=scored, rows_scored=mask, n_columns=rows.shape[1],
        reference=against.without_rows(), seed=seed, labels=labels, row_names=names, column_names=_column_names(X),
        versions=versions(), notes=notes, seconds=time.perf_counter() - start,
    )  # fmt: skip


def _scored_rows(outcomes: list[Outcome], shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The rows behind the scores, and what must be known about them."""
    placed = {o.name: o.embedding for o in outcomes if o.embedding is not None}
    common = placed_by_all(placed)
    notes = notes_on(outcomes, common, shape)
    if common.sum() >= LEAST_ROWS:
        return common, notes
    return np.logical_or.reduce([placed_by_all({name: Z}) for name, Z in placed.items()]), notes


def _rows(X: Any, scale: Any) -> np.ndarray:
    """X as methods and measures both take it, so that each of them can use it without a copy of its own.

    Nobody can write into it: a method that works in place fails, and leaves the caller's rows and the others alone.
    """
    from sklearn.utils import check_array

    if not isinstance(scale, (bool, np.bool_)):
        raise ValueError(f"compare: scale must be True or False; got {scale!r}.")
    rows = check_array(
        X, dtype=(np.float64, np.float32), order="C", ensure_all_finite="allow-nan", ensure_min_samples=3,
        estimator="compare", input_name="X",
    )  # fmt: skip
    check_varied(rows, "compare")
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
        generator(random_state)  # refuses a negative one
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


def _reporter(callback: Any, verbose: int, total: int) -> Callable[[str], None]:
    done = 0

    def report(step: str) -> None:
        nonlocal done
        if callback is not None:
            callback(step, done, max(total, done + 1))
        if verbose:
            sys.stderr.write(f"compare: {step}\n")
        done += 1

    return report


def versions() -> dict[str, str]:
    """The versions that made a result."""
    import scipy
    import sklearn

    return {
        "lowdim": lowdim.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
